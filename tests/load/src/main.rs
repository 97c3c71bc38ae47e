//! Measures servers of the Kubernetes API under load: `load run SCENARIO… --server URL`. `load scenarios` lists what it can
//! do. Latencies are those of successful operations; refusals are counted apart, by status code.
mod against;
mod cli;
mod client;
mod drive;
mod fixed;
mod kubeconfig;
mod measure;
mod program;
mod progress;
mod report;
mod scenario;
mod schedule;
mod session;
mod table;
mod target;
#[cfg(test)]
mod tests;

use std::{error::Error, process::ExitCode};

use clap::Parser;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A runtime for what is not measured.
fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
