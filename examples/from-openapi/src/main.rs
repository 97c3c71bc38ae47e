//! Serves the marina: `cargo run -p from-openapi`; `cargo run -p from-openapi -- --help` lists its settings.

use kindsmith::{Server, server::Settings};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = from_openapi::serve(Server::builder());
    settings.serve(server.sample_manifest(concat!(env!("CARGO_MANIFEST_DIR"), "/booking.yaml"))).await
}
