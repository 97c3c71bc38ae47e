//! The command `kindsmith`.

#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "they panic where the reader has gone: cli::terminal prints"
    )
)]

mod check;
mod cli;
#[cfg(test)]
#[path = "../../tests/fuzz/engine.rs"]
mod engine;
mod github;
mod lint;
mod logic;
#[cfg(test)]
#[path = "../../tests/fuzz/mutate.rs"]
mod mutate;
mod scaffold;
mod wildcard;

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
