//! A result, be it of one run or of several.

use std::sync::Arc;

use super::{Content, Document, DocumentError, Keep, Series};

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// In one run.
    Run(Arc<Document>),
    /// In several.
    Series(Arc<Series>),
}

impl Measured {
    /// Its JSON document.
    pub fn to_json(&self) -> String {
        match self {
            Self::Run(document) => document.to_json(),
            Self::Series(series) => series.to_json(),
        }
    }

    /// Reads a JSON document of either kind.
    ///
    /// # Errors
    /// As [`Document::from_json`] and [`Series::from_json`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        if Series::is_series(text) {
            Series::from_json(text).map(|series| Self::Series(Arc::new(series)))
        } else {
            Document::from_json(text).map(|document| Self::Run(Arc::new(document)))
        }
    }

    /// Its runs.
    pub fn runs(&self) -> &[Document] {
        match self {
            Self::Run(document) => std::slice::from_ref(document),
            Self::Series(series) => &series.points,
        }
    }

    /// Without what the person does not let out.
    pub fn to_share(&self, keep: &Keep) -> Self {
        match self {
            Self::Run(document) => Self::Run(Arc::new(document.to_share(keep))),
            Self::Series(series) => Self::Series(Arc::new(series.to_share(keep))),
        }
    }

    /// What is in it and what not, if that is let out.
    pub fn contents(&self, keep: &Keep) -> Vec<Content> {
        match self {
            Self::Run(document) => document.contents(keep),
            Self::Series(series) => series.contents(keep),
        }
    }
}
