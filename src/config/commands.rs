//! The same load with another tool: the way on when one browser is not enough, and the way to compare.
//!
//! Versions that the options were checked with by `script/check-commands`: aiperf 0.13.0, guidellm 0.8.1. Those of sglang
//! 0.5.23 were compared with its `--help`; those of vLLM and inference-perf are not checked yet. A key is never printed: the tools read it from the environment
//! variable `OPENAI_API_KEY`.

use serde_json::{Map, Value, json};

use super::{
    Api, Endpoint, RunConfig, TokenLimit,
    load::{Arrival, Rate},
    secret_names::{is_secret_header, is_secret_name, looks_like_a_key},
    series::Kind as Series,
    shell::quote,
    workload::Kind,
};

/// Where a command goes if the simulated server is chosen, which no other tool can reach.
const STAND_IN_URL: &str = "http://localhost:30000";
/// What stands for the model if none is named.
const STAND_IN_MODEL: &str = "MODEL";

/// A tool that can make a similar load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `python -m sglang.benchmark.serving`
    Sglang,
    /// `vllm bench serve`
    Vllm,
    /// `aiperf profile`
    Aiperf,
    /// `guidellm run`
    Guidellm,
    /// A configuration for inference-perf, which runs in Kubernetes.
    InferencePerf,
}

impl Tool {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Tool; 5] = [
        Tool::Sglang,
        Tool::Vllm,
        Tool::Aiperf,
        Tool::Guidellm,
        Tool::InferencePerf,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Sglang => "sglang.benchmark.serving",
            Tool::Vllm => "vllm bench serve",
            Tool::Aiperf => "aiperf",
            Tool::Guidellm => "guidellm",
            Tool::InferencePerf => "inference-perf (Kubernetes)",
        }
    }

    /// The tool of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// The nearest that a tool can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equivalent {
    /// A command for a POSIX shell, or a configuration file. Empty if the tool cannot do it at all.
    pub text: String,
    /// What is not carried over, or has to be filled in; a sentence each.
    pub apart: Vec<String>,
}

/// What a command needs of a configuration, without secrets.
struct Parts<'a> {
    config: &'a RunConfig,
    url: &'a str,
    model: &'a str,
    body: Map<String, Value>,
    headers: Vec<(&'a str, &'a str)>,
    with_key: bool,
    apart: Vec<String>,
}

/// The same load with `tool`. `with_key`: the server wants a key.
pub fn equivalent(tool: Tool, config: &RunConfig, with_key: bool) -> Equivalent {
    let mut parts = Parts::of(config, with_key);
    parts.server_side(tool);
    parts.series(tool);
    let text = match tool {
        Tool::Sglang => parts.sglang(),
        Tool::Vllm => parts.vllm(),
        Tool::Aiperf => parts.aiperf(),
        Tool::Guidellm => parts.guidellm(),
        Tool::InferencePerf => parts.inference_perf(),
    };
    Equivalent {
        text,
        apart: parts.apart,
    }
}

/// A command, an option a line.
struct Line(String);

impl Line {
    fn new(program: &str) -> Self {
        Self(program.to_owned())
    }

    fn flag(&mut self, name: &str) {
        self.0.push_str(" \\\n  ");
        self.0.push_str(name);
    }

    fn option(&mut self, name: &str, value: &str) {
        // Joined by `=`, so that a value that begins with a dash is not taken as an option.
        let value = quote(value);
        self.flag(&format!("{name}={value}"));
    }

    fn number(&mut self, name: &str, value: impl ToString) {
        self.option(name, &value.to_string());
    }

    /// An option whose value is the load of a run; in a sweep, what [`Parts::each_load`] sets.
    fn load(&mut self, name: &str, value: impl ToString, swept: bool) {
        if swept {
            self.flag(&format!("{name}=\"${LOAD}\""));
        } else {
            self.number(name, value);
        }
    }
}

/// The shell's variable that a sweep changes.
const LOAD: &str = "load";

