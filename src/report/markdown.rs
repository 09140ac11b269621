//! A summary for a chat or an issue.

use std::fmt::Write;

use super::{
    Document, Ending, Keep, Series,
    format::{count, millis, number, outcome_words, percent, wait, with_unit},
    load_words,
};
use crate::{
    health::Verdict,
    metrics::{Distribution, term},
    request::Outcome,
};

/// The result as a few lines of Markdown. It names the model and the load; host, prompts and answers are not in it.
pub fn markdown(document: &Document) -> String {
    let summary = &document.summary;
    let mut out = String::new();
    let simulated = if document.simulated {
        "**simulated server** · "
    } else {
        ""
    };
    let model = match document.server.model.as_str() {
        "" => "model not named".to_owned(),
        model => format!("model {}", code(model)),
    };
    let ending = match document.ending {
        Ending::Completed => "",
        Ending::StoppedByUser => " · stopped by the user",
        Ending::Interrupted => " · interrupted",
    };
    let verdict = match document.client.verdict {
        Verdict::Trustworthy => "trustworthy",
        Verdict::Suspect => "suspect",
        Verdict::ClientLimited => "client-limited",
    };
    let _ = writeln!(
        out,
        "{simulated}{model} · {} · {} sent · {}{ending} · client {verdict}\n",
        load_words(&document.config),
        count(u64::from(summary.sent)),
        wait(summary.duration_ms / 1000.0),
    );
    for reason in &document.client.reasons {
        let _ = writeln!(out, "- {}", plain(reason));
    }
    if !document.client.reasons.is_empty() {
        out.push('\n');
    }
    let ended = summary.succeeded + summary.failed;
    let share = (ended > 0).then(|| f64::from(summary.failed) / f64::from(ended));
    let _ = write!(
        out,
        "**{} succeeded, {} failed ({})**",
        count(u64::from(summary.succeeded)),
        count(u64::from(summary.failed)),
        percent(share),
    );
    let others = Outcome::ALL.into_iter().filter(|o| *o != Outcome::Succeeded);
    for outcome in others {
        if let Some(n) = summary.outcomes.get(outcome.name()) {
            let _ = write!(out, " · {} {}", outcome_words(outcome), count(u64::from(*n)));
        }
    }
    let estimated = if summary.estimated_token_counts > 0 {
        " (tokens estimated from frames)"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "\n\n{} · {} output{estimated} · {} in flight on average, {} at most\n",
        with_unit(summary.request_throughput, "req/s"),
        with_unit(summary.output_throughput, "tok/s"),
        number(summary.mean_concurrency),
        summary.peak_concurrency,
    );
    out.push_str("| latency | mean | p50 | p90 | p95 | p99 | max | n |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    let rows = [
        ("ttft_ms", &summary.ttft_ms),
        ("tpot_ms", &summary.tpot_ms),
        ("itl_ms", &summary.itl_ms),
        ("e2e_ms", &summary.e2e_ms),
    ];
    for (id, d) in rows {
        latency(&mut out, term(id).map_or(id, |t| t.name), d);
    }
    out
}

fn latency(out: &mut String, name: &str, d: &Distribution) {
    let _ = write!(out, "| {name} |");
    for value in [d.mean, d.p50, d.p90, d.p95, d.p99, d.max] {
        let _ = write!(out, " {} |", millis(value));
    }
    let _ = writeln!(out, " {} |", count(d.n as u64));
}

/// What several runs come to, as GitHub-flavoured Markdown: a row per run, and a table of the pairs if there are some. Host,
/// prompts and answers are not in it.
pub fn series_markdown(series: &Series) -> String {
    let series = &series.to_share(&Keep::default());
    let mut out = format!("**{}** · {}\n", series.title(), plain(&series.finding()));
    if series.points.iter().any(|run| run.simulated) {
        out.push_str("\n**simulated server**\n");
    }
    for table in [series.run_table(), series.pair_table()] {
        if table.rows.is_empty() {
            continue;
        }
        let _ = write!(out, "\n| {} |\n|---|", table.head.join(" | "));
        out.push_str(&"---:|".repeat(table.head.len() - 1));
        out.push('\n');
        for row in table.rows {
            let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out
}

/// Text of others between backticks, on one line.
fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
}

/// Text of others on one line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(400)
        .collect()
}
