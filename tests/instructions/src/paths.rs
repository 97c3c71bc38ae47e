//! The hot paths, each as requests to a server in this process.
use std::{ops::Range, pin::Pin};

use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, body::Bytes};
use kindsmith::{App, Server};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::{
    Outcome,
    object::{Workload, workload},
};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
/// The service account that may read ConfigMaps, its role and its binding.
const READER: &str = "reader";
/// Roles beside that one, each with a binding.
const ROLES: u64 = 100;
const WORKLOADS: &str = "/apis/instructions.example.com/v1/namespaces/default/workloads";
/// Objects that exist before the first path: ConfigMaps, which are listed, and workloads, of which each is written by one path.
const LISTED: u64 = 500;
const WRITTEN: u64 = 2;
/// Operations before those that are counted, for what is made once.
const WARMING: u64 = 10;

/// A path, which is a request that is repeated.
pub(crate) struct Path {
    pub(crate) name: &'static str,
    /// How often it is repeated. Few for what takes long, because callgrind is fifty times slower than the processor.
    pub(crate) operations: u64,
    request: fn(Turn) -> Parts,
    user: User,
    /// Watchers of all ConfigMaps, each of which receives one event for each operation.
    watchers: usize,
}

/// Who sends requests.
#[derive(Clone, Copy)]
enum User {
    /// The administrator, with a token of the server.
    Admin,
    /// A service account, with a signed token, and a role.
    Account,
}

/// All paths, in the order in which they run.
pub(crate) const PATHS: [Path; 7] = [
    Path::of_admin("get", 500, get),
    Path::of_admin("list of 500", 50, list),
    Path::of_admin("create", 50, |turn| create(WRITTEN + turn.number)),
    Path::of_admin("update", 50, update),
    Path::of_admin("apply without change", 50, apply),
    Path { watchers: 100, ..Path::of_admin("event to 100 watchers", 50, patch) },
    Path { user: User::Account, ..Path::of_admin("get by an account", 500, get) },
];

impl Path {
    const fn of_admin(name: &'static str, operations: u64, request: fn(Turn) -> Parts) -> Self {
        Self { name, operations, request, user: User::Admin, watchers: 0 }
    }
}

/// Which of a path's requests it is.
#[derive(Clone, Copy)]
struct Turn {
    number: u64,
    /// The newest revision of the store before the path.
    newest: u64,
}