impl<'a> Parts<'a> {
    fn of(config: &'a RunConfig, with_key: bool) -> Self {
        let mut apart = Vec::new();
        let url = match &config.endpoint {
            Endpoint::Http { base_url } => base_url.trim_end_matches('/').trim_end_matches("/v1"),
            Endpoint::Simulated => {
                apart.push(format!(
                    "No other tool reaches the simulated server: {STAND_IN_URL} stands for your server's address."
                ));
                STAND_IN_URL
            }
        };
        let model = if config.model.is_empty() {
            apart.push(format!("No model is named here: {STAND_IN_MODEL} stands for its name."));
            STAND_IN_MODEL
        } else {
            &config.model
        };
        let open =
            |(name, value): &(&String, &Value)| !is_secret_name(name) && !value.as_str().is_some_and(looks_like_a_key);
        let body: Map<String, Value> = config
            .extra_body
            .iter()
            .filter(open)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let headers: Vec<(&str, &str)> = config
            .extra_headers
            .iter()
            .filter(|(name, value)| !is_secret_header(name) && !looks_like_a_key(value))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        if body.len() < config.extra_body.len() || headers.len() < config.extra_headers.len() {
            apart.push("Headers and body keys that look secret are left out.".to_owned());
        }
        if with_key {
            apart.push("Set the environment variable OPENAI_API_KEY to your key first.".to_owned());
        }
        apart.push(
            match config.workload.kind {
                Kind::Random => "The prompts are others, though of the same length; the three time-outs and the lanes have no counterpart.",
                Kind::SharedPrefix => "The prompts are others; the three time-outs and the lanes have no counterpart.",
                Kind::Typed | Kind::File => {
                    "The prompts are not carried over: random ones stand for them. The three time-outs and the lanes have no counterpart."
                }
            }
            .to_owned(),
        );
        Self {
            config,
            url,
            model,
            body,
            headers,
            with_key,
            apart,
        }
    }

    /// Whether the loads of a sweep are rates (`true`) or concurrencies; `None` if there is no sweep.
    fn sweep(&self) -> Option<bool> {
        (self.config.series.kind == Series::Sweep).then(|| self.config.load.is_open())
    }

    /// The loads of a sweep; without one, the load of the run.
    fn loads(&self, single: f64) -> Vec<f64> {
        match self.sweep() {
            Some(_) => self.config.series.loads.clone(),
            None => vec![single],
        }
    }

    /// A command of a sweep once for each load.
    fn each_load(&self, line: Line) -> String {
        if self.sweep().is_none() {
            return line.0;
        }
        let loads: Vec<String> = self.config.series.loads.iter().map(f64::to_string).collect();
        format!("for {LOAD} in {}; do\n{}\ndone", loads.join(" "), line.0)
    }

    /// Says what of a series is not carried over.
    fn series(&mut self, tool: Tool) {
        match self.config.series.kind {
            Series::Single => {}
            Series::Sweep => {
                if !matches!(tool, Tool::Guidellm | Tool::InferencePerf) {
                    self.apart("It is called once for each load, with the same prompts each time: add a seed of its own to each, or the server answers from its cache.");
                }
            }
            Series::Search => self.apart("The search is not carried over: this is one run at the load of the form."),
            Series::Abba => self.apart("The second endpoint is not carried over: this is one run on the first."),
        }
    }

    /// Says what is done to the server besides, unless the tool does it.
    fn server_side(&mut self, tool: Tool) {
        if self.config.server_side.flush_cache && tool != Tool::Sglang {
            self.apart("The server's cache is not flushed before the run: POST /flush_cache by hand.");
        }
    }

    fn apart(&mut self, words: &str) {
        self.apart.push(words.to_owned());
    }

    /// Says that a tool's requests are no conversations, if they are here.
    fn one_turn(&mut self) {
        if self.config.workload.turns > 1 {
            self.apart("Conversations are not carried over: each request stands alone.");
        }
    }

    /// Says what a tool's random prompts of one length leave out.
    fn one_length(&mut self) {
        if self.config.workload.kind == Kind::SharedPrefix {
            self.apart("Shared prefixes are not carried over: prompts have the length of the question alone.");
        }
        if self.config.workload.range_ratio < 1.0 {
            self.apart("Drawn lengths are not carried over: all prompts and answers have the longest.");
        }
        self.one_turn();
    }

    fn cannot(&mut self, words: &str) -> String {
        self.apart = vec![words.to_owned()];
        String::new()
    }

    /// The SLOs as `name:ms`, under a tool's names for TTFT, TPOT and E2E.
    fn goals(&self, names: [&str; 3]) -> Vec<String> {
        let slo = &self.config.slo;
        names
            .into_iter()
            .zip([slo.ttft_ms, slo.tpot_ms, slo.e2e_ms])
            .filter_map(|(name, goal_ms)| Some(format!("{name}:{}", goal_ms?)))
            .collect()
    }

