//! The page's handle on the worker.

use crate::{
    config::{RunConfig, Secret},
    load::EngineEvent,
};

/// A running engine. Dropping it ends the worker.
pub struct Engine {}

impl Engine {
    /// Starts a worker and in it the run. `on_event` is called on the page's thread.
    ///
    /// # Errors
    /// A message for people if the browser refuses the worker.
    pub fn start(
        _config: &RunConfig,
        _key: &Secret,
        _on_event: impl FnMut(EngineEvent) + 'static,
    ) -> Result<Self, String> {
        Err("not built yet".to_owned())
    }

    /// Stops the run: nothing new is sent, running requests are aborted, [`EngineEvent::Finished`] follows.
    pub fn stop(&self) {}
}
