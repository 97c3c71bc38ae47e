//! Serves the API: `cargo run`; `cargo run -- --help` lists its settings.

use kindsmith::{Server, server::Settings};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = shop::serve(Server::builder()).sample_manifest("samples/item.yaml");
    settings.serve(server).await
}
