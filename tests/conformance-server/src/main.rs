//! The server under the conformance kit. Serves the built-in kinds, and Widget, Gadget and Sprocket; runs no controller,
//! as kube-apiserver under the kit ran none.
//!
//! Not yet: the kinds and reviews of `rbac.authorization.k8s.io`, `authorization.k8s.io` and `authentication.k8s.io`, and
//! Gadget's CEL rules. Users outside `system:masters` may do nothing until roles are built.

mod gadget;
mod sprocket;
mod widget;

use std::path::PathBuf;

use clap::Parser;
use kindsmith::{Resource, Server};

/// The server under the conformance kit.
#[derive(Parser)]
struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:18080")]
    listen: String,
    /// Directory that keeps the objects; without it they are kept in memory.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// File of `token,user,uid,"group,group"` lines; without it an admin's token is made.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Speak TLS, with a certificate of the server's own.
    #[arg(long)]
    tls: bool,
}

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let flags = Flags::parse();
    let _log = kindsmith::logging::init("warn");
    // Without the Age column that every kind has otherwise: the definition does not declare one.
    let mut beta = sprocket::v1beta1::Sprocket::kind();
    beta.columns.retain(|column| column.name != "Age");
    let mut server = Server::builder()
        .kind::<widget::Widget>()
        .kind::<gadget::Gadget>()
        .kind::<sprocket::v1::Sprocket>()
        .model(beta)
        .kind::<sprocket::v1alpha1::Sprocket>()
        .without_builtin_controllers();
    server = match flags.data_dir {
        Some(path) => server.data_dir(path),
        None => server.memory(),
    };
    if let Some(path) = flags.token_file {
        server = server.token_file(path);
    }
    if !flags.tls {
        server = server.http();
    }
    server.serve(&flags.listen).await
}
