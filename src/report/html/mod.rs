//! The result as one HTML file: everything in it, readable without JavaScript, from a disk or out of a mail.

mod embed;
mod series;

use std::fmt::Write;

use super::{
    Document, Ending, Keep,
    format::{NOT_AVAILABLE, count, millis, number, outcome_words, percent, percentile, wait, with_unit},
    link::figures_link,
    load_words,
};
use crate::{
    chart::{self, Drawing, Scale, Size, Theme, View},
    config::link::to_query,
    health::Verdict,
    metrics::{self, Distribution, FailureGroup, Sample, term},
    request::{Outcome, RequestRecord},
};
pub use embed::{Embedded, embedded};
pub use series::series_html;

/// Rows of the table of requests: a browser shows no more at ease. The JSON has them all.
const MOST_ROWS: usize = 1_000;
/// Failed requests whose bytes are printed; the JSON has all that were kept.
const MOST_DUMPS: usize = 50;
const CHART: Size = Size {
    width: 480,
    height: 220,
};

/// The report of a result without what is not let out. `requests`: whether it has each request by itself; without, it
/// carries a link's snapshot in place of the document.
pub fn html(document: &Document, keep: &Keep, requests: bool) -> String {
    let document = &document.to_share(keep);
    let title = escape(&heading(document));
    let mut out = start(&title);
    header(&mut out, document, &title);
    headline(&mut out, document);
    latencies(&mut out, document);
    charts(&mut out, document);
    let groups = metrics::failure_groups(&document.requests);
    failures(&mut out, document, &groups, requests);
    if requests {
        table_of_requests(&mut out, document);
    }
    configuration(&mut out, document);
    let carried = if requests {
        Embedded::Document(document.to_json())
    } else {
        let all = Keep {
            hosts: true,
            prompts: true,
            evidence: true,
        };
        let url = figures_link(document, &all, "").url;
        Embedded::Link(url)
    };
    let without = if requests { "" } else { ", without single requests" };
    finish(out, document, without, &carried)
}

/// The page up to its content.
fn start(title: &str) -> String {
    let mut out = String::with_capacity(256 * 1024);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title} – Streamgauge</title>\n<style>\n{}:root{{{}}}\n@media (prefers-color-scheme: dark){{:root{{{}}}}}\n</style>\n</head>\n<body>\n",
        include_str!("style.css"),
        chart::custom_properties(Theme::Light),
        chart::custom_properties(Theme::Dark),
    );
    out
}

/// The page from its content on: what made it, and what it carries.
fn finish(mut out: String, document: &Document, without: &str, carried: &Embedded) -> String {
    let _ = writeln!(
        out,
        "<p class=\"quiet\">Made by {}. Drop this file on a Streamgauge page to open the result there{without}.</p>",
        escape(&document.format.generator),
    );
    out.push_str(&embed::element(carried));
    out.push_str("</body>\n</html>\n");
    out
}

fn heading(document: &Document) -> String {
    match (document.server.model.as_str(), document.simulated) {
        (_, true) => "Simulated server".to_owned(),
        ("", false) => document.server.base_url.clone(),
        (model, false) => format!("{model} at {}", document.server.base_url),
    }
}

fn header(out: &mut String, document: &Document, title: &str) {
    let config = &document.config;
    let facts = format!(
        "{} · {} · {} prompt tokens, {} output tokens asked · {} warm-up · {} · {}",
        crate::protocol::api_path(config.api),
        load_words(config),
        count(config.input_tokens.into()),
        count(config.output_tokens.into()),
        count(config.warmup.into()),
        wait(document.duration_ms / 1000.0),
        date_utc(document.started_unix_ms),
    );
    let _ = write!(
        out,
        "<header>\n<h1>{title}</h1>\n<p class=\"quiet\">{}</p>\n<p>",
        escape(&facts)
    );
    if document.simulated {
        out.push_str("<span class=\"badge\">Simulated: says nothing about a real server</span>");
    }
    match document.ending {
        Ending::Completed => {}
        Ending::StoppedByUser => out.push_str("<span class=\"badge\">Stopped by the user</span>"),
        Ending::Interrupted => out.push_str("<span class=\"badge\">Interrupted</span>"),
    }
    let good = if document.client.verdict == Verdict::Trustworthy {
        " good"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<span class=\"badge{good}\">client: {}</span></p>",
        document.client.verdict.words()
    );
    list(out, document.client.reasons.iter().chain(&document.notes));
    out.push_str("</header>\n");
}

