//! What the prompts are made of.

use serde::{Deserialize, Serialize};

use super::form::Field;

/// Where prompts come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Random words, or random token ids; no two prompts alike.
    #[default]
    Random,
    /// Groups of prompts that begin alike.
    SharedPrefix,
    /// One prompt, typed by the person.
    Typed,
    /// A file that the person picks.
    File,
}

impl Kind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Random, Self::SharedPrefix, Self::Typed, Self::File];

    /// The name in links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::SharedPrefix => "shared_prefix",
            Self::Typed => "typed",
            Self::File => "file",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file, by what tells it from another: it never leaves the browser, so a link can only name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileName {
    /// Its name.
    pub name: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// FNV-1a of its bytes, 64 bits, in hexadecimal.
    pub checksum: String,
}

/// What the prompts are made of. Lengths that are not here are `input_tokens` and `output_tokens` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workload {
    /// Where prompts come from.
    pub kind: Kind,
    /// Lengths are drawn evenly from this share of the asked length up to the asked length, as SGLang's
    /// `--random-range-ratio`; 1 for always the asked length.
    pub range_ratio: f64,
    /// Random token ids instead of words.
    pub token_ids: bool,
    /// Shared prefixes: how many.
    pub groups: u32,
    /// Shared prefixes: their length, tokens.
    pub system_tokens: u32,
    /// Shared prefixes: exponent of the groups' popularity (P of the r-th ∝ r^−α); 0 for all alike.
    pub zipf_alpha: f64,
    /// Group by group, or a file's items in their order, instead of shuffled by the seed.
    pub ordered: bool,
    /// The typed prompt.
    pub prompt: String,
    /// The picked file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileName>,
    /// Whether answers get the lengths that stand in the file, where it has them.
    pub file_lengths: bool,
    /// Items of a file whose prompt and answer are longer together (estimated) are left out; 0 for no limit.
    pub context_tokens: u32,
    /// Turns of a conversation, each with the server's own answers before it; at most so many of a file's.
    pub turns: u32,
    /// A trace with times is replayed so many times as fast.
    pub trace_speed: f64,
    /// Of a trace, what is before is left out, s since its first request.
    pub trace_start_s: f64,
    /// Of a trace, what is from then on is left out, s; 0 for no end.
    pub trace_end_s: f64,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            kind: Kind::Random,
            range_ratio: 1.0,
            token_ids: false,
            groups: 8,
            system_tokens: 1024,
            zipf_alpha: 0.0,
            ordered: false,
            prompt: String::new(),
            file: None,
            file_lengths: true,
            context_tokens: 0,
            turns: 1,
            trace_speed: 1.0,
            trace_start_s: 0.0,
            trace_end_s: 0.0,
        }
    }
}

impl Workload {
    /// Whether it is what a run has that says nothing of its prompts.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether prompts are sent as token ids.
    pub fn sends_token_ids(&self) -> bool {
        self.token_ids && self.kind == Kind::Random
    }

    /// Whether a server may find a prompt in its cache without fault of this program.
    pub fn shares_prefixes(&self) -> bool {
        !matches!(self.kind, Kind::Random) || self.turns > 1
    }

