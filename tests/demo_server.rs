//! The demo endpoint on real sockets: what it sends, and that its record of it is true.

#![cfg(not(target_arch = "wasm32"))]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use streamgauge::{
    config::Api,
    request::{Machine, Outcome, Reading, Spec},
};

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demo_server"))
            .args(["--port", "0", "--ttft-ms", "5", "--itl-ms", "1"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the demo endpoint starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped"))
            .read_line(&mut line)
            .expect("a line");
        let port = line
            .trim()
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .expect("a port");
        Self { child, port }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        socket
    }

    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut socket = self.connect();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        write!(socket, "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
            .expect("sent");
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).expect("an end");
        Answer::of(&bytes)
    }

    fn ask(&self, extra: &Value) -> Answer {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "one two three"}], "stream": true, "max_tokens": 8,
            "stream_options": {"include_usage": true}});
        body.as_object_mut()
            .expect("an object")
            .extend(extra.as_object().expect("an object").clone());
        self.send(
            "POST",
            "/v1/chat/completions",
            &["Origin: http://page"],
            &body.to_string(),
        )
    }

    fn truth(&self) -> Vec<Value> {
        let answer = self.send("GET", "/demo/truth", &[], "");
        serde_json::from_slice::<Vec<Value>>(&answer.body).expect("a list")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// Whether the chunked body had its end.
    whole: bool,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let split = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..split]).to_lowercase();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        let rest = &bytes[split + 4..];
        let (body, whole) = if head.contains("transfer-encoding: chunked") {
            unchunk(rest)
        } else {
            (rest.to_vec(), true)
        };
        Self {
            status,
            head,
            body,
            whole,
        }
    }

    fn read(&self) -> Reading {
        let spec = Spec {
            api: Api::Chat,
            stream: true,
            requested_tokens: Some(8),
            keep_text: true,
            keep_bytes: 0,
        };
        let mut machine = Machine::new(spec, 0.0);
        machine.headers(self.status, None, 0.0);
        let _ = machine.read(&self.body, 1.0);
        if self.whole {
            machine.eof(2.0)
        } else {
            machine.broken("cut", 2.0)
        }
        machine.finish()
    }
}

fn unchunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16).expect("a length");
        if length == 0 {
            return (body, true);
        }
        let start = end + 2;
        if rest.len() < start + length + 2 {
            body.extend_from_slice(&rest[start..]);
            return (body, false);
        }
        body.extend_from_slice(&rest[start..start + length]);
        rest = &rest[start + length + 2..];
    }
    (body, false)
}

