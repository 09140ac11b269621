//! Several runs, one after the other: what a person asked for. [`crate::load::series`] makes the runs of it.

use serde::{Deserialize, Serialize};

use super::{
    Endpoint, RunConfig,
    form::{Field, MAX_CONCURRENCY},
    load::{Arrival, MAX_RATE, Rate},
};

/// Which runs a press on *Run* brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One.
    #[default]
    Single,
    /// One for each load of a list.
    Sweep,
    /// As many as it takes to find the highest load at which enough requests keep the objectives.
    Search,
    /// The same run on this endpoint and another, in the order A, B, B, A.
    Abba,
}

impl Kind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Single, Self::Sweep, Self::Search, Self::Abba];

    /// Its name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Sweep => "sweep",
            Self::Search => "search",
            Self::Abba => "abba",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Several runs. A load is the concurrency of a closed loop, or the rate (requests per second) of an open one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesConfig {
    /// Which runs.
    pub kind: Kind,
    /// Sweep: the loads, in order. Search: the first is where it begins, the last the highest that is tried.
    pub loads: Vec<f64>,
    /// Search: share of requests, of those that ended by themselves, that must keep all objectives.
    pub attainment: f64,
    /// ABBA: base URL of the second endpoint.
    pub other_url: String,
    /// ABBA: how often A, B, B, A is gone through; each makes two pairs.
    pub rounds: u32,
    /// Pause between two runs, s.
    pub pause_s: f64,
}

impl Default for SeriesConfig {
    fn default() -> Self {
        Self {
            kind: Kind::Single,
            loads: vec![1.0, 2.0, 4.0, 8.0, 16.0],
            attainment: 0.9,
            other_url: String::new(),
            rounds: 3,
            pause_s: 2.0,
        }
    }
}

/// Most loads of a sweep.
const MAX_LOADS: usize = 50;
/// What loads look like.
const LOADS: &str =
    "at least two loads, each higher than the one before, such as 1, 2, 4, 8 or 1..64 (doubling) or 10..50+10";

impl SeriesConfig {
    /// Whether it is what a single run has.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Its part of a link: names and values, defaults left out.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let base = Self::default();
        let all = [
            ("series", self.kind.name().to_owned(), self.kind != base.kind),
            ("loads", loads_text(&self.loads), self.loads != base.loads),
            (
                "attainment",
                self.attainment.to_string(),
                self.attainment != base.attainment,
            ),
            ("other", self.other_url.clone(), self.other_url != base.other_url),
            ("rounds", self.rounds.to_string(), self.rounds != base.rounds),
            ("pause_s", self.pause_s.to_string(), self.pause_s != base.pause_s),
        ];
        all.into_iter()
            .filter_map(|(name, value, unusual)| unusual.then_some((name, value)))
            .collect()
    }

    /// Takes one pair of a link; `None` if the name is none of these, else what would have been right.
    pub fn take_pair(&mut self, name: &str, value: &str) -> Option<Result<(), &'static str>> {
        let amount = |max: f64, expected| match value.parse::<f64>() {
            Ok(number) if (0.0..=max).contains(&number) => Ok(number),
            _ => Err(expected),
        };
        Some(match name {
            "series" => Kind::from_name(value)
                .map(|kind| self.kind = kind)
                .ok_or("single, sweep, search or abba"),
            "loads" => parse_loads(value).map(|loads| self.loads = loads).ok_or(LOADS),
            "attainment" => amount(1.0, "a share from 0 to 1").map(|share| self.attainment = share),
            "other" => {
                self.other_url = value.to_owned();
                Ok(())
            }
            "rounds" => value
                .parse()
                .map(|rounds| self.rounds = rounds)
                .map_err(|_| "a whole number"),
            "pause_s" => amount(3600.0, "seconds, at most 3600").map(|pause_s| self.pause_s = pause_s),
            _ => return None,
        })
    }
}

fn loads_text(loads: &[f64]) -> String {
    let texts: Vec<String> = loads.iter().map(f64::to_string).collect();
    texts.join(",")
}