    /// Its part of a link: names and values, defaults left out.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let base = Self::default();
        let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
        let file = self.file.clone().unwrap_or_default();
        let all = [
            ("workload", self.kind.name().to_owned(), self.kind != base.kind),
            (
                "range",
                self.range_ratio.to_string(),
                self.range_ratio != base.range_ratio,
            ),
            ("ids", flag(self.token_ids), self.token_ids != base.token_ids),
            ("groups", self.groups.to_string(), self.groups != base.groups),
            (
                "system",
                self.system_tokens.to_string(),
                self.system_tokens != base.system_tokens,
            ),
            ("zipf", self.zipf_alpha.to_string(), self.zipf_alpha != base.zipf_alpha),
            ("ordered", flag(self.ordered), self.ordered != base.ordered),
            ("prompt", self.prompt.clone(), !self.prompt.is_empty()),
            ("file", file.name, self.file.is_some()),
            ("file_bytes", file.bytes.to_string(), self.file.is_some()),
            ("file_sum", file.checksum, self.file.is_some()),
            (
                "file_out",
                flag(self.file_lengths),
                self.file_lengths != base.file_lengths,
            ),
            (
                "context",
                self.context_tokens.to_string(),
                self.context_tokens != base.context_tokens,
            ),
            ("turns", self.turns.to_string(), self.turns != base.turns),
            (
                "speed",
                self.trace_speed.to_string(),
                self.trace_speed != base.trace_speed,
            ),
            (
                "trace_start_s",
                self.trace_start_s.to_string(),
                self.trace_start_s != base.trace_start_s,
            ),
            (
                "trace_end_s",
                self.trace_end_s.to_string(),
                self.trace_end_s != base.trace_end_s,
            ),
        ];
        all.into_iter()
            .filter_map(|(name, value, unusual)| unusual.then_some((name, value)))
            .collect()
    }

    /// Takes one pair of a link; `None` if the name is none of these, else what would have been right.
    pub fn take_pair(&mut self, name: &str, value: &str) -> Option<Result<(), &'static str>> {
        let whole = |target: &mut u32| {
            value
                .parse()
                .map(|number| *target = number)
                .map_err(|_| "a whole number")
        };
        let amount = |target: &mut f64| match value.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => {
                *target = number;
                Ok(())
            }
            _ => Err("a number, 0 or more"),
        };
        let flag = |target: &mut bool| {
            *target = match value {
                "1" | "true" | "yes" | "on" => true,
                "0" | "false" | "no" | "off" => false,
                _ => return Err("1 or 0"),
            };
            Ok(())
        };
        Some(match name {
            "workload" => Kind::from_name(value)
                .map(|kind| self.kind = kind)
                .ok_or("random, shared_prefix, typed or file"),
            "range" => amount(&mut self.range_ratio),
            "ids" => flag(&mut self.token_ids),
            "groups" => whole(&mut self.groups),
            "system" => whole(&mut self.system_tokens),
            "zipf" => amount(&mut self.zipf_alpha),
            "ordered" => flag(&mut self.ordered),
            "prompt" => {
                self.prompt = value.to_owned();
                Ok(())
            }
            "file" => {
                self.file.get_or_insert_default().name = value.to_owned();
                Ok(())
            }
            "file_bytes" => value
                .parse()
                .map(|bytes| self.file.get_or_insert_default().bytes = bytes)
                .map_err(|_| "a whole number"),
            "file_sum" => {
                self.file.get_or_insert_default().checksum = value.to_owned();
                Ok(())
            }
            "file_out" => flag(&mut self.file_lengths),
            "context" => whole(&mut self.context_tokens),
            "turns" => whole(&mut self.turns),
            "speed" => amount(&mut self.trace_speed),
            "trace_start_s" => amount(&mut self.trace_start_s),
            "trace_end_s" => amount(&mut self.trace_end_s),
            _ => return None,
        })
    }
}

/// The workload's fields of the form, as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the field of the same name in `Workload`")]
pub struct WorkloadDraft {
    pub kind: Kind,
    pub range_ratio: String,
    pub token_ids: bool,
    pub groups: String,
    pub system_tokens: String,
    pub zipf_alpha: String,
    pub ordered: bool,
    pub prompt: String,
    pub file: Option<FileName>,
    pub file_lengths: bool,
    pub context_tokens: String,
    pub turns: String,
    pub trace_speed: String,
    pub trace_start_s: String,
    pub trace_end_s: String,
}

impl From<&Workload> for WorkloadDraft {
    fn from(workload: &Workload) -> Self {
        Self {
            kind: workload.kind,
            range_ratio: workload.range_ratio.to_string(),
            token_ids: workload.token_ids,
            groups: workload.groups.to_string(),
            system_tokens: workload.system_tokens.to_string(),
            zipf_alpha: workload.zipf_alpha.to_string(),
            ordered: workload.ordered,
            prompt: workload.prompt.clone(),
            file: workload.file.clone(),
            file_lengths: workload.file_lengths,
            context_tokens: workload.context_tokens.to_string(),
            turns: workload.turns.to_string(),
            trace_speed: workload.trace_speed.to_string(),
            trace_start_s: workload.trace_start_s.to_string(),
            trace_end_s: workload.trace_end_s.to_string(),
        }
    }
}

/// What a number must be: its field, its text, its bounds.
type Number<'a> = (Field, &'a str, f64, f64, bool);

