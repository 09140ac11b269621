//! Reads a folder of captured responses and prints how each one is judged, as one JSON object.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use std::path::PathBuf;
    use std::process::ExitCode;

    use clap::Parser;

    /// Judges captured responses: a folder of NAME.json and NAME.http pairs.
    #[derive(Parser)]
    struct Args {
        /// The folder.
        folder: PathBuf,
    }

    match streamgauge::request::replay::judge_folder(&Args::parse().folder) {
        Ok((results, unread)) => {
            println!("{results:#}");
            unread.iter().for_each(|error| eprintln!("replay: {error}"));
            if unread.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("replay: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {}
