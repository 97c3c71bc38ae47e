//! `kindsmith completions`.

use std::io::Write;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Arguments, Outcome};

pub(super) const ABOUT: &str = "Print a script for a shell, which completes commands and options.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith completions bash > ~/.local/share/bash-completion/completions/kindsmith
  kindsmith completions zsh > ~/.zfunc/_kindsmith   # with `fpath+=~/.zfunc; autoload -U compinit; compinit` in ~/.zshrc
  kindsmith completions fish > ~/.config/fish/completions/kindsmith.fish";

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Command {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Arguments::command(), "kindsmith", &mut script);
    let written = std::io::stdout().lock().write_all(&script);
    written.map_err(|error| format!("standard output: {error}"))?;
    Ok(Outcome::Whole)
}
