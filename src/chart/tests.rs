//! Charts of made-up runs. `streamgauge_charts` in the target folder holds them, to be looked at.

use super::*;
use crate::{
    metrics::{FailureGroup, OutcomeCounts, Sample, Timeline},
    request::{Marks, Outcome, RequestRecord, Rule, Times, TokenCounts, WireCounts},
};

/// A request with these times.
pub(super) fn record(outcome: Outcome, times: Times) -> RequestRecord {
    RequestRecord {
        index: 0,
        warmup: false,
        lane: 0,
        outcome,
        failure: None,
        times,
        status: Some(200),
        response_id: None,
        finish_reason: None,
        marks: Marks::default(),
        tokens: TokenCounts::default(),
        wire: WireCounts::default(),
        evidence: None,
        asked: None,
    }
}

const SIZE: Size = Size {
    width: 720,
    height: 240,
};
const NARROW: Size = Size {
    width: 358,
    height: 240,
};

/// A run of so many buckets with a dip, failures and a queue.
fn run(buckets: usize) -> Timeline {
    let wave = |i: usize| (i as f64 * 0.7).sin() * 60.0 + (i as f64 * 2.3).cos() * 25.0;
    let level = |i: usize| {
        if (buckets / 3..buckets / 3 + 4).contains(&i) {
            120.0
        } else {
            460.0
        }
    };
    let mut outcomes = vec![OutcomeCounts::default(); buckets];
    for (i, bucket) in outcomes.iter_mut().enumerate() {
        for _ in 0..2 + i % 3 {
            bucket.add(Outcome::Succeeded);
        }
        match i % 11 {
            3 => bucket.add(Outcome::StreamError),
            5 => bucket.add(Outcome::HttpError),
            7 => bucket.add(Outcome::Truncated),
            9 => bucket.add(Outcome::Timeout),
            _ => {}
        }
    }
    Timeline {
        origin_ms: 500.0,
        from_ms: 0.0,
        bucket_ms: 250.0,
        duration_ms: buckets as f64 * 250.0 - 100.0,
        tokens: (0..buckets)
            .map(|i| (level(i) + wave(i)) * if i + 1 == buckets { 0.6 } else { 1.0 })
            .collect(),
        discarded: (0..buckets).map(|i| if i % 11 == 3 { 40.0 } else { 0.0 }).collect(),
        outcomes,
        in_flight: (0..buckets)
            .map(|i| if i + 3 >= buckets { 7.5 } else { 16.0 })
            .collect(),
    }
}

fn group(outcome: Outcome, code: Option<&str>, message: &str, count: u32) -> FailureGroup {
    FailureGroup {
        outcome,
        rule: Rule::ErrorKey,
        code: code.map(str::to_owned),
        pattern: message.to_owned(),
        example: message.to_owned(),
        count,
        share: f64::from(count) / 200.0,
        first_ms: 0.0,
        last_ms: 1.0,
        members: Vec::new(),
    }
}

fn failures() -> Vec<FailureGroup> {
    vec![
        group(Outcome::StreamError, Some("503"), "The request queue is full.", 9),
        group(
            Outcome::HttpError,
            Some("429"),
            "Rate limit of … requests per minute reached; try again in … s, or ask for more",
            6,
        ),
        group(Outcome::Truncated, None, "", 4),
        group(Outcome::Timeout, None, "No byte came within … s", 1),
    ]
}

/// 188 latencies between 60 and 240 ms with a straggler.
fn latencies() -> Sample {
    let value = |i: u32| 60.0 + f64::from(i % 37) * 1.7 + f64::from(i * i % 23) * 2.9;
    Sample::new((0..187).map(value).chain([240.0]).collect())
}

fn all(timeline: &Timeline, groups: &[FailureGroup], sample: &Sample, size: Size, theme: Theme) -> Vec<Drawing> {
    vec![
        throughput_over_time(timeline, size, theme),
        outcomes_over_time(timeline, size, theme),
        failure_breakdown(
            groups,
            Size {
                height: breakdown_height(groups.len()),
                ..size
            },
            theme,
        ),
        histogram("TTFT", sample, View::default(), size, theme),
        cdf("TTFT", sample, View::default(), size, theme),
    ]
}

