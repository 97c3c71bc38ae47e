//! `kindsmith export`: what a program declares in Rust, as documents. The program itself writes them, in place of serving: the
//! environment variable `KINDSMITH_EXPORT` names the file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kindsmith::__layers::codec::yaml;
use serde_json::Value;

use super::{Outcome, kinds::ask, store::print};
use crate::change::{Changes, How};

pub(super) const ABOUT: &str = "Export what a program declares in Rust: definitions for a cluster, or OpenAPI documents.

The program is built and run with `cargo run`, or named with --program. It serves nothing then, and its data is not touched: it writes \
its kinds to a file for this command, when it calls `serve` or `build` of its builder.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith export crd | kubectl apply --server-side -f -
  kindsmith export crd --out crds
  kindsmith export openapi --out openapi --program target/debug/shop";

/// What to export.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum What {
    /// CustomResourceDefinitions, in YAML.
    Crd,
    /// OpenAPI v3 documents, one for each group and version, in JSON.
    Openapi,
}

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// What to export.
    what: What,
    /// A folder for a file each; without it, everything is printed.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// A program that is built already.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// Exports.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let exported = ask(command.program.as_deref())?;
    let files = match command.what {
        What::Crd => definitions(&exported),
        What::Openapi => documents(&exported),
    };
    if command.what == What::Crd {
        for warning in exported["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            eprintln!("warning: {warning}");
        }
    }
    if files.is_empty() {
        return Err("the program declares no kinds that could be exported".to_owned());
    }
    let Some(out) = &command.out else {
        for (_, text) in files {
            print(format_args!("{text}"));
        }
        return Ok(Outcome::Whole);
    };
    let next = match command.what {
        What::Crd => format!("kubectl apply --server-side -f {}", out.display()),
        What::Openapi => format!("give {} to the generators of clients", out.display()),
    };
    let mut changes = Changes::new(out);
    for (name, text) in files {
        changes.create(name, text);
    }
    changes.write(command.how, &[], &next)?;
    Ok(Outcome::Whole)
}

/// Each definition as a file.
fn definitions(exported: &Value) -> Vec<(String, String)> {
    let definitions = exported["definitions"].as_array().into_iter().flatten();
    let written = definitions.map(|definition| {
        let mut text = b"---\n".to_vec();
        yaml::encode(definition, &mut text);
        let name = definition["metadata"]["name"].as_str().unwrap_or("definition");
        (format!("{name}.yaml"), String::from_utf8_lossy(&text).into_owned())
    });
    written.collect()
}

/// Each OpenAPI document as a file, which is named after its group and version.
fn documents(exported: &Value) -> Vec<(String, String)> {
    let documents = exported["openapi"].as_object().into_iter().flatten();
    let written = documents.map(|(path, document)| {
        let name = path.trim_start_matches("apis/").replace('/', "_");
        (format!("{name}.json"), format!("{document:#}\n"))
    });
    written.collect()
}