    /// The rate of an open loop that does not change, requests per second; for one that does, its first, and that is said.
    fn rate(&mut self) -> Option<f64> {
        let load = &self.config.load;
        let rate = match (&load.rate, load.arrival) {
            (_, Arrival::Closed) => return None,
            (_, Arrival::Trace) => {
                self.apart("The times of the trace are not carried over.");
                return None;
            }
            (Rate::Steady { per_s }, _) => return Some(*per_s),
            (Rate::Ramp { from_per_s, .. }, _) => *from_per_s,
            (Rate::Stages { stages }, _) => stages.first()?.per_s,
        };
        self.apart("The rate stays as it begins here: ramps and stages are not carried over.");
        Some(rate)
    }

    /// Says which gaps a tool has instead of those asked, if it has others.
    fn gaps(&mut self, has: impl Fn(Arrival) -> bool, instead: &str) {
        let arrival = self.config.load.arrival;
        if arrival != Arrival::Trace && !has(arrival) {
            self.apart(&format!("Gaps between requests are {instead} not {}.", arrival.name()));
        }
    }

    /// Says so if the run ends by time here.
    fn ends_by_number(&mut self) {
        if self.config.load.duration_s.is_some() {
            self.apart("It ends after the number of requests, not after a time.");
        }
    }

    fn body_text(&self) -> String {
        Value::Object(self.body.clone()).to_string()
    }

    fn sglang(&mut self) -> String {
        let config = self.config;
        let mut line = Line::new("python -m sglang.benchmark.serving");
        line.option(
            "--backend",
            match config.api {
                Api::Chat => "sglang-oai-chat",
                Api::Completions => "sglang-oai",
                Api::Generate => "sglang",
            },
        );
        line.option("--base-url", self.url);
        if !config.model.is_empty() {
            line.option("--served-model-name", self.model);
        } else {
            self.apart.retain(|words| !words.contains(STAND_IN_MODEL));
        }
        let workload = &config.workload;
        if workload.kind == Kind::SharedPrefix {
            line.option("--dataset-name", "generated-shared-prefix");
            line.number("--gsp-num-groups", workload.groups);
            line.number(
                "--gsp-prompts-per-group",
                config.requests.div_ceil(workload.groups.max(1)),
            );
            line.number("--gsp-system-prompt-len", workload.system_tokens);
            line.number("--gsp-question-len", config.input_tokens);
            line.number("--gsp-output-len", config.output_tokens);
            line.number("--gsp-range-ratio", format!("{:?}", workload.range_ratio));
            line.number("--gsp-num-turns", workload.turns.max(1));
            if workload.ordered {
                line.flag("--gsp-ordered");
            }
            if workload.zipf_alpha > 0.0 {
                line.option("--gsp-group-distribution", "zipf");
                line.number("--gsp-zipf-alpha", format!("{:?}", workload.zipf_alpha));
            }
        } else {
            line.option("--dataset-name", "random-ids");
            line.number("--random-input-len", config.input_tokens);
            line.number("--random-output-len", config.output_tokens);
            line.number("--random-range-ratio", format!("{:?}", workload.range_ratio));
            line.number("--num-prompts", config.requests);
            self.one_turn();
        }
        if let Some(rate) = self.rate() {
            line.load("--request-rate", rate, self.sweep() == Some(true));
            self.gaps(|arrival| arrival == Arrival::Poisson, "those of a Poisson process,");
        }
        if let Some(most) = config.most_in_flight() {
            line.load("--max-concurrency", most, self.sweep() == Some(false));
        }
        self.ends_by_number();
        line.number("--warmup-requests", config.warmup);
        line.number("--seed", config.seed);
        if config.server_side.flush_cache {
            line.flag("--flush-cache");
        }
        if !config.stream {
            line.flag("--disable-stream");
        }
        if !config.ignore_eos {
            line.flag("--disable-ignore-eos");
        }
        let goals = self.goals(["ttft", "tpot", "e2el"]);
        if !goals.is_empty() {
            line.flag(&format!("--goodput {}", goals.join(" ")));
        }
        // Without usage it credits the tokens asked. On completions its reader fails at the usage frame.
        if config.api == Api::Chat && config.stream {
            self.body
                .entry("stream_options")
                .or_insert_with(|| json!({"include_usage": true}));
        }
        if !self.body.is_empty() {
            line.option("--extra-request-body", &self.body_text());
        }
        if !self.headers.is_empty() {
            line.flag("--header");
            for (name, value) in &self.headers {
                line.0.push(' ');
                line.0.push_str(&quote(&format!("{name}={value}")));
            }
            self.apart("It sends the headers with its measured requests alone, not with its questions before.");
        }
        self.apart(
            "It counts an error inside a stream, an abort and an answer without a token as successes, with the tokens asked.",
        );
        if config.token_limit == TokenLimit::MaxTokens && config.api == Api::Chat {
            self.apart("It sends the limit as max_completion_tokens.");
        }
        self.each_load(line)
    }

