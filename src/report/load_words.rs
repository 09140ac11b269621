//! The load of a run in a few words.

use super::format;
use crate::config::{
    RunConfig,
    load::{Arrival, Rate},
};

/// The load in a few words: `100 requests, 6 at a time`, `100 requests at 5/s (Poisson)`.
pub fn load_words(config: &RunConfig) -> String {
    let load = &config.load;
    let count = |n: u32| format::count(n.into());
    let requests = match load.duration_s {
        Some(duration_s) => format!("for {}", format::wait(duration_s)),
        None if config.requests == 1 => "1 request".to_owned(),
        None => format!("{} requests", count(config.requests)),
    };
    if !load.is_open() {
        let at_a_time = match load.duration_s {
            None => config.concurrency.min(config.requests),
            Some(_) => config.concurrency,
        };
        return format!("{requests}, {} at a time", count(at_a_time));
    }
    if load.arrival == Arrival::Trace {
        let cap = if load.capped {
            format!(", {} at a time at most", count(config.concurrency))
        } else {
            String::new()
        };
        return format!("{requests} by the times of the file{cap}");
    }
    let rate = match &load.rate {
        Rate::Steady { per_s } => format!("at {per_s}/s"),
        Rate::Ramp {
            from_per_s,
            to_per_s,
            over_s,
            exponential,
        } => {
            let kind = if *exponential { ", exponentially" } else { "" };
            format!("at {from_per_s} to {to_per_s}/s over {}{kind}", format::wait(*over_s))
        }
        Rate::Stages { stages } => format!("in {} stages", stages.len()),
    };
    let process = match load.arrival {
        Arrival::Closed | Arrival::Constant | Arrival::Trace => "even gaps".to_owned(),
        Arrival::Poisson => "Poisson".to_owned(),
        Arrival::Gamma { burstiness } => format!("gamma, burstiness {burstiness}"),
    };
    let cap = if load.capped {
        format!(", {} at a time at most", count(config.concurrency))
    } else {
        String::new()
    };
    format!("{requests} {rate} ({process}){cap}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_said_in_a_few_words() {
        let mut config = RunConfig {
            requests: 1_000,
            concurrency: 16,
            ..RunConfig::default()
        };
        assert_eq!(load_words(&config), "1,000 requests, 16 at a time");
        config.load.arrival = Arrival::Gamma { burstiness: 0.5 };
        assert_eq!(load_words(&config), "1,000 requests at 5/s (gamma, burstiness 0.5)");
        config.load.capped = true;
        config.load.rate = "ramp:1:20:60".parse().unwrap();
        config.load.arrival = Arrival::Poisson;
        assert_eq!(
            load_words(&config),
            "1,000 requests at 1 to 20/s over 1\u{202f}min (Poisson), 16 at a time at most"
        );
        config.load.duration_s = Some(90.0);
        config.load.arrival = Arrival::Closed;
        assert_eq!(load_words(&config), "for 1\u{202f}min 30\u{202f}s, 16 at a time");
    }
}
