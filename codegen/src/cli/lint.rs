//! `kindsmith lint`: the API conventions as checks.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    Outcome,
    kinds::{DenyLevel, Format, Origin},
    style::bad,
    terminal::{print, report},
};
use crate::lint::{
    Level,
    allow::{self, AllowList},
    check,
    finding::merged,
    output::{self, Summary},
    raw::Files,
    rules,
};

pub(super) const ABOUT: &str = "Check kinds against the API conventions.

Kinds are those of files (definitions and OpenAPI documents), or those that a program declares in Rust. A rule is an error where the \
conventions say must or never, and else a warning. --rules lists the rules, and --explain tells the reason of one, with examples.

What is decided otherwise is allowed with a reason, in a file kindsmith-lint.yaml beside the files, in a folder that is named, or in the \
current folder:

  allow:
  - rule: map-of-objects
    kind: Book           # optional, as is path; * stands for any text
    path: .spec.chapters
    reason: Clients of the old catalog send chapters as a map.

or by an annotation of a definition, for all of its fields:

  metadata:
    annotations:
      allow.kindsmith.dev/map-of-objects: Clients of the old catalog send maps.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith lint schemas
  kindsmith lint --deny warnings                  # the program of this folder, in CI
  kindsmith lint schemas --format github          # comments beside the lines of a pull request
  kindsmith lint --explain map-of-objects

Exit codes:
  0  nothing was found, or warnings only
  1  errors were found; with --deny warnings, anything, or an entry that allows nothing
  2  wrong usage, or the command could not do its work";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    #[command(flatten)]
    origin: Origin,
    /// A file of allowed violations, and no other.
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// How to print what was found.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Fail if there are warnings, too.
    #[arg(long, value_name = "WHAT")]
    deny: Option<DenyLevel>,
    /// List all rules, and check nothing.
    #[arg(long, conflicts_with = "explain")]
    rules: bool,
    /// Explain a rule, and check nothing.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

/// Checks.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    if command.rules {
        print(format_args!("{}", output::list()));
        return Ok(Outcome::Whole);
    }
    if let Some(name) = &command.explain {
        let rule = rules::find(name).ok_or_else(|| allow::unknown(name))?;
        print(format_args!("{}", output::explain(rule)));
        return Ok(Outcome::Whole);
    }
    let read = command.origin.kinds()?;
    command.origin.warn(&read.warnings);
    let files = Files::read(read.kinds.iter().flat_map(|declaration| &declaration.sources), &command.origin.limits());
    let mut allow_list = allow_list(command)?;
    for declaration in &read.kinds {
        let name = declaration.definition.shared.group_kind().to_string();
        if let Some(source) = declaration.sources.first() {
            allow_list.annotated(source, &name, &files.annotations(source, &declaration.definition))?;
        }
    }
    let all = check(&read.kinds, &files);
    let before = all.len();
    let left = allow_list.apply(all);
    let allowed_count = before - left.len();
    let findings = merged(left);
    let unused = allow_list.unused();
    for entry in &unused {
        report(format_args!("warning: {entry}"));
    }
    let summary = Summary::new(&findings, &files, allowed_count, &unused);
    let text = match command.format {
        Format::Text => summary.text(bad, command.origin.is_all()),
        Format::Json => summary.json(),
        Format::Github => summary.github(),
    };
    print(format_args!("{text}"));
    let is_error = findings.iter().any(|finding| finding.rule.level == Level::Error);
    let is_denied = command.deny.is_some() && (!findings.is_empty() || !unused.is_empty());
    Ok(if is_error || is_denied { Outcome::Damaged } else { Outcome::Whole })
}

/// What is allowed by the file that was named, or by those in the folders of the files and in the current one.
fn allow_list(command: &Command) -> Result<AllowList, String> {
    let mut allow_list = AllowList::default();
    if let Some(file) = &command.allow {
        allow_list.read(file)?;
        return Ok(allow_list);
    }
    let folder = |path: &PathBuf| {
        let parent = path.parent().map(Path::to_owned).unwrap_or_default();
        if path.is_dir() { path.clone() } else { parent }
    };
    let mut folders: Vec<PathBuf> = vec![PathBuf::new()];
    folders.extend(command.origin.paths().iter().map(folder));
    let mut known = Vec::new();
    for folder in folders {
        let file = folder.join(allow::FILE);
        // The same folder may be named in several ways.
        if let Ok(canonical) = file.canonicalize()
            && !known.contains(&canonical)
        {
            allow_list.read(&file)?;
            known.push(canonical);
        }
    }
    Ok(allow_list)
}