/// What differs between requests: method, path, media type and body.
type Parts = (Method, String, &'static str, String);

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
/// YAML, of which JSON is a part.
const APPLY: &str = "application/apply-patch+yaml";

/// A name; all have the same length.
fn name(number: u64) -> String {
    format!("object-{number:06}")
}

fn get(_: Turn) -> Parts {
    (Method::GET, format!("{CONFIG_MAPS}/{}", name(0)), JSON, String::new())
}

fn list(_: Turn) -> Parts {
    (Method::GET, format!("{CONFIG_MAPS}?limit=500"), JSON, String::new())
}

/// Creates a ConfigMap of 2 KB.
fn create_config_map(number: u64) -> Parts {
    let body =
        json!({"metadata": {"name": name(number), "labels": {"app": "shop"}}, "data": {"text": "x".repeat(1_650)}});
    (Method::POST, CONFIG_MAPS.into(), JSON, body.to_string())
}

fn create(number: u64) -> Parts {
    (Method::POST, WORKLOADS.into(), JSON, workload(&name(number), 0, None))
}

/// The first one is a patch, which needs no revision. Each write takes the next revision of the store, because nothing else
/// writes.
fn update(Turn { number, newest }: Turn) -> Parts {
    let path = format!("{WORKLOADS}/{}", name(0));
    if number == 0 {
        let patch = json!({"metadata": {"annotations": {"example.com/number": "first"}}});
        return (Method::PATCH, path, MERGE_PATCH, patch.to_string());
    }
    (Method::PUT, path, JSON, workload(&name(0), number, Some(newest + number)))
}

/// The first one makes the applier an owner of what the object has, and the others change nothing.
fn apply(_: Turn) -> Parts {
    let path = format!("{WORKLOADS}/{}?fieldManager=applier&force=true", name(1));
    (Method::PATCH, path, APPLY, workload(&name(1), 0, None))
}

/// A small change of a simple object, so that most of the work is that for its watchers.
fn patch(turn: Turn) -> Parts {
    let patch = json!({"data": {"number": format!("{:06}", turn.number)}});
    (Method::PATCH, format!("{CONFIG_MAPS}/{}", name(0)), MERGE_PATCH, patch.to_string())
}

/// Runs all paths. Callgrind counts what [`measured`] does.
pub(crate) fn run() -> Outcome<()> {
    // One thread: the same instructions in the same order.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let subject = runtime.block_on(Subject::start())?;
    for path in &PATHS {
        let failed = |error| format!("{}: {error}", path.name);
        let newest = runtime.block_on(subject.revision())?;
        let request = |number| subject.request_of(path.user, (path.request)(Turn { number, newest }));
        let requests = |numbers: Range<u64>| numbers.map(request).collect::<Outcome<Vec<_>>>();
        let mut watches = runtime.block_on(subject.watches(path.watchers, newest))?;
        runtime.block_on(subject.operate(requests(0..WARMING)?, &mut watches)).map_err(failed)?;
        let counted = requests(WARMING..WARMING + path.operations)?;
        measured(&runtime, Box::pin(subject.operate(counted, &mut watches))).map_err(failed)?;
    }
    runtime.block_on(subject.app.stop());
    Ok(())
}

/// What is counted: [`crate::callgrind`] names this function.
#[inline(never)]
fn measured(runtime: &Runtime, work: Pin<Box<dyn Future<Output = Outcome<()>> + '_>>) -> Outcome<()> {
    let outcome = runtime.block_on(work);
    // Something to do after the work, so that it is a call and no jump, from which it would not return here.
    std::hint::black_box(outcome)
}

type Frames = Pin<Box<dyn hyper::body::Body<Data = Bytes, Error = Box<dyn std::error::Error + Send + Sync>> + Send>>;

/// The server under test.
struct Subject {
    app: App,
    /// The headers of the administrator and of the service account.
    admin: String,
    account: String,
}

impl Subject {
    /// Starts the server and creates the objects.
    async fn start() -> Outcome<Self> {
        let app = Server::builder().memory().http().without_builtin_controllers().kind::<Workload>().build().await?;
        let token = app.admin_token().ok_or("the server has no admin token")?;
        let mut subject = Self { admin: format!("Bearer {token}"), account: String::new(), app };
        let created = (0..LISTED).map(create_config_map).chain((0..WRITTEN).map(create));
        let requests = created.map(|parts| subject.request(parts)).collect::<Outcome<_>>()?;
        subject.operate(requests, &mut []).await?;
        subject.account = subject.account().await?;
        Ok(subject)
    }

    /// Makes the service account beside other roles and bindings; returns its header.
    async fn account(&self) -> Outcome<String> {
        let post = |path: String, body: Value| self.request((Method::POST, path, JSON, body.to_string()));
        let mut requests = vec![post(ACCOUNTS.to_owned(), json!({"metadata": {"name": READER}}))?];
        let others = (0..ROLES).map(|number| (format!("other-{number}"), "secrets"));
        for (name, resource) in others.chain([(READER.to_owned(), "configmaps")]) {
            let rule = json!({"apiGroups": [""], "resources": [resource], "verbs": ["get", "list"]});
            requests.push(post(format!("{RBAC}/roles"), json!({"metadata": {"name": name}, "rules": [rule]}))?);
            let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name});
            let subject = json!({"kind": "ServiceAccount", "name": name, "namespace": "default"});
            let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": [subject]});
            requests.push(post(format!("{RBAC}/rolebindings"), binding)?);
        }
        self.operate(requests, &mut []).await?;
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = self.answer(post(format!("{ACCOUNTS}/{READER}/token"), request)?).await?;
        let answer: Value = serde_json::from_slice(&answer.collect().await?.to_bytes())?;
        let token = answer["status"]["token"].as_str().ok_or("a token request is answered with a token")?;
        Ok(format!("Bearer {token}"))
    }

    /// A request of the administrator.
    fn request(&self, parts: Parts) -> Outcome<Request<Full<Bytes>>> {
        self.request_of(User::Admin, parts)
    }

    fn request_of(&self, user: User, (method, path, content_type, body): Parts) -> Outcome<Request<Full<Bytes>>> {
        let authorization = match user {
            User::Admin => &self.admin,
            User::Account => &self.account,
        };
        let request = Request::builder().method(method).uri(path).header("accept", JSON);
        let request = request.header("authorization", authorization).header("content-type", content_type);
        Ok(request.body(body.into())?)
    }

    /// The newest revision of the store.
    async fn revision(&self) -> Outcome<u64> {
        let page = self.request((Method::GET, format!("{CONFIG_MAPS}?limit=1"), JSON, String::new()))?;
        let page = self.answer(page).await?.collect().await?.to_bytes();
        let page: Value = serde_json::from_slice(&page)?;
        let revision = page["metadata"]["resourceVersion"].as_str().ok_or("a list has no resourceVersion")?;
        Ok(revision.parse()?)
    }

    /// Watches that send the events after a revision.
    async fn watches(&self, count: usize, revision: u64) -> Outcome<Vec<Frames>> {
        let mut watches = Vec::new();
        for _ in 0..count {
            let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={revision}");
            watches.push(self.answer(self.request((Method::GET, path, JSON, String::new()))?).await?);
        }
        Ok(watches)
    }

    /// Sends requests one after the other, and reads each answer and the event of each watch.
    async fn operate(&self, requests: Vec<Request<Full<Bytes>>>, watches: &mut [Frames]) -> Outcome<()> {
        for request in requests {
            let mut answer = self.answer(request).await?;
            while let Some(frame) = answer.frame().await {
                frame?;
            }
            for watch in &mut *watches {
                read_event(watch).await?;
            }
        }
        Ok(())
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Outcome<Frames> {
        let answer = self.app.service().oneshot(request).await?;
        let (status, body) = (answer.status(), answer.into_body());
        if !status.is_success() {
            let text = body.collect().await?.to_bytes();
            return Err(format!("{status}: {}", String::from_utf8_lossy(&text)).into());
        }
        Ok(Box::pin(body.map_err(Into::into)))
    }
}

/// Reads a watch to the end of an event.
async fn read_event(watch: &mut Frames) -> Outcome<()> {
    loop {
        let frame = watch.frame().await.ok_or("the server ended a watch")??;
        if frame.data_ref().is_some_and(|data| data.ends_with(b"\n")) {
            return Ok(());
        }
    }
}