/// Reads `1, 2, 4`, `1..64` (doubling; the end is always one of them) or `10..50+10`.
pub fn parse_loads(text: &str) -> Option<Vec<f64>> {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|value| *value > 0.0 && *value <= MAX_RATE)
    };
    let loads = match text.split_once("..") {
        None => text
            .split([',', ' ', ';'])
            .filter(|part| !part.is_empty())
            .map(number)
            .collect::<Option<Vec<_>>>()?,
        Some((from, to)) => {
            let (to, step) = match to.split_once('+') {
                Some((to, step)) => (to, Some(number(step)?)),
                None => (to, None),
            };
            let (from, to) = (number(from)?, number(to)?);
            let next = |load: f64| step.map_or(load * 2.0, |step| load + step);
            // A sum of steps misses its end by rounding; what comes so near is the end.
            let below = to * (1.0 - 1e-9);
            let mut loads: Vec<f64> = std::iter::successors(Some(from), |load| Some(next(*load)))
                .take_while(|load| *load < below)
                .take(MAX_LOADS + 1)
                .collect();
            loads.push(to);
            loads
        }
    };
    let rises = loads.windows(2).all(|pair| pair[0] < pair[1]);
    (rises && (2..=MAX_LOADS).contains(&loads.len())).then_some(loads)
}

/// The fields of the form, as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the field of the same name in `SeriesConfig`")]
pub struct SeriesDraft {
    pub kind: Kind,
    pub loads: String,
    pub attainment: String,
    pub other_url: String,
    pub rounds: String,
    pub pause_s: String,
}

impl From<&SeriesConfig> for SeriesDraft {
    fn from(series: &SeriesConfig) -> Self {
        Self {
            kind: series.kind,
            loads: loads_text(&series.loads).replace(',', ", "),
            attainment: series.attainment.to_string(),
            other_url: series.other_url.clone(),
            rounds: series.rounds.to_string(),
            pause_s: series.pause_s.to_string(),
        }
    }
}

