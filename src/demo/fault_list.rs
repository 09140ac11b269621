//! Fault shares as text: `http_503=0.02, cut=0.01`.

use super::{FaultKind, FaultShare};

impl FaultShare {
    /// Reads `kind=share` pairs separated by commas.
    ///
    /// # Errors
    /// A sentence that says what would be right.
    pub fn parse_list(_text: &str) -> Result<Vec<Self>, String> {
        let mut list = Vec::new();
        for part in _text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (kind, share) = part.split_once('=').ok_or("Write kind=share, such as http_503=0.02.")?;
            let kind: FaultKind =
                serde_json::from_value(kind.into()).map_err(|_| format!("There is no fault {kind:?}."))?;
            list.push(Self {
                kind,
                share: share.parse().map_err(|_| "not a share")?,
            });
        }
        Ok(list)
    }

    /// The text that [`FaultShare::parse_list`] reads.
    pub fn format_list(list: &[Self]) -> String {
        list.iter()
            .map(|f| {
                format!(
                    "{}={}",
                    serde_json::to_value(f.kind).unwrap().as_str().unwrap(),
                    f.share
                )
            })
            .collect::<Vec<_>>()
            .join(", ")
    }
}