/// Whether tags nest; the drawings use no comments and no CDATA.
fn well_formed(svg: &str) -> bool {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some((_, tag)) = rest.split_once('<') {
        let Some((tag, after)) = tag.split_once('>') else {
            return false;
        };
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = after;
    }
    open.is_empty()
}

#[test]
fn charts_are_written_to_be_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/streamgauge_charts");
    std::fs::create_dir_all(&folder).unwrap();
    let long = Timeline {
        discarded: vec![0.0; 2400],
        ..run(2400)
    };
    let tail = Sample::new(
        (0..3000)
            .map(|i| 8.0 + f64::from(i * i % 101) / 20.0 + if i % 250 == 0 { 400.0 } else { 0.0 })
            .collect(),
    );
    for (name, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
        let (ground, ink) = if theme == Theme::Light {
            ("#fff", "#1f2328")
        } else {
            ("#14171b", "#e6e8eb")
        };
        for size in [SIZE, NARROW] {
            let mut page = format!(
                "<meta charset=utf-8><body style='margin:16px;background:{ground};color:{ink};font:14px system-ui'>"
            );
            page += &format!(
                "<div style='display:grid;gap:24px;grid-template-columns:repeat(auto-fill,{}px)'>",
                size.width
            );
            let mut drawings = all(&run(60), &failures(), &latencies(), size, theme);
            drawings.push(throughput_over_time(&long, size, theme));
            drawings.push(outcomes_over_time(&long, size, theme));
            drawings.push(histogram("ITL", &tail, View::default(), size, theme));
            drawings.push(histogram(
                "E2E",
                &Sample::new(vec![12_345.0]),
                View::default(),
                size,
                theme,
            ));
            drawings.push(throughput_over_time(&run(1), size, theme));
            drawings.push(histogram("TTFO", &Sample::default(), View::default(), size, theme));
            for drawing in drawings {
                page += &format!("<div>{}<p>{}</div>", drawing.svg, canvas::escape(&drawing.finding));
            }
            std::fs::write(folder.join(format!("{name}-{}.html", size.width)), page).unwrap();
        }
    }
}

#[test]
fn every_chart_names_itself_and_has_its_figures_in_a_table() {
    for drawing in all(&run(60), &failures(), &latencies(), SIZE, Theme::Light) {
        assert!(well_formed(&drawing.svg), "{}", drawing.svg);
        assert!(drawing.svg.contains("role=\"img\"") && drawing.svg.contains("<title>"));
        assert!(
            drawing
                .svg
                .contains(&format!("<desc>{}</desc>", canvas::escape(&drawing.finding)))
        );
        assert!(!drawing.rows.is_empty());
        assert!(drawing.rows.iter().all(|row| row.len() == drawing.head.len()));
    }
}

#[test]
fn a_chart_of_nothing_says_so() {
    for drawing in all(&Timeline::default(), &[], &Sample::default(), SIZE, Theme::Dark) {
        assert!(well_formed(&drawing.svg));
        assert!(
            drawing.svg.contains(&format!(">{}</text>", drawing.finding)),
            "{}",
            drawing.finding
        );
        assert!(drawing.rows.is_empty());
    }
}

#[test]
fn odd_figures_and_sizes_are_drawn_without_a_panic() {
    let odd = |value: f64| Timeline {
        bucket_ms: 250.0,
        duration_ms: value,
        tokens: vec![value, 0.0, value],
        discarded: vec![value],
        outcomes: vec![OutcomeCounts::default(); 3],
        in_flight: vec![value, value, value],
        ..Timeline::default()
    };
    let sizes = [
        Size { width: 0, height: 0 },
        Size { width: 200, height: 60 },
        Size {
            width: u32::MAX,
            height: u32::MAX,
        },
    ];
    for value in [0.0, -1.0, 1e-300, 1e300, f64::MAX, f64::INFINITY, f64::NAN] {
        for size in sizes {
            let samples = [
                Sample::new(vec![value]),
                Sample::new(vec![value, -value, 1.0]),
                Sample::weighted(vec![(value, u32::MAX), (1.0, u32::MAX)]),
            ];
            for sample in &samples {
                for drawing in all(
                    &odd(value),
                    &[group(Outcome::Empty, None, "", u32::MAX)],
                    sample,
                    size,
                    Theme::Light,
                ) {
                    assert!(well_formed(&drawing.svg));
                    assert!(
                        !drawing.svg.contains("NaN") && !drawing.svg.contains("inf"),
                        "{value}: {}",
                        drawing.svg
                    );
                }
            }
        }
    }
}

