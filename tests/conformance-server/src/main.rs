//! The server under the conformance kit. Serves the built-in kinds, and Widget, Gadget and Sprocket. Runs no
//! controllers, like kube-apiserver under the kit.

mod flags;
mod gadget;
mod sprocket;
#[path = "../../../runtime/model/src/widget.rs"]
mod widget;

use std::path::PathBuf;

use clap::Parser;
use flags::Flags;
use kindsmith::{
    Resource, Server,
    kind::{Kind, crd},
    server::Builder,
};
use mimalloc::MiMalloc;

/// That of the command and of new crates.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The server under the conformance kit.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    flags: Flags,
    /// Manifest of CustomResourceDefinitions; its kinds are served instead of those of the same name that are declared in Rust.
    #[arg(long)]
    crd: Vec<PathBuf>,
}

/// The kinds of the kit that are declared in Rust.
fn declared() -> Vec<Kind> {
    // Without the default Age column, which the definition does not declare.
    let beta = sprocket::v1beta1::Sprocket::kind();
    let beta = beta.with(|_, version, _| version.columns.retain(|column| column.name != "Age"));
    let alpha = sprocket::v1alpha1::Sprocket::kind();
    vec![widget::Widget::kind(), gadget::Gadget::kind(), sprocket::v1::Sprocket::kind(), beta, alpha]
}

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let command = Command::parse();
    let _log = kindsmith::logging::init("warn");
    let mut server = Server::builder();
    let mut defined = Vec::new();
    for path in command.crd {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let manifest = crd::read(&path.to_string_lossy(), text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
        defined.extend(manifest.definitions.into_iter().map(|defined| defined.definition.shared.group_kind()));
        server = server.crd(text);
    }
    let kinds = declared().into_iter().filter(|kind| !defined.contains(&kind.group_kind()));
    Box::pin(command.flags.serve(kinds.fold(server, Builder::model))).await
}
