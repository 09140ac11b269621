//! How numbers are written: three significant digits, a narrow space before the unit, `n/a` for what was not measured.

use crate::{metrics, request::Outcome};

/// The space between a number and its unit: narrow, and never broken across lines.
pub const NARROW_SPACE: char = '\u{202f}';

/// What stands where nothing was measured.
pub const NOT_AVAILABLE: &str = "n/a";

/// A whole number with its thousands separated: `1,842`.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// At least three significant digits, thousands separated: `1,842`, `18.4`, `0.00184`. `n/a` if absent or not finite.
pub fn number(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        Some(value) if value.is_finite() => three_digits(value),
        _ => NOT_AVAILABLE.to_owned(),
    }
}

/// A number with its unit: `1,842 tok/s`.
pub fn with_unit(value: impl Into<Option<f64>>, unit: &str) -> String {
    match value.into() {
        Some(value) if value.is_finite() => format!("{}{NARROW_SPACE}{unit}", three_digits(value)),
        _ => NOT_AVAILABLE.to_owned(),
    }
}

/// A length of time given in ms: in ms below 10 s, then in s.
pub fn millis(value_ms: impl Into<Option<f64>>) -> String {
    match value_ms.into() {
        Some(value) if value.abs() >= 10_000.0 => with_unit(value / 1000.0, "s"),
        value => with_unit(value, "ms"),
    }
}

/// The `p`-th percentile (0: another statistic) of a sample of `n`, ms. Where the sample is too small for it, what it
/// would need, unless it is to be shown anyway.
pub fn percentile(value_ms: Option<f64>, p: f64, n: u64, anyway: bool) -> String {
    let needed = metrics::floor(p);
    if n < needed && !anyway {
        format!("needs n ≥ {}", count(needed))
    } else {
        millis(value_ms)
    }
}

/// A number that a person set, with its unit: as it was set, with no digits added.
pub fn as_set(value: f64, unit: &str) -> String {
    format!("{value}{NARROW_SPACE}{unit}")
}

/// A length of time a person waits for, given in seconds: `8 s`, `2 min 5 s`, `1 h 4 min`.
pub fn wait(value_s: impl Into<Option<f64>>) -> String {
    let Some(value) = value_s.into().filter(|v| v.is_finite()) else {
        return NOT_AVAILABLE.to_owned();
    };
    if value > 0.0 && value < 0.5 {
        return format!("<{NARROW_SPACE}1{NARROW_SPACE}s");
    }
    // A cast from f64 saturates, so a silly figure is a big one and no panic.
    let seconds = value.max(0.0).round() as u64;
    let (h, min, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let part = |value: u64, unit: &str| format!("{}{NARROW_SPACE}{unit}", count(value));
    match (h, min, s) {
        (0, 0, s) => part(s, "s"),
        (0, min, 0) => part(min, "min"),
        (0, min, s) => format!("{} {}", part(min, "min"), part(s, "s")),
        (h, 0, _) => part(h, "h"),
        (h, min, _) => format!("{} {}", part(h, "h"), part(min, "min")),
    }
}

/// A share between 0 and 1 as a percentage with one decimal. It says 0 or 100 only where the share is exactly that.
pub fn percent(share: impl Into<Option<f64>>) -> String {
    let Some(share) = share.into().filter(|v| v.is_finite()) else {
        return NOT_AVAILABLE.to_owned();
    };
    let percent = share * 100.0;
    let text = if percent == 0.0 || percent == 100.0 {
        format!("{percent:.0}")
    } else if percent > 0.0 && percent < 0.05 {
        format!("<{NARROW_SPACE}0.1")
    } else if (99.95..100.0).contains(&percent) {
        format!(">{NARROW_SPACE}99.9")
    } else {
        format!("{percent:.1}")
    };
    format!("{text}{NARROW_SPACE}%")
}

/// A number of bytes: `512 B`, `18.4 kB` (thousands, not 1,024s).
pub fn bytes(value: u64) -> String {
    let value = value as f64;
    match value {
        v if v < 1e3 => format!("{v:.0}{NARROW_SPACE}B"),
        v if v < 1e6 => with_unit(v / 1e3, "kB"),
        v if v < 1e9 => with_unit(v / 1e6, "MB"),
        v => with_unit(v / 1e9, "GB"),
    }
}

/// The words for an outcome.
pub fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::HttpError => "HTTP error",
        Outcome::StreamError => "error in stream",
        Outcome::Aborted => "aborted",
        Outcome::Truncated => "truncated",
        Outcome::Malformed => "malformed",
        Outcome::Empty => "empty",
        Outcome::Timeout => "timed out",
        Outcome::Network => "network",
        Outcome::Cancelled => "cancelled",
    }
}

