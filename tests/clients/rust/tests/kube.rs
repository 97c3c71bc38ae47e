//! The Rust client `kube` against the server, over TLS: the dynamic and the typed Api, a watcher with bookmarks, and a
//! reflector that lives through a restart of the server.
//!
//! `CONFORMANCE_SERVER` names the server's program.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Client, Config, ResourceExt,
    api::{
        Api, ApiResource, DeleteParams, DynamicObject, ListParams, Object, Patch, PatchParams, PostParams, WatchParams,
    },
    config::{KubeConfigOptions, Kubeconfig},
    core::{GroupVersionKind, WatchEvent},
    discovery::Discovery,
    runtime::{WatchStreamExt, reflector, watcher},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::{sleep, timeout},
};

/// A server in a folder of its own, which can be killed and started again at the same port.
struct Server {
    folder: PathBuf,
    child: Child,
    url: String,
}

impl Server {
    async fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kindsmith-kube-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder takes a new one");
        let (child, url) = spawn(&folder, "127.0.0.1:0").await;
        Self { folder, child, url }
    }

    async fn kill(&mut self) {
        self.child.kill().await.expect("the server can be killed");
    }

    async fn start_again(&mut self) {
        let address = self.url.trim_start_matches("https://").to_owned();
        (self.child, self.url) = spawn(&self.folder, &address).await;
    }

    async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.folder.join("data/kubeconfig")).expect("the server wrote one");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Client::try_from(config.expect("a sound kubeconfig")).expect("a client")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

async fn spawn(folder: &Path, address: &str) -> (Child, String) {
    let program = std::env::var("CONFORMANCE_SERVER").expect("CONFORMANCE_SERVER names the server's program");
    let mut child = Command::new(program)
        .args(["--tls", "--listen", address, "--data-dir"])
        .arg(folder.join("data"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(child.stdout.take().expect("standard output is piped")).lines();
    let first = lines.next_line().await.expect("it prints text").expect("it says where it listens");
    let url = first.strip_prefix("listening on ").expect("it says where it listens").to_owned();
    // Read on, so that the server never waits for a reader.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WidgetSpec {
    size: i32,
    #[serde(default)]
    color: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WidgetStatus {
    phase: Option<String>,
}

type Widget = Object<WidgetSpec, WidgetStatus>;

fn widgets() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("conformance.example.com", "v1", "Widget"), "widgets")
}

#[tokio::test]
async fn discovery_and_the_dynamic_api() {
    let server = Server::start("dynamic").await;
    let client = server.client().await;
    let discovery = Discovery::new(client.clone()).run().await.expect("discovery works");
    let kind = GroupVersionKind::gvk("conformance.example.com", "v1", "Widget");
    let (resource, capabilities) = discovery.resolve_gvk(&kind).expect("Widget is found");
    assert_eq!(resource.plural, "widgets");
    assert!(capabilities.supports_operation("watch"));
    assert!(capabilities.subresources.iter().any(|(found, _)| found.plural == "status"), "{capabilities:?}");

    let api: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);
    let object = DynamicObject::new("one", &resource).data(json!({"spec": {"size": 3}}));
    let made = api.create(&PostParams::default(), &object).await.expect("it is made");
    assert_eq!(made.data["spec"]["color"], "Red");
    let merged = api.patch("one", &PatchParams::default(), &Patch::Merge(json!({"spec": {"size": 4}}))).await;
    assert_eq!(merged.expect("it is patched").data["spec"]["size"], 4);
    let refused = api.create(&PostParams::default(), &object).await.expect_err("it exists");
    assert!(matches!(refused, kube::Error::Api(ref status) if status.code == 409), "{refused:?}");
    let partial = api.list_metadata(&ListParams::default()).await.expect("metadata alone");
    assert_eq!(partial.items[0].name_any(), "one");
    let deleted = api.delete("one", &DeleteParams::default()).await.expect("it goes");
    assert!(deleted.is_right(), "a deletion that is done answers a Status");
    assert!(api.get_opt("one").await.expect("the server answers").is_none());
}