#[test]
fn a_server_s_message_cannot_become_markup() {
    let hostile = "</text><script>alert(1)</script>\" onload='x' &\u{0}\u{1b}";
    let groups = [group(Outcome::HttpError, Some(hostile), hostile, 1)];
    let svg = failure_breakdown(
        &groups,
        Size {
            width: 4000,
            height: 60,
        },
        Theme::Light,
    )
    .svg;
    assert!(well_formed(&svg));
    assert!(!svg.contains("<script") && !svg.contains("onload='"));
    assert!(!svg.contains('\u{0}') && !svg.contains('\u{1b}'));
}

#[test]
fn a_long_run_draws_no_more_than_two_points_per_pixel_column() {
    let numbers = |svg: &str| svg.matches(',').count();
    let hour = throughput_over_time(&run(14_400), SIZE, Theme::Light);
    assert!((60..=120).contains(&hour.rows.len()));
    // Three curves, two of them with an area beneath: five outlines of at most two points per column.
    assert!(numbers(&hour.svg) < 5 * 2 * SIZE.width as usize + 500);
    let outcomes = outcomes_over_time(&run(14_400), SIZE, Theme::Light);
    assert!(outcomes.rows.len() <= SIZE.width as usize / 4);
}

#[test]
fn a_table_of_merged_buckets_has_the_mean_of_the_run() {
    let timeline = Timeline {
        bucket_ms: 250.0,
        duration_ms: 250.0 * 999.0 + 125.0,
        tokens: (0..1000).map(|i| if i % 2 == 0 { 100.0 } else { 50.0 }).collect(),
        discarded: vec![0.0; 1000],
        in_flight: vec![4.0; 1000],
        ..Timeline::default()
    };
    let rows = throughput_over_time(&timeline, SIZE, Theme::Light).rows;
    assert_eq!(rows[1], ["5", "300", "0", "4.00"]);
    // The last row has 20 buckets, of which the last is half as long as the others.
    let last = 1500.0 / (19.5 * 0.25);
    assert_eq!(
        rows.last().unwrap(),
        &["245", &crate::report::format::number(last), "0", "4.00"]
    );
}

#[test]
fn equally_frequent_failures_are_not_told_apart() {
    let two = [group(Outcome::Empty, None, "", 2), group(Outcome::Timeout, None, "", 2)];
    assert_eq!(
        failure_breakdown(&two, SIZE, Theme::Light).finding,
        "4 requests failed in 2 ways, none of them the most frequent."
    );
    let mut outcomes = OutcomeCounts::default();
    outcomes.add(Outcome::Empty);
    outcomes.add(Outcome::Timeout);
    let timeline = Timeline {
        outcomes: vec![outcomes],
        bucket_ms: 250.0,
        duration_ms: 250.0,
        ..Timeline::default()
    };
    assert_eq!(
        outcomes_over_time(&timeline, SIZE, Theme::Light).finding,
        "2 requests ended: 0 succeeded, 2 failed (100\u{202f}%)."
    );
}

#[test]
fn merging_buckets_loses_no_request() {
    let timeline = run(14_400);
    let sent: u32 = timeline.outcomes.iter().map(OutcomeCounts::total).sum();
    let drawing = outcomes_over_time(&timeline, NARROW, Theme::Light);
    let told = drawing.rows.iter().flat_map(|row| &row[1..]);
    assert_eq!(
        told.map(|cell| cell.replace(',', "").parse::<u32>().unwrap())
            .sum::<u32>(),
        sent
    );
}