    fn vllm(&mut self) -> String {
        let config = self.config;
        self.one_length();
        let (backend, path) = match config.api {
            Api::Chat => ("openai-chat", "/v1/chat/completions"),
            Api::Completions => ("openai", "/v1/completions"),
            Api::Generate => return self.cannot("vllm bench serve does not know SGLang's /generate."),
        };
        let mut line = Line::new("vllm bench serve");
        line.option("--backend", backend);
        line.option("--base-url", self.url);
        line.option("--endpoint", path);
        line.option("--model", self.model);
        line.option("--dataset-name", "random");
        line.number("--random-input-len", config.input_tokens);
        line.number("--random-output-len", config.output_tokens);
        line.number("--num-prompts", config.requests);
        if let Some(rate) = self.rate() {
            line.load("--request-rate", rate, self.sweep() == Some(true));
            match config.load.arrival {
                Arrival::Gamma { burstiness } => line.number("--burstiness", burstiness),
                Arrival::Constant => line.option("--burstiness", "inf"),
                _ => {}
            }
        }
        if let Some(most) = config.most_in_flight() {
            line.load("--max-concurrency", most, self.sweep() == Some(false));
        }
        self.ends_by_number();
        line.number("--num-warmups", config.warmup);
        line.number("--seed", config.seed);
        line.number("--temperature", 0);
        let goals = self.goals(["ttft", "tpot", "e2el"]);
        if !goals.is_empty() {
            line.flag(&format!("--goodput {}", goals.join(" ")));
        }
        line.option("--percentile-metrics", "ttft,tpot,itl,e2el");
        line.option("--metric-percentiles", "50,90,95,99");
        if config.ignore_eos {
            line.flag("--ignore-eos");
        }
        if !self.body.is_empty() {
            line.option("--extra-body", &self.body_text());
        }
        if !self.headers.is_empty() {
            line.flag("--header");
            for (name, value) in &self.headers {
                line.0.push(' ');
                line.0.push_str(&quote(&format!("{name}={value}")));
            }
        }
        if !config.stream {
            self.apart("It always streams.");
        }
        self.apart("--model must also name a tokenizer that it can load; else add --tokenizer.");
        self.apart("It counts an error event inside a stream as a success.");
        self.each_load(line)
    }

    fn aiperf(&mut self) -> String {
        let config = self.config;
        self.one_length();
        let kind = match config.api {
            Api::Chat => "chat",
            Api::Completions => "completions",
            Api::Generate => return self.cannot("aiperf does not know SGLang's /generate."),
        };
        let mut line = Line::new("aiperf profile");
        line.option("--model", self.model);
        line.option("--url", self.url);
        line.option("--endpoint-type", kind);
        if config.stream {
            line.flag("--streaming");
        }
        if let Some(rate) = self.rate() {
            line.load("--request-rate", rate, self.sweep() == Some(true));
            match config.load.arrival {
                Arrival::Gamma { burstiness } => {
                    line.option("--arrival-pattern", "gamma");
                    line.number("--arrival-smoothness", burstiness);
                }
                arrival => line.option("--arrival-pattern", arrival.name()),
            }
        }
        if let Some(most) = config.most_in_flight() {
            line.load("--concurrency", most, self.sweep() == Some(false));
        }
        match config.load.duration_s {
            Some(duration_s) => {
                line.number("--benchmark-duration", duration_s);
                line.number("--benchmark-grace-period", config.load.grace_s);
            }
            None => line.number("--request-count", config.requests),
        }
        if config.warmup > 0 {
            line.number("--warmup-request-count", config.warmup);
        }
        line.number("--isl", config.input_tokens);
        line.number("--isl-stddev", 0);
        line.number("--osl", config.output_tokens);
        line.number("--osl-stddev", 0);
        line.number("--random-seed", config.seed);
        if config.timeouts.total_s > 0.0 {
            line.number("--request-timeout-seconds", config.timeouts.total_s);
        }
        let goals = self.goals(["time_to_first_token", "inter_token_latency", "request_latency"]);
        if !goals.is_empty() {
            line.option("--goodput", &goals.join(" "));
        }
        line.flag("--use-server-token-count");
        self.body.entry("temperature").or_insert_with(|| 0.into());
        if config.ignore_eos {
            self.body.entry("ignore_eos").or_insert_with(|| true.into());
        }
        line.option("--extra-inputs", &self.body_text());
        for (name, value) in &self.headers {
            line.option("--header", &format!("{name}:{value}"));
        }
        if config.token_limit == TokenLimit::MaxTokens && config.api == Api::Chat {
            line.flag("--use-legacy-max-tokens");
        }
        if self.with_key {
            line.flag("--api-key=\"$OPENAI_API_KEY\"");
        }
        self.apart("--model must also name a tokenizer that it can load; else add --tokenizer.");
        self.each_load(line)
    }

