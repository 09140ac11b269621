//! What happened to a request, in words.

use super::{FailurePhase, RequestRecord, Rule};

impl RequestRecord {
    /// What happened, in a sentence or two, with the server's own words and how it is counted.
    pub fn story(&self) -> String {
        let Some(failure) = &self.failure else {
            return format!(
                "Succeeded: {}.",
                tokens(self.tokens.output.unwrap_or(u64::from(self.tokens.frames)))
            );
        };
        let status = self
            .status
            .map_or_else(String::new, |status| format!("answered {status}"));
        let so_far = match failure.phase {
            FailurePhase::BeforeHeaders => "before any answer".to_owned(),
            FailurePhase::BeforeFirstToken => "before the first token".to_owned(),
            FailurePhase::AfterTokens => format!("after {}", frames(failure.token_frames_before)),
        };
        let happened = match failure.rule {
            Rule::FetchRejected => "The browser could not get an answer".to_owned(),
            Rule::StatusNot2xx => "The server refused the request".to_owned(),
            Rule::ErrorKey | Rule::ErrorObject | Rule::ErrorEvent | Rule::ErrorShape => {
                format!("The server {status} but sent an error event {so_far}")
            }
            Rule::ErrorBody => format!("The server {status}, but what it sent is an error"),
            Rule::AbortFinish => format!("The server {status} but ended the answer as aborted {so_far}"),
            Rule::NanStop => format!("The server {status}, but its scheduler met NaN {so_far}"),
            Rule::EndWithoutFinish => {
                format!("The server {status}, but the stream ended {so_far} without finish reason and [DONE]")
            }
            Rule::ConnectionBroke => format!("The server {status}, but the connection broke {so_far}"),
            Rule::NotJson | Rule::NotUtf8 | Rule::LineTooLong => {
                format!("The server {status}, but what came {so_far} cannot be read")
            }
            Rule::NotEventStream => format!("The server {status}, but what it sent is no event stream"),
            Rule::NoToken => format!("The server {status} and ended neatly, but without one token"),
            Rule::FirstByteTimeout => "No byte of the answer came within the limit".to_owned(),
            Rule::StallTimeout => format!("The stream stood still longer than the limit, {so_far}"),
            Rule::TotalTimeout => format!("The request took longer than its limit, {so_far}"),
            Rule::Cancelled => return format!("Cancelled {so_far}. Counted in no rate."),
        };
        // Where the sentence says it all, the message repeats it.
        let told = matches!(
            failure.rule,
            Rule::EndWithoutFinish
                | Rule::ConnectionBroke
                | Rule::NoToken
                | Rule::FirstByteTimeout
                | Rule::StallTimeout
                | Rule::TotalTimeout
        );
        let message = failure.message.trim().trim_end_matches('.');
        let message = if told || message.is_empty() {
            String::new()
        } else {
            format!(": {message}")
        };
        let code = failure
            .code
            .as_ref()
            .filter(|code| !told && !failure.message.contains(*code));
        let code = code.map_or_else(String::new, |code| format!(" ({code})"));
        let counted = if self.warmup {
            "A warm-up request: in no figure."
        } else {
            "Counted as failed."
        };
        format!("{happened}{message}{code}. {counted}")
    }
}

fn tokens(n: u64) -> String {
    if n == 1 {
        "1 token".into()
    } else {
        format!("{n} tokens")
    }
}

fn frames(n: u32) -> String {
    tokens(u64::from(n))
}

impl Rule {
    /// The rule as a statement, for those who ask why.
    pub fn statement(self) -> &'static str {
        match self {
            Rule::FetchRejected => "A request that gets no response headers is a network failure.",
            Rule::StatusNot2xx => "A status outside 200 to 299 is a failure.",
            Rule::ErrorKey => "An event whose JSON has a non-empty \"error\" is a failure, whatever follows.",
            Rule::ErrorObject => "An event that says object: \"error\" is a failure, whatever follows.",
            Rule::ErrorEvent => "An event named \"error\" is a failure, whatever follows.",
            Rule::ErrorShape => "An event without choices that has the shape of an error is one, whatever follows.",
            Rule::ErrorBody => "A JSON body with an error is a failure, whatever its status.",
            Rule::AbortFinish => {
                "The finish reasons abort, error, cancelled, failed and timeout are failures, however the stream goes on."
            }
            Rule::NanStop => "A stop at \"NaN happened\" is a failure of the server's arithmetic.",
            Rule::EndWithoutFinish => "An end without a finish reason and without [DONE] is a cut answer.",
            Rule::ConnectionBroke => "A connection that breaks before [DONE] is a cut answer.",
            Rule::NotJson => "A data line that is no JSON is a failure, not something to skip.",
            Rule::NotUtf8 => "A data line that is no UTF-8 is a failure.",
            Rule::NotEventStream => "A body that is no event stream has no first token to time.",
            Rule::LineTooLong => "A line without end is not read on.",
            Rule::NoToken => "An answer without one token of text, reasoning or tool call is empty.",
            Rule::FirstByteTimeout => "No byte of the body within the limit is a time-out.",
            Rule::StallTimeout => "A pause longer than the limit is a time-out.",
            Rule::TotalTimeout => "A request longer than its limit is a time-out.",
            Rule::Cancelled => "What the user ends is neither success nor failure.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Api,
        request::{Machine, Outcome, Spec},
    };

    fn record(body: &str, status: u16) -> RequestRecord {
        let mut machine = Machine::new(
            Spec {
                api: Api::Chat,
                ..Spec::default()
            },
            0.0,
        );
        machine.headers(status, None, 1.0);
        let _ = machine.read(body.as_bytes(), 2.0);
        machine.eof(3.0);
        let reading = machine.finish();
        RequestRecord::of(reading, 0, false, 0, 0.0, None)
    }

    #[test]
    fn an_error_in_a_stream_is_told_with_how_far_it_had_come_and_the_servers_words() {
        let token = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        let error = "data: {\"error\":{\"message\":\"The request queue is full.\",\"code\":503}}\n\n";
        let record = record(&format!("{token}{token}{error}"), 200);
        assert_eq!(
            record.story(),
            "The server answered 200 but sent an error event after 2 tokens: The request queue is full (503). Counted as failed."
        );
    }

    #[test]
    fn a_refusal_names_its_status_once() {
        let record = record("{\"error\":{\"message\":\"slow down\",\"code\":429}}", 429);
        assert_eq!(
            record.story(),
            "The server refused the request: HTTP 429: slow down. Counted as failed."
        );
    }

    #[test]
    fn a_cut_answer_says_so_once() {
        let record = record("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", 200);
        assert_eq!(record.outcome, Outcome::Truncated);
        assert_eq!(
            record.story(),
            "The server answered 200, but the stream ended after 1 token without finish reason and [DONE]. Counted as failed."
        );
    }
}
