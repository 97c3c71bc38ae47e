//! `kindsmith export`: kinds as documents for others. They are read from files, or a program that declares them in Rust is asked.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kindsmith::kind::crd;
use kindsmith_codegen::{
    Kinds,
    export::{ExportFile, apiservice, docs, json_schema, rbac},
};
use kindsmith_model::codec::yaml;
use serde_json::Value;

use super::{
    Outcome,
    change::{Changes, How},
    export_proto,
    kinds::Origin,
    terminal::{self, print},
};

pub(super) const ABOUT: &str = "Export kinds: as definitions for a cluster, as OpenAPI documents, as JSON Schema for editors, as documentation, \
as Protobuf definitions, as roles, or as what a cluster needs in front of the program that serves them.

The kinds are those of manifests of CustomResourceDefinitions and OpenAPI documents, or those that a program declares in Rust. Without files \
the program of this folder is built and run with `cargo run`, unless --program names one. It serves nothing then, and its data is not \
touched: it writes its kinds to a file for this command, when it calls `serve` or `build` of its builder. What an export cannot say is \
printed as a warning.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith export crd | kubectl apply --server-side -f -
  kindsmith export crd --out crds
  kindsmith export openapi --out openapi --program target/debug/shop
  kindsmith export json-schema schemas --out .schemas
  kindsmith export docs schemas --out docs
  kindsmith export proto --out schemas    # schemas/<group>/<version>.proto, to be committed
  kindsmith export proto --out schemas --check    # in CI
  kindsmith export rbac schemas | kubectl apply -f -
  kindsmith export apiservice schemas --service library/api --service-ca ca.crt | kubectl apply -f -";

/// What to export.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum What {
    /// CustomResourceDefinitions, in YAML.
    Crd,
    /// OpenAPI v3 documents, one for each group and version, in JSON.
    Openapi,
    /// JSON Schema for editors, a file for each kind and version, and all.json, which chooses among them.
    JsonSchema,
    /// Reference documentation, a Markdown page for each group.
    Docs,
    /// Protobuf definitions, a file for each group and version, which is the lock of field numbers: numbers in it are kept.
    Proto,
    /// ClusterRoles to view, edit and administer the kinds of a group, in YAML.
    Rbac,
    /// APIServices, the Service and the access of a program behind a cluster, in YAML.
    Apiservice,
}

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// What to export.
    what: What,
    #[command(flatten)]
    origin: Origin,
    /// A folder for a file each; without it, everything is printed.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// With proto: write nothing, and fail if the files in the folder are not up to date.
    #[arg(long, requires = "out", conflicts_with = "dry_run")]
    check: bool,
    /// With apiservice: the Service in front of the program, and the name of its service account.
    #[arg(long, value_name = "NAMESPACE/NAME")]
    service: Option<String>,
    /// With apiservice: the authorities of the program's certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "service")]
    service_ca: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// Files to write, and warnings.
#[derive(Default)]
struct ExportOutput {
    files: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl ExportOutput {
    fn new(files: Vec<ExportFile>, warnings: Vec<String>) -> Self {
        Self { files: files.into_iter().map(|file| (file.path, file.text)).collect(), warnings }
    }
}

/// Exports.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    if command.what == What::Proto {
        return export_proto::run(&command.origin.messages()?, command.out.as_deref(), command.how, command.check);
    }
    if command.check {
        return Err("--check is for proto".to_owned());
    }
    let service = service(command)?;
    let ExportOutput { mut files, warnings } = exported(command, service)?;
    terminal::warn(&warnings, |warning| warning, command.origin.is_all());
    let Some(out) = &command.out else {
        // It refers to the others by their paths.
        files.retain(|(name, _)| name != json_schema::ALL);
        if files.is_empty() {
            return Err(NOTHING.to_owned());
        }
        for (_, text) in files {
            print(format_args!("{text}"));
        }
        return Ok(Outcome::Whole);
    };
    if files.iter().all(|(name, _)| name == json_schema::ALL) {
        return Err(NOTHING.to_owned());
    }
    let mut changes = Changes::new(out);
    for (name, text) in files {
        changes.create(name, text);
    }
    changes.write(command.how, &[], &next(command.what, out))?;
    Ok(Outcome::Whole)
}

