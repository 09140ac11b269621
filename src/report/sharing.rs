//! What a result holds of what is private, and the result without it.

use serde_json::Value;

use super::{Document, HIDDEN, Series, format::count};
use crate::{
    config::{Endpoint, LanePolicy, RunConfig, workload::Kind},
    load::lanes::host,
    request::{RequestRecord, Rule},
};

/// What a person lets out of the browser besides figures. Keys are no choice: they are never in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Names and addresses of the server.
    pub hosts: bool,
    /// The typed prompt, the name of the file of prompts, texts among the extra keys of the body.
    pub prompts: bool,
    /// The bytes kept of failures: they hold the prompt as sent and the answer as far as it came.
    pub evidence: bool,
}

/// One thing that a shared result holds, or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What it is, in a few words.
    pub what: String,
    /// Whether it is in what is shared.
    pub included: bool,
}

/// Keys of a request body whose texts are prompts.
const PROMPT_KEYS: [&str; 9] = [
    "prompt",
    "prompts",
    "messages",
    "content",
    "text",
    "input",
    "input_ids",
    "system",
    "suffix",
];

impl Document {
    /// The result without what the person does not let out.
    pub fn to_share(&self, keep: &Keep) -> Document {
        self.to_share_without(keep, &Hosts::of(self))
    }

    fn to_share_without(&self, keep: &Keep, hosts: &Hosts) -> Document {
        let mut document = self.clone().without_secrets();
        if !keep.prompts {
            hide_prompts(&mut document.config);
        }
        for record in document.requests.iter_mut().chain(&mut document.warmup) {
            if !keep.evidence {
                record.evidence = None;
                hide_excerpt(record);
            }
        }
        if !keep.hosts {
            hosts.hide(&mut document);
        }
        document
    }

    /// What the result holds, and which of it is in what is shared: for a person to read before it goes out.
    pub fn contents(&self, keep: &Keep) -> Vec<Content> {
        let mut contents = Vec::new();
        let mut put = |included: bool, what: String| contents.push(Content { what, included });
        let config = &self.config;
        put(
            true,
            match self.server.model.as_str() {
                "" => "Date, load, workload, time-outs and seed of the run".to_owned(),
                model => format!("Model name ({model}), date, load, workload, time-outs and seed of the run"),
            },
        );
        put(
            true,
            "Figures, distributions, course over time, the client's verdict".to_owned(),
        );
        let failed = self
            .requests
            .iter()
            .chain(&self.warmup)
            .filter(|r| r.failure.is_some())
            .count();
        if failed > 0 {
            put(
                true,
                format!(
                    "The server's messages of failures ({}), as it worded them",
                    count(failed as u64)
                ),
            );
        }
        let headers: Vec<&str> = config.extra_headers.iter().map(|(name, _)| name.as_str()).collect();
        if !headers.is_empty() {
            put(
                true,
                format!(
                    "Extra headers ({}); values that look secret are hidden",
                    headers.join(", ")
                ),
            );
        }
        if !config.extra_body.is_empty() {
            let keys: Vec<&str> = config.extra_body.keys().map(String::as_str).collect();
            put(true, format!("Extra keys of the body ({})", keys.join(", ")));
        }
        let hosts = Hosts::of(self);
        if !hosts.0.is_empty() {
            put(keep.hosts, "Names and addresses of the server".to_owned());
        }
        if self.server.details.is_some() {
            put(
                keep.hosts,
                "The server's settings, with paths and its command line".to_owned(),
            );
        }
        let prompts = match config.workload.kind {
            Kind::Typed => Some("The typed prompt"),
            Kind::File => Some("The name of the file of prompts"),
            _ if config.extra_body.keys().any(|key| is_prompt_key(key)) => {
                Some("Texts among the extra keys of the body")
            }
            _ => None,
        };
        if let Some(what) = prompts {
            put(keep.prompts, what.to_owned());
        }
        let kept = self
            .requests
            .iter()
            .chain(&self.warmup)
            .filter(|r| r.evidence.is_some())
            .count();
        if kept > 0 {
            put(
                keep.evidence,
                format!(
                    "Bytes kept of failures ({}), with prompts and answers",
                    count(kept as u64)
                ),
            );
        }
        put(false, "API keys: they are in no result".to_owned());
        contents
    }
}

impl Series {
    /// The runs without what the person does not let out. A name of one run is hidden in all of them.
    pub fn to_share(&self, keep: &Keep) -> Series {
        let hosts = Hosts::of_all(&self.points, &self.config);
        let mut config = self.config.clone();
        if !keep.prompts {
            hide_prompts(&mut config);
        }
        if !keep.hosts {
            hosts.hide_config(&mut config);
        }
        Series {
            format: self.format.clone(),
            config,
            points: self
                .points
                .iter()
                .map(|point| point.to_share_without(keep, &hosts))
                .collect(),
        }
    }