#[test]
fn every_value_is_in_one_bin_of_the_histogram() {
    let zeros = Sample::new(vec![0.0, 0.0, 1.0, 2.0]);
    let tail = Sample::new((0..500).map(|i| if i < 3 { 1e6 } else { f64::from(i % 50) }).collect());
    for sample in [latencies(), zeros, tail, Sample::weighted(vec![(4.0, 900), (5.0, 100)])] {
        let drawing = histogram("ITL", &sample, View::default(), SIZE, Theme::Light);
        let told = drawing
            .rows
            .iter()
            .map(|row| row[2].replace(',', "").parse::<u64>().unwrap());
        assert_eq!(told.sum::<u64>(), sample.len());
    }
}

#[test]
fn a_part_of_an_axis_and_a_log_axis_lose_no_value() {
    let sample = Sample::new(
        (0..900)
            .map(|i| if i < 40 { 0.0 } else { 0.2 * 1.01f64.powi(i) })
            .collect(),
    );
    for scale in [Scale::Linear, Scale::Log] {
        for range_ms in [
            None,
            Some((20.0, 90.0)),
            Some((5000.0, 9000.0)),
            Some((1.0, 1.0)),
            Some((f64::NAN, 2.0)),
        ] {
            let view = View { scale, range_ms };
            let drawing = histogram("ITL", &sample, view, SIZE, Theme::Light);
            let told = drawing
                .rows
                .iter()
                .map(|row| row[2].replace(',', "").parse::<u64>().unwrap());
            assert_eq!(told.sum::<u64>(), sample.len(), "{view:?}");
            assert_eq!(drawing.places.len(), drawing.rows.len());
            let across = drawing.across.expect("an axis");
            assert_eq!(across.log, scale == Scale::Log);
            if let Some((from, to)) = range_ms.filter(|(from, to)| from < to) {
                let (low, high) = across.values;
                assert!(
                    low <= from && to <= high * 1.000_001 && high - low < 2.5 * (to - from),
                    "{view:?}"
                );
            }
            let curve = cdf("ITL", &sample, view, SIZE, Theme::Light);
            assert!(well_formed(&curve.svg) && !curve.svg.contains("NaN"));
        }
    }
    let zeros = View {
        scale: Scale::Log,
        range_ms: None,
    };
    assert!(
        !cdf("ITL", &Sample::new(vec![0.0; 9]), zeros, SIZE, Theme::Light)
            .svg
            .contains("NaN")
    );
}

#[test]
fn a_percentile_is_neither_marked_nor_told_of_too_few_values() {
    let drawing = cdf(
        "TTFT",
        &Sample::new(vec![1.0, 2.0, 3.0]),
        View::default(),
        SIZE,
        Theme::Light,
    );
    assert!(drawing.svg.contains(">p50<") && !drawing.svg.contains(">p90<") && !drawing.svg.contains(">p99<"));
    assert!(!drawing.finding.contains("90th"));
    let told = |label: &str| drawing.rows.iter().find(|row| row[0] == label).unwrap()[1].clone();
    assert!(told("p99").contains("662") && told("p50").starts_with('2'));
}

#[test]
fn the_columns_of_a_part_of_the_run_keep_the_run_s_time() {
    let part = Timeline {
        from_ms: 30_000.0,
        ..run(40)
    };
    for drawing in [
        throughput_over_time(&part, SIZE, Theme::Light),
        outcomes_over_time(&part, SIZE, Theme::Light),
    ] {
        assert_eq!(drawing.rows[0][0], "30");
        assert_eq!(drawing.places.len(), drawing.rows.len());
        let across = drawing.across.expect("an axis");
        assert!((across.value(across.ends.0) - 30.0).abs() < 1e-9);
        let (row, place) = drawing.row_at(across.ends.0, 0.5, 2.0).expect("a row");
        assert!(row == 0 && place.x > across.ends.0);
    }
}

#[test]
fn a_drawing_follows_the_page_s_theme_and_a_file_needs_no_page() {
    let drawing = histogram("TTFT", &latencies(), View::default(), SIZE, Theme::Dark);
    assert!(drawing.svg.contains("var(--chart-tokens,#56b4e9)"));
    assert!(!drawing.svg.contains("\"#0000"), "a stand-in colour was left");
    let file = standalone(&drawing.svg);
    assert!(well_formed(&file));
    assert!(!file.contains("var(") && file.contains("fill=\"#56b4e9\"") && file.contains("fill=\"#14171b\""));
    assert!(custom_properties(Theme::Light).contains("--chart-tokens:#0072b2;"));
}

