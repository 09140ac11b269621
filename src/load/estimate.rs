//! How long a run should take.

use super::{lanes::LanePlan, schedule::schedule};
use crate::config::{Endpoint, RunConfig};

/// Seconds the measured part should take, from what one request takes (ms, as seen so far) or, for the simulated
/// server, from its settings. `None` if nothing is known.
pub fn run_s(config: &RunConfig, e2e_ms: Option<f64>) -> Option<f64> {
    if let Some(duration_s) = config.load.duration_s {
        return Some(duration_s);
    }
    if config.load.is_open() {
        return schedule(config, Vec::new()).last().copied();
    }
    let at_a_time = f64::from(
        config
            .concurrency
            .min(config.requests)
            .min(LanePlan::before_contact(config).slots)
            .max(1),
    );
    let (e2e_ms, at_a_time) = match (&config.endpoint, e2e_ms) {
        (_, Some(e2e_ms)) => (e2e_ms, at_a_time),
        (Endpoint::Simulated, None) => {
            let demo = &config.demo;
            let running = at_a_time.min(f64::from(demo.batch_limit.max(1)));
            let slowdown = 1.0 + demo.load_slowdown * running / f64::from(demo.batch_limit.max(1));
            let prefill_ms = demo.prefill_ms_per_1k * f64::from(config.input_tokens) / 1000.0;
            let tokens = f64::from(config.output_tokens.saturating_sub(1));
            ((demo.ttft_ms + prefill_ms + demo.itl_ms * tokens) * slowdown, running)
        }
        (Endpoint::Http { .. }, None) => return None,
    };
    Some((f64::from(config.requests) / at_a_time).ceil() * e2e_ms / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{Arrival, Rate};

    #[test]
    fn a_real_server_is_unknown_until_a_request_ended() {
        let config = RunConfig {
            endpoint: Endpoint::Http {
                base_url: "http://gpu:1".into(),
            },
            requests: 60,
            concurrency: 12,
            ..RunConfig::default()
        };
        assert_eq!(run_s(&config, None), None);
        assert_eq!(
            run_s(&config, Some(500.0)),
            Some(5.0),
            "6 of the 12 at a time can be on the wire"
        );
    }

    #[test]
    fn a_schedule_or_a_duration_tells_by_itself() {
        let mut config = RunConfig {
            requests: 101,
            ..RunConfig::default()
        };
        config.load.arrival = Arrival::Constant;
        config.load.rate = Rate::Steady { per_s: 10.0 };
        assert_eq!(run_s(&config, None), Some(10.0));
        config.load.duration_s = Some(60.0);
        assert_eq!(run_s(&config, Some(500.0)), Some(60.0));
    }

    #[test]
    fn the_simulated_server_is_known_beforehand() {
        let mut config = RunConfig {
            requests: 20,
            concurrency: 10,
            output_tokens: 11,
            input_tokens: 1000,
            ..RunConfig::default()
        };
        config.demo.ttft_ms = 60.0;
        config.demo.prefill_ms_per_1k = 40.0;
        config.demo.itl_ms = 10.0;
        config.demo.load_slowdown = 0.0;
        assert_eq!(run_s(&config, None), Some(0.4));
    }
}
