//! Two servers: one in front, which the client speaks with, and one of machines behind it. Objects, watches, logs and commands go
//! through the front, and a watcher follows while the server behind stops and starts again.

use std::{borrow::Cow, fs, path::Path, time::Duration};

use futures::{AsyncBufReadExt, Stream, StreamExt, TryStreamExt};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        core::v1::ServiceAccount,
        rbac::v1::{ClusterRoleBinding, RoleBinding},
    },
};
use kube::{
    Api, Client, ResourceExt,
    api::{AttachParams, DynamicObject, Execute, ListParams, Log, LogParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind, ObjectMeta},
    runtime::{WatchStreamExt, watcher},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{sleep, timeout},
};

use crate::{Failure, kinds::named, refused::refused, server::Server};

/// The maximum time until something holds that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// A kind of the server behind, as the client sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Machine {
    metadata: ObjectMeta,
    spec: MachineSpec,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MachineSpec {
    size: Option<i32>,
    made_by: Option<Vec<String>>,
}

impl kube::Resource for Machine {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Machine".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "machines.example.com".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "machines".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Log for Machine {}
impl Execute for Machine {}

fn machine(name: &str, size: i32) -> Value {
    json!({"apiVersion": "machines.example.com/v1", "kind": "Machine", "metadata": {"name": name}, "spec": {"size": size}})
}

/// Starts both servers, and uses the one behind through the one in front.
pub async fn through_the_front(kindsmith: &Path, pods: &Path) -> Result<(), Failure> {
    let listen = |address: &str| ["serve", "--aggregation", "--listen", address].map(str::to_owned).to_vec();
    let mut front = Server::start(kindsmith, "front", listen).await?;
    let client = front.client().await?;
    let kubeconfig = account(&front, &client).await?;
    let delegate = move |address: &str| [address, "--behind", &kubeconfig].map(str::to_owned).to_vec();
    let mut behind = Server::start(pods, "behind", delegate).await?;
    register(&client, &behind).await?;

    let machines: Api<Machine> = Api::default_namespaced(client.clone());
    objects(&machines).await?;
    connections(&machines).await?;
    let mut config = front.config().await?;
    config.default_retry = false;
    let impatient = Api::default_namespaced(Client::try_from(config)?);
    follow_through_a_stop((&machines, &impatient), &mut behind).await?;
    behind.end().await?;
    front.end().await
}

/// Makes the account of the server behind, with the least that it needs. Returns its kubeconfig.
async fn account(front: &Server, client: &Client) -> Result<String, Failure> {
    let create = PostParams::default();
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    accounts.create(&create, &ServiceAccount { metadata: named("behind"), ..ServiceAccount::default() }).await?;
    let subjects = json!([{"kind": "ServiceAccount", "name": "behind", "namespace": "default"}]);
    let binding = |kind: &str, role: &str| {
        json!({
            "metadata": {"name": "behind"}, "subjects": subjects,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        })
    };
    let reader: RoleBinding = serde_json::from_value(binding("Role", "extension-apiserver-authentication-reader"))?;
    Api::namespaced(client.clone(), "kube-system").create(&create, &reader).await?;
    let delegator: ClusterRoleBinding = serde_json::from_value(binding("ClusterRole", "system:auth-delegator"))?;
    Api::all(client.clone()).create(&create, &delegator).await?;

    let token = accounts
        .create_token_request(
            "behind",
            &create,
            &serde_json::from_value(json!({"metadata": {}, "spec": {"audiences": []}}))?,
        )
        .await?;
    let token = token.status.ok_or("a token request is answered with a token")?.token;
    let mut kubeconfig = kube::config::Kubeconfig::read_from(front.kubeconfig())?;
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(serde_json::from_value(json!({"token": token}))?);
    }
    let path = front.kubeconfig().with_file_name("behind.conf");
    fs::write(&path, serde_json::to_string(&kubeconfig)?)?;
    Ok(path.to_str().ok_or("a path in UTF-8")?.to_owned())
}

