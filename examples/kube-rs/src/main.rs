//! Serves tenants, and runs their controller: `cargo run -p kube-rs`.

use std::convert::Infallible;

use kindsmith::{
    Server,
    server::{ControllerContext, Settings, Shutdown},
};

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    // In a cluster this was `controller::run(Client::try_default().await?)`.
    let tenants = async |context: ControllerContext, _: Shutdown| {
        kube_rs::controller::run(context.kube_client()).await;
        Ok::<_, Infallible>(())
    };
    settings.serve(kube_rs::serve(Server::builder()).controller("tenants", tenants)).await
}