fn list<'a>(out: &mut String, items: impl Iterator<Item = &'a String>) {
    let items: String = items.map(|item| format!("<li>{}</li>", escape(item))).collect();
    if !items.is_empty() {
        let _ = writeln!(out, "<ul>{items}</ul>");
    }
}

fn headline(out: &mut String, document: &Document) {
    let summary = &document.summary;
    let p99 = |d: &Distribution| format!("p99 {}", percentile(d.p99, 99.0, d.n as u64, false));
    let rated = summary.succeeded + summary.failed;
    let share = (rated > 0).then(|| f64::from(summary.failed) / f64::from(rated));
    let estimated = match summary.estimated_token_counts {
        0 => format!("{} tokens of successes", count(summary.output_tokens)),
        n => format!(
            "{} of {} counts are estimates",
            count(n.into()),
            count(summary.succeeded.into())
        ),
    };
    let figures = [
        (
            "Output throughput",
            with_unit(summary.output_throughput, "tok/s"),
            estimated,
        ),
        (
            "Request throughput",
            with_unit(summary.request_throughput, "req/s"),
            format!("{} successes", count(summary.succeeded.into())),
        ),
        ("TTFT, median", millis(summary.ttft_ms.p50), p99(&summary.ttft_ms)),
        ("ITL, median", millis(summary.itl_ms.p50), p99(&summary.itl_ms)),
        ("E2E, median", millis(summary.e2e_ms.p50), p99(&summary.e2e_ms)),
        (
            "Failed",
            format!("{} ({})", count(summary.failed.into()), percent(share)),
            format!("of {} sent", count(summary.sent.into())),
        ),
    ];
    out.push_str("<dl class=\"figures\">\n");
    for (name, value, detail) in figures {
        let _ = writeln!(
            out,
            "<div><dt>{name}</dt><dd>{}</dd><small>{}</small></div>",
            escape(&value),
            escape(&detail)
        );
    }
    out.push_str("</dl>\n");
    let outcomes: Vec<String> = Outcome::ALL
        .into_iter()
        .filter_map(|outcome| Some((outcome, *summary.outcomes.get(outcome.name())?)))
        .map(|(outcome, n)| format!("{} {}", count(n.into()), outcome_words(outcome)))
        .collect();
    let _ = writeln!(
        out,
        "<p>{} sent = {}</p>",
        count(summary.sent.into()),
        outcomes.join(" + ")
    );
}