    fn guidellm(&mut self) -> String {
        let config = self.config;
        self.one_length();
        let path = match config.api {
            Api::Chat | Api::Completions => crate::protocol::api_path(config.api),
            Api::Generate => return self.cannot("guidellm does not know SGLang's /generate."),
        };
        let mut backend = json!({"kind": "openai_http", "target": self.url, "model": self.model, "request_format": path, "stream": config.stream});
        self.body.entry("temperature").or_insert_with(|| 0.into());
        if config.ignore_eos {
            self.body.entry("ignore_eos").or_insert_with(|| true.into());
        }
        backend["extras"] = json!({"body": self.body});
        if !self.headers.is_empty() {
            let headers: Map<String, Value> = self
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                .collect();
            backend["extras"]["headers"] = Value::Object(headers);
        }
        if config.timeouts.total_s > 0.0 {
            backend["timeout"] = config.timeouts.total_s.into();
        }
        let mut line = Line::new("guidellm run");
        if self.with_key {
            // The JSON's last brace gives way to the key, which the shell puts in.
            let text = backend.to_string();
            let open = quote(&format!(
                "{},\"api_key\":\"",
                text.trim_end_matches('}').to_owned() + &"}".repeat(closing(&text) - 1)
            ));
            line.flag(&format!("--backend={open}\"$OPENAI_API_KEY\"'\"}}'"));
        } else {
            line.option("--backend", &backend.to_string());
        }
        let profile = match self.rate() {
            None => {
                let loads = self.loads(f64::from(config.concurrency));
                let streams: Vec<u32> = loads.into_iter().map(|load| load as u32).collect();
                json!({"kind": "concurrent", "streams": streams})
            }
            Some(rate) => {
                self.gaps(
                    |arrival| matches!(arrival, Arrival::Poisson | Arrival::Constant),
                    "those of a Poisson process,",
                );
                let kind = match config.load.arrival {
                    Arrival::Constant => "constant",
                    _ => "poisson",
                };
                let mut profile = json!({"kind": kind, "rate": self.loads(rate)});
                if config.load.capped {
                    profile["max_concurrency"] = config.concurrency.into();
                }
                profile
            }
        };
        line.option("--profile", &profile.to_string());
        self.ends_by_number();
        line.option(
            "--constraint",
            &json!({"kind": "max_requests", "count": config.requests}).to_string(),
        );
        line.option(
            "--data",
            &json!({"kind": "synthetic_text", "prompt_tokens": config.input_tokens, "output_tokens": config.output_tokens})
                .to_string(),
        );
        line.option("--seed", &json!({"kind": "static", "value": config.seed}).to_string());
        if config.warmup > 0 {
            self.apart("It sends no warm-up requests that are left out of its figures.");
        }
        if !self.config.slo.is_empty() {
            self.apart("The SLOs are not carried over.");
        }
        self.apart("It counts a stream that was cut short as a success.");
        line.0
    }

