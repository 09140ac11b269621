//! The sheet that a chart is drawn on: shapes by plotters, words by hand.
//!
//! Plotters rounds coordinates to whole numbers, so shapes are drawn four times as large and scaled down. It measures
//! text through the page's DOM when compiled to WebAssembly, which a worker has not; so words are plain `<text>`
//! elements whose place needs no exact measure.

use std::fmt::Write;

use plotters::{
    coord::{Shift, cartesian::Cartesian2d, types::RangedCoordf64},
    element::Drawable,
    prelude::{DrawingArea, IntoDrawingArea, PathElement, Polygon, Rectangle, SVGBackend},
    style::{Color, ShapeStyle},
};

use super::{
    Size, Theme,
    palette::{Role, recolour},
};

/// How much larger than the picture the shapes are drawn.
const ZOOM: i32 = 4;

/// About the width of a digit at 12 px, px.
pub(super) const DIGIT: f64 = 7.0;

/// A chart in the making.
pub(super) struct Canvas {
    size: Size,
    theme: Theme,
    words: String,
}

/// A rectangle of the picture with axes, px from the top left.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// First and last value along x.
    pub x: (f64, f64),
    /// First and last value along y.
    pub y: (f64, f64),
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Panel {
    /// A chart's panel, with `y`, and a low one below it over the same `x`, with `strip_y`; without `strip` the first takes
    /// the whole height.
    pub(super) fn with_strip(
        size: Size,
        left: f64,
        x: (f64, f64),
        y: (f64, f64),
        strip: bool,
        strip_y: (f64, f64),
    ) -> (Self, Self) {
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        let (right, bottom) = (width - 12.0, height - 38.0);
        let split = if strip {
            bottom - 24.0 - (height * 0.16).max(28.0)
        } else {
            bottom
        };
        let panel = |top, bottom, y| Self {
            left,
            right,
            top,
            bottom,
            x,
            y,
        };
        (panel(26.0, split, y), panel(split + 24.0, bottom, strip_y))
    }

    /// Place of a value along x, px.
    pub(super) fn px(&self, x: f64) -> f64 {
        self.left + (self.right - self.left) * share(x, self.x)
    }

    /// Place of a value along y, px.
    pub(super) fn py(&self, y: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * share(y, self.y)
    }

    /// Pixel columns it has.
    pub(super) fn columns(&self) -> usize {
        (self.right - self.left).max(1.0) as usize
    }
}

fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    let share = (value - low) / (high - low);
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The shapes of a chart, in pixels of the picture.
pub(super) struct Shapes<'a> {
    area: DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
}

impl Shapes<'_> {
    /// A line through the points.
    pub(super) fn line(&self, points: Vec<(f64, f64)>, role: Role, width: f64) {
        let style = role.stand_in().stroke_width((width * f64::from(ZOOM)).round() as u32);
        self.put(&PathElement::new(points, style));
    }

    /// An area filled with a tint of the colour.
    pub(super) fn tint(&self, points: Vec<(f64, f64)>, role: Role, opacity: f64) {
        self.put(&Polygon::new(points, role.stand_in().mix(opacity)));
    }

    /// A filled rectangle between two corners.
    pub(super) fn bar(&self, from: (f64, f64), to: (f64, f64), role: Role) {
        self.put(&Rectangle::new([from, to], ShapeStyle::from(&role.stand_in()).filled()));
    }

    fn put<'e, E>(&self, element: &'e E)
    where
        for<'b> E: Drawable<SVGBackend<'b>>,
        &'e E: plotters::element::PointCollection<'e, (f64, f64)>,
    {
        // Writing to a string cannot fail, and a chart that cannot be drawn must not end the run.
        let _ = self.area.draw(element);
    }
}

impl Canvas {
    /// An empty sheet. A size too small to draw on is raised.
    pub(super) fn new(size: Size, theme: Theme) -> Self {
        let size = Size {
            width: size.width.clamp(200, 4000),
            height: size.height.clamp(60, 4000),
        };
        Self {
            size,
            theme,
            words: String::new(),
        }
    }