impl WorkloadDraft {
    /// The workload this describes. What is wrong is told with its field; fields of another kind are not looked at.
    pub fn check(&self, mut wrong: impl FnMut(Field, String)) -> Workload {
        let mut number = |used: bool, (field, text, min, max, whole): Number<'_>, default: f64| {
            if !used {
                let kept = text.trim().parse().unwrap_or(default);
                return if (min..=max).contains(&kept) { kept } else { default };
            }
            match text.trim().replace(['_', ','], "").parse::<f64>() {
                Ok(value) if (min..=max).contains(&value) && (!whole || value.fract() == 0.0) => value,
                _ => {
                    let kind = if whole { "whole number" } else { "number" };
                    wrong(field, format!("Enter a {kind} from {min} to {max}."));
                    default
                }
            }
        };
        let base = Workload::default();
        let (random, shared, file) = (
            self.kind == Kind::Random,
            self.kind == Kind::SharedPrefix,
            self.kind == Kind::File,
        );
        let workload = Workload {
            kind: self.kind,
            range_ratio: number(
                random || shared,
                (Field::RangeRatio, &self.range_ratio, 0.0, 1.0, false),
                base.range_ratio,
            ),
            token_ids: self.token_ids,
            groups: number(
                shared,
                (Field::Groups, &self.groups, 1.0, 100_000.0, true),
                base.groups.into(),
            ) as u32,
            system_tokens: number(
                shared,
                (Field::SystemTokens, &self.system_tokens, 1.0, 1_000_000.0, true),
                base.system_tokens.into(),
            ) as u32,
            zipf_alpha: number(
                shared,
                (Field::ZipfAlpha, &self.zipf_alpha, 0.0, 10.0, false),
                base.zipf_alpha,
            ),
            ordered: self.ordered,
            prompt: self.prompt.trim().to_owned(),
            file: self.file.clone(),
            file_lengths: self.file_lengths,
            context_tokens: number(
                file,
                (Field::ContextTokens, &self.context_tokens, 0.0, 10_000_000.0, true),
                0.0,
            ) as u32,
            turns: number(
                self.kind != Kind::Typed,
                (Field::Turns, &self.turns, 1.0, 100.0, true),
                1.0,
            ) as u32,
            trace_speed: number(
                file,
                (Field::TraceSpeed, &self.trace_speed, 0.001, 1_000_000.0, false),
                1.0,
            ),
            trace_start_s: number(file, (Field::TraceStart, &self.trace_start_s, 0.0, 1e9, false), 0.0),
            trace_end_s: number(file, (Field::TraceEnd, &self.trace_end_s, 0.0, 1e9, false), 0.0),
        };
        if self.kind == Kind::Typed && workload.prompt.is_empty() {
            wrong(Field::TypedPrompt, "Type the prompt that every request sends.".into());
        }
        if file && workload.file.is_none() {
            wrong(Field::WorkloadFile, "Pick the file that holds the prompts.".into());
        }
        if file && workload.trace_end_s > 0.0 && workload.trace_end_s <= workload.trace_start_s {
            wrong(
                Field::TraceEnd,
                "The end must come after the start; 0 for no end.".into(),
            );
        }
        workload
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every field other than its default.
    pub fn unusual() -> Workload {
        Workload {
            kind: Kind::File,
            range_ratio: 0.25,
            token_ids: true,
            groups: 3,
            system_tokens: 77,
            zipf_alpha: 1.1,
            ordered: true,
            prompt: "a & b\nc".into(),
            file: Some(FileName {
                name: "share gpt.json".into(),
                bytes: 1 << 40,
                checksum: "00ff".into(),
            }),
            file_lengths: false,
            context_tokens: 4096,
            turns: 3,
            trace_speed: 2.5,
            trace_start_s: 1.5,
            trace_end_s: 60.0,
        }
    }

    #[test]
    fn every_field_survives_a_link() {
        let mut read = Workload::default();
        let pairs = unusual().to_pairs();
        assert_eq!(pairs.len(), 17);
        for (name, value) in pairs {
            assert_eq!(read.take_pair(name, &value), Some(Ok(())), "{name}={value}");
        }
        assert_eq!(read, unusual());
        assert_eq!(read.take_pair("nope", "1"), None);
        assert!(Workload::default().to_pairs().is_empty());
    }

    #[test]
    fn every_field_survives_the_form() {
        let checked = WorkloadDraft::from(&unusual()).check(|field, message| panic!("{field:?}: {message}"));
        assert_eq!(checked, unusual());
    }

    #[test]
    fn what_the_chosen_kind_does_not_use_is_not_judged() {
        let mut draft = WorkloadDraft::from(&Workload::default());
        draft.groups = "many".into();
        draft.check(|field, message| panic!("{field:?}: {message}"));
        draft.kind = Kind::SharedPrefix;
        let mut wrong = Vec::new();
        draft.check(|field, _| wrong.push(field));
        draft.kind = Kind::Typed;
        draft.check(|field, _| wrong.push(field));
        draft.kind = Kind::File;
        draft.check(|field, _| wrong.push(field));
        assert_eq!(wrong, [Field::Groups, Field::TypedPrompt, Field::WorkloadFile]);
    }
}
