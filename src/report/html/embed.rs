//! The result inside its HTML report, for a program to take out again.

/// What a report carries for this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embedded {
    /// The result document, as JSON.
    Document(String),
    /// The fragment of a link: the report was made without single requests.
    Link(String),
}

const DOCUMENT: &str = "streamgauge-result";
const LINK: &str = "streamgauge-link";

/// The element that carries it. `<` and `>` cannot end it: they are written as JSON escapes.
pub(super) fn element(embedded: &Embedded) -> String {
    let (id, text) = match embedded {
        Embedded::Document(json) => (DOCUMENT, json.replace('<', "\\u003c").replace('>', "\\u003e")),
        Embedded::Link(fragment) => (LINK, format!("\"{fragment}\"")),
    };
    format!("<script type=\"application/json\" id=\"{id}\">\n{text}\n</script>\n")
}

/// What a report carries, if this is one. Browsers that save a page write attributes in their own order and quotes.
pub fn embedded(html: &str) -> Option<Embedded> {
    let text = |id: &str| {
        let mark = html
            .find(&format!("id=\"{id}\""))
            .or_else(|| html.find(&format!("id='{id}'")))?;
        let start = mark + html[mark..].find('>')? + 1;
        let end = start + html[start..].find("</script")?;
        Some(html[start..end].trim())
    };
    if let Some(json) = text(DOCUMENT) {
        return Some(Embedded::Document(json.to_owned()));
    }
    text(LINK).map(|fragment| Embedded::Link(fragment.trim_matches('"').to_owned()))
}
