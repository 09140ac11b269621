//! What became of the requests at each load of a sweep: the share that kept the objectives, and the share that failed.

use super::{
    Drawing, Size, Theme,
    canvas::{Canvas, DIGIT, Panel},
    heads, nothing,
    palette::Role,
    throughput::axis_figure,
};
use crate::report::{
    Point,
    format::{as_set, percent},
};

const TITLE: &str = "Kept objectives and failures, by load";

/// Shares of the requests that ended by themselves, for each load in order, all loads equally far apart. `enough` is the
/// share that has to keep the objectives, drawn as a line. Without objectives there are failures alone.
pub fn sweep_shares(points: &[Point], enough: Option<f64>, load_unit: &str, size: Size, theme: Theme) -> Drawing {
    let head = heads([&format!("load ({load_unit})"), "kept objectives", "failed"]);
    let kept_of = |point: &Point| point.goodput.and_then(|goodput| goodput.attainment);
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|point| {
            vec![
                axis_figure(point.load),
                percent(kept_of(point)),
                percent(point.failure_share),
            ]
        })
        .collect();
    let judged = points.iter().any(|point| kept_of(point).is_some());
    if !judged && points.iter().all(|point| point.failure_share.is_none()) {
        return Drawing {
            rows,
            ..nothing(size, theme, TITLE, "No request of any run ended by itself.", head)
        };
    }
    let finding = finding(points, enough.filter(|_| judged), load_unit);

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let last = points.len().saturating_sub(1) as f64;
    let panel = Panel {
        left: 5.0 * DIGIT + 10.0,
        right: width - 12.0,
        top: 26.0,
        bottom: height - 38.0,
        x: (-0.5, last + 0.5),
        y: (0.0, 1.0),
    };
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        canvas.y_axis(shapes, &panel, &[0.0, 0.25, 0.5, 0.75, 1.0], percent);
        let step = points.len().div_ceil((panel.columns() / 48).max(1)).max(1);
        let marks: Vec<f64> = (0..points.len()).step_by(step).map(|at| at as f64).collect();
        let name = |at: f64| {
            points
                .get(at as usize)
                .map_or_else(String::new, |point| axis_figure(point.load))
        };
        canvas.x_axis(shapes, &panel, &marks, &format!("load, {load_unit}"), name);
        let curve = |role, value: &dyn Fn(&Point) -> Option<f64>| {
            let path: Vec<(f64, f64)> = (0..)
                .zip(points)
                .filter_map(|(at, point)| Some((panel.px(f64::from(at)), panel.py(value(point)?))))
                .collect();
            path.iter()
                .for_each(|(x, y)| shapes.bar((x - 3.0, y - 3.0), (x + 3.0, y + 3.0), role));
            if path.len() > 1 {
                shapes.line(path, role, 1.5);
            }
        };
        let mut next = panel.left;
        if judged {
            curve(Role::Tokens, &kept_of);
            next = canvas.legend(next, 12.0, Role::Tokens, "kept objectives");
        }
        curve(Role::Discarded, &|point| point.failure_share);
        next = canvas.legend(next, 12.0, Role::Discarded, "failed");
        if let Some(enough) = enough.filter(|_| judged) {
            let y = panel.py(enough);
            shapes.line(vec![(panel.left, y), (panel.right, y)], Role::InFlight, 1.5);
            canvas.legend(next, 12.0, Role::InFlight, "enough");
        }
    });
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: (0..points.len()).map(|at| panel.column(at as f64, width)).collect(),
        across: None,
    }
}

fn finding(points: &[Point], enough: Option<f64>, load_unit: &str) -> String {
    let failing = points
        .iter()
        .filter_map(|point| Some((point.load, point.failure_share.filter(|share| *share > 0.0)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let failures = match failing {
        Some((load, share)) => format!("Most failures: {}, with {}.", percent(share), as_set(load, load_unit)),
        None => "Nothing failed.".to_owned(),
    };
    let Some(enough) = enough else { return failures };
    let best = points
        .iter()
        .filter(|point| {
            point
                .goodput
                .and_then(|it| it.attainment)
                .is_some_and(|share| share >= enough)
        })
        .map(|point| point.load)
        .max_by(f64::total_cmp);
    match best {
        Some(load) => format!(
            "Highest load at which {} or more kept the objectives: {}. {failures}",
            percent(enough),
            as_set(load, load_unit)
        ),
        None => format!("At no load did {} keep the objectives. {failures}", percent(enough)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Goodput;

    const SIZE: Size = Size {
        width: 600,
        height: 220,
    };

    fn point(load: f64, kept: Option<f64>, failed: Option<f64>) -> Point {
        Point {
            position: 0,
            load,
            output_throughput: None,
            request_throughput: None,
            ttft_ms: None,
            tpot_ms: None,
            e2e_ms: None,
            failure_share: failed,
            goodput: kept.map(|share| Goodput {
                good: 0,
                of: 0,
                request_goodput: None,
                output_goodput: None,
                attainment: Some(share),
                ttft_attainment: None,
                tpot_attainment: None,
                e2e_attainment: None,
            }),
            keeps: false,
        }
    }

    #[test]
    fn what_was_kept_and_what_failed_is_told_for_each_load() {
        let points = [
            point(1.0, Some(1.0), Some(0.0)),
            point(8.0, Some(0.9), Some(0.0)),
            point(64.0, Some(0.2), Some(0.3)),
        ];
        let drawing = sweep_shares(&points, Some(0.9), "at a time", SIZE, Theme::Light);
        assert_eq!(drawing.rows.len(), 3);
        assert!(
            [8.0, 64.0]
                .iter()
                .all(|load| drawing.finding.contains(&as_set(*load, "at a time"))),
            "{}",
            drawing.finding
        );
        assert!(drawing.svg.contains("kept objectives") && drawing.svg.contains("enough"));
    }

    #[test]
    fn without_objectives_there_are_failures_alone() {
        let points = [point(1.0, None, Some(0.0)), point(2.0, None, None)];
        let drawing = sweep_shares(&points, Some(0.9), "req/s", SIZE, Theme::Light);
        assert_eq!(drawing.finding, "Nothing failed.");
        assert!(!drawing.svg.contains("kept objectives") && !drawing.svg.contains("enough"));
        let none = sweep_shares(&points[1..], None, "req/s", SIZE, Theme::Light);
        assert!(none.finding.starts_with("No request"));
        assert!(sweep_shares(&[], None, "req/s", SIZE, Theme::Light).rows.is_empty());
    }
}