const NOTHING: &str = "there are no kinds that could be exported";

fn exported(command: &Command, service: Option<apiservice::Service>) -> Result<ExportOutput, String> {
    if command.what == What::Openapi {
        let files = documents(&command.origin.exported()?);
        return Ok(ExportOutput { files, ..ExportOutput::default() });
    }
    if command.what == What::Crd && command.origin.is_program() {
        return Ok(of_program(&command.origin.exported()?));
    }
    let kinds = command.origin.kinds()?;
    command.origin.warn(&kinds.warnings);
    let definitions = || kinds.kinds.iter().map(|declaration| &declaration.definition);
    Ok(match command.what {
        What::Crd | What::Openapi | What::Proto => self::definitions(&kinds),
        What::JsonSchema => {
            let schemas = json_schema::files(definitions());
            ExportOutput::new(schemas.files, schemas.warnings)
        }
        What::Docs => {
            let docs = docs::files(&kinds.kinds);
            ExportOutput::new(docs.files, docs.warnings)
        }
        What::Rbac => ExportOutput::new(rbac::files(definitions()), Vec::new()),
        What::Apiservice => {
            let (files, warnings) = apiservice::files(definitions(), &service.ok_or(NO_SERVICE)?);
            ExportOutput::new(files, warnings)
        }
    })
}

const NO_SERVICE: &str = "apiservice needs --service NAMESPACE/NAME, the Service in front of the program";

/// The Service in front of the program, if one is named.
fn service(command: &Command) -> Result<Option<apiservice::Service>, String> {
    let is_for = command.what == What::Apiservice;
    let Some(given) = &command.service else { return if is_for { Err(NO_SERVICE.to_owned()) } else { Ok(None) } };
    if !is_for {
        return Err("--service is for apiservice".to_owned());
    }
    let (namespace, name) = given
        .split_once('/')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty() && !name.contains('/'))
        .ok_or_else(|| format!("--service {given:?}: expected NAMESPACE/NAME"))?;
    let mut service = apiservice::Service::new(namespace, name);
    if let Some(path) = &command.service_ca {
        let pem = std::fs::read(path).map_err(|error| format!("--service-ca {}: {error}", path.display()))?;
        service.ca = Some(pem);
    }
    Ok(Some(service))
}

/// What to do with the files.
fn next(what: What, out: &Path) -> String {
    let out = out.display();
    match what {
        What::Crd => format!("kubectl apply --server-side -f {out}"),
        What::Openapi => format!("give {out} to the generators of clients"),
        What::JsonSchema => format!(
            "begin manifests with this line, in which the path is relative to them:\n# yaml-language-server: $schema={out}/{}",
            json_schema::ALL
        ),
        What::Docs => format!("publish the pages in {out}"),
        What::Proto => format!("commit {out}"),
        What::Rbac => format!("kubectl apply -f {out}, and bind view, edit or admin to users as always"),
        What::Apiservice => format!("kubectl apply -f {out}, and run the program as that service account"),
    }
}

/// A definition as a file.
fn definition(definition: &Value) -> (String, String) {
    let mut text = b"---\n".to_vec();
    yaml::encode(definition, &mut text);
    let name = definition["metadata"]["name"].as_str().unwrap_or("definition");
    (format!("{name}.yaml"), String::from_utf8_lossy(&text).into_owned())
}

/// The definitions of kinds from files.
fn definitions(kinds: &Kinds) -> ExportOutput {
    let mut output = ExportOutput::default();
    for declaration in &kinds.kinds {
        match crd::write(&declaration.definition) {
            Ok(written) => {
                output.warnings.extend(written.warnings.iter().cloned());
                output.files.push(definition(&written.with_metadata(&declaration.metadata).document));
            }
            Err(why) => output.warnings.push(why),
        }
    }
    output
}

/// The definitions that a program wrote.
fn of_program(exported: &Value) -> ExportOutput {
    let files = exported["definitions"].as_array().into_iter().flatten().map(definition).collect();
    let warnings = exported["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    ExportOutput { files, warnings: warnings.map(str::to_owned).collect() }
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
