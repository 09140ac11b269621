//! Whether a comparison is fair.

use crate::{health::Verdict, import::Subject};

/// Sentences that say what stands against comparing the two; none if nothing does.
pub fn checks(baseline: &Subject, other: &Subject) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(a), Some(b)) = (&baseline.model, &other.model)
        && a != b
    {
        found.push(format!("The models differ: {a} and {b}."));
    }
    for (what, a) in &baseline.facts {
        let theirs = other.facts.iter().find(|(name, _)| name == what);
        if let Some((_, b)) = theirs
            && a != b
            && baseline.tool == other.tool
        {
            found.push(format!("Not the same {what}: {a}, and {b}."));
        }
    }
    if baseline.tool != other.tool {
        found.push(format!(
            "Two tools made them, {} and {}: load and workload are to be checked by hand.",
            baseline.tool.name(),
            other.tool.name()
        ));
    }
    for subject in [baseline, other] {
        if matches!(subject.verdict, Some(Verdict::Suspect | Verdict::ClientLimited)) {
            found.push(format!(
                "{}: the client's verdict on itself is not \"trustworthy\".",
                subject.name
            ));
        }
        found.extend(
            subject
                .cautions
                .iter()
                .map(|caution| format!("{}: {caution}", subject.name)),
        );
    }
    found
}
