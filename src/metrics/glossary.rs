//! The terms, each explained once: hover texts, the documentation and the exports take their words from here.

/// One term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its key, as in the result document where it occurs there (`"ttft_ms"`).
    pub id: &'static str,
    /// Short name, as in tables.
    pub name: &'static str,
    /// The name in full.
    pub long_name: &'static str,
    /// What it is, in a sentence, formula included.
    pub definition: &'static str,
    /// Its unit, empty if it is a share.
    pub unit: &'static str,
    /// What other tools mean by the name, or call the same thing.
    pub elsewhere: &'static str,
}

/// All terms, in the order in which a result shows them.
pub fn glossary() -> &'static [Term] {
    &TERMS
}

/// The term with this key.
pub fn term(id: &str) -> Option<&'static Term> {
    TERMS.iter().find(|t| t.id == id)
}

static TERMS: [Term; 36] = [
    Term {
        id: "ttft_ms",
        name: "TTFT",
        long_name: "time to first token",
        definition: "From the moment the request was handed to the browser to the read that brought its first token of any kind (text, reasoning or tool call); over successes.",
        unit: "ms",
        elsewhere: "SGLang and GuideLLM agree but for tool calls (SGLang's chat client ignores them) and for requests without a token, which SGLang enters as 0; vLLM's bench takes the first message with choices, even an empty role chunk.",
    },
    Term {
        id: "ttfo_ms",
        name: "TTFO",
        long_name: "time to first answer token",
        definition: "From dispatch to the read that brought the first token that is not reasoning; equal to TTFT for a model that does not reason aloud; over successes.",
        unit: "ms",
        elsewhere: "AIPerf's TTFO and GuideLLM's TTFOT; SGLang's and vLLM's clients have none.",
    },
    Term {
        id: "ttst_ms",
        name: "TTST",
        long_name: "time to second token",
        definition: "From the first read that brought tokens to the second; over successes with two such reads.",
        unit: "ms",
        elsewhere: "AIPerf's TTST is the gap between its first two chunks; SGLang's and vLLM's clients have none.",
    },
    Term {
        id: "tpot_ms",
        name: "TPOT",
        long_name: "time per output token after the first",
        definition: "(last token − first token) / (output tokens − 1), one value per success with at least two tokens that came in more than one read.",
        unit: "ms",
        elsewhere: "SGLang and vLLM divide (latency − TTFT) by the same, with the tail to [DONE] in it; AIPerf and GuideLLM call it ITL; GuideLLM's TPOT counts the first token's wait too.",
    },
    Term {
        id: "itl_ms",
        name: "ITL",
        long_name: "inter-token latency",
        definition: "The gap before a read that brought k tokens gives k values of gap / k; all gaps of all successes in one pool. Without token counts from the server, k is the number of frames in the read.",
        unit: "ms",
        elsewhere: "SGLang and vLLM pool the gaps between messages, so messages that arrive together give zeros and a spike; AIPerf and GuideLLM mean one average per request, which is TPOT here.",
    },
    Term {
        id: "read_gap_ms",
        name: "read gap",
        long_name: "gap between reads that brought tokens",
        definition: "The time between one read that brought tokens and the next, however many each brought; all successes in one pool.",
        unit: "ms",
        elsewhere: "AIPerf's inter-chunk latency; SGLang's and vLLM's ITL is this where every message came in a read of its own.",
    },
    Term {
        id: "e2e_ms",
        name: "E2E",
        long_name: "end-to-end latency",
        definition: "From dispatch to the read that brought the last token; over successes.",
        unit: "ms",
        elsewhere: "SGLang counts up to the last line, [DONE] included; AIPerf calls it request latency.",
    },
    Term {
        id: "tail_ms",
        name: "tail",
        long_name: "tail after the last token",
        definition: "From the read that brought the last token to the one that brought [DONE]; over successes that sent it.",
        unit: "ms",
        elsewhere: "SGLang counts it into E2E and TPOT; vLLM leaves it out.",
    },
    Term {
        id: "user_speed",
        name: "speed per user",
        long_name: "output speed that one user sees",
        definition: "1,000 / TPOT: output tokens after the first per second, one value per success.",
        unit: "tok/s",
        elsewhere: "AIPerf's output token throughput per user, taken from its ITL; GuideLLM's and LLMPerf's divide all tokens by the whole latency.",
    },
    Term {
        id: "queue_ms",
        name: "queue time",
        long_name: "time in the client's own queue",
        definition: "dispatched − scheduled: how long a request waited here for a free connection before it was sent; in no latency of the server.",
        unit: "ms",
        elsewhere: "vLLM's client_queue_time, inference-perf's schedule_delay; most tools hide it, or count it as TTFT.",
    },
    Term {
        id: "request_throughput",
        name: "requests/s",
        long_name: "request throughput",
        definition: "Successes divided by the length of the measured window; failed requests are not in it.",
        unit: "req/s",
        elsewhere: "SGLang's request_throughput, which counts requests that failed inside a 200 response as completed.",
    },
    Term {
        id: "output_throughput",
        name: "output tokens/s",
        long_name: "output throughput",
        definition: "Output tokens of successes divided by the length of the measured window; absent if any success's count is unknown.",
        unit: "tok/s",
        elsewhere: "SGLang's output_throughput, which credits the requested length where the server sent no usage.",
    },
    Term {
        id: "input_throughput",
        name: "input tokens/s",
        long_name: "input throughput",
        definition: "Prompt tokens of successes, as the server counted them, divided by the length of the measured window; absent if any is unknown.",
        unit: "tok/s",
        elsewhere: "SGLang's input_throughput uses the client's own count.",
    },
    Term {
        id: "total_throughput",
        name: "total tokens/s",
        long_name: "total throughput",
        definition: "Input and output throughput together; absent if one of them is.",
        unit: "tok/s",
        elsewhere: "SGLang's total_throughput, from the client's count of the prompt.",
    },
    Term {
        id: "peak_output_throughput",
        name: "peak tokens/s",
        long_name: "peak output throughput",
        definition: "Most output tokens of successes whose arrivals lie within one second, each frame with its weight in tokens; absent for a run shorter than a second.",
        unit: "tok/s",
        elsewhere: "SGLang's and vLLM's max_output_tokens_per_s count messages in fixed buckets of a second.",
    },
    Term {
        id: "tokens_per_read",
        name: "tokens per read",
        long_name: "output tokens per read",
        definition: "Output tokens of successes divided by the reads that brought some; above 1, the network or the server sends several at once, and the time between those was not seen.",
        unit: "tok/read",
        elsewhere: "No other tool shows it.",
    },
    Term {
        id: "mean_concurrency",
        name: "concurrency",
        long_name: "mean concurrency",
        definition: "Σ (ended − dispatched) over all requests, failed ones included, divided by the length of the measured window.",
        unit: "requests",
        elsewhere: "SGLang's concurrency sums over its successes alone.",
    },
    Term {
        id: "peak_concurrency",
        name: "peak concurrency",
        long_name: "peak concurrency",
        definition: "Most requests in flight at any one moment, from the exact times of all requests.",
        unit: "requests",
        elsewhere: "SGLang counts every request that touches a one-second bucket, so it can exceed the limit that was set.",
    },
    Term {
        id: "goodput",
        name: "goodput",
        long_name: "goodput",
        definition: "Successes that meet every latency target set, divided by the length of the measured window.",
        unit: "req/s",
        elsewhere: "SGLang's request_goodput and vLLM's goodput.",
    },
    Term {
        id: "slo_attainment",
        name: "SLO attainment",
        long_name: "share of requests within the targets",
        definition: "Successes that meet every latency target set, divided by all requests that ended by themselves, failures included.",
        unit: "",
        elsewhere: "SGLang's slo_attainment.",
    },
    Term {
        id: "output_goodput",
        name: "goodput in tokens",
        long_name: "output tokens of good requests",
        definition: "Output tokens of the requests that meet every latency target set, divided by the length of the measured window.",
        unit: "tok/s",
        elsewhere: "inference-perf's token goodput.",
    },
    Term {
        id: "error_adjusted",
        name: "error-adjusted",
        long_name: "error-adjusted percentile",
        definition: "The percentile over successes and failures, each failure counted as a request that never answered; n/a where the percentile falls on one.",
        unit: "ms",
        elsewhere: "tt-inference-server asks for it; other tools take percentiles over what they call successes.",
    },
    Term {
        id: "co_adjusted",
        name: "from schedule",
        long_name: "percentile adjusted for coordinated omission",
        definition: "The percentile of latencies measured from the moment the load wanted the request sent, so with the time in the client's own queue.",
        unit: "ms",
        elsewhere: "wrk2's corrected latency; vLLM's e2el_including_client_queue.",
    },
    Term {
        id: "steady_state",
        name: "steady state",
        long_name: "steady-state window",
        definition: "The longest span in which at least a share of the peak concurrency was in flight all the time (80 % unless chosen otherwise); a request belongs to the window in which it ended, tokens count by their own arrival.",
        unit: "",
        elsewhere: "SGLang's steady_state_serving uses the same window, and counts the tokens of a request by the share of its arrivals inside.",
    },
    Term {
        id: "failure_share",
        name: "failure rate",
        long_name: "share of requests that failed",
        definition: "Failures divided by the requests that ended by themselves; cancelled requests are in neither.",
        unit: "",
        elsewhere: "Elsewhere often too low: errors inside a 200 stream, aborts and cut streams are counted as successes by SGLang's and vLLM's clients.",
    },
    Term {
        id: "output_tokens",
        name: "output tokens",
        long_name: "output tokens of successes",
        definition: "Σ over successes of the tokens generated, reasoning included: the server's usage if it sent one, else one per frame, marked as an estimate; never the length that was asked for.",
        unit: "tokens",
        elsewhere: "SGLang's total_output_tokens falls back on the requested length.",
    },
    Term {
        id: "prompt_tokens",
        name: "input tokens",
        long_name: "prompt tokens of successes",
        definition: "Σ over successes of the prompt tokens the server counted.",
        unit: "tokens",
        elsewhere: "SGLang's total_input_tokens is the client's count.",
    },
    Term {
        id: "cached_tokens",
        name: "cached tokens",
        long_name: "prompt tokens from the server's cache",
        definition: "Σ over successes of the prompt tokens that the server says it had cached; absent where it says nothing.",
        unit: "tokens",
        elsewhere: "SGLang's total_cached_tokens (its server tells with --enable-cache-report, or on /generate).",
    },
    Term {
        id: "cache_hit_rate",
        name: "cache hit rate",
        long_name: "share of cached prompt tokens",
        definition: "Cached prompt tokens divided by the prompt tokens of the successes for which the server told.",
        unit: "",
        elsewhere: "SGLang's cache_hit_rate_pct.",
    },
    Term {
        id: "spec_accept_length",
        name: "accept length",
        long_name: "accepted length of speculative decoding",
        definition: "Draft tokens accepted per verification step, as the server told it of each request; over successes for which it did.",
        unit: "tokens",
        elsewhere: "SGLang's client prints the scheduler's average since its start, not that of the run.",
    },
    Term {
        id: "disagreeing_token_counts",
        name: "counts that disagree",
        long_name: "successes whose token counts disagree",
        definition: "Successes for which usage and the server's count of the answer's text are further apart than one in ten and two tokens, or which brought more frames than usage tells tokens, or whose usage was not believed.",
        unit: "requests",
        elsewhere: "AIPerf's usage_discrepancy_count compares usage with a tokenizer of its own.",
    },
    Term {
        id: "discarded_frames",
        name: "discarded frames",
        long_name: "token frames of requests that did not succeed",
        definition: "Frames with tokens that came in requests which then failed or were cancelled; they are counted nowhere else.",
        unit: "frames",
        elsewhere: "Other tools add their tokens to throughput or drop them without a word.",
    },
    Term {
        id: "percentile",
        name: "p50, p90, p99",
        long_name: "percentile",
        definition: "The p-th percentile has rank p/100 · (n − 1) in the sorted sample, interpolated linearly between neighbours; it means little if n is small.",
        unit: "",
        elsewhere: "NumPy's default, and so SGLang's and vLLM's.",
    },
    Term {
        id: "std",
        name: "std",
        long_name: "standard deviation",
        definition: "√(Σ (x − mean)² / n), ddof 0.",
        unit: "ms",
        elsewhere: "NumPy's default, and so SGLang's.",
    },
    Term {
        id: "coalesced_frames",
        name: "frames sharing a read",
        long_name: "token frames that shared a read",
        definition: "Token frames that arrived together with an earlier one in a single read of the body, so that no time between them could be measured.",
        unit: "frames",
        elsewhere: "AIPerf stamps once per network chunk too; other tools stamp each message as it is parsed, which looks like a gap of nearly nothing.",
    },
    Term {
        id: "warmup",
        name: "warm-up",
        long_name: "warm-up requests",
        definition: "Requests sent before the measured window; their failures are shown, and nothing of them is in any figure.",
        unit: "",
        elsewhere: "SGLang sends one by default and does not report it.",
    },
];