    /// What the runs hold, each thing once; it is in what is shared as [`Document::contents`] says.
    pub fn contents(&self, keep: &Keep) -> Vec<Content> {
        let mut contents: Vec<Content> = Vec::new();
        for content in self.points.iter().flat_map(|point| point.contents(keep)) {
            if !contents.contains(&content) {
                contents.push(content);
            }
        }
        contents
    }
}

fn is_prompt_key(key: &str) -> bool {
    PROMPT_KEYS.contains(&key.to_ascii_lowercase().as_str())
}

fn hide_prompts(config: &mut RunConfig) {
    if !config.workload.prompt.is_empty() {
        config.workload.prompt = HIDDEN.to_owned();
    }
    if let Some(file) = &mut config.workload.file {
        file.name = HIDDEN.to_owned();
    }
    let mut body = Value::Object(std::mem::take(&mut config.extra_body));
    hide_prompt_keys(&mut body);
    if let Value::Object(body) = body {
        config.extra_body = body;
    }
}

fn hide_prompt_keys(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if is_prompt_key(key) && !matches!(value, Value::Null | Value::Bool(_)) {
                    *value = HIDDEN.into();
                } else {
                    hide_prompt_keys(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_prompt_keys),
        _ => {}
    }
}

/// Cuts from a message what it quotes of an answer that could not be read.
fn hide_excerpt(record: &mut RequestRecord) {
    let Some(failure) = &mut record.failure else {
        return;
    };
    if matches!(
        failure.rule,
        Rule::NotJson | Rule::NotEventStream | Rule::EndWithoutFinish
    ) && let Some((what, _)) = failure.message.split_once(": ")
    {
        failure.message = format!("{what}: {HIDDEN}");
    }
}

/// The names and addresses of a result's servers, in lower case, the longest first.
struct Hosts(Vec<String>);

impl Hosts {
    fn of(document: &Document) -> Self {
        Self::of_all(std::slice::from_ref(document), &document.config)
    }

    fn of_all(documents: &[Document], config: &RunConfig) -> Self {
        let configs = documents.iter().map(|document| &document.config).chain([config]);
        let mut urls = Vec::new();
        for config in configs {
            urls.push(&config.series.other_url);
            if let Endpoint::Http { base_url } = &config.endpoint {
                urls.push(base_url);
            }
            if let LanePolicy::List { base_urls } = &config.lanes {
                urls.extend(base_urls);
            }
        }
        for document in documents {
            urls.push(&document.server.base_url);
            urls.extend(&document.slots.lanes);
            let records = document.requests.iter().chain(&document.warmup);
            urls.extend(records.filter_map(|r| Some(&r.evidence.as_ref()?.url)));
        }
        let mut names = Vec::new();
        for url in urls.into_iter().filter(|url| !matches!(url.as_str(), "" | "simulated")) {
            let url = url.trim_end_matches('/').to_ascii_lowercase();
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
            let authority = authority.rsplit('@').next().unwrap_or_default();
            names.extend(host(&url));
            names.push(authority.to_owned());
            names.push(url);
        }
        names.retain(|name| !name.is_empty());
        names.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        names.dedup();
        Self(names)
    }

    fn hide(&self, document: &mut Document) {
        self.hide_config(&mut document.config);
        let server = &mut document.server;
        // Host names, paths and a command line may stand anywhere in them.
        server.details = None;
        for text in [&mut server.base_url, &mut server.model] {
            self.hide_text(text);
        }
        let texts = document
            .slots
            .lanes
            .iter_mut()
            .chain(&mut document.notes)
            .chain(&mut document.client.reasons)
            .chain(&mut server.owned_by);
        texts.for_each(|text| self.hide_text(text));
        for record in document.requests.iter_mut().chain(&mut document.warmup) {
            self.hide_record(record);
        }
    }

    fn hide_config(&self, config: &mut RunConfig) {
        if let Endpoint::Http { base_url } = &mut config.endpoint {
            self.hide_text(base_url);
        }
        if let LanePolicy::List { base_urls } = &mut config.lanes {
            base_urls.iter_mut().for_each(|url| self.hide_text(url));
        }
        let values = config.extra_headers.iter_mut().map(|(_, value)| value);
        let others = [
            &mut config.model,
            &mut config.series.other_url,
            &mut config.workload.prompt,
        ];
        values.chain(others).for_each(|text| self.hide_text(text));
        config.extra_body.values_mut().for_each(|value| self.hide_value(value));
    }

