//! Fault shares as text: `http_503=0.02, cut=0.01`.

use super::{FaultKind, FaultShare};

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 11] = [
        FaultKind::Http429,
        FaultKind::Http500,
        FaultKind::Http503,
        FaultKind::ErrorFirst,
        FaultKind::ErrorMid,
        FaultKind::Abort,
        FaultKind::Cut,
        FaultKind::NoFinish,
        FaultKind::MalformedJson,
        FaultKind::NoTokens,
        FaultKind::Stall,
    ];

    /// Its name, as on the command line and in `demo_fault`.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Http429 => "http_429",
            FaultKind::Http500 => "http_500",
            FaultKind::Http503 => "http_503",
            FaultKind::ErrorFirst => "error_first",
            FaultKind::ErrorMid => "error_mid",
            FaultKind::Abort => "abort",
            FaultKind::Cut => "cut",
            FaultKind::NoFinish => "no_finish",
            FaultKind::MalformedJson => "malformed_json",
            FaultKind::NoTokens => "no_tokens",
            FaultKind::Stall => "stall",
        }
    }

    /// The fault of that name.
    ///
    /// # Errors
    /// A sentence with the names there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("There is no fault \"{name}\". The faults are {names}.")
        })
    }
}

impl FaultShare {
    /// Reads `fault=share` pairs separated by commas; empty text is no fault.
    ///
    /// # Errors
    /// A sentence that says what would be right.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, String> {
        let mut list: Vec<Self> = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, share) = pair
                .split_once('=')
                .ok_or_else(|| format!("\"{pair}\" is no fault with a share. Write it as http_503=0.02."))?;
            let kind = FaultKind::from_name(name.trim())?;
            let share: f64 = share
                .trim()
                .parse()
                .ok()
                .filter(|share| (0.0..=1.0).contains(share))
                .ok_or_else(|| {
                    format!(
                        "The share of {name} must be a number from 0 to 1, not \"{}\".",
                        share.trim()
                    )
                })?;
            if list.iter().any(|known| known.kind == kind) {
                return Err(format!("{name} stands there twice."));
            }
            list.push(Self { kind, share });
        }
        let total: f64 = list.iter().map(|fault| fault.share).sum();
        if total > 1.0 + 1e-9 {
            return Err(format!("The shares add up to {total:.3}; they can be 1 at most."));
        }
        Ok(list)
    }

    /// The text that [`FaultShare::parse_list`] reads.
    pub fn format_list(list: &[Self]) -> String {
        list.iter()
            .map(|fault| format!("{}={}", fault.kind.name(), fault.share))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        let list = FaultKind::ALL.map(|kind| FaultShare { kind, share: 0.0625 });
        assert_eq!(
            FaultShare::parse_list(&FaultShare::format_list(&list)).as_deref(),
            Ok(&list[..])
        );
        assert_eq!(FaultShare::parse_list(" "), Ok(vec![]));
    }

    #[test]
    fn names_are_those_of_the_document() {
        for kind in FaultKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, needle) in [
            ("flood=0.1", "http_429, http_500"),
            ("cut", "http_503=0.02"),
            ("cut=2", "from 0 to 1"),
            ("cut=NaN", "from 0 to 1"),
            ("cut=0.1,cut=0.2", "twice"),
            ("cut=0.9,stall=0.2", "add up to 1.100"),
        ] {
            let message = FaultShare::parse_list(text).expect_err(text);
            assert!(message.contains(needle), "{text}: {message}");
        }
    }
}
