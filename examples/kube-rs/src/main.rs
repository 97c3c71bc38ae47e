//! Serves tenants, and runs their controller: `cargo run -p kube-rs`.

use std::convert::Infallible;

use kindsmith::{
    Server,
    server::{ControllerContext, Shutdown},
};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    // In a cluster this was `controller::run(Client::try_default().await?)`.
    let tenants = async |context: ControllerContext, _: Shutdown| {
        kube_rs::controller::run(context.kube_client()).await;
        Ok::<_, Infallible>(())
    };
    kube_rs::serve(Server::builder()).controller("tenants", tenants).data_dir("./data").serve(&address).await
}
