//! Serves sites, and publishes them: `cargo run -p controller`.

use controller::{Site, reconciler};
use kindsmith::{Server, server::Settings};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = Server::builder()
        .kind::<Site>()
        .controller("sites", reconciler::run)
        .sample_manifest(concat!(env!("CARGO_MANIFEST_DIR"), "/site.yaml"))
        .sample_command("kubectl get sites,events");
    settings.serve(server).await
}
