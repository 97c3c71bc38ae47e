//! `kindsmith generate`: kinds in Rust from files, to be committed.

use std::path::PathBuf;

use clap::Args;
use kindsmith_codegen::Builder;
use kindsmith_formats::files::Limits;

use super::{
    Outcome,
    change::{Changes, How},
    kinds::{SizeLimit, files, warn},
    terminal::{self, report},
};
use crate::scaffold::names;

pub(super) const ABOUT: &str = "Generate kinds in Rust from files, to be committed.

Of folders, all files ending in .yaml, .yml or .json are read. The output folder is a module with one for each group and version. Each \
file names the command that made it, which replaces it when it is run again. What Rust cannot express is printed as a warning. \
To generate in a build.rs without files, use kindsmith_codegen::Builder.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith generate schemas --out src/generated
  kindsmith generate schemas --out src/generated --rename-type OrderItem=Line --derive '*=PartialEq'
  kindsmith generate schemas --out src/generated --check    # in CI

Exit codes:
  0  done; with --check, the files are up to date
  1  with --check, files differ
  2  wrong usage, or the command could not do its work";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// Files and folders of definitions.
    #[arg(value_name = "FILES-OR-FOLDERS", required = true)]
    paths: Vec<PathBuf>,
    /// The folder for the generated files.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Name a type differently.
    #[arg(long, value_name = "NAME=TO")]
    rename_type: Vec<String>,
    /// Name a field differently in Rust: TYPE.WIRE=NAME.
    #[arg(long, value_name = "TYPE.FIELD=TO")]
    rename_field: Vec<String>,
    /// Use a type of yours in place of one.
    #[arg(long, value_name = "NAME=PATH")]
    replace_type: Vec<String>,
    /// Leave out a kind, or a type, whose values are raw JSON then.
    #[arg(long, value_name = "NAME")]
    skip: Vec<String>,
    /// Add a derive to a type, or to all types, named *.
    #[arg(long, value_name = "TYPE=PATH")]
    derive: Vec<String>,
    /// Add an attribute to a type, or to a field, named TYPE.FIELD.
    #[arg(long, value_name = "OF=ATTRIBUTE")]
    attribute: Vec<String>,
    /// Put each group behind a feature with the name of its module.
    #[arg(long)]
    features: bool,
    /// Write nothing, and fail if the files are not up to date.
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Print all warnings; otherwise, of the same kind, the first few and a count.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    size: SizeLimit,
    #[command(flatten)]
    how: How,
}

impl Command {
    /// The command that makes the same files again, for their headers.
    fn text(&self) -> String {
        let mut words: Vec<String> = vec!["kindsmith".to_owned(), "generate".to_owned()];
        words.extend(self.paths.iter().map(|path| path.display().to_string()));
        words.extend(["--out".to_owned(), self.out.display().to_string()]);
        for (option, values) in [
            ("--rename-type", &self.rename_type),
            ("--rename-field", &self.rename_field),
            ("--replace-type", &self.replace_type),
            ("--skip", &self.skip),
            ("--derive", &self.derive),
            ("--attribute", &self.attribute),
        ] {
            for value in values {
                words.extend([option.to_owned(), value.clone()]);
            }
        }
        if self.size.bytes() > Limits::default().file {
            words.extend(["--max-file-size".to_owned(), self.size.to_string()]);
        }
        if self.features {
            words.push("--features".to_owned());
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn builder(&self) -> Result<Builder, String> {
        let mut builder = Builder::new().command(&self.text()).max_file_size(self.size.bytes());
        for path in files(&self.paths)? {
            builder = builder.file(path);
        }
        for pair in &self.rename_type {
            let (name, to) = split("--rename-type", pair)?;
            builder = builder.rename_type(name, to);
        }
        for pair in &self.rename_field {
            let (of, to) = split("--rename-field", pair)?;
            let (ty, field) = of.split_once('.').ok_or_else(|| {
                format!("--rename-field {pair}: a field is named after its type, such as OrderSpec.customer={to}")
            })?;
            builder = builder.rename_field(ty, field, to);
        }
        for pair in &self.replace_type {
            let (name, path) = split("--replace-type", pair)?;
            builder = builder.replace_type(name, path);
        }
        for pair in &self.derive {
            let (ty, path) = split("--derive", pair)?;
            builder = builder.derive(ty, path);
        }
        for pair in &self.attribute {
            let (of, attribute) = split("--attribute", pair)?;
            builder = builder.attribute(of, attribute);
        }
        for name in &self.skip {
            builder = builder.skip(name);
        }
        Ok(if self.features { builder.features() } else { builder })
    }
}

/// Generates.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let code = command.builder()?.generate().map_err(|error| error.to_string())?;
    warn(&code.report, command.all);
    terminal::warn(&code.warnings, |warning| &warning.message, command.all);
    let mut changes = Changes::new(&command.out);
    for file in code.files {
        changes.generate(file.path, file.text);
    }
    if command.check {
        let stale = changes.stale();
        if stale.is_empty() {
            return Ok(Outcome::Whole);
        }
        let stale: Vec<String> = stale.iter().map(|path| path.display().to_string()).collect();
        report(format_args!("error: not up to date: {}; run: {}", stale.join(", "), command.text()));
        return Ok(Outcome::Damaged);
    }
    let folder = command.out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let (module, declaration) = declaration(&folder);
    let kinds: String = code.kinds.iter().map(|kind| [".kind::<", &module, "::", kind, ">()"].concat()).collect();
    let next = format!("declare `{declaration}` beside the folder, and add to the builder: {kinds}");
    changes.write(command.how, &[], &next)?;
    Ok(Outcome::Whole)
}

/// The name of a folder's module, and the line that declares it.
fn declaration(folder: &str) -> (String, String) {
    let module = names::module_called(folder);
    let path = if module == folder { String::new() } else { format!("#[path = {:?}] ", format!("{folder}/mod.rs")) };
    let declaration = format!("{path}mod {module};");
    (module, declaration)
}

/// The two sides of an option.
fn split<'p>(option: &str, pair: &'p str) -> Result<(&'p str, &'p str), String> {
    pair.split_once('=')
        .ok_or_else(|| format!("{option} {pair}: there is no `=` between what is meant and what it becomes"))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
