//! What the page tells the worker.

use serde::{Deserialize, Serialize};

use crate::{config::RunConfig, workload::file::FileItem};

/// One message to the worker. It stays inside the browser process: the only place where a key is serialised.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Begin a run.
    Start(Box<Start>),
    /// End it now: nothing new is sent, running requests are aborted.
    Stop,
    /// Do not wait until the server is idle.
    DoNotWait,
}

/// All that a run needs.
#[derive(Serialize, Deserialize)]
pub struct Start {
    /// What was asked.
    pub config: RunConfig,
    /// The API key.
    pub key: Option<String>,
    /// The page's origin: requests to it need no preflight.
    pub page_origin: String,
    /// What was read of the workload's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<FileItem>,
}

/// What the worker posts once it listens.
pub const READY: &str = "ready";
