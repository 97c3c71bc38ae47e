//! A server as a part of another program: its service nested in an application or driven without a socket, and run on a
//! listener of the program's own.

mod admission;
mod certificates;
mod controllers;
mod hooks;
mod nested;
mod order;
mod request;
mod reviews;
mod roles;
mod settings;
mod socketless;
mod subresources;

use kindsmith::{App, Server};

/// A server that keeps objects in memory.
async fn app() -> App {
    Server::builder().memory().http().build().await.expect("a server in memory starts")
}
