//! The scripted endpoint on real sockets.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Query, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use serde_json::{Value, json};
use tower_http::cors::CorsLayer;

use super::{
    Ask, DemoConfig, FaultKind, FaultShare, Pace, Plan, PlanEnding, Server, TimedFrame,
    truth::{Ended, FrameTruth, RequestTruth},
};
use crate::config::Api;

/// What is sent before a connection breaks must have left the buffers by then.
const BEFORE_CUT: Duration = Duration::from_millis(5);
/// Longest request body, as a guard of the host's memory.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// How the endpoint is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Latencies and faults.
    pub config: DemoConfig,
    /// Seed of both.
    pub seed: u64,
    /// Name of its one model.
    pub model: String,
    /// Key that requests must carry.
    pub api_key: Option<String>,
    /// Whether other origins may read its answers.
    pub cors: bool,
    /// Keys of the body that are refused with a 400, as strict servers do; a dot goes into an object.
    pub refuse: Vec<String>,
}

/// The endpoint's state.
#[derive(Debug)]
struct Host {
    options: Options,
    clock: UnixClock,
    server: Mutex<Server>,
    truth: Mutex<Vec<RequestTruth>>,
    flushed: AtomicU32,
}

/// Unix time that never steps back.
#[derive(Clone, Copy, Debug)]
struct UnixClock {
    started: Instant,
    started_unix_ms: f64,
}

impl UnixClock {
    fn start() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            started: Instant::now(),
            started_unix_ms: unix.as_secs_f64() * 1000.0,
        }
    }

    /// ms since the start: the plans' clock.
    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    fn unix_ms(&self) -> f64 {
        self.started_unix_ms + self.now_ms()
    }

    async fn sleep_until(&self, at_ms: f64) {
        tokio::time::sleep_until((self.started + Duration::from_secs_f64(at_ms.max(0.0) / 1000.0)).into()).await;
    }
}

/// A panic elsewhere leaves the record as it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The endpoint's routes.
pub fn router(options: Options) -> Router {
    let cors = options.cors;
    let host = Arc::new(Host {
        clock: UnixClock::start(),
        server: Mutex::new(Server::new(options.config.clone(), options.seed)),
        truth: Mutex::default(),
        flushed: AtomicU32::new(0),
        options,
    });
    let router = Router::new()
        .route("/v1/models", get(models))
        .route("/model_info", get(model_info))
        .route("/get_model_info", get(model_info))
        .route("/server_info", get(server_info))
        .route("/v1/loads", get(loads))
        .route("/flush_cache", get(flush_cache).post(flush_cache))
        .route("/tokenize", post(tokenize))
        .route("/health", get(|| async {}))
        .route("/ready", get(|| async {}))
        .route(
            "/v1/chat/completions",
            post(|state, body| answer(state, Api::Chat, body)),
        )
        .route(
            "/v1/completions",
            post(|state, body| answer(state, Api::Completions, body)),
        )
        .route("/generate", post(|state, body| answer(state, Api::Generate, body)))
        .route("/demo/hold", get(hold))
        .route("/demo/truth", get(truth))
        .route("/demo/flushed", get(flushed))
        .route("/demo/reset", post(reset))
        .route("/demo/faults", get(faults).post(set_faults))
        .fallback(|| async { (StatusCode::NOT_FOUND, Json(json!({"detail": "Not Found"}))) })
        .method_not_allowed_fallback(|| async {
            (
                StatusCode::METHOD_NOT_ALLOWED,
                Json(json!({"detail": "Method Not Allowed"})),
            )
        })
        .layer(axum::extract::DefaultBodyLimit::max(MAX_BODY));
    // SGLang's own order: the key is checked outside of CORS, so that a 401 has no CORS headers.
    let router = if cors {
        router.layer(CorsLayer::very_permissive().max_age(Duration::from_secs(600)))
    } else {
        router
    };
    router
        .layer(middleware::from_fn_with_state(host.clone(), check_key))
        .with_state(host)
}

async fn check_key(State(host): State<Arc<Host>>, request: Request, next: Next) -> Response {
    let open = request.method() == Method::OPTIONS
        || ["/health", "/ready", "/metrics", "/demo"]
            .iter()
            .any(|path| request.uri().path().starts_with(path));
    let right = host
        .options
        .api_key
        .as_ref()
        .is_none_or(|key| bearer(request.headers()) == Some(key.as_str()));
    if open || right {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, Json(json!({"error": "Unauthorized"}))).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key)
}

async fn models(State(host): State<Arc<Host>>) -> Json<Value> {
    let model = &host.options.model;
    Json(json!({"object": "list", "data": [{
        "id": model, "object": "model", "created": 1_700_000_000, "owned_by": "sglang", "root": model, "parent": null, "max_model_len": 131_072, "streamgauge_demo": true,
    }]}))
}

async fn model_info(State(host): State<Arc<Host>>) -> Json<Value> {
    let model = &host.options.model;
    Json(
        json!({"model_path": model, "served_model_name": model, "tokenizer_path": model, "is_generation": true, "weight_version": "default"}),
    )
}

