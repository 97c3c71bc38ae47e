//! `kindsmith cel`: tries an expression against an object.

use std::{
    io,
    path::{Path, PathBuf},
};

use clap::Args;
use kindsmith_codegen::Kinds;
use kindsmith_formats::files;
use kindsmith_model::{
    codec::{Limits, yaml},
    schema::{
        At, Document, Meter, Schema,
        rules::{Expression, Step},
    },
};

use super::{
    Outcome,
    kinds::{SizeLimit, files as files_of, warn},
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Try an expression in CEL against an object.

The expression means what it means as a rule (x-kubernetes-validations): `self` is the object, or the value in it that --at names, and \
`oldSelf` the one of the object that --old names. With --definition, its types are those of the object's kind, as for a rule of a definition; without, they \
are found out when it runs. Prints the type, the result and the cost, or where the expression is wrong.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith cel '1 + 1'
  kindsmith cel 'self.spec.replicas > 1' --file deployment.yaml
  kindsmith cel 'self.min <= self.max' --file widget.yaml --at .spec --definition crds/widgets.yaml
  kindsmith cel 'self >= oldSelf' --file new.yaml --old old.yaml --at .spec.size
  kubectl get widget a -o yaml | kindsmith cel 'has(self.status)' --file -

Exit codes:
  0  the expression was evaluated
  1  the expression is wrong, or its evaluation failed
  2  wrong usage, or a file cannot be read";

/// The most that one evaluation of a rule may cost.
const LIMIT: u64 = 1_000_000;

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// The expression.
    expression: String,
    /// The object, in YAML or JSON; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The object before a change.
    #[arg(long, value_name = "FILE", requires = "file")]
    old: Option<PathBuf>,
    /// `oldSelf` is an optional, as in rules with `optionalOldSelf`.
    #[arg(long)]
    optional_old_self: bool,
    /// Files and folders of definitions and OpenAPI documents, one of which describes the object.
    #[arg(long, value_name = "FILES-OR-FOLDERS", requires = "file")]
    definition: Vec<PathBuf>,
    /// The value that is `self`: names after dots, items in brackets, other keys as `['a.b/c']`.
    #[arg(long, value_name = "PATH", requires = "file", value_parser = steps)]
    at: Option<Steps>,
    #[command(flatten)]
    size: SizeLimit,
}

/// A path to a value.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<Step>);

/// Tries the expression.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let steps = command.at.as_ref().map_or(&[][..], |steps| &steps.0);
    let read = |path: &PathBuf| object(path, command.size);
    let document = command.file.as_ref().map(read).transpose()?.unwrap_or(Document::Null);
    let old = command.old.as_ref().map(read).transpose()?;
    let value = at(&document, steps).ok_or("the object has no value at --at")?;
    let old = old.as_ref().and_then(|old| at(old, steps));
    let schema = if command.definition.is_empty() { None } else { Some(schema(command, &document)?) };
    let compiled = match &schema {
        Some(schema) => Expression::new(At::of(schema), steps, &command.expression, command.optional_old_self),
        None => Expression::without_schema(&command.expression, command.optional_old_self),
    };
    let expression = match compiled {
        Ok(expression) => expression,
        Err(error) => {
            report(format_args!("{error}"));
            return Ok(Outcome::Damaged);
        }
    };
    print(format_args!("type:   {}\n", expression.kind));
    let tried = expression.evaluate(value, old, Some(LIMIT), &Meter::new(None));
    let result = tried.value.and_then(|value| value.to_json());
    match &result {
        Ok(value) => print(format_args!("result: {value}\n")),
        Err(error) => print(format_args!("error:  {error}\n")),
    }
    let most = expression.most.map(|most| format!(", at most {most} by the schema")).unwrap_or_default();
    print(format_args!("cost:   {}{most}\n", tried.cost));
    Ok(if result.is_ok() { Outcome::Whole } else { Outcome::Damaged })
}

/// Reads an object.
fn object(path: &Path, size: SizeLimit) -> Result<Document, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = if path.as_os_str() == "-" {
        files::read_from(io::stdin().lock(), &size.limits()).map_err(|error| failed(&error))?
    } else {
        files::read(path, &size.limits()).map_err(|error| failed(&error))?
    };
    let decoded = yaml::decode(&text, &Limits::default());
    decoded.map(|decoded| decoded.document).map_err(|error| failed(&error))
}

/// The schema of an object's kind and version.
fn schema(command: &Command, object: &Document) -> Result<std::sync::Arc<Schema>, String> {
    let kinds = Kinds::of_files_up_to(files_of(&command.definition)?, command.size.bytes())
        .map_err(|error| error.to_string())?;
    warn(&kinds.warnings, false);
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let mut definitions = kinds.kinds.iter().map(|declared| &declared.definition);
    let definition =
        definitions.find(|definition| definition.shared.group == group && definition.shared.names.kind == kind);
    let version = definition.and_then(|definition| definition.versions.iter().find(|known| known.name == version));
    let found = version.map(|version| version.schema.clone());
    found.ok_or_else(|| format!("no definition describes the kind {kind:?} in {api_version:?}, which the object has"))
}

/// The value at a path.
fn at<'d>(document: &'d Document, steps: &[Step]) -> Option<&'d Document> {
    steps.iter().try_fold(document, |at, step| match step {
        Step::Name(name) => at.get(name),
        Step::Item(index) => at.get(index),
    })
}

/// Reads a path: `.spec.items[0]['a.b']`.
fn steps(path: &str) -> Result<Steps, String> {
    let (mut steps, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("['") {
            let (name, after) = quoted.split_once("']").ok_or("a key begins with [' and ends with ']")?;
            steps.push(Step::Name(name.to_owned()));
            rest = after;
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let (index, after) = bracket.split_once(']').ok_or("an item is a number in brackets, such as [0]")?;
            steps.push(Step::Item(
                index.parse().map_err(|_| format!("`{index}` is no number of an item; keys are in quotes"))?,
            ));
            rest = after;
        } else {
            let plain = rest.strip_prefix('.').unwrap_or(rest);
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            if end == 0 {
                return Err("expected a name after the dot, such as .spec.size".to_owned());
            }
            steps.push(Step::Name(plain[..end].to_owned()));
            rest = &plain[end..];
        }
    }
    Ok(Steps(steps))
}
