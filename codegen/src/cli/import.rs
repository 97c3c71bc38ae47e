//! `kindsmith import`: the API of a running server, or of a folder of its documents, as files that `serve` takes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process,
};

use clap::Args;
use kindsmith::{
    kind::{
        crd,
        openapi::{self, Descriptions, Source},
    },
    meta::GroupResource,
    server::remote::RemoteServer,
};
use kindsmith_formats::files as reading;
use kindsmith_model::codec::yaml;
use serde_json::{Value, json};

use super::{
    Outcome,
    kinds::{SizeLimit, files_that},
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Write the API of a running server as files that `kindsmith serve` takes.

The API is read from the server of a kubeconfig, or from files: OpenAPI v3 documents, discovery documents, and \
CustomResourceDefinitions. The folder gets an API description (api.json, more where documents contradict each other), with all \
versions, verbs, short names, schemas and descriptions, and a file for each definition.

Of the server, OpenAPI, discovery and definitions are read, and no objects. Conversion webhooks are left out. A kubeconfig whose user signs in by a program, such as those \
of cloud providers, needs --kubectl: requests are then made by `kubectl get --raw`.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith import --kubeconfig ~/.kube/config --output my-cluster
  kindsmith import --kubectl kubectl --output my-cluster
  kindsmith serve my-cluster";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// Files and folders of documents, in place of a server.
    #[arg(value_name = "FILES-OR-FOLDERS", conflicts_with_all = ["kubeconfig", "kubectl"])]
    paths: Vec<PathBuf>,
    /// The kubeconfig of a running server; its current context counts.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Send requests through this kubectl. It uses its own kubeconfig unless --kubeconfig is given.
    #[arg(long, value_name = "KUBECTL", num_args = 0..=1, default_missing_value = "kubectl")]
    kubectl: Option<PathBuf>,
    /// The folder to write. It must not exist, or have only files of an earlier import.
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Leave out descriptions: the sentences about kinds and fields.
    #[arg(long)]
    without_descriptions: bool,
    #[command(flatten)]
    size: SizeLimit,
}

/// What an API consists of.
#[derive(Default)]
struct Api {
    /// OpenAPI documents and those of discovery, by name.
    documents: BTreeMap<String, Vec<u8>>,
    /// CustomResourceDefinitions by name.
    definitions: BTreeMap<String, Value>,
}

/// Writes the files.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let api = match (&command.kubectl, &command.kubeconfig) {
        (Some(kubectl), kubeconfig) => Api::read(|path| through_kubectl(kubectl, kubeconfig.as_deref(), path))?,
        (None, Some(kubeconfig)) => {
            let failed = |why: String| format!("{}: {why}; kubectl may be able to: --kubectl", kubeconfig.display());
            let server = RemoteServer::of_kubeconfig(kubeconfig).map_err(failed)?;
            let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
            Api::read(|path| {
                let (code, text) = runtime.block_on(server.get(path))?;
                if code == 200 { Ok(text.into()) } else { Err(format!("the server answered with status {code}")) }
            })?
        }
        (None, None) if command.paths.is_empty() => {
            return Err(
                "name files and folders of documents, or a running server with --kubeconfig or --kubectl".to_owned()
            );
        }
        (None, None) => Api::of_files(command)?,
    };
    api.write(command)
}

