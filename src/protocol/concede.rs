//! What a server refuses of a body, and what is asked of it instead: a refusal must cost a run its first requests at
//! most, not all of them.

use serde_json::Value;

/// How much usage reporting is asked of an OpenAI route. A server that refuses one level is asked the next lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UsageAsk {
    /// `include_usage` and `continuous_usage_stats`: counts with every frame.
    #[default]
    Continuous,
    /// `include_usage` alone: counts at the end.
    Final,
    /// No `stream_options` at all.
    Nothing,
}

impl UsageAsk {
    /// The next lower level.
    pub fn step_down(self) -> Option<Self> {
        match self {
            UsageAsk::Continuous => Some(UsageAsk::Final),
            UsageAsk::Final => Some(UsageAsk::Nothing),
            UsageAsk::Nothing => None,
        }
    }

    /// Whether a body asks on this level.
    fn is_of(self, body: &Value) -> bool {
        let options = &body["stream_options"];
        match self {
            UsageAsk::Continuous => options.get("continuous_usage_stats").is_some(),
            UsageAsk::Final => options.is_object() && options.get("continuous_usage_stats").is_none(),
            UsageAsk::Nothing => options.is_null(),
        }
    }
}

/// What was given up so far, because the server refused it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Concessions {
    /// What is left of usage reporting.
    pub usage: UsageAsk,
    /// The chat API's limit is sent as `max_tokens`, which servers older than `max_completion_tokens` want.
    pub old_limit: bool,
}

impl Concessions {
    /// What to give up after a refusal, and a sentence about it; `None` if the refusal names nothing that was asked, or
    /// only what a later body leaves out already. (Several requests on the way together are refused together.)
    ///
    /// `message` is the server's, `body` the refused request's.
    pub fn after_refusal(self, status: Option<u16>, message: &str, body: &str) -> Option<(Self, String)> {
        if !matches!(status, Some(400 | 422)) {
            return None;
        }
        let body: Value = serde_json::from_str(body).ok()?;
        let names = |key: &str| message.contains(key);
        if ["stream_options", "continuous_usage_stats", "include_usage"]
            .into_iter()
            .any(names)
            && self.usage.is_of(&body)
            && let Some(usage) = self.usage.step_down()
        {
            let left = match usage {
                UsageAsk::Continuous | UsageAsk::Final => "include_usage alone",
                UsageAsk::Nothing => "left out, so token counts are estimates where the server gives none",
            };
            let note = format!("The server refused a request's stream_options; from then on they were {left}.");
            return Some((Self { usage, ..self }, note));
        }
        let limit = "max_completion_tokens";
        if names(limit) && !self.old_limit && !body[limit].is_null() && refuses_the_key(message) {
            let note = format!("The server does not know {limit}; from then on the limit was sent as max_tokens.");
            return Some((
                Self {
                    old_limit: true,
                    ..self
                },
                note,
            ));
        }
        None
    }
}

/// Whether a message refuses a key as such, not the value that it has.
fn refuses_the_key(message: &str) -> bool {
    const WORDS: [&str; 11] = [
        "unrecogni",
        "unknown",
        "unsupported",
        "not supported",
        "unexpected",
        "not permitted",
        "not allowed",
        "extra input",
        "extra field",
        "extra_forbidden",
        "additional propert",
    ];
    let message = message.to_ascii_lowercase();
    WORDS.iter().any(|word| message.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTINUOUS: &str =
        r#"{"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_completion_tokens":8}"#;
    const FINAL: &str = r#"{"stream_options":{"include_usage":true},"max_completion_tokens":8}"#;

    #[test]
    fn usage_is_asked_in_three_steps() {
        assert_eq!(
            UsageAsk::Continuous.step_down().and_then(UsageAsk::step_down),
            Some(UsageAsk::Nothing)
        );
        assert_eq!(UsageAsk::Nothing.step_down(), None);
    }

    #[test]
    fn requests_refused_together_give_up_one_level_together() {
        let refusal = "Unrecognized request argument supplied: stream_options/continuous_usage_stats";
        let (after, note) = Concessions::default()
            .after_refusal(Some(400), refusal, CONTINUOUS)
            .expect("a concession");
        assert_eq!(after.usage, UsageAsk::Final);
        assert!(note.contains("include_usage alone"), "{note}");
        assert_eq!(after.after_refusal(Some(400), refusal, CONTINUOUS), None);
        let (after, _) = after
            .after_refusal(Some(422), "stream_options: extra fields not permitted", FINAL)
            .expect("the next concession");
        assert_eq!(after.usage, UsageAsk::Nothing);
        assert_eq!(after.after_refusal(Some(400), refusal, FINAL), None);
    }

    #[test]
    fn an_unknown_limit_is_sent_under_its_old_name_from_then_on() {
        for message in [
            "HTTP 400: Unrecognized request argument supplied: max_completion_tokens",
            "HTTP 422: body.max_completion_tokens: Extra inputs are not permitted",
            "HTTP 400: Unsupported parameter: 'max_completion_tokens'",
        ] {
            let (after, note) = Concessions::default()
                .after_refusal(Some(400), message, FINAL)
                .expect("a concession");
            assert!(after.old_limit && after.usage == UsageAsk::Continuous && note.contains("max_tokens"));
            assert_eq!(after.after_refusal(Some(400), message, FINAL), None);
        }
    }

    #[test]
    fn a_refused_value_and_other_failures_change_nothing() {
        let none = Concessions::default();
        for (status, message, body) in [
            (Some(400), "max_completion_tokens is too large: 300000", FINAL),
            (
                Some(400),
                "Unrecognized request argument supplied: max_completion_tokens",
                "{}",
            ),
            (Some(500), "unknown max_completion_tokens", FINAL),
            (Some(400), "this model's maximum context length is 8", CONTINUOUS),
            (None, "stream_options", CONTINUOUS),
        ] {
            assert_eq!(none.after_refusal(status, message, body), None, "{message}");
        }
    }
}
