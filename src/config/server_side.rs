//! What is done to the server, and asked of it, besides the requests that are measured.

use serde::{Deserialize, Serialize};

/// Each of them is a person's choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerSide {
    /// Empties the server's prefix cache after the warm-up, before the first measured request.
    pub flush_cache: bool,
    /// Keeps what the server tells of its settings in the result.
    pub keep_details: bool,
    /// Asks the server for its load once a second, before the run and until it is idle again, where it tells.
    pub watch: bool,
}

impl Default for ServerSide {
    fn default() -> Self {
        Self {
            flush_cache: false,
            keep_details: false,
            watch: true,
        }
    }
}

impl ServerSide {
    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Its part of a link: names and values, defaults left out.
    pub fn to_pairs(&self) -> Vec<(&'static str, bool)> {
        let base = Self::default();
        [
            ("flush_cache", self.flush_cache, base.flush_cache),
            ("keep_details", self.keep_details, base.keep_details),
            ("watch", self.watch, base.watch),
        ]
        .into_iter()
        .filter_map(|(name, value, default)| (value != default).then_some((name, value)))
        .collect()
    }

    /// What a name of a link stands for.
    pub fn named(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "flush_cache" => Some(&mut self.flush_cache),
            "keep_details" => Some(&mut self.keep_details),
            "watch" => Some(&mut self.watch),
            _ => None,
        }
    }
}
