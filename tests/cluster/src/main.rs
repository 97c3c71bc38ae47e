//! Checks histories of servers of the Kubernetes API. `cluster --check FILE` judges a recorded history.
mod check;
mod history;

use std::{error::Error, fs, path::PathBuf, process::ExitCode};

use clap::Parser;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Checks histories of servers of the Kubernetes API.
#[derive(Parser)]
struct Command {
    /// History that was recorded, in JSON.
    #[arg(long)]
    check: PathBuf,
}

/// Judges a recorded history; true if nothing is wrong with it.
fn judge(path: &PathBuf) -> Outcome<bool> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let history = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let found = check::check(&history);
    for violation in &found {
        println!("{violation}");
    }
    println!("{} violations", found.len());
    Ok(found.is_empty())
}

fn main() -> ExitCode {
    match judge(&Command::parse().check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
