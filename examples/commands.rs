//! Prints what another tool would be called with, for `script/check-commands`. usage: commands TOOL LINK-QUERY [key]

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    use streamgauge::config::{
        commands::{Tool, equivalent},
        link,
    };

    let mut args = std::env::args().skip(1);
    let (tool, query) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let Some(tool) = Tool::ALL.into_iter().find(|known| known.name().starts_with(&tool)) else {
        eprintln!("commands: {tool} is none of the tools");
        return ExitCode::FAILURE;
    };
    println!(
        "{}",
        equivalent(tool, &link::from_query(&query).0, args.next().is_some()).text
    );
    ExitCode::SUCCESS
}

#[cfg(target_arch = "wasm32")]
fn main() {}
