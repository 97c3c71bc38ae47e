//! Serves the bakery: `cargo run -p from-crd`; `cargo run -p from-crd -- --help` lists its settings.

use kindsmith::{Server, server::Settings};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = from_crd::serve(Server::builder());
    settings.serve(server.sample_manifest(concat!(env!("CARGO_MANIFEST_DIR"), "/order.yaml"))).await
}
