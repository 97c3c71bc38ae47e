//! Serves sites, and publishes them: `cargo run -p controller`.

use controller::{Site, reconciler};
use kindsmith::Server;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    Server::builder()
        .kind::<Site>()
        .controller("sites", reconciler::run)
        .data_dir("./data")
        .sample_manifest(concat!(env!("CARGO_MANIFEST_DIR"), "/site.yaml"))
        .sample_command("kubectl get sites,events")
        .serve(&address)
        .await
}
