//! Serves pods: `pod-server 127.0.0.1:0`, with its state in `./data`.

use kindsmith::Server;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let _log = kindsmith::logging::init("info");
    pod_server::serve(Server::builder()).data_dir("./data").serve(&address).await
}
