//! Drawings of the result document: SVG by plotters, the same code for the page and for reports.
//!
//! A drawing takes its colours from CSS custom properties (`--chart-ink` …, see [`custom_properties`]) where they are
//! set and else from its theme, so one SVG follows the page from light to dark. [`standalone`] makes a file of it.

mod breakdown;
mod canvas;
mod distribution;
mod outcomes;
mod overlay;
mod palette;
mod reading;
mod server_load;
mod shares;
mod sweep;
mod throughput;
mod ticks;
mod ttft;
mod waterfall;

pub use breakdown::{breakdown_height, failure_breakdown};
pub use distribution::{View, cdf, histogram};
pub use outcomes::outcomes_over_time;
pub use overlay::overlay;
pub use palette::{custom_properties, outcome_colour, standalone};
pub use reading::{Across, Place};
pub use server_load::server_load;
pub use shares::sweep_shares;
pub use sweep::{SweepAxes, sweep};
pub use throughput::{in_flight_strip, throughput_over_time};
pub use ttft::ttft_over_time;
pub use waterfall::{Phase, Rows, Span, rows_in_view, spans};

/// Colours of a drawing where the page sets none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white.
    Light,
    /// Light ink on near-black.
    Dark,
}

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Lengths compare.
    #[default]
    Linear,
    /// By powers of ten, ratios compare.
    Log,
}

/// One chart: the picture, what it says in a sentence, and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// `<svg …>` with role, title and description; scales to its container's width.
    pub svg: String,
    /// The finding, in a sentence.
    pub finding: String,
    /// The table twin: column heads.
    pub head: Vec<String>,
    /// The table twin: rows of formatted cells.
    pub rows: Vec<Vec<String>>,
    /// Where each row stands in the picture; empty where rows have no place of their own.
    pub places: Vec<Option<Place>>,
    /// The axis along the width, where a part of it can be chosen.
    pub across: Option<Across>,
}

/// Size of a drawing in CSS px. Text is 12 px where the container is just as wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Heads of a table twin.
fn heads<const N: usize>(heads: [&str; N]) -> Vec<String> {
    heads.map(str::to_owned).to_vec()
}

/// Says in the middle of the sheet that there is nothing to draw.
fn nothing(size: Size, theme: Theme, title: &str, why: &str, head: Vec<String>) -> Drawing {
    let canvas = canvas::Canvas::new(size, theme);
    let Size { width, height } = canvas.size();
    let svg = canvas.finish(title, why, |canvas, _| {
        let (x, y) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
        canvas.text(x, y, canvas::Anchor::Middle, palette::Role::Faint, why);
    });
    Drawing {
        svg,
        finding: why.to_owned(),
        head,
        rows: Vec::new(),
        places: Vec::new(),
        across: None,
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
