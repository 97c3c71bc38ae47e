//! Runs the controller on the cluster of the kubeconfig, or on that in which it is a Pod: `cargo run -p operator`.

#[tokio::main]
async fn main() -> Result<(), kube::Error> {
    let client = kube::Client::try_default().await?;
    operator::controller::run(client).await;
    Ok(())
}
