//! Counts the instructions of seven hot paths of the server, and compares them with those that were accepted, in `counts.txt`.
//!
//! ```sh
//! CARGO_PROFILE_DEV_DEBUG=0 cargo build --workspace --test architecture --bin instructions
//! target/debug/instructions            # fails if a count differs by more than 3%
//! target/debug/instructions --update   # accepts the counts of this build
//! ```
//!
//! The first line builds as `.ci/run` does. With other features, or with debug information, counts differ by 1 or 2%.
//!
//! A change that is meant to cost something, or saves something, brings `counts.txt` with it, so that a review sees what it
//! costs. Accepted counts stay where they are until then: small steps add up, and the one that passes 3% fails.
//!
//! The server runs in the process, over a memory store, on one thread. The program runs itself under callgrind (the package
//! `valgrind`), which counts what the processor executes: time, other processes and the processor's caches have no part in it.
//! Two runs differ by less than half a percent. So a difference is one of the code, but only of the code: locks, disks and sockets
//! are not counted. `load table --against` compares the CPU time of optimized servers with all of these.
//!
//! Counts are those of the dev build, which CI makes anyway; an optimized one would take several minutes. In the dev build, a path
//! has four to six times the instructions of the optimized one, each path about as many times as the others. What the optimizer
//! alone gains or loses does not show.
//!
//! Another compiler generates other instructions, and so does another architecture. `counts.txt` names both. Under another
//! compiler 25% are tolerated and a line says so, until the counts are accepted again with it; do that in a change of its own.
//! For another architecture nothing is compared.
mod callgrind;
mod counts;
mod object;
mod paths;

use std::{env, error::Error, process::ExitCode};

use crate::counts::Counts;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => check(),
        ["--update"] => update(),
        // What runs under callgrind.
        ["paths"] => paths::run().map(|()| true),
        _ => Err("usage: instructions [--update]".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the counts beside the accepted ones; returns whether all are within the tolerance.
fn check() -> Outcome<bool> {
    let (accepted, measured) = (Counts::read()?, callgrind::measure()?);
    let comparison = counts::compare(&accepted, &measured)?;
    print!("{}", comparison.text);
    Ok(comparison.holds)
}

/// Accepts the counts of this build.
fn update() -> Outcome<bool> {
    let measured = callgrind::measure()?;
    print!("{measured}");
    measured.write()?;
    Ok(true)
}
