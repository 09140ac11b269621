//! One HTTP exchange over `fetch`: a request out, the body in as reads.

use std::{
    cell::RefCell,
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::{Poll, Waker},
};

use futures_util::future::{Either, select};
use gloo_net::http::{RequestBuilder, Response};
use gloo_timers::future::TimeoutFuture;
use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, prelude::*};
use web_sys::{AbortController, AbortSignal, ReadableStreamDefaultReader, RequestCredentials, RequestMode};

use super::{clock::thrown, simulated::Player};

#[wasm_bindgen]
extern "C" {
    /// What `reader.read()` resolves to.
    type ReadResult;
    // Absent at the end.
    #[wasm_bindgen(method, getter, structural)]
    fn value(this: &ReadResult) -> Option<Uint8Array>;
}

/// A request ready to be sent: all that costs time is done before the dispatch is timed.
pub struct Prepared(gloo_net::http::Request);

impl Prepared {
    /// Builds a POST of JSON.
    ///
    /// # Errors
    /// The browser's words if it refuses a header or the URL.
    pub fn post(url: &str, headers: &[(String, String)], body: &str, signal: &AbortSignal) -> Result<Self, String> {
        let builder = with_headers(
            plain(RequestBuilder::new(url).method(gloo_net::http::Method::POST), signal),
            headers,
        );
        builder.body(body).map(Self).map_err(words)
    }

    /// Builds a request without a body.
    ///
    /// # Errors
    /// As [`Prepared::post`].
    pub fn bare(
        method: gloo_net::http::Method,
        url: &str,
        headers: &[(String, String)],
        signal: &AbortSignal,
    ) -> Result<Self, String> {
        with_headers(plain(RequestBuilder::new(url).method(method), signal), headers)
            .build()
            .map(Self)
            .map_err(words)
    }

    /// Sends it. Resolves when the response headers are there.
    ///
    /// # Errors
    /// The browser's words, which tell little: `Failed to fetch` for a dead server, missing CORS headers and more.
    pub async fn send(self) -> Result<Response, String> {
        self.0.send().await.map_err(words)
    }
}

/// Gives a request and what follows it a limit: `None` if it was reached, and the request is aborted then.
pub async fn within<T>(limit_ms: u32, abort: &AbortController, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), TimeoutFuture::new(limit_ms)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => {
            abort.abort();
            None
        }
    }
}

fn plain(builder: RequestBuilder, signal: &AbortSignal) -> RequestBuilder {
    // No cache mode: `no-store` would make Chromium pass over its preflights too, and send one with each request.
    builder
        .mode(RequestMode::Cors)
        .credentials(RequestCredentials::Omit)
        .abort_signal(Some(signal))
}

fn with_headers(builder: RequestBuilder, headers: &[(String, String)]) -> RequestBuilder {
    headers
        .iter()
        .fold(builder, |builder, (name, value)| builder.header(name, value))
}

fn words(error: gloo_net::Error) -> String {
    match error {
        gloo_net::Error::JsError(error) => error.message,
        other => other.to_string(),
    }
}

/// The body of a response, read by read.
pub enum Body {
    /// From the network.
    Stream(Reader),
    /// A response without a body.
    None,
    /// From the simulated server.
    Simulated(Player),
}

/// What one read brought.
pub enum Read {
    /// Bytes, still in JavaScript's memory.
    Chunk(Uint8Array),
    /// Bytes of the simulated server.
    Bytes(Vec<u8>),
    /// The neat end.
    End,
    /// The connection broke; the browser's words.
    Broken(String),
}

impl Body {
    /// The body of a fetched response.
    pub fn of(response: &Response) -> Self {
        match response.body() {
            Some(stream) => match stream.get_reader().dyn_into() {
                Ok(reader) => Self::Stream(Reader::new(reader)),
                Err(_) => Self::None,
            },
            None => Self::None,
        }
    }

    /// Waits for the next read.
    pub async fn next(&mut self) -> Read {
        match self {
            Self::Stream(reader) => reader.next().await,
            Self::None => Read::End,
            Self::Simulated(player) => player.next().await,
        }
    }
}

/// A reader with one pair of callbacks for all its reads: to make a pair for each costs more than to read.
pub struct Reader {
    reader: ReadableStreamDefaultReader,
    got: Rc<RefCell<Got>>,
    on_read: Closure<dyn FnMut(JsValue)>,
    on_error: Closure<dyn FnMut(JsValue)>,
}

/// What the last read came to, and who waits for it.
#[derive(Default)]
struct Got {
    read: Option<Result<JsValue, JsValue>>,
    waker: Option<Waker>,
}

impl Reader {
    fn new(reader: ReadableStreamDefaultReader) -> Self {
        let got = Rc::new(RefCell::new(Got::default()));
        let tell = |outcome: fn(JsValue) -> Result<JsValue, JsValue>| {
            let got = got.clone();
            Closure::<dyn FnMut(JsValue)>::new(move |value| {
                let mut got = got.borrow_mut();
                got.read = Some(outcome(value));
                if let Some(waker) = got.waker.take() {
                    waker.wake();
                }
            })
        };
        let (on_read, on_error) = (tell(Ok), tell(Err));
        Self {
            reader,
            got,
            on_read,
            on_error,
        }
    }

    async fn next(&mut self) -> Read {
        let _ = self.reader.read().then2(&self.on_read, &self.on_error);
        let read = poll_fn(|context| {
            let mut got = self.got.borrow_mut();
            match got.read.take() {
                Some(read) => Poll::Ready(read),
                None => {
                    got.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        match read.await {
            Ok(result) => match result.unchecked_into::<ReadResult>().value() {
                Some(chunk) => Read::Chunk(chunk),
                None => Read::End,
            },
            Err(error) => Read::Broken(thrown(&error)),
        }
    }
}
