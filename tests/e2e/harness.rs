//! The pieces every end-to-end test needs: the demo endpoint with the built page, a browser, and how to read the page.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use fantoccini::{Client, ClientBuilder, Locator, wd::WebDriverCompatibleCommand};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// How long a page may take to say what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A child process that ends with its test.
pub struct Process(Child);

impl Process {
    /// Ends it now, as a crash would: no good-bye on its connections.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts chromedriver. It takes a free port for IPv4 and then the same for IPv6, where another may have been quicker:
/// then it ends at once, and is started again.
fn start_driver() -> (Process, u16) {
    let started = |line: &str| {
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        line.contains("started successfully on port")
            .then(|| digits.parse().expect("a port"))
    };
    let attempt = |_| {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0");
        try_start_and_find(command, started)
    };
    (0..10)
        .find_map(attempt)
        .expect("chromedriver finds a free port within ten attempts")
}

/// As [`try_start_and_find`], for a program that must start.
fn start_and_find<T>(command: Command, find: impl Fn(&str) -> Option<T>) -> (Process, T) {
    let name = format!("{command:?}");
    try_start_and_find(command, find).unwrap_or_else(|| panic!("{name} ended without saying where it listens"))
}

/// Starts a program and returns the first line of its output for which `find` gives something; `None` if it ends first.
fn try_start_and_find<T>(mut command: Command, find: impl Fn(&str) -> Option<T>) -> Option<(Process, T)> {
    let name = format!("{command:?}");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let process = Process(child);
    let found = loop {
        let line = lines.next()?.expect("text");
        if let Some(found) = find(&line) {
            break found;
        }
    };
    // Whatever else it prints must be taken, or it would block on a full pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Some((process, found))
}

fn port_in(line: &str) -> Option<u16> {
    let after = line.split("http://").nth(1)?;
    after
        .split(':')
        .nth(1)?
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .ok()
}

/// A demo endpoint on a free port.
pub struct Demo {
    /// The process.
    pub process: Process,
    /// Its base URL.
    pub url: String,
}

impl Demo {
    /// Starts it with further arguments.
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demo_server"));
        command.args(["--port", "0"]).args(args);
        let (process, port) = start_and_find(command, port_in);
        Self {
            process,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    /// What it truly did, one entry per request.
    pub async fn truth(&self) -> Vec<Value> {
        let truth = get_json(&format!("{}/demo/truth", self.url)).await;
        truth
            .as_array()
            .or_else(|| truth["requests"].as_array())
            .expect("a list of requests")
            .clone()
    }
}

/// A plain GET of JSON.
pub async fn get_json(url: &str) -> Value {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let rest = url.strip_prefix("http://").expect("plain http");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut socket = tokio::net::TcpStream::connect(host).await.expect("the server listens");
    let request = format!("GET /{path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.expect("read");
    let text = String::from_utf8(answer).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    assert!(head.contains(" 200 "), "{head}");
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

/// The folder of the built page.
fn dist() -> PathBuf {
    let dist = std::env::var_os("STREAMGAUGE_DIST")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("dist"), PathBuf::from);
    assert!(
        dist.join("index.html").exists(),
        "no page in {}: build it with script/test or trunk build --release",
        dist.display()
    );
    dist
}

/// A browser with the page, served by a process of its own.
pub struct Page {
    /// The WebDriver session.
    pub client: Client,
    /// The page's own URL.
    pub url: String,
    downloads: PathBuf,
    _site: Process,
    _driver: Process,
}

impl Page {
    /// Opens the page with a query string.
    pub async fn open(query: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demo_server"));
        command.args(["--port", "0", "--page-port", "0", "--page"]).arg(dist());
        let (site, port) = start_and_find(command, |line| {
            line.to_lowercase().contains("page").then(|| port_in(line)).flatten()
        });
        let (driver, driver_port) = start_driver();
        let downloads = std::env::temp_dir().join(format!("streamgauge-e2e-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&downloads).expect("a folder for downloads");
        let mut capabilities = fantoccini::wd::Capabilities::new();
        capabilities.insert(
            "goog:chromeOptions".into(),
            json!({
                "args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1440,1000"],
                "prefs": {"download.default_directory": downloads},
            }),
        );
        capabilities.insert("goog:loggingPrefs".into(), json!({"browser": "ALL"}));
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{driver_port}"))
            .await
            .expect("chromedriver starts a browser");
        let page = Self {
            client,
            url: format!("http://localhost:{port}/"),
            downloads,
            _site: site,
            _driver: driver,
        };
        page.go(query).await;
        page
    }

    /// Loads the page anew with a query string.
    pub async fn go(&self, query: &str) {
        self.client
            .goto(&format!("{}?{query}", self.url))
            .await
            .expect("the page loads");
        self.wait_for("Endpoint").await;
    }

    /// All that a person can read on the page.
    pub async fn text(&self) -> String {
        let body = self.client.find(Locator::Css("body")).await.expect("a body");
        body.text().await.expect("text")
    }

    /// Waits until the page says something, and returns all it says.
    pub async fn wait_for(&self, words: &str) -> String {
        self.wait_until(words, |text| text.contains(words)).await
    }

    /// Waits until what the page says is as wanted.
    pub async fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text().await;
            if wanted(&text) {
                return text;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the page never said {what:?}. It says:\n{text}"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Presses the first visible button whose text or label holds these words.
    pub async fn press(&self, words: &str) {
        let xpath =
            format!("//button[contains(normalize-space(.), \"{words}\") or contains(@aria-label, \"{words}\")]");
        let start = Instant::now();
        loop {
            for button in self.client.find_all(Locator::XPath(&xpath)).await.expect("a query") {
                if button.is_displayed().await.unwrap_or(false) && button.is_enabled().await.unwrap_or(false) {
                    button
                        .click()
                        .await
                        .unwrap_or_else(|e| panic!("pressing {words:?}: {e}"));
                    return;
                }
            }
            assert!(
                start.elapsed() < PATIENCE,
                "there is no button {words:?}. The page says:\n{}",
                self.text().await
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Shows the view of this name.
    pub async fn view(&self, name: &str) {
        let link = self.client.find(Locator::LinkText(name)).await;
        link.expect("the view's link").click().await.expect("pressed");
    }

    /// Types into the field with this label.
    pub async fn fill(&self, label: &str, value: &str) {
        let field = self.field(label).await;
        field.clear().await.expect("cleared");
        field.send_keys(value).await.expect("typed");
    }

    /// Presses the tick whose label holds these words.
    pub async fn tick(&self, words: &str) {
        let xpath = format!("//label[contains(., \"{words}\")]/input");
        let tick = self
            .client
            .find(Locator::XPath(&xpath))
            .await
            .unwrap_or_else(|e| panic!("no tick {words:?}: {e}"));
        tick.click().await.expect("ticked");
    }

    /// The value in the field with this label.
    pub async fn value(&self, label: &str) -> String {
        self.field(label)
            .await
            .prop("value")
            .await
            .expect("a property")
            .unwrap_or_default()
    }

    async fn field(&self, label: &str) -> fantoccini::elements::Element {
        let xpath = format!(
            "//*[@id = //label[contains(normalize-space(.), \"{label}\")]/@for] | //input[@aria-label = \"{label}\"]"
        );
        self.client
            .wait()
            .for_element(Locator::XPath(&xpath))
            .await
            .unwrap_or_else(|e| panic!("no field labelled {label:?}: {e}"))
    }

    /// Saves the result as JSON by the page's own button, and reads the file.
    pub async fn download_json(&self) -> Value {
        let text = self.download("Save JSON", "json").await;
        serde_json::from_str(&text).expect("JSON")
    }

    /// Presses the button with these words and reads the file that is saved, which has this ending.
    pub async fn download(&self, words: &str, ending: &str) -> String {
        String::from_utf8(self.download_bytes(words, ending).await).expect("text")
    }

    /// The same for a file that is no text.
    pub async fn download_bytes(&self, words: &str, ending: &str) -> Vec<u8> {
        let saved = || {
            let entries = std::fs::read_dir(&self.downloads).expect("downloads");
            entries.map(|entry| entry.expect("an entry").path())
        };
        for old in saved() {
            std::fs::remove_file(old).expect("removed");
        }
        self.press(words).await;
        let start = Instant::now();
        loop {
            // Chromium writes under another name, and renames the file when it is whole.
            for path in saved().filter(|path| path.extension().is_some_and(|ext| ext == ending)) {
                let bytes = std::fs::read(&path).expect("the file");
                if !bytes.is_empty() {
                    return bytes;
                }
            }
            assert!(start.elapsed() < PATIENCE, "no file was saved");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Drops a file of this name and content onto the page.
    pub async fn drop_file(&self, name: &str, content: &str) {
        let script = "const data = new DataTransfer(); data.items.add(new File([arguments[1]], arguments[0])); \
            for (const type of ['dragenter', 'dragover', 'drop']) \
            document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));";
        self.client
            .execute(script, vec![name.into(), content.into()])
            .await
            .expect("dropped");
    }

    /// Drops several files at once.
    pub async fn drop_files(&self, files: &[(&str, &str)]) {
        let script = "const data = new DataTransfer(); \
            for (const [name, content] of arguments[0]) data.items.add(new File([content], name)); \
            for (const type of ['dragenter', 'dragover', 'drop']) \
            document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));";
        self.client.execute(script, vec![json!(files)]).await.expect("dropped");
    }

    /// What the console holds of errors.
    pub async fn console_errors(&self) -> Vec<String> {
        let log = self.client.issue_cmd(BrowserLog).await.expect("the console's log");
        let entries = log.as_array().expect("entries").iter();
        entries
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Lays the page out as on a screen of this width.
    pub async fn emulate_width(&self, width: u32) {
        let metrics = json!({"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": true});
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Gives a command of the DevTools protocol.
    pub async fn cdp(&self, command: &'static str, params: Value) {
        self.client.issue_cmd(Cdp(command, params)).await.expect(command);
    }

    /// Closes the browser.
    pub async fn close(self) {
        let _ = std::fs::remove_dir_all(&self.downloads);
        self.client.close().await.expect("the browser closes");
    }
}

/// chromedriver's own command for the console's log.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}

/// A command of the DevTools protocol.
#[derive(Debug)]
struct Cdp(&'static str, Value);

impl WebDriverCompatibleCommand for Cdp {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({"cmd": self.0, "params": self.1}).to_string()),
        )
    }
}

/// Outcome → count over a result's measured requests.
pub fn outcomes(document: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for request in document["requests"].as_array().expect("requests") {
        *counts
            .entry(request["outcome"].as_str().expect("an outcome").to_owned())
            .or_default() += 1;
    }
    counts
}
