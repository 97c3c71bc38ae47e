//! Serves tenants, and runs their controller: `cargo run -p kube-rs --features kube`.

use kindsmith::Server;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let app = kube_rs::serve(Server::builder())
        .data_dir("./data")
        .on_ready(|ready| println!("listening on {}, with the kubeconfig data/kubeconfig", ready.url))
        .build()
        .await?;
    // In a cluster this was `Client::try_default()`.
    let controller = tokio::spawn(kube_rs::controller::run(app.kube_client()));
    // The controller stops at the same signal.
    let stopped = async {
        let _ = controller.await;
    };
    app.run(TcpListener::bind(address).await?, stopped).await?;
    Ok(())
}