#[tokio::test]
async fn the_typed_api() {
    let server = Server::start("typed").await;
    let client = server.client().await;
    let api: Api<Widget> = Api::namespaced_with(client.clone(), "default", &widgets());
    let widget = Object::new("typed", &widgets(), WidgetSpec { size: 7, color: "Blue".into() });
    let made = api.create(&PostParams::default(), &widget).await.expect("it is made");
    let mut changed = made.clone();
    changed.spec.size = 8;
    let replaced = api.replace("typed", &PostParams::default(), &changed).await.expect("it is replaced");
    assert_eq!((replaced.spec.size, replaced.metadata.generation), (8, Some(2)));
    let stale = api.replace("typed", &PostParams::default(), &made).await.expect_err("it has changed");
    assert!(matches!(stale, kube::Error::Api(ref status) if status.code == 409), "{stale:?}");
    let status = json!({"status": {"phase": "Ready"}});
    let told = api.patch_status("typed", &PatchParams::default(), &Patch::Merge(status)).await.expect("a status");
    assert_eq!(told.status, Some(WidgetStatus { phase: Some("Ready".into()) }));
    assert_eq!(api.get_scale("typed").await.expect("a scale").spec.and_then(|spec| spec.replicas), Some(1));

    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for number in 0..5 {
        let map = ConfigMap {
            metadata: kube::core::ObjectMeta { name: Some(format!("map-{number}")), ..Default::default() },
            data: Some(BTreeMap::from([("n".into(), number.to_string())])),
            ..Default::default()
        };
        maps.create(&PostParams::default(), &map).await.expect("it is made");
    }
    let first = maps.list(&ListParams::default().limit(2)).await.expect("a chunk");
    let token = first.metadata.continue_.clone().expect("there is more");
    let rest = maps.list(&ListParams::default().continue_token(&token)).await.expect("the rest");
    assert_eq!((first.items.len(), rest.items.len()), (2, 3));
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.expect("all go");
    assert!(maps.list(&ListParams::default()).await.expect("a list").items.is_empty());
}

#[tokio::test]
async fn a_raw_watch_resumes() {
    let server = Server::start("watch").await;
    let api: Api<Widget> = Api::namespaced_with(server.client().await, "default", &widgets());
    let since = api.list(&ListParams::default()).await.expect("a list").metadata.resource_version.expect("a revision");
    for name in ["a", "b"] {
        let widget = Object::new(name, &widgets(), WidgetSpec { size: 1, color: "Red".into() });
        api.create(&PostParams::default(), &widget).await.expect("it is made");
    }
    api.delete("a", &DeleteParams::default()).await.expect("it goes");
    let parameters = WatchParams::default().timeout(2);
    let events: Vec<_> =
        api.watch(&parameters, &since).await.expect("a watch").try_collect().await.expect("whole events");
    let told: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            WatchEvent::Added(object) => Some(format!("added {}", object.name_any())),
            WatchEvent::Modified(object) => Some(format!("modified {}", object.name_any())),
            WatchEvent::Deleted(object) => Some(format!("deleted {}", object.name_any())),
            WatchEvent::Bookmark(_) => None,
            WatchEvent::Error(status) => panic!("{status:?}"),
        })
        .collect();
    assert_eq!(told, ["added a", "added b", "deleted a"]);
}

/// Follows the server's widgets through a restart: the store must end up as the server's list, and what happened while
/// the reflector was cut off must reach it.
async fn follow_through_a_restart(name: &str, config: watcher::Config) {
    let mut server = Server::start(name).await;
    let api: Api<Widget> = Api::namespaced_with(server.client().await, "default", &widgets());
    let make = |name: String| {
        let api = api.clone();
        async move {
            let widget = Object::new(&name, &widgets(), WidgetSpec { size: 1, color: "Red".into() });
            api.create(&PostParams::default(), &widget).await.expect("it is made");
        }
    };
    for number in 0..5 {
        make(format!("before-{number}")).await;
    }
    let writer = reflector::store::Writer::<Widget>::new(widgets());
    let store = writer.as_reader();
    let stream = reflector(writer, watcher(api.clone(), config)).default_backoff();
    let reflecting = tokio::spawn(stream.for_each(|_| std::future::ready(())));
    timeout(Duration::from_secs(10), store.wait_until_ready()).await.expect("in time").expect("the reflector is there");
    assert_eq!(store.len(), 5);

    server.kill().await;
    server.start_again().await;
    make("after".into()).await;
    api.delete("before-0", &DeleteParams::default()).await.expect("it goes");
    let wanted = ["after", "before-1", "before-2", "before-3", "before-4"];
    let followed = timeout(Duration::from_secs(30), async {
        loop {
            let mut names: Vec<String> = store.state().iter().map(|widget| widget.name_any()).collect();
            names.sort();
            if names == wanted {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    followed.await.expect("the reflector follows through the restart");
    let list = api.list(&ListParams::default()).await.expect("a list");
    for widget in list {
        let key = reflector::ObjectRef::new_with(&widget.name_any(), widgets()).within("default");
        let known = store.get(&key).expect("it is known");
        assert_eq!(known.resource_version(), widget.resource_version());
    }
    reflecting.abort();
    server.kill().await;
}

#[tokio::test]
async fn a_reflector_lives_through_a_restart() {
    follow_through_a_restart("reflector", watcher::Config::default()).await;
}

#[tokio::test]
async fn a_streaming_list_lives_through_a_restart() {
    follow_through_a_restart("streaming", watcher::Config::default().streaming_lists()).await;
}
