//! Several runs, one after the other: which comes next, from those that are done.

use crate::{
    config::{
        Endpoint, RunConfig,
        load::Rate,
        series::{Kind, SeriesConfig},
    },
    metrics::goodput,
    report::{Document, Ending},
};

/// Most runs of a search.
const MAX_SEARCH: usize = 16;
/// A search of a rate ends when the highest that was enough and the lowest that was not are this near.
const NEAR: f64 = 1.05;

/// The load of a run: the concurrency of a closed loop, the rate (requests per second) of an open one. `None` for a rate
/// that changes, and for a trace.
pub fn load_of(config: &RunConfig) -> Option<f64> {
    match &config.load.rate {
        _ if !config.load.is_open() => Some(f64::from(config.concurrency)),
        Rate::Steady { per_s } if config.load.arrival != crate::config::load::Arrival::Trace => Some(*per_s),
        _ => None,
    }
}

/// The configuration of the run after those that are done; `None` if there is none to come.
///
/// Every run has prompts of its own, so that no server answers from the cache of the run before; the two runs of a pair
/// of endpoints have the same.
pub fn next_run(config: &RunConfig, done: &[Document]) -> Option<RunConfig> {
    let series = &config.series;
    let mut run = RunConfig {
        series: SeriesConfig::default(),
        ..config.clone()
    };
    let at = done.len();
    let own_prompts = match series.kind {
        Kind::Single => return (at == 0).then_some(run),
        Kind::Sweep => {
            set_load(&mut run, *series.loads.get(at)?);
            at
        }
        Kind::Search => {
            let tried: Vec<(f64, bool)> = done
                .iter()
                .filter_map(|document| Some((load_of(&document.config)?, keeps(document, config))))
                .collect();
            set_load(&mut run, next_of_search(series, !config.load.is_open(), &tried)?);
            at
        }
        Kind::Abba => {
            if at as u64 >= 4 * u64::from(series.rounds) {
                return None;
            }
            if is_other(at) {
                run.endpoint = Endpoint::Http {
                    base_url: series.other_url.clone(),
                };
            }
            at / 2
        }
    };
    run.seed = config.seed.wrapping_add(own_prompts as u64);
    Some(run)
}

/// How many runs there will be, where that is known before.
pub fn runs_planned(series: &SeriesConfig) -> Option<usize> {
    match series.kind {
        Kind::Single => Some(1),
        Kind::Sweep => Some(series.loads.len()),
        Kind::Search => None,
        Kind::Abba => Some(4 * series.rounds as usize),
    }
}

/// Whether the run at a position is on the second endpoint: A, B, B, A, and again.
pub fn is_other(position: usize) -> bool {
    matches!(position % 4, 1 | 2)
}

/// Whether enough requests of a run kept the objectives of the series; a run that was broken off kept none.
pub fn keeps(document: &Document, config: &RunConfig) -> bool {
    let share = goodput(&document.requests, &config.slo, document.duration_ms).and_then(|goodput| goodput.attainment);
    document.ending == Ending::Completed && share.is_some_and(|share| share >= config.series.attainment)
}

fn set_load(run: &mut RunConfig, load: f64) {
    if run.load.is_open() {
        run.load.rate = Rate::Steady { per_s: load };
    } else {
        run.concurrency = load as u32;
        // With fewer requests than that, so many would never be in flight.
        run.requests = run.requests.max(run.concurrency);
    }
}

