//! Serves the library: `cargo run -p library`, or `cargo run -p library -- 127.0.0.1:0` for a free port.

use kindsmith::Server;
use library::{Book, Shelf};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let logged = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    tracing_subscriber::fmt().with_env_filter(logged).with_writer(std::io::stderr).init();
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/book.yaml");
    let server = Server::builder().kind::<Book>().kind::<Shelf>();
    server.data_dir("./data").sample_manifest(manifest).serve(&address).await
}