    fn hide_record(&self, record: &mut RequestRecord) {
        if let Some(failure) = &mut record.failure {
            self.hide_text(&mut failure.message);
            failure.code.iter_mut().for_each(|text| self.hide_text(text));
            failure.kind.iter_mut().for_each(|text| self.hide_text(text));
        }
        let texts = record
            .response_id
            .iter_mut()
            .chain(&mut record.finish_reason)
            .chain(&mut record.tokens.suspect);
        texts.for_each(|text| self.hide_text(text));
        if let Some(evidence) = &mut record.evidence {
            self.hide_text(&mut evidence.url);
            self.hide_text(&mut evidence.request_body);
            for (_, value) in &mut evidence.headers {
                self.hide_text(value);
            }
            // The bytes keep their number: what a read brought stays where it was.
            for read in &mut evidence.reads {
                for at in self.places(&read.bytes) {
                    read.bytes[at].fill(b'*');
                }
            }
        }
    }

    fn hide_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.hide_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_value(item)),
            Value::Object(map) => map.values_mut().for_each(|value| self.hide_value(value)),
            _ => {}
        }
    }

    fn hide_text(&self, text: &mut String) {
        for at in self.places(text.as_bytes()).into_iter().rev() {
            text.replace_range(at, HIDDEN);
        }
    }

    /// Where a name stands as a word of its own, from left to right, apart from each other; the longest wins.
    fn places(&self, bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
        let lower = bytes.to_ascii_lowercase();
        let mut places: Vec<std::ops::Range<usize>> = Vec::new();
        for name in &self.0 {
            for start in memchr::memmem::find_iter(&lower, name) {
                let end = start + name.len();
                let apart = places.iter().all(|p| end <= p.start || p.end <= start);
                if apart && is_word(&lower, start, end) {
                    places.push(start..end);
                }
            }
        }
        places.sort_unstable_by_key(|place| place.start);
        places
    }
}

