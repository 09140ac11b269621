//! Two runs beside each other: what changed, and whether the change is more than noise.

mod bootstrap;
mod checks;

use crate::import::{By, Key, Subject};

pub use checks::checks;

/// A change is told from this share on, unless the person says otherwise.
pub const DEFAULT_THRESHOLD: f64 = 0.05;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something is better and nothing worse.
    Improved,
    /// Something is worse and nothing better.
    Regressed,
    /// Nothing changed beyond threshold and noise.
    Unchanged,
    /// Some figures are better, others worse.
    Mixed,
    /// There is no figure that both have by one definition.
    NotComparable,
}

impl Verdict {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Unchanged => "unchanged",
            Self::Mixed => "mixed",
            Self::NotComparable => "not comparable",
        }
    }
}

/// Which way a figure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// For the better, beyond threshold and noise.
    Better,
    /// For the worse, beyond threshold and noise.
    Worse,
    /// Within threshold or noise.
    Same,
    /// No figure to judge by: it is shown alone.
    Shown,
}

/// One figure of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which.
    pub key: Key,
    /// The baseline's value.
    pub before: Option<f64>,
    /// The other's.
    pub after: Option<f64>,
    /// Change as a share of the baseline.
    pub change: Option<f64>,
    /// 95 % interval of the change, as a share of the baseline, where there are records of both.
    pub interval: Option<(f64, f64)>,
    /// Which way it went.
    pub direction: Direction,
}

/// Two runs compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The figures by a definition that both follow, in the order of reading.
    pub rows: Vec<Row>,
    /// Figures that only one has by this definition, with how it differs: shown, not compared.
    pub differing: Vec<(Key, f64, &'static str)>,
    /// Which way the share of failures went; `None` if one does not tell.
    pub failures: Option<Direction>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// In which order figures are read, and whether more is better. Those that decide the verdict come with `true`.
const ORDER: [(&str, bool, bool); 9] = [
    ("output_throughput", true, true),
    ("request_throughput", true, true),
    ("total_throughput", true, false),
    ("peak_output_throughput", true, false),
    ("ttft_ms", false, true),
    ("ttfo_ms", false, false),
    ("tpot_ms", false, true),
    ("itl_ms", false, true),
    ("e2e_ms", false, true),
];

/// Statistics in their order; the mean is shown, and decides nothing.
const STATISTICS: [&str; 6] = ["", "mean", "median", "p90", "p95", "p99"];

/// Compares a run with the baseline. `threshold`: the share of change from which on it is told, such as 0.05.
pub fn compare(baseline: &Subject, other: &Subject, threshold: f64) -> Comparison {
    let mut rows = Vec::new();
    for (id, more_is_better, decides) in ORDER {
        let Some(by) = common(baseline, other, id) else {
            continue;
        };
        let samples = bootstrap::Pair::of(baseline, other, id, by);
        for stat in STATISTICS {
            let key = (id, stat, by);
            let value = |subject: &Subject| subject.figures.get(&key).copied();
            let (before, after) = (value(baseline), value(other));
            let (Some(a), Some(b)) = (before, after) else { continue };
            let change = (a != 0.0).then(|| (b - a) / a);
            let interval = samples.as_ref().and_then(|pair| pair.interval(stat, a));
            let direction = match change {
                Some(change) if decides && stat != "mean" => direction(change, interval, threshold, more_is_better),
                _ => Direction::Shown,
            };
            rows.push(Row {
                key,
                before,
                after,
                change,
                interval,
                direction,
            });
        }
    }
    // Where some figures have an interval, those without one would be noise that decides. Where none has, medians and rates
    // are judged by the threshold alone: the tails of a run are the noisiest.
    let any_interval = rows.iter().any(|row| row.interval.is_some());
    for row in rows.iter_mut().filter(|row| row.interval.is_none()) {
        if any_interval || !matches!(row.key.1, "" | "median") {
            row.direction = Direction::Shown;
        }
    }
    let failures = failures(baseline, other);
    let all = rows.iter().map(|row| row.direction).chain(failures);
    let (better, worse) = all.fold((false, false), |(better, worse), direction| {
        (
            better || direction == Direction::Better,
            worse || direction == Direction::Worse,
        )
    });
    let verdict = match (better, worse) {
        _ if !rows.iter().any(|row| row.direction != Direction::Shown) => Verdict::NotComparable,
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Improved,
        (false, true) => Verdict::Regressed,
        (false, false) => Verdict::Unchanged,
    };
    Comparison {
        rows,
        differing: differing(baseline, other),
        failures,
        verdict,
    }
}

/// The definition of a figure that both follow: the glossary's, else that of the tool which wrote one of them.
fn common(a: &Subject, b: &Subject, id: &str) -> Option<By> {
    let has = |subject: &Subject, by: By| subject.figures.keys().any(|key| key.0 == id && key.2 == by);
    By::ALL.into_iter().find(|by| has(a, *by) && has(b, *by))
}

fn direction(change: f64, interval: Option<(f64, f64)>, threshold: f64, more_is_better: bool) -> Direction {
    let told = interval.is_none_or(|(low, high)| low > 0.0 || high < 0.0);
    if change == 0.0 || change.abs() < threshold || !told {
        Direction::Same
    } else if (change > 0.0) == more_is_better {
        Direction::Better
    } else {
        Direction::Worse
    }
}

/// Failures need no threshold: any rise beyond chance (two proportions, 95 %) is worse.
fn failures(a: &Subject, b: &Subject) -> Option<Direction> {
    let ((good_a, bad_a), (good_b, bad_b)) = (a.outcomes?, b.outcomes?);
    let (n_a, n_b) = ((good_a + bad_a) as f64, (good_b + bad_b) as f64);
    if n_a == 0.0 || n_b == 0.0 {
        return None;
    }
    let (p_a, p_b) = (bad_a as f64 / n_a, bad_b as f64 / n_b);
    let pooled = (bad_a + bad_b) as f64 / (n_a + n_b);
    let error = (pooled * (1.0 - pooled) * (1.0 / n_a + 1.0 / n_b)).sqrt();
    Some(if (p_b - p_a).abs() <= 1.96 * error || p_a == p_b {
        Direction::Same
    } else if p_b > p_a {
        Direction::Worse
    } else {
        Direction::Better
    })
}

/// Figures by definitions that only one of them follows.
fn differing(a: &Subject, b: &Subject) -> Vec<(Key, f64, &'static str)> {
    let mut found = Vec::new();
    for (subject, another) in [(a, b), (b, a)] {
        for (key, value) in &subject.figures {
            let (id, stat, theirs) = *key;
            let alone = theirs == subject.tool && common(a, b, id).is_none() && !another.figures.contains_key(key);
            if alone
                && matches!(stat, "" | "median")
                && let Some(how) = theirs.difference(id)
            {
                found.push((*key, *value, how));
            }
        }
    }
    found
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