/// Registers the server behind, and waits until it is available.
async fn register(client: &Client, behind: &Server) -> Result<(), Failure> {
    let kind = GroupVersionKind::gvk("apiregistration.k8s.io", "v1", "APIService");
    let services: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let authority = fs::read(behind.kubeconfig().with_file_name("ca.crt"))?;
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {
            "name": "v1.machines.example.com", "annotations": {"kindsmith.dev/url": format!("https://{}", behind.address())},
        },
        "spec": {
            "group": "machines.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10,
            "service": {"namespace": "default", "name": "machines"},
            "caBundle": k8s_openapi::ByteString(authority),
        },
    });
    let apply = PatchParams::apply("check");
    services.patch("v1.machines.example.com", &apply, &Patch::Apply(&service)).await?;
    let available = async {
        loop {
            let service = services.get("v1.machines.example.com").await?;
            if service.data["status"]["conditions"][0]["status"] == "True" {
                return Ok::<_, Failure>(());
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, available).await.map_err(|_| "the server behind never became available")?
}

async fn objects(machines: &Api<Machine>) -> Result<(), Failure> {
    let one: Machine = serde_json::from_value(machine("one", 1))?;
    let made = machines.create(&PostParams::default(), &one).await?;
    let made_by = made.spec.made_by.clone().ok_or("the server behind knows who made it")?;
    assert_eq!(made_by[1..], ["system:masters", "system:authenticated"], "the groups in front");
    assert_eq!(machines.get("one").await?, made);
    let applied = machines.patch("two", &PatchParams::apply("check"), &Patch::Apply(machine("two", 2))).await?;
    assert_eq!((applied.spec.size, applied.managed_fields()[0].manager.as_deref()), (Some(2), Some("check")));
    let conflict = machines.patch("two", &PatchParams::apply("another"), &Patch::Apply(machine("two", 3))).await;
    refused(conflict, 409, "Conflict");
    let found = machines.list(&ListParams::default().limit(1)).await?;
    assert_eq!((found.items.len(), found.metadata.continue_.is_some()), (1, true));
    refused(machines.get("none").await, 404, "NotFound");
    Ok(())
}

/// Logs, and commands whose input, output and exit code go through.
async fn connections(machines: &Api<Machine>) -> Result<(), Failure> {
    let last = LogParams { tail_lines: Some(1), ..LogParams::default() };
    assert_eq!(machines.logs("one", &last).await?, "line 5 of one\n");
    let endless: Machine = serde_json::from_value(machine("endless", 1))?;
    machines.create(&PostParams::default(), &endless).await?;
    let following = LogParams { follow: true, ..LogParams::default() };
    let lines: Vec<String> = machines.log_stream("endless", &following).await?.lines().take(8).try_collect().await?;
    assert_eq!(lines[4..], ["line 5 of endless", "and on", "and on", "and on"]);

    let command = ["sh", "-c", "wc -c; echo oops >&2; exit 3"];
    let streams = AttachParams::default().stdin(true).stdout(true).stderr(true);
    let mut process = machines.exec("one", command, &streams).await?;
    let mut input = process.stdin().ok_or("it has an input")?;
    let (mut output, mut errors) =
        (process.stdout().ok_or("it has an output")?, process.stderr().ok_or("it has an error output")?);
    let status = process.take_status().ok_or("it will have a status")?;
    input.write_all(&vec![b'x'; 300_000]).await?;
    input.shutdown().await?;
    let (mut said, mut complained) = (String::new(), String::new());
    output.read_to_string(&mut said).await?;
    errors.read_to_string(&mut complained).await?;
    assert_eq!((said.trim(), complained.trim()), ("300000", "oops"));
    let status = status.await.ok_or("it ended")?;
    assert_eq!(status.status.as_deref(), Some("Failure"), "{status:?}");
    assert!(status.message.as_deref().is_some_and(|message| message.contains('3')), "{status:?}");
    Ok(())
}

/// Reads the events of a watcher until it has had these names.
async fn told(
    events: &mut (impl Stream<Item = watcher::Result<Machine>> + Unpin),
    mut names: Vec<&str>,
) -> Result<(), Failure> {
    let all = async {
        while !names.is_empty() {
            // While the server behind is away, the watcher has errors, and goes on.
            if let Ok(told) = events.next().await.ok_or("the watcher goes on")? {
                names.retain(|name| *name != told.name_any());
            }
        }
        Ok::<_, Failure>(())
    };
    timeout(PATIENCE, all).await.map_err(|_| "the watcher is not told of all")?
}

/// The first client sends a request again that is answered with 503, and the second does not.
async fn follow_through_a_stop(
    (machines, impatient): (&Api<Machine>, &Api<Machine>),
    behind: &mut Server,
) -> Result<(), Failure> {
    let config = watcher::Config::default();
    let mut events = watcher(machines.clone(), config).default_backoff().applied_objects().boxed();
    told(&mut events, vec!["one", "two", "endless"]).await?;
    behind.stop().await?;
    // In text, as kube-apiserver has it, so that the client knows the code alone.
    let unavailable = impatient.get("one").await;
    assert!(matches!(&unavailable, Err(kube::Error::Api(status)) if status.code == 503), "{unavailable:?}");
    behind.start_again().await?;
    let late: Machine = serde_json::from_value(machine("late", 1))?;
    let create = PostParams::default();
    let created = machines.create(&create, &late);
    timeout(PATIENCE, created).await.map_err(|_| "the server behind is not available again")??;
    told(&mut events, vec!["late"]).await
}