/// As SGLang does, it tells its own key: a client must not pass it on.
async fn server_info(State(host): State<Arc<Host>>) -> Json<Value> {
    let Options { model, api_key, .. } = &host.options;
    let key = api_key
        .as_ref()
        .map_or_else(String::new, |key| format!(" --api-key {key}"));
    Json(json!({
        "version": concat!("streamgauge demo ", env!("CARGO_PKG_VERSION")), "served_model_name": model, "api_key": api_key,
        "max_running_requests": host.options.config.batch_limit, "frontend": "rust",
        "launch_command": format!("demo_server --model {model}{key}"),
    }))
}

/// SGLang's `/v1/loads`.
async fn loads(State(host): State<Arc<Host>>) -> Json<Value> {
    let load = lock(&host.server).load(host.clock.now_ms());
    Json(json!({"version": "demo", "loads": [{
        "dp_rank": 0, "num_running_reqs": load.running, "num_waiting_reqs": load.waiting, "token_usage": load.cache_used,
    }]}))
}

/// How long it may wait to become idle.
#[derive(serde::Deserialize)]
struct Patience {
    #[serde(default)]
    timeout: f64,
}

/// SGLang's `/flush_cache`: done when nothing runs, refused if that is not in time. The cache itself is not played.
async fn flush_cache(State(host): State<Arc<Host>>, Query(patience): Query<Patience>) -> Response {
    let give_up_ms = host.clock.now_ms() + patience.timeout.clamp(0.0, 60.0) * 1000.0;
    loop {
        let now_ms = host.clock.now_ms();
        if lock(&host.server).load(now_ms).is_idle() {
            host.flushed.fetch_add(1, Ordering::Relaxed);
            return "Cache flushed.\n".into_response();
        }
        if now_ms >= give_up_ms {
            return (
                StatusCode::BAD_REQUEST,
                "Failed to flush cache: requests are running.\n",
            )
                .into_response();
        }
        host.clock.sleep_until(now_ms + 10.0).await;
    }
}

/// How often the cache was flushed.
async fn flushed(State(host): State<Arc<Host>>) -> String {
    host.flushed.load(Ordering::Relaxed).to_string()
}

/// SGLang's `/tokenize`: a word is a token.
async fn tokenize(Json(body): Json<Value>) -> Json<Value> {
    let words = |value: &Value| value.as_str().map_or(0, |text| text.split_whitespace().count());
    let count = match body["messages"].as_array() {
        Some(messages) => messages.iter().map(|message| words(&message["content"])).sum(),
        None => words(&body["prompt"]),
    };
    let tokens: Vec<usize> = (0..count).map(|i| 1_000 + i % 500).collect();
    Json(json!({"tokens": tokens, "count": count, "max_model_len": 131_072}))
}

/// How long a request is to be held.
#[derive(serde::Deserialize)]
struct Hold {
    ms: u64,
}

/// Answers after a while, at most a second: what a client can have open at a time shows in when the answers come.
async fn hold(Query(hold): Query<Hold>) -> StatusCode {
    tokio::time::sleep(Duration::from_millis(hold.ms.min(1_000))).await;
    StatusCode::OK
}

/// Which part of the record is asked for.
#[derive(serde::Deserialize)]
struct Part {
    /// So many of the newest requests; all if absent.
    last: Option<usize>,
}

async fn truth(State(host): State<Arc<Host>>, Query(part): Query<Part>) -> Json<Vec<RequestTruth>> {
    let truth = lock(&host.truth);
    let from = part.last.map_or(0, |last| truth.len().saturating_sub(last));
    Json(truth[from..].to_vec())
}

async fn reset(State(host): State<Arc<Host>>) {
    let faults = lock(&host.server).config().faults.clone();
    *lock(&host.server) = Server::new(
        DemoConfig {
            faults,
            ..host.options.config.clone()
        },
        host.options.seed,
    );
    lock(&host.truth).clear();
}

async fn faults(State(host): State<Arc<Host>>) -> String {
    FaultShare::format_list(&lock(&host.server).config().faults)
}

async fn set_faults(State(host): State<Arc<Host>>, text: String) -> Result<String, (StatusCode, String)> {
    let list = FaultShare::parse_list(&text).map_err(|message| (StatusCode::BAD_REQUEST, message))?;
    lock(&host.server).set_faults(list.clone());
    Ok(FaultShare::format_list(&list))
}

/// A 400 in SGLang's shape.
fn refused(message: &str) -> Response {
    let body = json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": 400});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

async fn answer(State(host): State<Arc<Host>>, api: Api, body: Bytes) -> Response {
    let arrival_unix_ms = host.clock.unix_ms();
    let (ask, named) = match read_ask(&host.options, api, &body) {
        Ok(read) => read,
        Err(message) => return refused(&message),
    };
    let plan = lock(&host.server).plan(host.clock.now_ms(), &ask);
    let number = {
        let mut truth = lock(&host.truth);
        truth.push(RequestTruth {
            id: plan.id.clone(),
            arrival_unix_ms,
            fault: plan.fault,
            status: plan.status,
            model: named,
            prompt_tokens: ask.prompt_tokens,
            tokens_planned: plan.frames.iter().map(|frame| frame.tokens).sum(),
            tokens_handed: 0,
            frames: Vec::with_capacity(plan.frames.len()),
            ended: Ended::Running,
        });
        truth.len() - 1
    };
    // Made before the first wait, so that a client that goes away meanwhile is noticed.
    let play = Play::new(host.clone(), number, &plan);
    host.clock.sleep_until(plan.headers_at_ms).await;
    let mut response = Response::builder()
        .status(plan.status)
        .header(header::CONTENT_TYPE, &plan.content_type);
    for (name, value) in &plan.headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from_stream(stream::unfold(play, Play::step)))
        .unwrap_or_else(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response())
}

