//! A part of a result as a result of its own.

use super::Document;
use crate::metrics::{Window, summarize_window};

impl Document {
    /// The part of the run in a window: the requests that ended in it, and the figures of [`summarize_window`].
    ///
    /// What was asked, the server and the client's verdict stay those of the whole run.
    pub fn part(&self, window: &Window) -> Document {
        let requests = self.requests.iter().filter(|r| window.contains(r.times.ended_ms));
        Document {
            format: self.format.clone(),
            server: self.server.clone(),
            config: self.config.clone(),
            slots: self.slots.clone(),
            client: self.client.clone(),
            notes: self.notes.clone(),
            server_load: self.server_load.clone(),
            warmup: self.warmup.clone(),
            measured_from_ms: window.from_ms,
            duration_ms: window.duration_ms(),
            summary: summarize_window(&self.requests, window),
            requests: requests.cloned().collect(),
            ..*self
        }
    }
}
