//! Files and folders of CustomResourceDefinitions that become objects when a server starts, and again when they change.
//!
//! As with `kubectl apply`, what clients have changed in them is changed back, and a definition that is gone from its file stays.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep, timeout},
};

use super::{
    Error, Result,
    definition_files::is_known,
    files::{FileWatcher, Stamp, stamps},
};
use crate::{
    auth::User,
    crd,
    files::{self, Limits, Listing},
    http::{self, Caller, Service},
};

/// The resource of definitions.
const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long a server waits at its start until the kinds are served.
const SERVED_WITHIN: Duration = Duration::from_mins(1);
/// How long a refusal may be one of an earlier state.
const REFUSED_AFTER: Duration = Duration::from_secs(2);
/// How often it looks.
const PERIOD: Duration = Duration::from_millis(5);
/// How often a write is tried that others overtake.
const ATTEMPTS: usize = 5;

/// The files and folders, as they were named.
#[derive(Clone, Default)]
pub(super) struct InstalledDefinitions {
    pub paths: Vec<PathBuf>,
    pub limits: Limits,
    /// What was read before the start, and the files as of before that.
    prepared: (Vec<Stamp>, Vec<Value>),
}

impl InstalledDefinitions {
    /// Creates or changes the definitions, and waits until they are served, unless another server may decide about them. Returns the files
    /// to watch, if there are any.
    pub(super) async fn install(self, service: &Service, is_shared: bool) -> Result<Option<FileWatcher>> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let (stamps, definitions) = self.prepared.clone();
        apply(service, &definitions).await?;
        if !is_shared {
            until_served(service, &definitions).await?;
        }
        let (runtime, service, files) = (Handle::current(), service.clone(), self.clone());
        let read = move || runtime.block_on(apply(&service, &self.read()?));
        Ok(Some(FileWatcher::again("installed definitions", stamps, move || files.files().files, read, || 0)))
    }

    /// Reads the files, before anything is created for the server.
    ///
    /// # Errors
    /// Everything that is wrong, with files and lines.
    pub(super) fn prepare(mut self) -> Result<Self> {
        if !self.paths.is_empty() {
            self.prepared = (stamps(&self.files().files), self.read()?);
        }
        Ok(self)
    }

    fn files(&self) -> Listing {
        let mut all = Listing::default();
        for path in &self.paths {
            let mut listing = files::list(path, true, &is_manifest);
            all.files.append(&mut listing.files);
            all.problems.append(&mut listing.problems);
        }
        all
    }

    /// The definitions of all files, as they are written.
    fn read(&self) -> Result<Vec<Value>> {
        let Listing { files, problems } = self.files();
        let mut problems: Vec<_> = problems.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
        let (mut definitions, mut limits) = (Vec::new(), self.limits);
        for file in files {
            let name = file.display().to_string();
            let text = files::read_next(&file, &mut limits).map_err(|error| format!("{name}: {error}"));
            match text.and_then(|text| crd::read(&name, &text).map_err(|report| report.to_string())) {
                Ok(manifest) => {
                    manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                    definitions.extend(manifest.documents);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if definitions.is_empty() && problems.is_empty() {
            let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            problems.push(format!(
                "{}: no CustomResourceDefinition there; the names of their files end in .yaml, .yml or .json, and paths are relative to {folder}",
                paths.join(", ")
            ));
        }
        if problems.is_empty() { Ok(definitions) } else { Err(Error::Kind(problems.join("\n"))) }
    }
}

fn is_manifest(path: &Path) -> bool {
    is_known(path) && path.extension().is_some_and(|end| end != "proto")
}

fn name(definition: &Value) -> &str {
    definition["metadata"]["name"].as_str().unwrap_or_default()
}

/// Sends a request of the server's own.
async fn send(service: &Service, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = http::call(service, Caller::User(&User::system()), method, path, body).await;
    (answer.code, answer.body)
}

/// Creates definitions, or gives them the labels, annotations and specs of these.
async fn apply(service: &Service, definitions: &[Value]) -> Result<()> {
    let mut problems = Vec::new();
    for definition in definitions {
        let mut answer = (0, Value::Null);
        for _ in 0..ATTEMPTS {
            answer = write(service, definition).await;
            // Another client has written or deleted it meanwhile.
            if !matches!(answer.0, 404 | 409) {
                break;
            }
        }
        if !matches!(answer.0, 200 | 201) {
            let message = answer.1["message"].as_str().map_or_else(|| answer.1.to_string(), str::to_owned);
            problems.push(format!("the definition {} cannot be installed: {message}", name(definition)));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Kind(problems.join("\n"))) }
}

async fn write(service: &Service, definition: &Value) -> (u16, Value) {
    let path = format!("{COLLECTION}/{}", name(definition));
    let (code, mut stored) = send(service, "GET", &path, &Value::Null).await;
    if code == 404 {
        return send(service, "POST", &format!("{COLLECTION}?fieldManager=kindsmith"), definition).await;
    }
    if code != 200 {
        return (code, stored);
    }
    stored["spec"] = definition["spec"].clone();
    for member in ["labels", "annotations"] {
        for (key, value) in definition["metadata"][member].as_object().into_iter().flatten() {
            stored["metadata"][member][key] = value.clone();
        }
    }
    send(service, "PUT", &format!("{path}?fieldManager=kindsmith"), &stored).await
}

/// Waits until the kinds of definitions are served.
async fn until_served(service: &Service, definitions: &[Value]) -> Result<()> {
    let mut problems = Vec::new();
    for definition in definitions {
        let path = format!("{COLLECTION}/{}", name(definition));
        let served = timeout(SERVED_WITHIN, async {
            let began = Instant::now();
            loop {
                let (_, stored) = send(service, "GET", &path, &Value::Null).await;
                let condition = |name: &str| {
                    let conditions = stored["status"]["conditions"].as_array();
                    conditions.and_then(|all| all.iter().find(|condition| condition["type"] == name)).cloned()
                };
                if condition("Established").is_some_and(|condition| condition["status"] == "True") {
                    return None;
                }
                let refused = condition("NamesAccepted").filter(|condition| condition["status"] == "False");
                if let Some(refused) = refused.filter(|_| began.elapsed() > REFUSED_AFTER) {
                    return Some(refused["message"].as_str().unwrap_or_default().to_owned());
                }
                sleep(PERIOD).await;
            }
        });
        let problem = served.await.unwrap_or_else(|_| Some("it was not accepted in time".to_owned()));
        problems.extend(problem.map(|why| format!("the definition {} is not served: {why}", name(definition))));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Kind(problems.join("\n"))) }
}