/// Whether no letter, digit or hyphen touches what stands there: `a` is no host in `data`.
fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte >= 0x80;
    let before = start.checked_sub(1).and_then(|i| bytes.get(i));
    let after = bytes.get(end);
    !before.is_some_and(part) && !after.is_some_and(part)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::{
        config::workload::FileName,
        report::tests::small,
        request::{Evidence, ReadEvidence},
    };

    const HOST: &str = "gpu-7.corp.example";

    /// A result that names its host wherever a text can.
    fn revealing() -> Document {
        let mut document = small();
        let url = format!("http://{HOST}:30000/v1");
        let told = format!("upstream {HOST}:30000 (GPU-7.corp.example) is down");
        document.simulated = false;
        document.config.endpoint = Endpoint::Http { base_url: url.clone() };
        document.config.lanes = LanePolicy::List {
            base_urls: vec![url.clone()],
        };
        document.config.series.other_url = url.clone();
        document.config.model = format!("{HOST}/model");
        document.config.extra_headers = vec![("Host".to_owned(), HOST.to_owned())];
        document.config.extra_body = serde_json::from_value(serde_json::json!({
            "messages": [{ "content": "the secret prompt" }], "top_k": 3, "route": [told.clone()],
        }))
        .unwrap();
        document.config.workload.kind = Kind::Typed;
        document.config.workload.prompt = "the secret prompt".to_owned();
        document.config.workload.file = Some(FileName {
            name: "the secret prompt.jsonl".to_owned(),
            ..FileName::default()
        });
        document.server.base_url = url.clone();
        document.server.model = document.config.model.clone();
        document.server.owned_by = Some(HOST.to_owned());
        document.slots.lanes = vec![url.clone()];
        document.notes = vec![told.clone()];
        document.client.reasons = vec![told.clone()];
        let failed = &mut document.requests[1];
        let failure = failed.failure.as_mut().unwrap();
        (failure.message, failure.code, failure.kind) = (told.clone(), Some(told.clone()), Some(told.clone()));
        failed.response_id = Some(told.clone());
        failed.finish_reason = Some(told.clone());
        failed.tokens.suspect = Some(told.clone());
        failed.evidence = Some(Evidence {
            url: format!("{url}/chat/completions"),
            request_body: format!("{{\"prompt\":\"the secret prompt\",\"route\":\"{HOST}\"}}"),
            headers: vec![("location".to_owned(), url)],
            reads: vec![ReadEvidence {
                at_ms: 1.0,
                bytes: told.into_bytes(),
            }],
            dropped_bytes: 0,
        });
        document
    }

    fn bytes_of(document: &Document) -> Vec<u8> {
        let evidence = document.requests.iter().filter_map(|r| r.evidence.as_ref());
        evidence.flat_map(|e| &e.reads).flat_map(|r| r.bytes.clone()).collect()
    }

    #[test]
    fn without_a_tick_no_host_prompt_or_byte_goes_out() {
        let shared = revealing().to_share(&Keep::default());
        let text = shared.to_json().to_lowercase();
        assert!(!text.contains("gpu-7") && !text.contains("secret prompt"), "{text}");
        assert!(shared.requests.iter().all(|r| r.evidence.is_none()));
        assert!(text.contains("is down"), "the message itself stays");
        Document::from_json(&shared.to_json()).expect("still a result");
    }

    #[test]
    fn each_tick_lets_out_its_own_and_nothing_else() {
        let document = revealing();
        let text = |keep: Keep| document.to_share(&keep).to_json();
        let hosts = text(Keep {
            hosts: true,
            ..Keep::default()
        });
        assert!(hosts.contains(HOST) && !hosts.contains("secret prompt"));
        let prompts = text(Keep {
            prompts: true,
            ..Keep::default()
        });
        assert!(prompts.contains("secret prompt") && !prompts.contains("gpu-7"));
        let kept = document.to_share(&Keep {
            evidence: true,
            ..Keep::default()
        });
        assert!(!kept.to_json().to_lowercase().contains("gpu-7"));
        let (before, after) = (bytes_of(&document), bytes_of(&kept));
        assert_eq!(before.len(), after.len());
        assert!(!String::from_utf8(after).unwrap().to_lowercase().contains("gpu-7"));
        let all = document.to_share(&Keep {
            hosts: true,
            prompts: true,
            evidence: true,
        });
        assert_eq!(all, document);
    }

    #[test]
    fn a_short_host_is_hidden_as_a_word_alone() {
        let mut document = small();
        document.server.base_url = "http://a:80".to_owned();
        document.notes = vec!["a data line of a, http://A:80/x and a:80; ba-a".to_owned()];
        let shared = document.to_share(&Keep::default());
        let hidden = format!("{HIDDEN} data line of {HIDDEN}, {HIDDEN}/x and {HIDDEN}; ba-a");
        assert_eq!(shared.notes, [hidden]);
    }

    #[test]
    fn what_could_not_be_read_of_an_answer_goes_out_with_its_bytes_alone() {
        let mut document = small();
        let failure = document.requests[1].failure.as_mut().unwrap();
        failure.rule = Rule::NotJson;
        failure.message = "a data line is not JSON (expected value): the secret answer".to_owned();
        let message = |keep: Keep| document.to_share(&keep).requests[1].failure.clone().unwrap().message;
        assert!(!message(Keep::default()).contains("secret answer"));
        let kept = Keep {
            evidence: true,
            ..Keep::default()
        };
        assert!(message(kept).contains("secret answer"));
    }

    #[test]
    fn a_name_of_one_run_is_hidden_in_all_runs_of_a_series() {
        let mut other = small();
        other.notes = vec![format!("the other one is {HOST}")];
        let mut series = Series::new(&other.config);
        series.points = vec![other, revealing()];
        let shared = series.to_share(&Keep::default()).to_json().to_lowercase();
        assert!(
            !shared.contains("gpu-7") && !shared.contains("secret prompt"),
            "{shared}"
        );
        let all = Keep {
            hosts: true,
            prompts: true,
            evidence: true,
        };
        assert_eq!(series.to_share(&all), series);
        let listed = series.contents(&Keep::default());
        let keys = listed.iter().filter(|c| c.what.contains("API keys")).count();
        assert_eq!(keys, 1, "each thing is listed once");
    }

    #[test]
    fn the_list_says_what_is_in_and_what_is_not() {
        let listed = |keep: &Keep, words: &str| {
            let contents = revealing().contents(keep);
            let found: Vec<bool> = contents
                .iter()
                .filter(|c| c.what.contains(words))
                .map(|c| c.included)
                .collect();
            assert_eq!(found.len(), 1, "{words}");
            found[0]
        };
        let nothing = Keep::default();
        for (words, included) in [
            ("Model name", true),
            ("messages of failures (1)", true),
            ("Extra headers (Host)", true),
            ("Names and addresses", false),
            ("typed prompt", false),
            ("Bytes kept of failures (1)", false),
            ("API keys", false),
        ] {
            assert_eq!(listed(&nothing, words), included, "{words}");
        }
        let hosts = Keep { hosts: true, ..nothing };
        assert!(listed(&hosts, "Names and addresses"));
        let plain = small().contents(&nothing);
        assert!(
            !plain
                .iter()
                .any(|c| c.what.contains("addresses") || c.what.contains("Bytes"))
        );
    }
}
