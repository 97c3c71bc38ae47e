//! Load measurements: `static` is a plain axum server for comparison, `fill` creates `ConfigMap`s in a server, `lists`
//! lists them in every encoding, `fanout` measures the cost of delivering an event. `tests/load/run` runs them with
//! wrk, side by side.
mod client;
mod fanout;
mod fill;
mod lists;

use std::{error::Error, net::SocketAddr};

use axum::{Router, body::Body, http::header, response::Response, routing::get};
use bytes::Bytes;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Load figures of a server on this machine")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves static bytes at `/`, to measure plain axum with an answer of this size.
    Static {
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
        /// Size of the answer in bytes.
        #[arg(long)]
        size: usize,
    },
    /// Creates `ConfigMap`s of 1.6 KB in the namespace `load`.
    Fill {
        #[command(flatten)]
        server: Target,
        /// Number of objects.
        #[arg(long, default_value_t = 10_000)]
        count: usize,
    },
    /// Lists `ConfigMap`s of 1.6 KB in every encoding, and prints the rates relative to JSON.
    Lists {
        #[command(flatten)]
        server: Target,
        /// Process id of the server, to also measure its memory with slow readers.
        #[arg(long)]
        pid: Option<u32>,
        /// Number of objects.
        #[arg(long, default_value_t = 20_000)]
        count: usize,
        /// Number of concurrent clients.
        #[arg(long, default_value_t = 4)]
        clients: usize,
        /// Seconds per encoding.
        #[arg(long, default_value_t = 6)]
        seconds: u64,
        /// Number of concurrent slow clients.
        #[arg(long, default_value_t = 64)]
        slow: usize,
    },
    /// Watches with many clients, changes objects, and divides the server's CPU time by the delivered events.
    Fanout {
        #[command(flatten)]
        server: Target,
        /// Process id of the server, whose CPU time is read from /proc.
        #[arg(long)]
        pid: u32,
        /// Number of watchers.
        #[arg(long, default_value_t = 500)]
        watchers: usize,
        /// Number of concurrent writers, each with its own object.
        #[arg(long, default_value_t = 1)]
        writers: usize,
        /// Number of changes that each watcher sees.
        #[arg(long, default_value_t = 1_000)]
        changes: usize,
    },
}

/// A server under load.
#[derive(clap::Args, Clone)]
struct Target {
    /// Address of the server; loopback only.
    #[arg(long)]
    address: SocketAddr,
    /// A bearer token.
    #[arg(long)]
    token: String,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    match Cli::parse().command {
        Command::Static { listen, size } => serve_static(listen, size).await,
        Command::Fill { server, count } => fill::fill(&server, count).await,
        Command::Lists { server, pid, count, clients, seconds, slow } => {
            lists::measure(&server, pid, lists::Plan { count, clients, seconds, slow }).await
        }
        Command::Fanout { server, pid, watchers, writers, changes } => {
            fanout::measure(&server, pid, fanout::Plan { watchers, writers, changes }).await
        }
    }
}

async fn serve_static(listen: SocketAddr, size: usize) -> Outcome<()> {
    let body = Bytes::from(vec![b'x'; size]);
    let answer = move || {
        let body = body.clone();
        async move {
            let mut response = Response::new(Body::from(body));
            response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
            response
        }
    };
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/", get(answer))).await?;
    Ok(())
}
