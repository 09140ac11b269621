//! What a server tells of its own load.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The load of a server at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Requests in its batch.
    pub running: u64,
    /// Requests that wait for a place in it.
    pub waiting: u64,
    /// Share of its room for tokens that is taken, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_used: Option<f64>,
}

impl ServerLoad {
    /// Reads SGLang's `/v1/loads`: requests add up over the data-parallel ranks, the fullest cache counts. `None` if it is
    /// no such answer.
    pub fn from_loads(told: &Value) -> Option<Self> {
        let ranks = told["loads"].as_array().filter(|ranks| !ranks.is_empty())?;
        ranks.iter().try_fold(Self::default(), |all, rank| {
            let used = rank["token_usage"].as_f64().filter(|share| share.is_finite());
            Some(Self {
                running: all.running + rank["num_running_reqs"].as_u64()?,
                waiting: all.waiting + rank["num_waiting_reqs"].as_u64()?,
                cache_used: match (all.cache_used, used) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    (a, b) => a.or(b),
                },
            })
        })
    }

    /// Whether it works for nobody.
    pub fn is_idle(&self) -> bool {
        self.running + self.waiting == 0
    }

    /// In words: `3 running, 2 waiting`.
    pub fn words(&self) -> String {
        format!("{} running, {} waiting", self.running, self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_add_up_over_ranks_and_the_fullest_cache_counts() {
        let told = json!({"timestamp": "t", "loads": [
            {"dp_rank": 0, "num_running_reqs": 3, "num_waiting_reqs": 0, "token_usage": 0.25},
            {"dp_rank": 1, "num_running_reqs": 2, "num_waiting_reqs": 4, "token_usage": 0.5},
        ]});
        let load = ServerLoad::from_loads(&told).expect("a load");
        assert_eq!(
            load,
            ServerLoad {
                running: 5,
                waiting: 4,
                cache_used: Some(0.5)
            }
        );
        assert!(!load.is_idle());
        assert_eq!(load.words(), "5 running, 4 waiting");
    }

    #[test]
    fn what_is_no_load_is_none() {
        for told in [
            json!(null),
            json!({"detail": "Not Found"}),
            json!({"loads": []}),
            json!({"loads": "none"}),
            json!({"loads": [{"dp_rank": 0}]}),
            json!({"loads": [{"num_running_reqs": -1, "num_waiting_reqs": 0}]}),
        ] {
            assert_eq!(ServerLoad::from_loads(&told), None, "{told}");
        }
        let without_cache = json!({"loads": [{"num_running_reqs": 0, "num_waiting_reqs": 0, "token_usage": null}]});
        let load = ServerLoad::from_loads(&without_cache).expect("a load");
        assert!(load.is_idle() && load.cache_used.is_none());
    }
}
