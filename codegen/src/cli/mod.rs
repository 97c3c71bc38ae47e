//! The command line: its arguments, its exit codes, and who does the work.

mod access;
mod add;
mod cel;
pub(crate) mod change;
mod check;
mod completions;
mod copy;
mod export;
mod export_proto;
mod generate;
mod import;
mod kinds;
mod lint;
mod migrate;
mod new;
mod program;
mod progress;
mod revision;
mod serve;
mod store;
mod style;
mod terminal;
mod test;
mod user;

use std::{
    panic,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use clap::{Parser, Subcommand};

use self::terminal::report;

/// What a command found; its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Done, and nothing is wrong.
    Whole,
    /// Something is damaged, or was lost.
    Damaged,
    /// The command could not do its work.
    Failed,
    /// A person ended it, and part of the work is done.
    Interrupted,
    /// What it ran ended with this code.
    Exited(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Whole => 0,
            Outcome::Damaged => 1,
            Outcome::Failed => 2,
            // The exit code that shells use for a process ended by SIGINT.
            Outcome::Interrupted => 130,
            Outcome::Exited(code) => code,
        })
    }
}

/// Make, change and serve Kindsmith API servers, and look after their data.
#[derive(Parser)]
#[command(name = "kindsmith", version, arg_required_else_help = true, after_help = HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a crate that serves a kind.
    #[command(long_about = new::ABOUT, after_help = new::EXAMPLES)]
    New(new::Command),
    /// Add a kind, a group, a version, a subresource or a controller to a crate.
    #[command(subcommand, long_about = add::ABOUT, after_help = add::EXAMPLES)]
    Add(add::Command),
    /// Generate kinds in Rust from definitions in files.
    #[command(long_about = generate::ABOUT, after_help = generate::EXAMPLES)]
    Generate(generate::Command),
    /// Export the kinds of files or a program: definitions, OpenAPI, JSON Schema, documentation, roles.
    #[command(long_about = export::ABOUT, after_help = export::EXAMPLES)]
    Export(export::Command),
    /// Check that a change of kinds is compatible.
    #[command(long_about = check::ABOUT, after_help = check::EXAMPLES)]
    Check(check::Command),
    /// Check kinds against the API conventions.
    #[command(long_about = lint::ABOUT, after_help = lint::EXAMPLES)]
    Lint(lint::Command),
    /// Try an expression in CEL against an object.
    #[command(long_about = cel::ABOUT, after_help = cel::EXAMPLES)]
    Cel(cel::Command),
    /// Check, salvage, back up, restore, copy and migrate the data of a server.
    #[command(subcommand, long_about = store::ABOUT, after_help = store::EXIT_CODES)]
    Store(store::Command),
    /// Serve the kinds that files define, as they stand.
    #[command(long_about = serve::ABOUT, after_help = serve::EXAMPLES)]
    Serve(serve::Command),
    /// Run a command beside an API server in memory.
    #[command(long_about = test::ABOUT, after_help = test::EXAMPLES)]
    Test(test::Command),
    /// Write the API of a running server as files that `serve` takes.
    #[command(long_about = import::ABOUT, after_help = import::EXAMPLES)]
    Import(import::Command),
    /// Let further users in, and show and remove them.
    #[command(subcommand, long_about = user::ABOUT, after_help = user::EXAMPLES)]
    User(user::Command),
    /// Print completions for a shell.
    #[command(long_about = completions::ABOUT, after_help = completions::EXAMPLES)]
    Completions(completions::Command),
}

const HELP: &str = "\
Examples:
  kindsmith new shop
  kindsmith add kind Order customer:String copies:i32=1
  kindsmith serve schemas

Exit codes:
  0    the command did its work
  1    a check found something: damage, or files that are not up to date
  2    the command could not do its work, or its arguments are wrong
  130  it was interrupted with Ctrl-C, and part of the work is done

Colours are shown on terminals, unless NO_COLOR is set.";

/// Prints an error.
fn reported(outcome: Result<Outcome, String>) -> Outcome {
    outcome.unwrap_or_else(|error| {
        report(format_args!("{} {error}", style::error("error:")));
        Outcome::Failed
    })
}

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    let arguments = Arguments::parse();
    // The engine panics on damaged pages, and the library reports that as an error: do not print it twice.
    let last_panic = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&last_panic);
    panic::set_hook(Box::new(move |panic| {
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    let outcome = panic::catch_unwind(|| match arguments.command {
        Command::New(command) => reported(new::run(command)),
        Command::Add(command) => reported(add::run(command)),
        Command::Generate(command) => reported(generate::run(&command)),
        Command::Export(command) => reported(export::run(&command)),
        Command::Check(command) => reported(check::run(&command)),
        Command::Cel(command) => reported(cel::run(&command)),
        Command::Lint(command) => reported(lint::run(&command)),
        Command::Store(command) => store::run(command),
        Command::Serve(command) => serve::run(command),
        Command::Test(command) => reported(test::run(command)),
        Command::Import(command) => reported(import::run(&command)),
        Command::User(command) => reported(user::run(command)),
        Command::Completions(command) => reported(completions::run(&command)),
    });
    let outcome = outcome.unwrap_or_else(|_| {
        let what = last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone();
        report(format_args!("error: a bug in this program: {what}; please report it"));
        Outcome::Failed
    });
    outcome.into()
}