/// Gets a path through kubectl, which knows all ways to sign in.
fn through_kubectl(kubectl: &Path, kubeconfig: Option<&Path>, path: &str) -> Result<Vec<u8>, String> {
    let mut command = process::Command::new(kubectl);
    if let Some(kubeconfig) = kubeconfig {
        command.arg("--kubeconfig").arg(kubeconfig);
    }
    let output = command.args(["get", "--raw", path]).output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", kubectl.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

impl Api {
    /// Reads the API of a server by a function that gets a path.
    fn read(get: impl Fn(&str) -> Result<Vec<u8>, String>) -> Result<Self, String> {
        let json = |path: &str| -> Result<Value, String> {
            let text = get(path).map_err(|why| format!("{path}: {why}"))?;
            serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))
        };
        let mut api = Self::default();
        let index = json("/openapi/v3")?;
        let paths = index["paths"].as_object().ok_or("/openapi/v3: the index of documents has no paths")?;
        for (name, of) in paths {
            // The others are of discovery, and of groups without a version.
            let is_version = name.starts_with("api/") || (name.starts_with("apis/") && name.matches('/').count() == 2);
            let Some(url) = of["serverRelativeURL"].as_str().filter(|_| is_version) else { continue };
            // Groups of servers behind this one may be unavailable. They are left out.
            let document = get(url).and_then(|text| Ok((is_openapi(text)?, get(&format!("/{name}"))?)));
            match document {
                Ok((document, discovery)) => {
                    api.documents.insert(name.clone(), document);
                    api.documents.insert(format!("discovery of {name}"), discovery);
                }
                Err(why) => report(format_args!("left out: {name}: {}", why.escape_debug())),
            }
        }
        let mut next = String::new();
        for _ in 0..MOST_PAGES {
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=100&continue={next}");
            let list = match json(&path) {
                Ok(list) => list,
                Err(why) if api.definitions.is_empty() => {
                    let why = why.escape_debug();
                    report(format_args!("without definitions, whose kinds have no columns and rules: {why}"));
                    return Ok(api);
                }
                Err(why) => return Err(why),
            };
            for definition in list["items"].as_array().into_iter().flatten() {
                let mut definition = definition.clone();
                if !definition.is_object() {
                    return Err(format!("{path}: an item of the list is no definition"));
                }
                definition["apiVersion"] = "apiextensions.k8s.io/v1".into();
                definition["kind"] = "CustomResourceDefinition".into();
                api.define(definition).map_err(|why| format!("{path}: {why}"))?;
            }
            list["metadata"]["continue"].as_str().unwrap_or_default().clone_into(&mut next);
            if next.is_empty() {
                return Ok(api);
            }
        }
        Err(format!("the server has more than {MOST_PAGES} pages of definitions"))
    }

    /// Reads files.
    fn of_files(command: &Command) -> Result<Self, String> {
        const READ: [&str; 3] = ["json", "yaml", "yml"];
        let is_read = |path: &Path| path.extension().is_some_and(|end| READ.iter().any(|known| end == *known));
        let (mut api, mut limits) = (Self::default(), command.size.limits());
        for path in files_that(&command.paths, is_read)? {
            let name = path.display().to_string();
            let text = reading::read_next(&path, &mut limits).map_err(|error| format!("{name}: {error}"))?;
            if openapi::is_document(&text) {
                api.documents.insert(name, text);
                continue;
            }
            crd::read(&name, &text).map_err(|report| report.to_string())?;
            let text = String::from_utf8_lossy(&text);
            for (line, document) in yaml::documents(&text) {
                let decoded = yaml::decode(document.as_bytes(), &kindsmith_model::codec::Limits::default());
                let decoded = decoded.map_err(|error| format!("{name}:{}: {}", line + error.line, error.reason))?;
                // Lists stand for their items, and others are no part of an API, as where files are served.
                let items = match decoded.document.get("items").and_then(Value::as_array) {
                    Some(items) => items.clone(),
                    None => vec![decoded.document],
                };
                for item in items.into_iter().filter(|item| item["kind"] == "CustomResourceDefinition") {
                    api.define(item).map_err(|why| format!("{name}: {why}"))?;
                }
            }
        }
        Ok(api)
    }

    /// Adds a definition, without what a server adds to it. Its name becomes that of a file.
    fn define(&mut self, mut definition: Value) -> Result<(), String> {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if !is_file_name(&name) {
            return Err(format!("found a definition named {name:?}, which is no name of a resource and its group"));
        }
        if let Some(members) = definition.as_object_mut() {
            members.remove("status");
        }
        // Webhooks of the other server are not called with objects of this one.
        if definition["spec"]["conversion"]["strategy"] == "Webhook" {
            definition["spec"]["conversion"] = json!({"strategy": "None"});
            report(format_args!(
                "{name}: without its conversion webhook: only apiVersion differs between its versions"
            ));
        }
        if let Some(metadata) = definition["metadata"].as_object_mut() {
            metadata.retain(|key, _| ["annotations", "labels", "name"].contains(&key.as_str()));
        }
        if let Some(annotations) = definition["metadata"]["annotations"].as_object_mut() {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
        self.definitions.insert(name, definition);
        Ok(())
    }

    fn write(&self, command: &Command) -> Result<Outcome, String> {
        let defined: BTreeSet<GroupResource> = self.definitions.values().map(resource_of).collect();
        let sources: Vec<_> = self.documents.iter().map(|(name, text)| Source::new(name, text)).collect();
        let with = if command.without_descriptions { Descriptions::Omit } else { Descriptions::Keep };
        let described = openapi::describe(&sources, &defined, with).map_err(|report| report.to_string())?;
        let mut files = BTreeMap::new();
        for (index, text) in described.iter().enumerate() {
            let name = if index == 0 { "api.json".to_owned() } else { format!("api-{}.json", index + 1) };
            files.insert(name, text.clone().into_bytes());
        }
        for (name, definition) in &self.definitions {
            let mut text = Vec::new();
            yaml::encode(definition, &mut text);
            files.insert(format!("{name}.yaml"), text);
        }
        replace(&command.output, &files)?;
        let resources = described.iter().map(|text| text.matches("\n{\"resource\":").count()).sum::<usize>();
        let definitions = self.definitions.len();
        print(format_args!(
            "{}: {resources} versions of resources, and {definitions} definitions\n\nServe them with\n\n  kindsmith serve {0}\n",
            command.output.display()
        ));
        Ok(Outcome::Whole)
    }
}

/// The resource that a definition defines.
fn resource_of(definition: &Value) -> GroupResource {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &definition["spec"];
    GroupResource { group: text(&spec["group"]), resource: text(&spec["names"]["plural"]) }
}

/// An OpenAPI document, or why it is none.
fn is_openapi(text: Vec<u8>) -> Result<Vec<u8>, String> {
    let document: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if document["openapi"].is_string() { Ok(text) } else { Err("no OpenAPI document".to_owned()) }
}

/// The most pages of definitions that are read.
const MOST_PAGES: usize = 1_000;

/// True for a name of letters, digits, dashes and dots that does not begin with a dot.
fn is_file_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(known)
}

/// The file that says which files an import wrote.
const LIST: &str = ".kindsmith-import";

/// Writes a folder anew. A folder that has other files than those of an import is left as it is.
fn replace(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let shown = folder.display();
    let failed = |error: std::io::Error| format!("{shown} cannot be written: {error}");
    fs::create_dir_all(folder).map_err(failed)?;
    let known = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().filter(|name| is_file_name(name)).collect();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name != LIST && !known.contains(&*name) {
            return Err(format!("{shown} has the file {name}, which no import wrote; nothing was written"));
        }
    }
    // First, so that an import that is interrupted can be repeated.
    let list: Vec<_> = known.iter().copied().chain(files.keys().map(String::as_str)).collect();
    fs::write(folder.join(LIST), list.join("\n")).map_err(failed)?;
    for name in known.iter().filter(|name| !files.contains_key(**name)) {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    for (name, text) in files {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(())
}