    fn inference_perf(&mut self) -> String {
        let config = self.config;
        let kind = match config.api {
            Api::Chat => "chat",
            Api::Completions => "completion",
            Api::Generate => return self.cannot("inference-perf does not know SGLang's /generate."),
        };
        // JSON strings are YAML strings.
        let text = |value: &str| Value::from(value).to_string();
        let lengths = |tokens: u32| {
            format!(
                "\n    min: {tokens}\n    max: {tokens}\n    mean: {tokens}\n    std_dev: 0\n    total_count: {}",
                config.requests
            )
        };
        let mut yaml = format!("api:\n  type: {kind}\n  streaming: {}\n", config.stream);
        if !self.headers.is_empty() {
            yaml.push_str("  headers:\n");
            for (name, value) in &self.headers {
                yaml.push_str(&format!("    {}: {}\n", text(name), text(value)));
            }
        }
        yaml.push_str(&format!(
            "data:\n  type: random\n  input_distribution:{}\n  output_distribution:{}\n",
            lengths(config.input_tokens),
            lengths(config.output_tokens)
        ));
        match self.rate() {
            None => {
                yaml.push_str("load:\n  type: concurrent\n  stages:\n");
                for load in self.loads(f64::from(config.concurrency)) {
                    yaml.push_str(&format!(
                        "    - num_requests: {}\n      concurrency_level: {load}\n",
                        config.requests
                    ));
                }
            }
            Some(rate) => {
                self.gaps(
                    |arrival| matches!(arrival, Arrival::Poisson | Arrival::Constant),
                    "those of a Poisson process,",
                );
                let kind = match config.load.arrival {
                    Arrival::Constant => "constant",
                    _ => "poisson",
                };
                yaml.push_str(&format!("load:\n  type: {kind}\n  stages:\n"));
                for rate in self.loads(rate) {
                    let duration_s = config
                        .load
                        .duration_s
                        .unwrap_or(f64::from(config.requests) / rate)
                        .ceil();
                    yaml.push_str(&format!("    - rate: {rate}\n      duration: {duration_s}\n"));
                }
                if config.load.capped {
                    self.apart("The cap on requests at a time is not carried over.");
                }
            }
        }
        if !config.load.is_open() {
            self.ends_by_number();
        }
        yaml.push_str(&format!(
            "server:\n  type: sglang\n  model_name: {}\n  base_url: {}\n  ignore_eos: {}\n",
            text(self.model),
            text(self.url),
            config.ignore_eos
        ));
        if self.with_key {
            yaml.push_str("  api_key: \"${OPENAI_API_KEY}\"\n");
            self.apart("Put the key in with envsubst < config.yml, or from a Kubernetes secret.");
        }
        yaml.push_str(&format!(
            "tokenizer:\n  pretrained_model_name_or_path: {}\n",
            text(self.model)
        ));
        self.apart("server.type says whose metrics it reads: sglang, vllm or tgi.");
        self.apart("The model's name must also name a tokenizer that it can load.");
        if config.warmup > 0 {
            self.apart("It sends no warm-up requests that are left out of its figures.");
        }
        if !self.body.is_empty() {
            self.apart("Extra JSON for the body is not carried over.");
        }
        if !self.config.slo.is_empty() {
            self.apart("The SLOs are not carried over.");
        }
        self.one_length();
        self.apart("It counts an error inside a stream as a success with 0 tokens.");
        yaml
    }
}

