//! The server under the conformance kit, with Widget, Gadget and Sprocket as they are generated from the kit's manifests.

#[path = "../conformance-server/src/flags.rs"]
mod flags;

use std::process::ExitCode;

use clap::Parser;
use flags::Flags;
use kindsmith::{Server, kind::Kind, server::Builder};

/// The kinds of the kit's manifests, in the order in which discovery lists them.
const KINDS: [&str; 3] = ["Widget", "Gadget", "Sprocket"];

/// The server under the conformance kit, with kinds that are generated from its manifests.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    flags: Flags,
}

#[tokio::main]
async fn main() -> ExitCode {
    let command = Command::parse();
    let place = |kind: &Kind| KINDS.iter().position(|name| *name == kind.names().kind);
    let mut kinds = generated::kinds();
    kinds.retain(|kind| kind.shared.group.ends_with(".example.com") && place(kind).is_some());
    kinds.sort_by_key(place);
    if kinds.is_empty() {
        eprintln!(
            "error: this program was built without the kinds of the conformance kit: expected its manifests widget.yaml, \
             gadget.yaml and sprocket.yaml in ../shared/conformance beside the project; build it again when they are there"
        );
        return ExitCode::FAILURE;
    }
    let _log = kindsmith::logging::init("warn");
    let names: Vec<String> = kinds.iter().map(|kind: &Kind| format!("{kind:?}")).collect();
    eprintln!("generated from manifests: {}", names.join(", "));
    match command.flags.serve(kinds.into_iter().fold(Server::builder(), Builder::model)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