fn latencies(out: &mut String, document: &Document) {
    let summary = &document.summary;
    let rows = [
        ("ttft_ms", &summary.ttft_ms),
        ("ttfo_ms", &summary.ttfo_ms),
        ("tpot_ms", &summary.tpot_ms),
        ("itl_ms", &summary.itl_ms),
        ("e2e_ms", &summary.e2e_ms),
        ("tail_ms", &summary.tail_ms),
        ("queue_ms", &summary.queue_ms),
    ];
    out.push_str(
        "<h2>Latency</h2>\n<p class=\"quiet\">Of successes; n is the size of each sample. A percentile of a sample too small for it says \
         how large one must be.</p>\n<div class=\"scroll\"><table><thead><tr><th></th><th>mean</th><th>std</th><th>median</th><th>p90</th>\
         <th>p95</th><th>p99</th><th>max</th><th>n</th></tr></thead><tbody>\n",
    );
    for (id, d) in rows {
        let n = d.n as u64;
        let (name, definition) = term(id).map_or((id, ""), |term| (term.name, term.definition));
        let _ = write!(out, "<tr><th title=\"{}\">{}</th>", escape(definition), escape(name));
        for cell in [
            millis(d.mean),
            millis(d.std),
            millis(d.p50),
            percentile(d.p90, 90.0, n, false),
            percentile(d.p95, 95.0, n, false),
            percentile(d.p99, 99.0, n, false),
            millis(d.max),
            count(n),
        ] {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    let facts = [
        ("input_throughput", with_unit(summary.input_throughput, "tok/s")),
        ("total_throughput", with_unit(summary.total_throughput, "tok/s")),
        (
            "peak_output_throughput",
            with_unit(summary.peak_output_throughput, "tok/s"),
        ),
        ("user_speed", with_unit(summary.user_speed.p50, "tok/s")),
        ("prompt_tokens", count(summary.prompt_tokens)),
        (
            "cached_tokens",
            summary.cached_tokens.map_or(NOT_AVAILABLE.to_owned(), count),
        ),
        ("spec_accept_length", number(summary.spec_accept_length.mean)),
        ("discarded_frames", count(summary.discarded_frames)),
        ("mean_concurrency", number(summary.mean_concurrency)),
        ("peak_concurrency", count(summary.peak_concurrency.into())),
    ];
    let facts = facts.map(|(id, value)| (term(id).map_or(id, |term| term.name).to_owned(), value));
    facts_list(out, &facts);
}

fn facts_list(out: &mut String, facts: &[(String, String)]) {
    out.push_str("<dl class=\"facts box\">\n");
    for (name, value) in facts {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    out.push_str("</dl>\n");
}

fn charts(out: &mut String, document: &Document) {
    let measured = (document.measured_from_ms, document.duration_ms);
    let records = &document.requests;
    let timeline = document.course();
    let samples = metrics::samples(records);
    out.push_str("<h2>Over time</h2>\n<div class=\"charts\">\n");
    let light = Theme::Light;
    chart_box(
        out,
        "Output tokens over time",
        &chart::throughput_over_time(&timeline, CHART, light),
    );
    chart_box(
        out,
        "Requests ended over time",
        &chart::outcomes_over_time(&timeline, CHART, light),
    );
    let ttft = chart::ttft_over_time(records, measured, None, Scale::Linear, CHART, light);
    chart_box(out, "Time to first token over time", &ttft);
    if !document.server_load.is_empty() {
        let load = chart::server_load(&document.server_load, measured, None, CHART, light);
        chart_box(out, "Load that the server told of", &load);
    }
    out.push_str("</div>\n<h2>How latencies are spread</h2>\n<div class=\"charts\">\n");
    let latencies: [(&str, &Sample); 4] = [
        ("TTFT", &samples.ttft_ms),
        ("TPOT", &samples.tpot_ms),
        ("ITL", &samples.itl_ms),
        ("E2E", &samples.e2e_ms),
    ];
    for (name, sample) in latencies {
        chart_box(
            out,
            &format!("{name}: histogram"),
            &chart::histogram(name, sample, View::default(), CHART, light),
        );
        chart_box(
            out,
            &format!("{name}: cumulative"),
            &chart::cdf(name, sample, View::default(), CHART, light),
        );
    }
    out.push_str("</div>\n");
}

fn chart_box(out: &mut String, title: &str, drawing: &Drawing) {
    let _ = writeln!(
        out,
        "<figure><figcaption><b>{}</b><span>{}</span></figcaption>{}<details><summary>As a table</summary>",
        escape(title),
        escape(&drawing.finding),
        drawing.svg
    );
    table(out, &drawing.head, &drawing.rows);
    out.push_str("</details></figure>\n");
}

fn table(out: &mut String, head: &[impl AsRef<str>], rows: &[Vec<String>]) {
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    head.iter()
        .for_each(|cell| _ = write!(out, "<th>{}</th>", escape(cell.as_ref())));
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(out, "<td>{}</td>", escape(cell)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

fn failures(out: &mut String, document: &Document, groups: &[FailureGroup], requests: bool) {
    out.push_str("<h2>Failures</h2>\n");
    if groups.is_empty() {
        out.push_str("<p>No request failed.</p>\n");
        return;
    }
    let size = Size {
        height: chart::breakdown_height(groups.len()),
        ..CHART
    };
    chart_box(
        out,
        "Failures by kind",
        &chart::failure_breakdown(groups, size, Theme::Light),
    );
    for group in groups {
        let code = group
            .code
            .as_deref()
            .map(|code| format!(" · code {code}"))
            .unwrap_or_default();
        let when = format!("{:.1} to {:.1} s", group.first_ms / 1000.0, group.last_ms / 1000.0);
        let _ = writeln!(
            out,
            "<div class=\"box\"><p><b>{} {} ×</b> <span class=\"quiet\">{} of requests · {when}{}</span></p><p><code>{}</code></p><p class=\"quiet\">{}</p></div>",
            outcome_words(group.outcome),
            count(group.count.into()),
            percent(group.share),
            escape(&code),
            escape(if group.example.is_empty() {
                "No message came with it."
            } else {
                &group.example
            }),
            escape(group.rule.statement()),
        );
    }
    let kept: Vec<&RequestRecord> = document
        .requests
        .iter()
        .filter(|record| record.outcome.is_failure() && record.evidence.is_some())
        .collect();
    if kept.is_empty() || !requests {
        return;
    }
    let _ = writeln!(
        out,
        "<h2>Bytes of failures</h2>\n<p class=\"quiet\">{} of {} requests whose bytes were kept.</p>",
        count(kept.len().min(MOST_DUMPS) as u64),
        count(kept.len() as u64)
    );
    for record in kept.into_iter().take(MOST_DUMPS) {
        dump_of(out, record);
    }
}

fn dump_of(out: &mut String, record: &RequestRecord) {
    let Some(evidence) = &record.evidence else { return };
    let headers: String = evidence
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    let hex = evidence
        .reads
        .iter()
        .any(|read| std::str::from_utf8(&read.bytes).is_err());
    let _ = writeln!(
        out,
        "<details class=\"box\"><summary>#{}: {}</summary><p>POST <code>{}</code></p><pre>{}</pre><p>{}</p><pre>{}</pre><pre>{}</pre></details>",
        record.index,
        escape(&record.story()),
        escape(&evidence.url),
        escape(&evidence.request_body),
        record
            .status
            .map_or("no status".to_owned(), |status| format!("status {status}")),
        escape(&headers),
        escape(&super::dump(&evidence.reads, record.times.dispatched_ms, hex)),
    );
}

fn table_of_requests(out: &mut String, document: &Document) {
    let shown = document.requests.len().min(MOST_ROWS);
    let _ = writeln!(
        out,
        "<h2>Requests</h2>\n<p class=\"quiet\">{} of {}; the file itself carries all.</p>\n<div class=\"scroll\"><table><thead><tr><th>request</th>\
         <th>outcome</th><th>dispatched</th><th>TTFT</th><th>TPOT</th><th>E2E</th><th>output tokens</th><th>what happened</th></tr></thead><tbody>",
        count(shown as u64),
        count(document.requests.len() as u64)
    );
    for record in &document.requests[..shown] {
        let story = if record.outcome.is_failure() {
            record.story()
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "<tr><td>#{}</td><td>{}</td><td>{:.2} s</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>",
            record.index,
            outcome_words(record.outcome),
            record.times.dispatched_ms / 1000.0,
            millis(metrics::ttft_ms(record)),
            millis(metrics::tpot_ms(record)),
            millis(metrics::e2e_ms(record)),
            record.tokens.output.map_or(NOT_AVAILABLE.to_owned(), count),
            escape(&story),
        );
    }
    out.push_str("</tbody></table></div>\n");
}

fn configuration(out: &mut String, document: &Document) {
    let health = &document.client;
    out.push_str("<h2>Client and configuration</h2>\n");
    let facts = [
        (
            "Requests on the wire",
            format!("{} asked, {} possible", document.slots.asked, document.slots.had),
        ),
        ("Clock steps", millis(health.clock_step_ms)),
        ("Timer late, p99", millis(health.timer_late_p99_ms)),
        ("Queue in the client, p99", millis(health.queue_p99_ms)),
        ("Tab hidden", millis(health.hidden_ms)),
        ("Seed", document.config.seed.to_string()),
        ("Configuration", format!("?{}", to_query(&document.config))),
    ];
    facts_list(out, &facts.map(|(name, value)| (name.to_owned(), value)));
    let Some(details) = &document.server.details else {
        return;
    };
    out.push_str("<h2>Server</h2>\n<p class=\"quiet\">Its settings before the run, as it told them. What looks secret is hidden.</p>\n");
    let telling = details.telling().into_iter();
    facts_list(
        out,
        &telling
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Vec<_>>(),
    );
    let all: Vec<Vec<String>> = details.all().into_iter().map(|(key, value)| vec![key, value]).collect();
    _ = write!(out, "<details><summary>All {} settings</summary>", all.len());
    table(out, &["setting".to_owned(), "value".to_owned()], &all);
    out.push_str("</details>\n");
}

/// Date and time of a moment, UTC: `2026-12-05 14:30 UTC`. Days to year, month and day as by H. Hinnant, *chrono-compatible
/// low-level date algorithms*.
fn date_utc(unix_ms: f64) -> String {
    let seconds = (unix_ms / 1000.0).clamp(0.0, 253_402_300_799.0) as i64;
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        rest / 3600,
        rest % 3600 / 60
    )
}

/// Text of others as text, in elements and in attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
