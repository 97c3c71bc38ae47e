//! The command `kindsmith`.

mod change;
mod check;
mod cli;
mod lint;
mod scaffold;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
