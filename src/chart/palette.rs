//! The colours, by what they stand for.
//!
//! A drawing names its colours as CSS custom properties with a fallback (`var(--chart-ink,#1f2328)`), so that one SVG
//! follows the page's theme. Hues are the Okabe–Ito set, lighter or darker per theme where the original would have
//! too little contrast with the ground; colour never stands alone, a word is always beside it.

use plotters::style::RGBColor;

use super::Theme;
use crate::request::Outcome;

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Ink,
    Faint,
    Grid,
    Ground,
    Tokens,
    InFlight,
    Discarded,
    Ended(Outcome),
}

/// CSS name, colour on light ground, colour on dark ground. The position is the colour's code while drawing.
const COLOURS: [(&str, &str, &str); 17] = [
    ("ink", "#1f2328", "#e6e8eb"),
    ("faint", "#5c6570", "#9aa4b0"),
    ("grid", "#e3e6ea", "#2c323a"),
    ("ground", "#ffffff", "#14171b"),
    ("tokens", "#0072b2", "#56b4e9"),
    ("in-flight", "#00805d", "#2fbf95"),
    ("discarded", "#d55e00", "#f07b2e"),
    ("succeeded", "#86b6d6", "#39667f"),
    ("http_error", "#d55e00", "#f07b2e"),
    ("stream_error", "#b97a00", "#f0b03c"),
    ("aborted", "#b4578c", "#d98fb8"),
    ("truncated", "#00558a", "#6aa9ff"),
    ("malformed", "#8f8600", "#f0e442"),
    ("empty", "#008060", "#2fbf95"),
    ("timeout", "#7b4a21", "#c08a5a"),
    ("network", "#1f2328", "#e6e8eb"),
    ("cancelled", "#9aa1a9", "#5f6873"),
];

impl Role {
    fn code(self) -> usize {
        match self {
            Role::Ink => 0,
            Role::Faint => 1,
            Role::Grid => 2,
            Role::Ground => 3,
            Role::Tokens => 4,
            Role::InFlight => 5,
            Role::Discarded => 6,
            Role::Ended(outcome) => 7 + Outcome::ALL.iter().position(|o| *o == outcome).unwrap_or(0),
        }
    }

    /// The stand-in plotters draws with; [`recolour`] puts the real colour there.
    pub(super) fn stand_in(self) -> RGBColor {
        RGBColor(0, 0, self.code() as u8)
    }

    /// The colour as an SVG attribute's value.
    pub(super) fn css(self, theme: Theme) -> String {
        css(self.code(), theme)
    }
}

fn css(code: usize, theme: Theme) -> String {
    let (name, light, dark) = COLOURS[code.min(COLOURS.len() - 1)];
    let fallback = match theme {
        Theme::Light => light,
        Theme::Dark => dark,
    };
    format!("var(--chart-{name},{fallback})")
}

/// Replaces the stand-ins in what plotters drew.
pub(super) fn recolour(svg: &str, theme: Theme) -> String {
    const MARK: &str = "\"#0000";
    let names: Vec<String> = (0..COLOURS.len()).map(|code| css(code, theme)).collect();
    let mut out = String::with_capacity(svg.len() + svg.len() / 8);
    let mut rest = svg;
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        match after.get(..2).and_then(|hex| usize::from_str_radix(hex, 16).ok()) {
            Some(code) if code < names.len() => {
                out.push_str(&before[..=at]);
                out.push_str(&names[code]);
                rest = &after[2..];
            }
            _ => {
                out.push_str(before);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The custom properties of a theme as CSS declarations (`--chart-ink:#1f2328;…`), for a page's `:root`.
pub fn custom_properties(theme: Theme) -> String {
    COLOURS
        .iter()
        .map(|(name, light, dark)| {
            let colour = match theme {
                Theme::Light => light,
                Theme::Dark => dark,
            };
            format!("--chart-{name}:{colour};")
        })
        .collect()
}

/// The custom property that holds an outcome's colour, for marks beside the charts (`var(--chart-http_error,…)`).
pub fn outcome_colour(outcome: Outcome, theme: Theme) -> String {
    Role::Ended(outcome).css(theme)
}

/// The drawing as a file of its own: custom properties resolved to their fallback, a ground beneath, a size of its own.
pub fn standalone(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("var(--chart-") {
        let Some((colour, end)) = fallback(&rest[at..]) else {
            break;
        };
        out.push_str(&rest[..at]);
        out.push_str(colour);
        rest = &rest[at + end..];
    }
    out.push_str(rest);
    let ground = out
        .split_once("data-ground=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let ground = ground.map(|(colour, _)| format!("</desc><rect width=\"100%\" height=\"100%\" fill=\"{colour}\"/>"));
    let size = out
        .split_once("viewBox=\"0 0 ")
        .and_then(|(_, rest)| rest.split_once('"')?.0.split_once(' '));
    let sized = size.map(|(width, height)| format!("<svg width=\"{width}\" height=\"{height}\" "));
    out.replacen("<svg ", sized.as_deref().unwrap_or("<svg "), 1)
        .replacen("font-family=\"inherit\"", "font-family=\"system-ui, sans-serif\"", 1)
        .replacen("</desc>", ground.as_deref().unwrap_or("</desc>"), 1)
}

/// The fallback in `var(--name,#rrggbb)…`, and where the expression ends.
fn fallback(text: &str) -> Option<(&str, usize)> {
    let end = text.find(')')?;
    let comma = text[..end].find(',')?;
    Some((&text[comma + 1..end], end + 1))
}
