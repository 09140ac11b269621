//! Several runs as one HTML file.

use std::fmt::Write;

use super::{CHART, Embedded, chart_box, escape, finish, heading, list, start, table};
use crate::{
    chart::{self, SweepAxes, Theme},
    config::series::Kind,
    report::{Keep, Series, format::count, load_words},
};

/// The report of a series without what is not let out: what it comes to, its charts and its runs. It carries all runs with
/// their requests.
pub fn series_html(series: &Series, keep: &Keep) -> String {
    let series = &series.to_share(keep);
    let Some(first) = series.points.first() else {
        return String::new();
    };
    let subject = escape(&heading(first));
    let title = format!("{}: {subject}", series.title());
    let mut out = start(&title);
    let config = &series.config;
    let _ = write!(
        out,
        "<header>\n<h1>{title}</h1>\n<p class=\"quiet\">{} · {} · {} prompt tokens, {} output tokens asked · {}</p>\n<p>{}</p>\n<p>",
        escape(crate::protocol::api_path(config.api)),
        escape(&load_words(config)),
        count(config.input_tokens.into()),
        count(config.output_tokens.into()),
        super::date_utc(first.started_unix_ms),
        escape(&series.finding()),
    );
    if series.points.iter().any(|run| run.simulated) {
        out.push_str("<span class=\"badge\">Simulated: says nothing about a real server</span>");
    }
    out.push_str("</p>\n");
    let doubts: Vec<String> = (0..)
        .zip(&series.points)
        .flat_map(|(position, run)| {
            let name = series.run_name(position, run);
            run.client.reasons.iter().map(move |reason| format!("{name}: {reason}"))
        })
        .collect();
    list(&mut out, doubts.iter());
    out.push_str("</header>\n");
    if config.series.kind != Kind::Abba {
        charts(&mut out, series);
    }
    let pairs = series.pair_table();
    if !pairs.rows.is_empty() {
        out.push_str("<h2>B less A, pair by pair</h2>\n");
        table(&mut out, &pairs.head, &pairs.rows);
    }
    out.push_str("<h2>Runs</h2>\n");
    let runs = series.run_table();
    table(&mut out, &runs.head, &runs.rows);
    finish(out, first, "", &Embedded::Document(series.to_json()))
}

fn charts(out: &mut String, series: &Series) {
    let points = series.by_load();
    let unit = series.load_unit();
    out.push_str("<h2>Throughput against latency</h2>\n<div class=\"charts\">\n");
    for axes in SweepAxes::all(&series.config.slo, unit) {
        chart_box(out, axes.latency, &chart::sweep(&points, axes, CHART, Theme::Light));
    }
    let shares = chart::sweep_shares(&points, series.enough(), unit, CHART, Theme::Light);
    chart_box(out, "Kept objectives and failures", &shares);
    out.push_str("</div>\n");
}