fn three_digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-6..1e15).contains(&size) {
        return format!("{value:.2e}");
    }
    // Rounding may carry into the next power of ten (99.96 → 100), so the decimals follow the rounded figure.
    let decimals = |size: f64| (2 - size.log10().floor() as i32).max(0) as usize;
    let mut places = decimals(size);
    if let Ok(rounded) = format!("{size:.places$}").parse::<f64>()
        && rounded > 0.0
    {
        places = decimals(rounded);
    }
    let text = format!("{value:.places$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("−", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{fraction}", grouped(whole))
}

fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: String) -> String {
        text.replace(NARROW_SPACE, " ")
    }

    #[test]
    fn numbers_have_three_significant_digits_and_whole_thousands() {
        let cases = [
            (0.0, "0"),
            (0.001_844, "0.00184"),
            (0.9996, "1.00"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (18.44, "18.4"),
            (99.96, "100"),
            (184.4, "184"),
            (1842.4, "1,842"),
            (1_234_567.8, "1,234,568"),
            (-12.34, "−12.3"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn what_was_not_measured_is_not_available() {
        for text in [
            number(None),
            millis(None),
            percent(f64::NAN),
            with_unit(f64::INFINITY, "s"),
            wait(None),
        ] {
            assert_eq!(text, NOT_AVAILABLE);
        }
    }

    #[test]
    fn latencies_change_to_seconds_at_ten_seconds() {
        assert_eq!(plain(millis(84.0)), "84.0 ms");
        assert_eq!(plain(millis(9999.0)), "9,999 ms");
        assert_eq!(plain(millis(12_345.0)), "12.3 s");
    }

    #[test]
    fn a_percentage_never_rounds_to_none_or_all() {
        let cases = [
            (0.0, "0 %"),
            (0.0001, "< 0.1 %"),
            (0.022, "2.2 %"),
            (0.9999, "> 99.9 %"),
            (1.0, "100 %"),
        ];
        for (share, text) in cases {
            assert_eq!(plain(percent(share)), text);
        }
    }

    #[test]
    fn waits_are_told_in_two_units_at_most() {
        let cases = [
            (0.2, "< 1 s"),
            (40.2, "40 s"),
            (59.6, "1 min"),
            (125.0, "2 min 5 s"),
            (3900.0, "1 h 5 min"),
        ];
        for (seconds, text) in cases {
            assert_eq!(plain(wait(seconds)), text);
        }
        assert!(!wait(f64::MAX).is_empty());
    }

    #[test]
    fn a_percentile_of_too_small_a_sample_says_what_it_needs() {
        assert_eq!(percentile(Some(5.0), 99.0, 661, false), "needs n ≥ 662");
        assert_eq!(percentile(Some(5.0), 99.9, 6_635, false), "needs n ≥ 6,636");
        let shown = millis(5.0);
        assert_eq!(percentile(Some(5.0), 99.0, 662, false), shown);
        assert_eq!(percentile(Some(5.0), 99.0, 2, true), shown);
        assert_eq!(percentile(Some(5.0), 0.0, 1, false), shown);
        assert_eq!(percentile(None, 50.0, 1, false), NOT_AVAILABLE);
    }

    #[test]
    fn bytes_go_in_thousands() {
        assert_eq!(plain(bytes(512)), "512 B");
        assert_eq!(plain(bytes(18_432)), "18.4 kB");
        assert_eq!(plain(bytes(u64::MAX)), "18,446,744,074 GB");
    }
}
