//! Runs Pods, as far as the API shows, in the cluster of the kubeconfig: until Ctrl-C, or for as long as a command runs.
//!
//! ```sh
//! kindsmith test -- target/debug/nodes go test ./...
//! ```

use std::{env, error::Error, process::ExitCode};

use kube::Client;
use tokio::{process::Command, signal};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let client = Client::try_default().await?;
    let mut arguments = env::args().skip(1);
    let command = async {
        let Some(program) = arguments.next() else {
            signal::ctrl_c().await?;
            return Ok(ExitCode::SUCCESS);
        };
        let status = Command::new(program).args(arguments).kill_on_drop(true).status().await?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
    };
    let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(ExitCode::FAILURE),
        ended = nodes::run(client, "node") => ended.map(|()| ExitCode::FAILURE).map_err(Into::into),
        ended = command => ended,
    }
}