#[test]
fn the_finding_tells_what_the_figures_say() {
    let throughput = throughput_over_time(&run(1), SIZE, Theme::Light);
    assert!(
        throughput.finding.starts_with("Output averaged"),
        "{}",
        throughput.finding
    );
    let outcomes = outcomes_over_time(&run(22), SIZE, Theme::Light).finding;
    assert!(
        outcomes.starts_with("73 requests ended: 65 succeeded, 8 failed"),
        "{outcomes}"
    );
    let failures = failure_breakdown(&failures(), SIZE, Theme::Light).finding;
    assert!(
        failures.starts_with("20 requests failed in 4 ways; the most frequent is \"error in stream 503\" with 9"),
        "{failures}"
    );
}

fn sweep_points(throughputs: &[f64]) -> Vec<crate::report::Point> {
    let point = |(position, throughput): (usize, &f64)| crate::report::Point {
        position,
        load: f64::from(1u32 << position),
        output_throughput: Some(*throughput),
        request_throughput: Some(throughput / 64.0),
        ttft_ms: Some(50.0 * 1.6f64.powi(position as i32)),
        tpot_ms: None,
        e2e_ms: None,
        failure_share: Some(0.0),
        goodput: None,
        keeps: false,
    };
    throughputs.iter().enumerate().map(point).collect()
}

fn ttft(objective_ms: Option<f64>) -> SweepAxes {
    SweepAxes {
        latency: "TTFT",
        latency_of: |point| point.ttft_ms,
        objective_ms,
        load_unit: "at a time",
    }
}

#[test]
fn a_sweep_marks_its_knee_and_its_objective() {
    let points = sweep_points(&[100.0, 200.0, 390.0, 420.0, 425.0]);
    let drawing = sweep(&points, ttft(Some(200.0)), SIZE, Theme::Light);
    assert!(well_formed(&drawing.svg) && drawing.svg.contains("4 knee") && drawing.svg.contains("objective"));
    assert!(drawing.finding.contains("knee"), "{}", drawing.finding);
    assert_eq!(drawing.rows.len(), 5);
    assert!(drawing.rows.iter().all(|row| row.len() == drawing.head.len()));
    assert_eq!(drawing.rows[2][4], "n/a", "no objective was set for the run");
    let far = sweep(&points, ttft(Some(1e6)), SIZE, Theme::Light);
    assert!(!far.svg.contains("objective"));
}

#[test]
fn a_sweep_of_no_or_one_run_is_drawn() {
    for n in [0, 1] {
        let points = sweep_points(&[100.0][..n]);
        for size in [SIZE, NARROW] {
            let drawing = sweep(&points, ttft(None), size, Theme::Dark);
            assert!(well_formed(&drawing.svg) && drawing.rows.len() == n);
            assert!(!drawing.svg.contains("NaN") && !drawing.svg.contains("knee"));
        }
    }
    let mut points = sweep_points(&[100.0]);
    points[0].output_throughput = None;
    let drawing = sweep(&points, ttft(None), SIZE, Theme::Light);
    assert_eq!(drawing.rows[0][1], "n/a");
}

#[test]
fn several_runs_lie_over_each_other_with_a_row_each() {
    let (fast, slow) = (
        Sample::new((0..50).map(|i| 20.0 + f64::from(i)).collect()),
        Sample::new((0..80).map(|i| 60.0 + f64::from(i)).collect()),
    );
    let size = Size {
        width: 600,
        height: 240,
    };
    let runs = [
        ("a <b>".to_owned(), &fast),
        ("b".to_owned(), &slow),
        ("none".to_owned(), &Sample::default()),
    ];
    let drawing = overlay("TTFT", &runs, size, Theme::Light);
    assert_eq!(drawing.rows.len(), 2, "a run without values has no curve");
    assert!(
        drawing.finding.contains("in a <b>") && drawing.svg.contains("a &lt;b&gt;"),
        "{}",
        drawing.svg
    );
    assert_eq!(drawing.rows[1][1], "99.5\u{202f}ms");
    let nothing = overlay("TTFT", &[], size, Theme::Light);
    assert!(nothing.rows.is_empty() && nothing.finding.contains("No TTFT"));
}