/// The next load of a search. From the first load it doubles until the objectives are missed, so that a server is never
/// asked far more than it can take; then it halves the interval between the highest load that was enough and the lowest
/// that was not (rates by equal factors), until that is one request, or 5 % of the rate.
fn next_of_search(series: &SeriesConfig, whole: bool, tried: &[(f64, bool)]) -> Option<f64> {
    let (first, last) = (*series.loads.first()?, *series.loads.last()?);
    if tried.len() >= MAX_SEARCH {
        return None;
    }
    if tried.is_empty() {
        return Some(first);
    }
    let missed = tried
        .iter()
        .filter(|(_, kept)| !kept)
        .map(|(load, _)| *load)
        .fold(f64::INFINITY, f64::min);
    let kept = tried
        .iter()
        .filter(|(load, kept)| *kept && *load < missed)
        .map(|(load, _)| *load)
        .fold(0.0, f64::max);
    if kept == 0.0 || kept >= last {
        return None;
    }
    if missed.is_infinite() {
        return Some((kept * 2.0).min(last));
    }
    if whole {
        let middle = ((kept + missed) / 2.0).floor();
        (middle > kept).then_some(middle)
    } else {
        (missed / kept > NEAR).then(|| (kept * missed).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::Arrival;

    /// A search of a server that keeps the objectives up to `limit`.
    fn search(loads: &[f64], whole: bool, limit: f64) -> Vec<(f64, bool)> {
        let series = SeriesConfig {
            kind: Kind::Search,
            loads: loads.to_vec(),
            ..SeriesConfig::default()
        };
        let mut tried = Vec::new();
        while let Some(load) = next_of_search(&series, whole, &tried) {
            tried.push((load, load <= limit));
        }
        tried
    }

    #[test]
    fn a_search_ends_at_the_highest_concurrency_that_is_enough() {
        for limit in 1..=100 {
            let tried = search(&[1.0, 128.0], true, f64::from(limit));
            let best = tried
                .iter()
                .filter(|(_, kept)| *kept)
                .map(|(load, _)| *load)
                .fold(0.0, f64::max);
            assert_eq!(best, f64::from(limit), "{tried:?}");
            assert!(
                tried.iter().all(|(load, _)| *load <= 2.0 * f64::from(limit)),
                "{tried:?}"
            );
            let mut loads: Vec<f64> = tried.iter().map(|(load, _)| *load).collect();
            loads.sort_by(f64::total_cmp);
            loads.dedup();
            assert_eq!(loads.len(), tried.len(), "none is tried twice");
        }
    }

    #[test]
    fn a_search_of_a_rate_ends_within_five_percent() {
        let tried = search(&[0.5, 100.0], false, 7.3);
        let best = tried
            .iter()
            .filter(|(_, kept)| *kept)
            .map(|(load, _)| *load)
            .fold(0.0, f64::max);
        assert!((7.3 / 1.05..=7.3).contains(&best), "{tried:?}");
    }

    #[test]
    fn a_search_ends_where_nothing_or_all_is_enough() {
        assert_eq!(search(&[4.0, 64.0], true, 1.0), [(4.0, false)]);
        assert_eq!(
            search(&[4.0, 10.0], true, 99.0),
            [(4.0, true), (8.0, true), (10.0, true)]
        );
        assert!(search(&[1.0, 1e4], false, f64::NAN).len() <= MAX_SEARCH);
    }

    #[test]
    fn two_endpoints_take_turns_so_that_a_drift_favours_neither() {
        let config = RunConfig {
            endpoint: Endpoint::Http {
                base_url: "http://a:1".into(),
            },
            seed: 5,
            series: SeriesConfig {
                kind: Kind::Abba,
                other_url: "http://b:1".into(),
                rounds: 1,
                ..SeriesConfig::default()
            },
            ..RunConfig::default()
        };
        let mut done = Vec::new();
        let mut asked = Vec::new();
        while let Some(run) = next_run(&config, &done) {
            assert!(run.series.is_default());
            let Endpoint::Http { base_url } = &run.endpoint else {
                panic!("simulated");
            };
            asked.push((base_url.clone(), run.seed));
            done.push(Document::example(run));
        }
        let (a, b) = ("http://a:1".to_owned(), "http://b:1".to_owned());
        assert_eq!(asked, [(a.clone(), 5), (b.clone(), 5), (b, 6), (a, 6)]);
    }

    #[test]
    fn a_sweep_sets_concurrency_or_rate_and_new_prompts() {
        let mut config = RunConfig {
            requests: 10,
            series: SeriesConfig {
                kind: Kind::Sweep,
                loads: vec![4.0, 16.0],
                ..SeriesConfig::default()
            },
            ..RunConfig::default()
        };
        let first = next_run(&config, &[]).unwrap();
        assert_eq!((first.concurrency, first.requests, first.seed), (4, 10, 1));
        let done = [Document::example(first)];
        let second = next_run(&config, &done).unwrap();
        assert_eq!((second.concurrency, second.requests, second.seed), (16, 16, 2));
        config.load.arrival = Arrival::Poisson;
        let second = next_run(&config, &done).unwrap();
        assert_eq!((load_of(&second), second.concurrency), (Some(16.0), config.concurrency));
        assert_eq!(runs_planned(&config.series), Some(2));
    }
}
