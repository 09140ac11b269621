//! `replay FOLDER`: reads every captured response in a folder and prints the verdicts as one JSON object.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use std::{path::Path, process::ExitCode};
    use streamgauge::replay::{Case, names, verdict};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = &arguments[..] else {
        eprintln!(
            "usage: replay FOLDER\nReads each NAME.http (a response body) with its NAME.json and prints the verdicts."
        );
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    let verdicts = names(folder).and_then(|names| {
        let read = |name: String| Case::load(folder, &name).map(|case| (name, verdict(&case.read())));
        names
            .into_iter()
            .map(read)
            .collect::<Result<serde_json::Map<_, _>, _>>()
    });
    match verdicts {
        Ok(verdicts) => {
            println!("{}", serde_json::Value::Object(verdicts));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {}