/// How many braces a text ends with.
fn closing(text: &str) -> usize {
    text.len() - text.trim_end_matches('}').len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::workload::Workload;

    fn unusual() -> RunConfig {
        let mut config = RunConfig {
            endpoint: Endpoint::Http {
                base_url: "http://gpu:1/v1".into(),
            },
            model: "it's/$(a) model".into(),
            requests: 7,
            concurrency: 3,
            warmup: 2,
            input_tokens: 99,
            output_tokens: 55,
            ignore_eos: false,
            extra_headers: vec![
                ("X-Route".into(), "a 'b'".into()),
                ("X-API-Key".into(), "hunter2".into()),
            ],
            ..RunConfig::default()
        };
        config.extra_body.insert("top_p".into(), json!(0.5));
        config.extra_body.insert("user".into(), "it's".into());
        config.extra_body.insert("access_token".into(), "hunter2".into());
        config
    }

    /// The words of a command, as a real shell splits them.
    #[cfg(unix)]
    fn words(command: &str) -> Vec<String> {
        let script = format!("set -- {command}\nfor word; do printf '%s\\0' \"$word\"; done");
        let out = std::process::Command::new("sh")
            .args(["-c", &script])
            .env("OPENAI_API_KEY", "s3cret")
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let out = String::from_utf8(out.stdout).unwrap();
        out.split_terminator('\0').map(str::to_owned).collect()
    }

    #[cfg(unix)]
    #[test]
    fn a_sweep_calls_a_tool_once_for_each_load_or_gives_it_all() {
        let mut config = RunConfig {
            concurrency: 3,
            ..RunConfig::default()
        };
        config.series.kind = Series::Sweep;
        config.series.loads = vec![1.0, 2.0, 16.0];
        config.server_side.flush_cache = true;
        let told = |config: &RunConfig, tool| equivalent(tool, config, false);
        // What the shell makes of it, with a program that prints what it is given.
        let called = |text: &str, program: &str| {
            let script = format!("t() {{ printf '%s ' \"$@\"; echo; }}\n{}", text.replace(program, "t"));
            let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        for (tool, program, option) in [
            (Tool::Sglang, "python -m sglang.benchmark.serving", "--max-concurrency"),
            (Tool::Vllm, "vllm bench serve", "--max-concurrency"),
            (Tool::Aiperf, "aiperf profile", "--concurrency"),
        ] {
            let called = called(&told(&config, tool).text, program);
            let lines: Vec<&str> = called.lines().collect();
            assert_eq!(lines.len(), 3, "{called}");
            for (line, load) in lines.iter().zip([1, 2, 16]) {
                assert!(line.contains(&format!("{option}={load} ")), "{line}");
                assert_eq!(line.contains("--flush-cache"), tool == Tool::Sglang, "{line}");
            }
        }
        assert!(told(&config, Tool::Guidellm).text.contains("\"streams\":[1,2,16]"));
        assert!(
            told(&config, Tool::Guidellm)
                .apart
                .iter()
                .any(|words| words.contains("/flush_cache"))
        );
        let yaml = told(&config, Tool::InferencePerf).text;
        assert!(
            yaml.contains("concurrency_level: 1\n") && yaml.contains("concurrency_level: 16\n"),
            "{yaml}"
        );

        config.load.arrival = Arrival::Poisson;
        config.load.capped = true;
        let rates = called(&told(&config, Tool::Sglang).text, "python -m sglang.benchmark.serving");
        assert!(rates.contains("--request-rate=16 --max-concurrency=3 "), "{rates}");
        config.series.kind = Series::Search;
        let search = told(&config, Tool::Sglang);
        assert!(!search.text.contains("for ") && search.apart.iter().any(|words| words.contains("search")));
    }

    #[cfg(unix)]
    #[test]
    fn the_shell_gives_each_tool_the_words_that_were_meant() {
        let config = unusual();
        let has = |tool, with_key, due: &[&str]| {
            let words = words(&equivalent(tool, &config, with_key).text);
            for due in due {
                assert!(words.iter().any(|word| word == due), "{due} is not in {words:#?}");
            }
            words
        };
        has(
            Tool::Sglang,
            false,
            &[
                "--served-model-name=it's/$(a) model",
                "--base-url=http://gpu:1",
                "X-Route=a 'b'",
                "--disable-ignore-eos",
                "--num-prompts=7",
            ],
        );
        has(
            Tool::Vllm,
            true,
            &[
                "--model=it's/$(a) model",
                "X-Route=a 'b'",
                "--max-concurrency=3",
                "--random-input-len=99",
            ],
        );
        has(
            Tool::Aiperf,
            true,
            &["--api-key=s3cret", "--header=X-Route:a 'b'", "--isl=99", "--osl=55"],
        );
        for with_key in [false, true] {
            let words = has(Tool::Guidellm, with_key, &["run"]);
            let backend = words.iter().find_map(|word| word.strip_prefix("--backend=")).unwrap();
            let backend: Value = serde_json::from_str(backend).unwrap_or_else(|error| panic!("{error}: {backend}"));
            assert_eq!(backend["extras"]["body"]["user"], "it's");
            assert_eq!(backend["model"], "it's/$(a) model");
            assert_eq!(backend["api_key"], if with_key { json!("s3cret") } else { Value::Null });
        }
    }

    #[test]
    fn no_secret_is_printed_and_that_is_said() {
        for tool in Tool::ALL {
            let told = equivalent(tool, &unusual(), true);
            assert!(!told.text.contains("hunter2") && !told.text.is_empty(), "{}", told.text);
            assert!(told.apart.iter().any(|words| words.contains("look secret")), "{told:?}");
            assert!(
                told.apart.iter().any(|words| words.contains("OPENAI_API_KEY")),
                "{told:?}"
            );
        }
    }

    #[test]
    fn what_a_tool_cannot_do_is_said_in_place_of_a_command() {
        let native = RunConfig {
            api: Api::Generate,
            ..unusual()
        };
        for tool in [Tool::Vllm, Tool::Aiperf, Tool::Guidellm, Tool::InferencePerf] {
            let told = equivalent(tool, &native, false);
            assert!(told.text.is_empty() && told.apart.len() == 1, "{told:?}");
        }
        assert!(
            equivalent(Tool::Sglang, &native, false)
                .text
                .contains("--backend=sglang \\")
        );
    }

    #[test]
    fn a_workload_is_carried_over_or_said_to_be_left_out() {
        let mut config = unusual();
        config.workload = Workload {
            kind: Kind::SharedPrefix,
            groups: 7,
            range_ratio: 0.5,
            turns: 2,
            ..Workload::default()
        };
        let sglang = equivalent(Tool::Sglang, &config, false);
        let flags = words(&sglang.text);
        assert!(flags.contains(&"--gsp-num-groups=7".to_owned()), "{flags:?}");
        for tool in [Tool::Vllm, Tool::Aiperf, Tool::Guidellm, Tool::InferencePerf] {
            let apart = equivalent(tool, &config, false).apart.join(" ");
            // A tool that cannot do it at all says that and nothing else.
            let carries = ["Shared prefixes", "Drawn lengths", "Conversations"]
                .iter()
                .all(|words| apart.contains(words));
            assert!(
                carries || equivalent(tool, &config, false).text.is_empty(),
                "{tool:?}: {apart}"
            );
        }
    }

    #[test]
    fn what_stands_for_something_else_is_named() {
        let told = equivalent(Tool::Vllm, &RunConfig::default(), false);
        assert!(told.text.contains(STAND_IN_URL) && told.text.contains("--model=MODEL"));
        assert!(told.apart.iter().any(|words| words.contains("simulated")));
        assert!(told.apart.iter().any(|words| words.contains("MODEL")));
    }

    #[test]
    fn an_open_loop_is_carried_over_as_far_as_each_tool_knows_it_and_the_rest_is_said() {
        let mut config = unusual();
        config.load.arrival = Arrival::Gamma { burstiness: 0.5 };
        config.load.rate = "ramp:4:20:60".parse().unwrap();
        config.load.capped = true;
        let told = |tool| equivalent(tool, &config, false);
        let has = |tool, due: &[&str]| {
            let told = told(tool);
            for due in due {
                assert!(told.text.contains(due), "{due} is not in {}", told.text);
            }
            assert!(
                told.apart.iter().any(|words| words.contains("ramps")),
                "{:?}",
                told.apart
            );
            told.apart.iter().any(|words| words.contains("not gamma"))
        };
        assert!(has(Tool::Sglang, &["--request-rate=4", "--max-concurrency=3"]));
        assert!(!has(Tool::Vllm, &["--request-rate=4", "--burstiness=0.5"]));
        assert!(!has(
            Tool::Aiperf,
            &[
                "--request-rate=4",
                "--arrival-pattern=gamma",
                "--arrival-smoothness=0.5"
            ]
        ));
        assert!(has(Tool::Guidellm, &["\"kind\":\"poisson\"", "\"max_concurrency\":3"]));
        assert!(has(Tool::InferencePerf, &["type: poisson", "rate: 4"]));
    }

    #[test]
    fn the_goals_go_under_each_tools_own_names() {
        let mut config = unusual();
        (config.slo.ttft_ms, config.slo.e2e_ms) = (Some(500.0), Some(3000.0));
        let text = |tool| equivalent(tool, &config, false).text;
        assert!(text(Tool::Sglang).contains("--goodput ttft:500 e2el:3000"));
        assert!(text(Tool::Aiperf).contains("--goodput='time_to_first_token:500 request_latency:3000'"));
        let told = equivalent(Tool::Guidellm, &config, false).apart.join(" ");
        assert!(told.contains("SLOs are not carried over"), "{told}");
    }
}
