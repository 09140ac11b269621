//! *Explain*, many responses at once: a folder of cases, each judged and compared with the verdict it expects.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

use crate::request::case::{CaseFile, misses, result};

/// Bytes of one case that are read.
const MAX_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// One line of the table.
#[derive(Clone, PartialEq)]
pub struct CaseRow {
    name: String,
    /// What was expected; empty if the case tells none.
    expected: String,
    /// What the state machine says, or why the case could not be read.
    got: String,
    /// Where the two differ.
    misses: Vec<String>,
    /// Whether it was read and is as expected.
    good: bool,
}

/// Judges the cases among the files: pairs of `NAME.json` and `NAME.http`.
pub async fn judge(files: Vec<web_sys::File>) -> Vec<CaseRow> {
    let mut rows = Vec::new();
    for file in &files {
        let Some(name) = file.name().strip_suffix(".json").map(str::to_owned) else {
            continue;
        };
        let body = files
            .iter()
            .find(|other| other.name().strip_suffix(".http").is_some_and(|other| other == name));
        let row = match body {
            Some(body) => judge_one(&name, file, body).await,
            None => Err(format!("{name}.http is missing")),
        };
        rows.push(row.unwrap_or_else(|why| CaseRow {
            name,
            expected: String::new(),
            got: format!("not read: {why}"),
            misses: Vec::new(),
            good: false,
        }));
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

async fn judge_one(name: &str, told: &web_sys::File, body: &web_sys::File) -> Result<CaseRow, String> {
    let told = String::from_utf8(bytes(told).await?).map_err(|error| error.to_string())?;
    let file = CaseFile::parse(&told)?;
    let encoding = file.encoding().trim().to_ascii_lowercase();
    if !["", "identity"].contains(&encoding.as_str()) {
        return Err(format!(
            "its body is compressed ({encoding}); the command replay reads it"
        ));
    }
    let case = file.with_body(name, bytes(body).await?, true)?;
    let reading = case.read();
    let verdict = |value: &serde_json::Value| {
        if value["ok"] == true {
            "succeeded".to_owned()
        } else {
            value["category"].as_str().unwrap_or_default().to_owned()
        }
    };
    let misses = misses(&case, &reading);
    let got = verdict(&result(&reading));
    let got = match &reading.failure {
        Some(failure) => format!("{got}: {}", failure.message),
        None => got,
    };
    Ok(CaseRow {
        name: case.name.clone(),
        expected: match &case.expect {
            serde_json::Value::Null => String::new(),
            expect if expect["judge"] == "either" => "either verdict".to_owned(),
            expect => verdict(expect),
        },
        got,
        good: misses.is_empty(),
        misses,
    })
}

async fn bytes(file: &web_sys::File) -> Result<Vec<u8>, String> {
    if file.size() > MAX_BYTES {
        return Err(format!("{} is longer than 64 MiB", file.name()));
    }
    let read = JsFuture::from(file.array_buffer())
        .await
        .map_err(|_| format!("{} could not be read", file.name()))?;
    Ok(js_sys::Uint8Array::new(read.unchecked_ref()).to_vec())
}

/// The verdicts beside what was expected.
#[component]
pub fn CaseTable(rows: Vec<CaseRow>) -> impl IntoView {
    let good = rows.iter().filter(|row| row.good).count();
    let finding = format!("{good} of {} cases are read as expected.", rows.len());
    view! {
        <section class="panel explain">
            <h2>"Cases"</h2>
            <p>{finding}</p>
            <div class="scroll">
                <table>
                    <thead>
                        <tr><th scope="col">"Case"</th><th scope="col">"Expected"</th><th scope="col">"Verdict"</th><th scope="col">"Differs"</th></tr>
                    </thead>
                    <tbody>
                        {rows
                            .into_iter()
                            .map(|row| {
                                let differs = if row.good { "no".to_owned() } else { row.misses.join("; ") };
                                let expected = if row.expected.is_empty() { "n/a".to_owned() } else { row.expected };
                                view! {
                                    <tr class:wrong=!row.good>
                                        <th scope="row">{row.name}</th>
                                        <td>{expected}</td>
                                        <td>{row.got}</td>
                                        <td>{differs}</td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
        </section>
    }
}
