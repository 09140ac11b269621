//! No view has what axe-core finds to be a serious barrier, in either theme.

use serde_json::{Value, json};

use crate::harness::Page;

/// Findings of axe-core on the page as it is, in both themes: rule and place.
async fn findings(page: &Page, view: &str) -> Vec<String> {
    let path = std::env::var("STREAMGAUGE_AXE").expect("script/test sets it to the file axe.min.js");
    let axe = std::fs::read_to_string(path).expect("axe-core: script/bootstrap --tests installs it");
    page.client.execute(&axe, vec![]).await.expect("axe-core runs");
    let mut found = Vec::new();
    for theme in ["light", "dark"] {
        let script = "const [theme, done] = arguments; document.documentElement.dataset.theme = theme; \
            axe.run(document, {resultTypes: ['violations']}).then(done, error => done(String(error)))";
        let seen = page
            .client
            .execute_async(script, vec![json!(theme)])
            .await
            .expect("axe-core answers");
        let passes = seen["passes"].as_array().map_or(0, Vec::len);
        assert!(passes > 10, "axe-core looked at {view} in {theme}: {seen}");
        let violations = seen["violations"].as_array().expect("a list");
        let bad = |v: &&Value| matches!(v["impact"].as_str(), Some("serious" | "critical"));
        for violation in violations.iter().filter(bad) {
            for node in violation["nodes"].as_array().expect("nodes") {
                found.push(format!(
                    "{view}, {theme}: {} at {}: {}",
                    violation["id"], node["target"], node["failureSummary"]
                ));
            }
        }
    }
    found
}

async fn close_dialog(page: &Page) {
    let close = "document.querySelectorAll('dialog[open]').forEach(dialog => dialog.close())";
    page.client.execute(close, vec![]).await.expect("closed");
}

#[tokio::test]
async fn no_view_has_a_serious_barrier() {
    let page = Page::open("n=40&c=8&out=8&sim_itl_ms=2&sim_ttft_ms=5&sim_faults=http_503=0.2,cut=0.2").await;
    let mut found = findings(&page, "the form").await;
    page.press("?").await;
    found.extend(findings(&page, "the help").await);
    close_dialog(&page).await;
    page.press("Run 40").await;
    page.wait_for("Save JSON").await;
    page.client
        .execute(
            "document.querySelectorAll('details').forEach(d => d.open = true)",
            vec![],
        )
        .await
        .expect("opened");
    found.extend(findings(&page, "the result").await);
    page.press("Share").await;
    page.wait_for("What may go out").await;
    found.extend(findings(&page, "the share dialogue").await);
    close_dialog(&page).await;
    page.press("Bytes of").await;
    page.wait_for("Counted as failed").await;
    found.extend(findings(&page, "the inspector").await);
    close_dialog(&page).await;
    let document = page.download_json().await.to_string();
    page.drop_files(&[("a.json", &document), ("b.json", &document)]).await;
    page.wait_for("b.json against a.json").await;
    found.extend(findings(&page, "a comparison").await);
    for name in ["History", "Explain", "Calibrate"] {
        page.view(name).await;
        found.extend(findings(&page, name).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    page.close().await;
}
