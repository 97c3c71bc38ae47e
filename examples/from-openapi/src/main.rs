//! Serves the marina: `cargo run -p from-openapi`, or `cargo run -p from-openapi -- 127.0.0.1:0` for a free port.

use kindsmith::Server;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    from_openapi::serve(Server::builder())
        .data_dir("./data")
        .sample_manifest(concat!(env!("CARGO_MANIFEST_DIR"), "/booking.yaml"))
        .serve(&address)
        .await
}