    /// Its size after that.
    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Writes a text whose baseline is at `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, role: Role, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let colour = role.css(self.theme);
        let text = escape(text);
        let _ = writeln!(
            self.words,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\"{anchor}>{text}</text>"
        );
    }

    /// A legend entry that starts at `x`: a square and its word. Returns where the next may start.
    pub(super) fn legend(&mut self, x: f64, y: f64, role: Role, word: &str) -> f64 {
        let colour = role.css(self.theme);
        let _ = writeln!(
            self.words,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{colour}\"/>",
            y - 9.5
        );
        self.text(x + 15.0, y, Anchor::Start, Role::Ink, word);
        x + legend_width(word)
    }

    /// Horizontal grid lines with their figures at the left; the lowest is the axis.
    pub(super) fn y_axis(&mut self, shapes: &Shapes, panel: &Panel, ticks: &[f64], label: impl Fn(f64) -> String) {
        for tick in ticks {
            let y = panel.py(*tick);
            let role = if *tick == panel.y.0 { Role::Faint } else { Role::Grid };
            shapes.line(vec![(panel.left, y), (panel.right, y)], role, 1.0);
            self.text(panel.left - 6.0, y + 4.0, Anchor::End, Role::Faint, &label(*tick));
        }
    }

    /// Figures below the panel, with short strokes; `title` stands at the right end of the row below.
    pub(super) fn x_axis(
        &mut self,
        shapes: &Shapes,
        panel: &Panel,
        ticks: &[f64],
        title: &str,
        label: impl Fn(f64) -> String,
    ) {
        for tick in ticks {
            let x = panel.px(*tick);
            shapes.line(vec![(x, panel.bottom), (x, panel.bottom + 4.0)], Role::Faint, 1.0);
            self.text(x, panel.bottom + 17.0, Anchor::Middle, Role::Faint, &label(*tick));
        }
        self.text(panel.right, panel.bottom + 33.0, Anchor::End, Role::Faint, title);
    }

    /// Draws the shapes and closes the picture.
    pub(super) fn finish(mut self, title: &str, finding: &str, draw: impl FnOnce(&mut Canvas, &Shapes)) -> String {
        let (w, h) = (self.size.width as i32, self.size.height as i32);
        let mut drawn = String::with_capacity(16 * 1024);
        {
            let root: DrawingArea<SVGBackend, Shift> =
                SVGBackend::with_string(&mut drawn, ((w * ZOOM) as u32, (h * ZOOM) as u32)).into_drawing_area();
            let pixels = Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
                0.0..f64::from(w),
                0.0..f64::from(h),
                (0..w * ZOOM, 0..h * ZOOM),
            );
            let shapes = Shapes {
                area: root.apply_coord_spec(pixels),
            };
            draw(&mut self, &shapes);
            let _ = shapes.area.present();
        }
        let shapes = drawn.split_once('>').map_or("", |(_, rest)| rest);
        let shapes = shapes
            .trim_end()
            .trim_end_matches("</svg>")
            .replace(" opacity=\"1\"", "");
        let shapes = recolour(&shapes, self.theme);
        let ground = Role::Ground.css(self.theme);
        let ground = ground
            .rsplit_once(',')
            .map_or("", |(_, colour)| colour.trim_end_matches(')'));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             font-family=\"inherit\" font-size=\"12\" font-variant-numeric=\"tabular-nums\" data-ground=\"{ground}\">\
             <title>{}</title><desc>{}</desc>\n<g transform=\"scale({})\" stroke-linejoin=\"round\">{}</g>\n{}</svg>",
            escape(title),
            escape(finding),
            1.0 / f64::from(ZOOM),
            shapes.trim(),
            self.words,
        )
    }
}

/// Room a legend entry takes, px, the gap to the next included.
pub(super) fn legend_width(word: &str) -> f64 {
    15.0 + text_width(word) + 16.0
}

/// About the width of a text at 12 px, px.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.6
}

/// Cuts a text that is wider than `px`, with an ellipsis.
pub(super) fn fit(text: &str, px: f64) -> String {
    let most = (px / 6.6).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Text as XML content: marked-up characters escaped, what XML forbids replaced.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
