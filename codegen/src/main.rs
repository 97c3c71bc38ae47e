//! The command `kindsmith`.

mod change;
mod check;
mod cli;
#[cfg(test)]
#[path = "../../tests/fuzz/engine.rs"]
mod engine;
mod lint;
#[cfg(test)]
#[path = "../../tests/fuzz/mutate.rs"]
mod mutate;
mod scaffold;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