/// What a body asks, and the model it names (empty if none).
fn read_ask(options: &Options, api: Api, body: &[u8]) -> Result<(Ask, String), String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| format!("The body is no JSON: {error}"))?;
    for path in &options.refuse {
        let found = path.split('.').try_fold(&body, |value, key| value.get(key));
        if found.is_some_and(|value| !value.is_null()) {
            return Err(format!(
                "Unrecognized request argument supplied: {}",
                path.replace('.', "/")
            ));
        }
    }
    let words = |value: &Value| match value {
        Value::String(text) => text.split_whitespace().count(),
        Value::Array(ids) => ids.len(),
        _ => 0,
    };
    let (prompt, max_tokens) = match api {
        Api::Chat => {
            let messages = body["messages"]
                .as_array()
                .filter(|list| !list.is_empty())
                .ok_or("messages: field required")?;
            let all = messages.iter().map(|message| words(&message["content"])).sum();
            (
                all,
                body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64()),
            )
        }
        Api::Completions => (
            words(body.get("prompt").ok_or("prompt: field required")?),
            body["max_tokens"].as_u64(),
        ),
        Api::Generate => {
            let prompt = body
                .get("text")
                .or(body.get("input_ids"))
                .ok_or("text or input_ids must be provided")?;
            (words(prompt), body["sampling_params"]["max_new_tokens"].as_u64())
        }
    };
    let fault = match &body["demo_fault"] {
        Value::Null => None,
        Value::String(name) => Some(FaultKind::from_name(name)?),
        other => return Err(format!("demo_fault must be the name of a fault, not {other}")),
    };
    let option = |name: &str| body["stream_options"][name].as_bool().unwrap_or(false);
    let named = body["model"].as_str().unwrap_or_default().to_owned();
    let ask = Ask {
        api,
        model: if named.is_empty() {
            options.model.clone()
        } else {
            named.clone()
        },
        prompt_tokens: u32::try_from(prompt).unwrap_or(u32::MAX),
        max_tokens: max_tokens.unwrap_or(16).min(1_000_000) as u32,
        stream: body["stream"].as_bool().unwrap_or(false),
        include_usage: option("include_usage"),
        continuous_usage: option("continuous_usage_stats"),
        fault,
        pace: Pace::from_json(&body[Pace::KEY]),
    };
    Ok((ask, named))
}

/// A plan being played to a connection.
struct Play {
    host: Arc<Host>,
    /// Position in the record.
    position: usize,
    number: u64,
    frames: std::vec::IntoIter<TimedFrame>,
    ending: PlanEnding,
    over: bool,
}

impl Play {
    fn new(host: Arc<Host>, position: usize, plan: &Plan) -> Self {
        Self {
            host,
            position,
            number: plan.number,
            frames: plan.frames.clone().into_iter(),
            ending: plan.ending,
            over: false,
        }
    }

    /// The next frame at its time; then the planned end.
    async fn step(mut self) -> Option<(io::Result<Bytes>, Self)> {
        if let Some(frame) = self.frames.next() {
            self.host.clock.sleep_until(frame.at_ms).await;
            let truth = FrameTruth {
                handed_unix_ms: self.host.clock.unix_ms(),
                tokens: frame.tokens,
                kind: frame.kind,
                bytes: frame.bytes.len(),
            };
            if let Some(request) = lock(&self.host.truth).get_mut(self.position) {
                request.tokens_handed += frame.tokens;
                request.frames.push(truth);
            }
            return Some((Ok(frame.bytes.into()), self));
        }
        match self.ending {
            PlanEnding::Eof => {
                self.end(Ended::Completed);
                None
            }
            PlanEnding::Cut if self.over => None,
            PlanEnding::Cut => {
                tokio::time::sleep(BEFORE_CUT).await;
                self.end(Ended::Cut);
                Some((Err(io::Error::other("cut on purpose")), self))
            }
            PlanEnding::Open => std::future::pending().await,
        }
    }

    fn end(&mut self, ended: Ended) {
        if !std::mem::replace(&mut self.over, true) {
            lock(&self.host.server).release(self.number);
            if let Some(request) = lock(&self.host.truth).get_mut(self.position) {
                request.ended = ended;
            }
        }
    }
}

impl Drop for Play {
    /// Dropped before its end: the client is gone.
    fn drop(&mut self) {
        self.end(Ended::ClientGone);
    }
}