impl SeriesDraft {
    /// The series this describes, for runs like `config`. What is wrong is told with its field; what the kind does not use
    /// is not looked at.
    pub fn check(&self, config: &RunConfig, mut wrong: impl FnMut(Field, String)) -> SeriesConfig {
        let base = SeriesConfig::default();
        let by_load = matches!(self.kind, Kind::Sweep | Kind::Search);
        let number = |text: &str, min: f64, max: f64| {
            text.trim()
                .parse::<f64>()
                .ok()
                .filter(|value| (min..=max).contains(value))
        };
        let loads = parse_loads(&self.loads);
        if by_load {
            match &loads {
                None => wrong(Field::SeriesLoads, format!("Enter {LOADS}.")),
                Some(loads) if !config.load.is_open() => {
                    let fits = |load: &f64| load.fract() == 0.0 && *load <= f64::from(MAX_CONCURRENCY);
                    if !loads.iter().all(fits) {
                        wrong(
                            Field::SeriesLoads,
                            format!(
                                "In a closed loop, loads are requests at a time: whole numbers up to {MAX_CONCURRENCY}."
                            ),
                        );
                    }
                }
                Some(_) => {
                    if config.load.arrival == Arrival::Trace || !matches!(config.load.rate, Rate::Steady { .. }) {
                        wrong(
                            Field::SeriesLoads,
                            "Loads take the place of one steady rate. Choose a closed loop or a steady rate.".into(),
                        );
                    }
                }
            }
        }
        let attainment = number(&self.attainment, 0.01, 1.0);
        if self.kind == Kind::Search {
            if attainment.is_none() {
                wrong(
                    Field::SeriesAttainment,
                    "Enter a share from 0.01 to 1, such as 0.9.".into(),
                );
            }
            if config.slo.is_empty() {
                wrong(
                    Field::SloTtft,
                    "A search needs at least one objective to look for: enter one.".into(),
                );
            }
        }
        let rounds = number(&self.rounds, 1.0, 50.0).filter(|rounds| rounds.fract() == 0.0);
        if self.kind == Kind::Abba {
            if rounds.is_none() {
                wrong(Field::SeriesRounds, "Enter a whole number from 1 to 50.".into());
            }
            if config.endpoint == Endpoint::Simulated {
                wrong(
                    Field::BaseUrl,
                    "Two endpoints are compared by their URLs: enter the first here.".into(),
                );
            }
            if let Err(message) = crate::load::lanes::check_base_url(self.other_url.trim()) {
                wrong(Field::SeriesUrl, message);
            }
        }
        let pause_s = number(&self.pause_s, 0.0, 3600.0);
        if self.kind != Kind::Single && pause_s.is_none() {
            wrong(Field::SeriesPause, "Enter a number of seconds from 0 to 3600.".into());
        }
        SeriesConfig {
            kind: self.kind,
            loads: loads.unwrap_or(base.loads),
            attainment: attainment.unwrap_or(base.attainment),
            other_url: self.other_url.trim().to_owned(),
            rounds: rounds.map_or(base.rounds, |rounds| rounds as u32),
            pause_s: pause_s.unwrap_or(base.pause_s),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every field other than its default.
    pub fn unusual() -> SeriesConfig {
        SeriesConfig {
            kind: Kind::Search,
            loads: vec![0.5, 3.0, 12.25],
            attainment: 0.99,
            other_url: "http://b:1/?x=a&b".into(),
            rounds: 7,
            pause_s: 0.25,
        }
    }

    #[test]
    fn every_field_survives_a_link() {
        let mut read = SeriesConfig::default();
        let pairs = unusual().to_pairs();
        assert_eq!(pairs.len(), 6);
        for (name, value) in pairs {
            assert_eq!(read.take_pair(name, &value), Some(Ok(())), "{name}={value}");
        }
        assert_eq!(read, unusual());
        assert_eq!(read.take_pair("nope", "1"), None);
        assert!(SeriesConfig::default().to_pairs().is_empty());
    }

    #[test]
    fn loads_are_a_list_a_doubling_or_steps() {
        let of = |text: &str| parse_loads(text).unwrap_or_default();
        assert_eq!(of("1, 2 4,8"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(of("1..10"), [1.0, 2.0, 4.0, 8.0, 10.0]);
        assert_eq!(of("1..8"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(of("10..30+10"), [10.0, 20.0, 30.0]);
        assert_eq!(of("0.1..0.3+0.1").len(), 3);
        for wrong in [
            "",
            "4",
            "4,2",
            "2,2",
            "0,1",
            "a,b",
            "1..",
            "8..1",
            "1..9999+1",
            "NaN,1",
            "1,inf",
        ] {
            assert_eq!(parse_loads(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_series_must_fit_its_runs() {
        let wrong = |draft: &SeriesDraft, config: &RunConfig| {
            let mut fields = Vec::new();
            draft.check(config, |field, _| fields.push(field));
            fields
        };
        let mut config = RunConfig::default();
        let mut draft = SeriesDraft::from(&SeriesConfig::default());
        draft.other_url = "nonsense".into();
        assert_eq!(wrong(&draft, &config), [], "a single run uses none of it");
        draft.kind = Kind::Sweep;
        assert_eq!(wrong(&draft, &config), []);
        draft.loads = "0.5, 1".into();
        assert_eq!(wrong(&draft, &config), [Field::SeriesLoads]);
        config.load.arrival = Arrival::Poisson;
        assert_eq!(wrong(&draft, &config), [], "a rate may be a fraction");
        config.load.rate = "ramp:1:2:3".parse().unwrap();
        assert_eq!(wrong(&draft, &config), [Field::SeriesLoads]);
        config.load.rate = Rate::Steady { per_s: 1.0 };
        draft.kind = Kind::Search;
        assert_eq!(wrong(&draft, &config), [Field::SloTtft]);
        config.slo.e2e_ms = Some(1000.0);
        assert_eq!(wrong(&draft, &config), []);
        draft.kind = Kind::Abba;
        assert_eq!(wrong(&draft, &config), [Field::BaseUrl, Field::SeriesUrl]);
    }
}
