//! The command `kindsmith`.

mod change;
mod cli;
mod scaffold;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