/// All terms as a page of documentation.
pub fn glossary_markdown() -> String {
    let mut out = String::from(
        "# The numbers\n\nEach figure of a result, defined once; the page shows the same words on hover. Latencies are over the measured \
         requests that succeeded; failed requests have figures of their own and are in no aggregate of successes.\n\n\
         A percentile that the sample cannot support is not shown but as \"needs n ≥ …\": p90 from 64 values on, p95 from 130, \
         p99 from 662, p99.9 from 6,636. From there on at least two values lie beyond the true percentile in 99 of 100 samples.\n",
    );
    for term in glossary() {
        let unit = match term.unit {
            "" => String::new(),
            unit => format!(", in {unit}"),
        };
        out += &format!(
            "\n## {} ({}{unit})\n\n{} In the document: `{}`.\n\nElsewhere: {}\n",
            term.name, term.long_name, term.definition, term.id, term.elsewhere
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Summary;

    #[test]
    fn the_page_of_documentation_says_the_same() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/metrics.md");
        if std::env::var_os("WRITE_DOCS").is_some() {
            std::fs::write(path, glossary_markdown()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == glossary_markdown(),
            "docs/metrics.md is not the glossary; WRITE_DOCS=1 cargo test --lib glossary writes it anew"
        );
    }

    #[test]
    fn every_term_has_one_meaning_in_full_sentences() {
        for (i, term) in glossary().iter().enumerate() {
            assert!(
                glossary()[..i].iter().all(|t| t.id != term.id),
                "{} is there twice",
                term.id
            );
            assert!(
                term.definition.ends_with('.') && term.elsewhere.ends_with('.'),
                "{}",
                term.id
            );
        }
        assert_eq!(term("ttft_ms").map(|t| t.name), Some("TTFT"));
        assert_eq!(term("nonsense"), None);
    }

    #[test]
    fn every_latency_and_rate_of_the_summary_is_explained() {
        let summary = serde_json::to_value(Summary::default()).unwrap();
        let keys = summary.as_object().unwrap().keys();
        let explained: Vec<_> = keys
            .filter(|k| {
                k.ends_with("throughput")
                    || k.starts_with("cache")
                    || *k == "user_speed"
                    || k.ends_with("concurrency")
                    || (k.ends_with("_ms") && *k != "duration_ms")
            })
            .collect();
        assert!(explained.len() >= 10);
        for key in explained {
            assert!(term(key).is_some(), "{key} has no entry");
        }
    }
}