#[test]
fn each_fault_on_the_wire_is_the_one_that_its_record_names() {
    let server = Server::start(&[]);
    for (fault, due) in [
        ("http_429", Outcome::HttpError),
        ("http_500", Outcome::HttpError),
        ("http_503", Outcome::HttpError),
        ("error_first", Outcome::StreamError),
        ("error_mid", Outcome::StreamError),
        ("abort", Outcome::Aborted),
        ("cut", Outcome::Truncated),
        ("no_finish", Outcome::Truncated),
        ("malformed_json", Outcome::Malformed),
        ("no_tokens", Outcome::Empty),
    ] {
        let answer = server.ask(&json!({"demo_fault": fault}));
        let reading = answer.read();
        assert_eq!(
            reading.outcome,
            due,
            "{fault}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        let truth = server.truth().pop().expect("a record");
        assert_eq!(truth["fault"], fault);
        assert_eq!(truth["status"], answer.status);
        assert_eq!(truth["tokens_handed"], reading.tokens.frames, "{fault}");
        assert_eq!(truth["ended"], if fault == "cut" { "cut" } else { "completed" });
    }
}

#[test]
fn a_clean_answer_is_recorded_frame_by_frame() {
    let server = Server::start(&["--reasoning-share", "0.5"]);
    let reading = server.ask(&json!({})).read();
    assert_eq!(
        (reading.outcome, reading.tokens.output, reading.tokens.reasoning),
        (Outcome::Succeeded, Some(8), Some(4))
    );
    assert_eq!(reading.tokens.prompt, Some(3));
    let truth = server.truth().pop().expect("a record");
    assert_eq!(truth["id"], reading.response_id.expect("an id"));
    let kinds: Vec<&str> = truth["frames"]
        .as_array()
        .expect("frames")
        .iter()
        .map(|frame| frame["kind"].as_str().expect("a kind"))
        .collect();
    let mut due = vec!["role"];
    due.extend(["token"; 8]);
    due.extend(["finish", "usage", "done"]);
    assert_eq!(kinds, due);
}

#[test]
fn other_origins_may_read_it_as_they_may_sglang() {
    let server = Server::start(&[]);
    let preflight = [
        "Origin: http://page",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization,content-type",
    ];
    let answer = server.send("OPTIONS", "/v1/chat/completions", &preflight, "");
    assert_eq!(answer.status, 200);
    for line in [
        "access-control-allow-origin: http://page",
        "access-control-allow-headers: authorization,content-type",
        "access-control-max-age: 600",
    ] {
        assert!(answer.head.contains(line), "{line} is not in {}", answer.head);
    }
    assert!(
        server
            .ask(&json!({}))
            .head
            .contains("access-control-allow-origin: http://page")
    );
    let closed = Server::start(&["--cors", "off"]);
    assert!(!closed.ask(&json!({})).head.contains("access-control"));
}

#[test]
fn a_wrong_key_gets_a_401_that_a_browser_may_not_read() {
    let server = Server::start(&["--api-key", "right"]);
    let get = |headers: &[&str]| server.send("GET", "/v1/models", headers, "");
    let wrong = get(&["Origin: http://page", "Authorization: Bearer wrong"]);
    assert_eq!(
        (wrong.status, &wrong.body[..]),
        (401, &br#"{"error":"Unauthorized"}"#[..])
    );
    assert!(!wrong.head.contains("access-control"), "{}", wrong.head);
    let preflight = [
        "Origin: http://page",
        "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: authorization",
    ];
    let preflight = server.send("OPTIONS", "/v1/models", &preflight, "");
    assert!(
        preflight.head.contains("access-control-allow-origin"),
        "a preflight needs no key"
    );
    assert_eq!(get(&["Authorization: Bearer right"]).status, 200);
    assert_eq!(server.send("GET", "/health", &[], "").status, 200);
}

#[test]
fn what_cannot_be_answered_is_refused_in_sglangs_words() {
    let server = Server::start(&[]);
    let post = |body: &str| server.send("POST", "/v1/chat/completions", &[], body);
    for body in [
        "not json",
        "{}",
        r#"{"messages":[],"x":1}"#,
        r#"{"messages":[{"content":"x"}],"demo_fault":"nope"}"#,
    ] {
        let answer = post(body);
        let error: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(
            (answer.status, &error["object"], &error["code"]),
            (400, &json!("error"), &json!(400)),
            "{body}"
        );
    }
    assert_eq!(server.send("GET", "/nowhere", &[], "").status, 404);
    assert_eq!(server.send("GET", "/v1/chat/completions", &[], "").status, 405);
    assert_eq!(server.truth().len(), 0, "none of these was a request of the load");
}

#[test]
fn a_client_that_goes_away_is_noticed_and_leaves_the_batch() {
    let server = Server::start(&["--batch-limit", "1"]);
    let mut socket = server.connect();
    let body = r#"{"messages":[{"content":"x"}],"stream":true,"demo_fault":"stall"}"#;
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut first = [0; 64];
    socket.read_exact(&mut first).expect("the stream begins");
    drop(socket);
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        server.truth()[0]["ended"] == "client_gone"
    });
    assert!(gone, "{:?}", server.truth());
    assert_eq!(server.ask(&json!({})).read().outcome, Outcome::Succeeded);
}

#[test]
fn a_taken_port_is_one_clear_line() {
    let server = Server::start(&[]);
    let second = Command::new(env!("CARGO_BIN_EXE_demo_server"))
        .args(["--port", &server.port.to_string()])
        .output()
        .expect("it ran");
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(
        (second.status.code(), said.trim().lines().count()),
        (Some(1), 1),
        "{said}"
    );
    assert!(
        said.contains(&server.port.to_string()) && said.contains("--port"),
        "{said}"
    );
}

#[test]
fn faults_can_be_changed_and_the_record_cleared_while_it_runs() {
    let server = Server::start(&[]);
    assert_eq!(server.ask(&json!({})).read().outcome, Outcome::Succeeded);
    assert_eq!(server.send("POST", "/demo/faults", &[], "abort=1").status, 200);
    assert_eq!(server.ask(&json!({})).read().outcome, Outcome::Aborted);
    assert_eq!(server.send("POST", "/demo/faults", &[], "abort=2").status, 400);
    server.send("POST", "/demo/reset", &[], "");
    assert_eq!(server.truth().len(), 0);
}
