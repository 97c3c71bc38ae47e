//! Serves pods: `pod-server 127.0.0.1:0`, with its state in `./data`. With `--behind KUBECONFIG` it serves machines, behind the server of
//! the kubeconfig.

use kindsmith::Server;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let _log = kindsmith::logging::init("info");
    let server = Server::builder().data_dir("./data");
    match &arguments[..] {
        [address, option, kubeconfig] if option == "--behind" => {
            pod_server::machines(server).delegated(kubeconfig).serve(address).await
        }
        [address] => pod_server::serve(server).serve(address).await,
        _ => pod_server::serve(server).serve("127.0.0.1:0").await,
    }
}
