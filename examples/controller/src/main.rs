//! Serves sites, and publishes them: `cargo run -p controller`.

use controller::{Site, in_process};
use kindsmith::Server;
use tokio::{net::TcpListener, signal::ctrl_c};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let app = Server::builder().kind::<Site>().data_dir("./data").build().await?;
    tokio::spawn(in_process::run(app.client(), std::future::pending()));
    app.run(TcpListener::bind(address).await?, async { drop(ctrl_c().await) }).await?;
    Ok(())
}
