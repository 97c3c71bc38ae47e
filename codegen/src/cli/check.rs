//! `kindsmith check`: whether a change of kinds is compatible, for CI.

use std::path::{Path, PathBuf};

use clap::Args;
use kindsmith_codegen::{Kinds, ResourceDeclaration};
use kindsmith_formats::files::{self, Limits};

use super::{
    Outcome,
    kinds::{self, DenyLevel, Format, Origin},
    revision,
    terminal::{print, report},
};
use crate::{
    check::{self, Acceptances, Change, Level, Messages, Report, Side},
    lint::raw::Files,
};

pub(super) const ABOUT: &str = "Check that a change of kinds is compatible: what breaks whom, rule by rule.

Compares the kinds that files define, or those of a program, with the kinds of a git revision, or of other files. Files are manifests of \
CustomResourceDefinitions, OpenAPI documents and Protobuf definitions; of folders, all of these are read. At a revision, the same paths are read; \
REV:PATH names another one, as git does. Nothing is checked out.

Each change has a level: breaking changes break clients or stored objects, warnings may, and the others are compatible. In alpha \
versions, breaking changes are warnings, except for what is stored.

A change that is made on purpose is accepted by a line in a file for --accept: the rule, the place as it is printed, in which * \
stands for any characters, and the reason:

  field-removed Book v1 .spec.isbn: no client ever set it";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith check crds --against main                   # files against a revision
  kindsmith check --against crds                        # the program of this folder against its exported definitions
  kindsmith check new.yaml --against old.yaml
  kindsmith check crds --against v1.2:deploy/crds --accept accepted.txt --deny warnings
  kindsmith check crds --against origin/main --format github    # annotations, in GitHub Actions
  kindsmith check --explain field-removed

Exit codes:
  0  compatible
  1  breaking changes; with --deny warnings, warnings, too
  2  wrong usage, or the command could not do its work";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    #[command(flatten)]
    origin: Origin,
    /// What to compare with: a git revision, a file, a folder, or REV:PATH.
    #[arg(long, value_name = "REV|FILE|FOLDER", required_unless_present_any = ["rules", "explain"])]
    against: Option<String>,
    /// A file of accepted changes, one a line: RULE PLACE: REASON.
    #[arg(long, value_name = "FILE")]
    accept: Vec<PathBuf>,
    /// Fail for warnings, too.
    #[arg(long, value_name = "LEVEL")]
    deny: Option<DenyLevel>,
    /// How to print what is found.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Explain a rule: what breaks whom and why, and what to do instead.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// List the rules.
    #[arg(long)]
    rules: bool,
}

/// Checks.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    if let Some(name) = &command.explain {
        let rule = check::named(name)
            .ok_or_else(|| format!("there is no rule {name:?}; `kindsmith check --rules` lists them"))?;
        print(format_args!("{}", check::explain(rule)));
        return Ok(Outcome::Whole);
    }
    if command.rules {
        for rule in check::all() {
            print(format_args!("{:<30} {:<11} {}\n", rule.name, rule.level.to_string(), rule.about));
        }
        return Ok(Outcome::Whole);
    }
    let mut acceptances = Acceptances::default();
    for path in &command.accept {
        let text =
            files::read_text(path, &command.origin.limits()).map_err(|error| format!("{}: {error}", path.display()))?;
        acceptances.read(&path.display().to_string(), &text)?;
    }
    let sides = Change { old: command.old()?, new: command.new_side()? };
    if [&sides.old, &sides.new].iter().all(|side| side.kinds.kinds.is_empty() && side.messages.is_empty()) {
        return Err("neither side defines a kind".to_owned());
    }
    if command.origin.is_all() {
        command.origin.warn(&sides.new.kinds.warnings);
    }
    let (findings, accepted) = acceptances.accept(check::compare(&sides, &check::all()));
    let report = Report { findings: check::fold(findings), accepted, unused: acceptances.unused().collect() };
    let printed = match command.format {
        Format::Text => report.text(command.origin.is_all()),
        Format::Json => report.json(),
        Format::Github => {
            let kinds = &sides.new.kinds.kinds;
            let files =
                Files::read(kinds.iter().flat_map(|declaration| &declaration.sources), &command.origin.limits());
            let location_of = |finding: &check::Finding| {
                let location = &finding.location;
                let is_of = |declaration: &&ResourceDeclaration| {
                    declaration.definition.shared.names.kind == location.subject
                        && declaration.sources.contains(&location.file)
                };
                let definition = &kinds.iter().find(is_of)?.definition;
                files.location(&location.file, definition, location.version.as_deref(), &location.path)
            };
            let locations: Vec<_> = report.findings.iter().map(location_of).collect();
            let lines = files.lines(locations.iter().flatten());
            let lines: Vec<_> = locations.iter().map(|location| lines.get(location.as_ref()?).copied()).collect();
            report.github(&lines)
        }
    };
    print(format_args!("{printed}"));
    let warnings = report.count(Level::Warning) + report.unused.len();
    let is_denied = command.deny.is_some() && warnings > 0;
    Ok(if report.count(Level::Breaking) > 0 || is_denied { Outcome::Damaged } else { Outcome::Whole })
}

impl Command {
    /// The side that is compared with.
    fn old(&self) -> Result<Side, String> {
        let against = self.against.as_deref().unwrap_or_default();
        let path = Path::new(against);
        let texts = if path.exists() {
            texts(&[path.to_owned()], self.origin.limits())?
        } else if let Some((revision, path)) = against.split_once(':') {
            revision::texts_of(revision, path, &mut self.origin.limits())?
        } else if self.origin.paths().is_empty() {
            return Err(format!(
                "--against {against}: there is no such file or folder; to compare a program with a revision, name the \
                 exported definitions there, such as {against}:crds"
            ));
        } else {
            let texts = revision::texts(against, self.origin.paths(), &mut self.origin.limits())?;
            if texts.is_empty() {
                report(format_args!("note: there were no definitions at {against}, so all are new"));
            }
            texts
        };
        let mut side = side(texts)?;
        if self.origin.paths().is_empty() {
            // A program has no Protobuf definitions to compare.
            side.messages = Messages::default();
        }
        Ok(side)
    }

    /// The side that is checked.
    fn new_side(&self) -> Result<Side, String> {
        match self.origin.paths() {
            [] => Ok(Side { kinds: self.origin.kinds()?, messages: Messages::default() }),
            paths => side(texts(paths, self.origin.limits())?),
        }
    }
}

/// The files that are named, and those in folders that are compared.
fn texts(paths: &[PathBuf], mut limits: Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    let read = |path: PathBuf| match files::read_next(&path, &mut limits) {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(error) => Err(format!("{}: {error}", path.display())),
    };
    kinds::files_that(paths, kinds::is_compared)?.into_iter().map(read).collect()
}

/// The kinds and the messages of files.
fn side(texts: Vec<(String, Vec<u8>)>) -> Result<Side, String> {
    let (protos, others): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(name, _)| kinds::is_proto(Path::new(name)));
    let mut messages = Messages::default();
    for (name, text) in protos {
        messages.read(&name, &String::from_utf8_lossy(&text))?;
    }
    let kinds = Kinds::of_texts(&others).map_err(|error| error.to_string())?;
    Ok(Side { kinds, messages })
}
