//! Plugins of admission: for each operation, with a client, slow ones, in kube-apiserver's order.
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kindsmith::{
    ApiType, App, ObjectMeta, Resource, Server,
    admission::{Admission, Attributes, Document, Operation},
    builtin::ConfigMap,
    handlers::{self, NoOptions, Parent, Refusal, Result, Session},
    server::Builder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::request::send;

pub(crate) const FLEETS: &str = "/apis/sea.example.com/v1/namespaces/default/fleets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A fleet.
#[derive(Resource, Clone, Debug)]
#[resource(group = "sea.example.com", version = "v1", status)]
#[resource(scale(replicas = spec.ships, status = status.ships))]
pub(crate) struct Fleet {
    pub metadata: ObjectMeta,
    pub spec: FleetSpec,
    pub status: Option<FleetStatus>,
}

/// The desired state of a fleet.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FleetSpec {
    #[api(default = 1, minimum = 0)]
    pub ships: i32,
    pub port: Option<String>,
}

/// The observed state of a fleet.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FleetStatus {
    pub ships: i32,
}

/// Sends a fleet off.
#[derive(Resource, Clone, Debug)]
#[resource(group = "sea.example.com", version = "v1", unstored)]
pub(crate) struct Launch {
    pub metadata: ObjectMeta,
    pub spec: LaunchSpec,
}

/// Where to.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchSpec {
    #[api(default = "the sea")]
    pub to: String,
}

async fn launch(fleet: Parent<Fleet>, launch: Launch) -> Result<Launch> {
    fleet.context().warn(format!("mind the way to {}", launch.spec.to));
    Ok(launch)
}

async fn board(_: Parent<Fleet>, _: NoOptions) -> Result<Session> {
    Err(Refusal::new(418, "Teapot", "the handler was called"))
}

pub(crate) type Journal = Arc<Mutex<Vec<String>>>;

pub(crate) fn note(journal: &Journal, entry: String) {
    journal.lock().expect("no test panics with it").push(entry);
}

pub(crate) fn taken(journal: &Journal) -> Vec<String> {
    std::mem::take(&mut *journal.lock().expect("no test panics with it"))
}

/// Builds an app with fleets.
pub(crate) async fn app(configure: impl FnOnce(Builder) -> Builder) -> App {
    let builder = Server::builder().memory().http();
    let builder = builder.subresource::<Fleet>("launch", handlers::post(launch));
    configure(builder.subresource::<Fleet>("board", handlers::exec(board))).build().await.expect("it starts")
}

/// Notes what a plugin sees. It decides about everything in the group of fleets.
struct Clerk(Journal);

impl Clerk {
    fn note(&self, step: &str, attributes: &Attributes<'_>, object: &Document) {
        if attributes.group != "sea.example.com" {
            return;
        }
        let Attributes { operation, version, resource, subresource, object_version, kind, namespace, name, .. } =
            attributes;
        let size = |object: &Document| object["spec"]["ships"].as_i64().or(object["spec"]["replicas"].as_i64());
        let seen = size(object).map_or("-".to_owned(), |size| size.to_string());
        let old = attributes.old.and_then(size).map_or("-".to_owned(), |size| size.to_string());
        let (user, dry) = (&attributes.user.name, if attributes.dry_run { " dry" } else { "" });
        let entry =
            format!("{version} {resource}/{subresource} {object_version} {kind} {namespace}/{name} {old}->{seen}");
        note(&self.0, format!("{step} {} {entry} by {user}{dry}", operation.as_str()));
    }
}

impl Admission for Clerk {
    async fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<()> {
        self.note("admit", attributes, object);
        Ok(())
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Document) -> Result<()> {
        self.note("validate", attributes, object);
        Ok(())
    }
}

pub(crate) fn fleet(name: &str, ships: i32) -> Value {
    json!({"metadata": {"name": name}, "spec": {"ships": ships}})
}

#[tokio::test]
async fn each_operation_is_admitted_with_its_attributes() {
    let journal = Journal::default();
    let app = app(|builder| builder.kind::<Fleet>().admission(Clerk(journal.clone()))).await;
    let one = format!("{FLEETS}/a");
    let at = |rest: &str| format!("{one}{rest}");
    let apply = json!({"apiVersion": "sea.example.com/v1", "kind": "Fleet", "metadata": {"name": "b"}, "spec": {}});
    let generated = json!({"metadata": {"generateName": "g-"}, "spec": {}});
    let fleet_of = |entry: &str| format!("v1 fleets/ sea.example.com/v1 Fleet default/{entry}");
    for (method, path, body, code, expected) in [
        ("POST", FLEETS.to_owned(), fleet("a", 2), 201, ["CREATE ", &fleet_of("a -->2"), ""].concat()),
        ("POST", format!("{FLEETS}?dryRun=All"), fleet("x", 2), 201, ["CREATE ", &fleet_of("x -->2"), " dry"].concat()),
        ("PATCH", at(""), json!({"spec": {"ships": 3}}), 200, ["UPDATE ", &fleet_of("a 2->3"), ""].concat()),
        ("PUT", at(""), fleet("a", 4), 200, ["UPDATE ", &fleet_of("a 3->4"), ""].concat()),
        ("APPLY", format!("{FLEETS}/b?fieldManager=me"), apply, 201, ["CREATE ", &fleet_of("b -->1"), ""].concat()),
        (
            "PATCH",
            at("/status"),
            json!({"status": {"ships": 1}}),
            200,
            "UPDATE v1 fleets/status sea.example.com/v1 Fleet default/a 4->4".to_owned(),
        ),
        (
            "PATCH",
            at("/scale"),
            json!({"spec": {"replicas": 5}}),
            200,
            "UPDATE v1 fleets/scale autoscaling/v1 Scale default/a 4->5".to_owned(),
        ),
        (
            "POST",
            at("/launch"),
            json!({"metadata": {"name": "a"}, "spec": {}}),
            201,
            "CREATE v1 fleets/launch sea.example.com/v1 Launch default/a -->-".to_owned(),
        ),
        (
            "GET",
            at("/board?stdin=true"),
            Value::Null,
            418,
            "CONNECT v1 fleets/board sea.example.com/v1 NoOptions default/a -->-".to_owned(),
        ),
        ("DELETE", at("?dryRun=All"), Value::Null, 200, ["DELETE ", &fleet_of("a 5->-"), " dry"].concat()),
        ("DELETE", at(""), Value::Null, 200, ["DELETE ", &fleet_of("a 5->-"), ""].concat()),
        ("DELETE", FLEETS.to_owned(), Value::Null, 200, ["DELETE ", &fleet_of("b 1->-"), ""].concat()),
    ] {
        let mut body = body;
        if method == "PUT" {
            let live = send(app.service(), "GET", &path, Value::Null).await;
            body["metadata"]["resourceVersion"] = live.body["metadata"]["resourceVersion"].clone();
        }
        let answer = send(app.service(), method, &path, body).await;
        assert_eq!(answer.code, code, "{method} {path}: {answer:?}");
        let warned =
            if path.ends_with("launch") { vec!["299 - \"mind the way to the sea\"".to_owned()] } else { vec![] };
        assert_eq!(answer.warnings, warned, "{method} {path}");
        let (entry, dry) = expected.strip_suffix(" dry").map_or((&*expected, ""), |entry| (entry, " dry"));
        let steps = ["admit", "validate"].map(|step| format!("{step} {entry} by ada{dry}"));
        assert_eq!(taken(&journal), steps, "{method} {path}");
    }
    assert_eq!(send(app.service(), "POST", FLEETS, generated).await.code, 201);
    let [admitted, validated] = taken(&journal).try_into().expect("two steps");
    assert!(admitted.contains("default/ -->1") && validated.contains("default/g-"), "{admitted}, {validated}");
    app.stop().await;
}

/// Lets a namespace have as many ships as its config map `quota` says, and records what it has let through.
struct Quota;

impl Admission for Quota {
    fn handles(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Document) -> Result<()> {
        if attributes.kind != "Fleet" {
            return Ok(());
        }
        let maps = attributes.client().of::<ConfigMap>(attributes.namespace);
        let most = maps.get("quota").await?.data.get("ships").and_then(|text| text.parse().ok()).unwrap_or(0);
        if object["spec"]["ships"].as_i64().unwrap_or(0) > most {
            return Err(Refusal::forbidden(format!("exceeded quota: {most} ships")));
        }
        attributes.warn("the quota is checked for each fleet alone");
        let mut last = ConfigMap { metadata: ObjectMeta::named("last"), ..ConfigMap::default() };
        last.data.insert("name".into(), attributes.name.to_owned());
        maps.create(&last).await.map(drop)
    }
}

#[tokio::test]
async fn a_plugin_uses_a_client_and_warns_and_its_dry_run_stores_nothing() {
    let app = app(|builder| builder.kind::<Fleet>().admission(Quota)).await;
    let missing = send(app.service(), "POST", FLEETS, fleet("a", 1)).await;
    assert_eq!((missing.code, &missing.body["details"]["name"]), (404, &json!("quota")));
    let quota = json!({"metadata": {"name": "quota"}, "data": {"ships": "2"}});
    assert_eq!(send(app.service(), "POST", MAPS, quota).await.code, 201);
    let refused = send(app.service(), "POST", FLEETS, fleet("a", 3)).await;
    let message = "fleets.sea.example.com \"a\" is forbidden: exceeded quota: 2 ships";
    assert_eq!((refused.code, &refused.body["message"]), (403, &json!(message)));
    assert_eq!(send(app.service(), "POST", &format!("{FLEETS}?dryRun=All"), fleet("a", 2)).await.code, 201);
    assert_eq!(send(app.service(), "GET", &format!("{MAPS}/last"), Value::Null).await.code, 404);
    let made = send(app.service(), "POST", FLEETS, fleet("a", 2)).await;
    assert_eq!((made.code, &made.warnings[0][..]), (201, "299 - \"the quota is checked for each fleet alone\""));
    assert_eq!(send(app.service(), "GET", &format!("{MAPS}/last"), Value::Null).await.body["data"]["name"], "a");
    app.stop().await;
}

/// Sends a message for each new object and deletion.
struct Messages;

impl Admission for Messages {
    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Update
    }

    fn has_side_effects(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn plugins_with_side_effects_refuse_a_dry_run_of_what_they_handle() {
    let app = app(|builder| builder.kind::<Fleet>().admission(Messages)).await;
    assert_eq!(send(app.service(), "POST", FLEETS, fleet("a", 1)).await.code, 201);
    let at = format!("{FLEETS}/a");
    for (method, path, body, code) in [
        ("POST", FLEETS, fleet("b", 1), 400),
        ("PATCH", &at, json!({"spec": {"ships": 2}}), 200),
        ("DELETE", &at, Value::Null, 400),
        ("DELETE", FLEETS, Value::Null, 400),
    ] {
        let answer = send(app.service(), method, &format!("{path}?dryRun=All"), body).await;
        assert_eq!(answer.code, code, "{method} {path}");
        if code == 400 {
            assert_eq!(answer.body["message"], "admission plugin \"Messages\" does not support dry run");
        }
    }
    assert_eq!(send(app.service(), "GET", &at, Value::Null).await.body["spec"]["ships"], 1);
    app.stop().await;
}

/// Refuses what is called `refused`, each operation with a Status of its own.
struct Refuser;

impl Admission for Refuser {
    async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> Result<()> {
        let code = match attributes.operation {
            _ if attributes.name != "refused" || attributes.user.name != "ada" => return Ok(()),
            Operation::Create => 421,
            Operation::Update => 422,
            Operation::Delete => 423,
            Operation::Connect => 424,
        };
        Err(Refusal::new(code, "Refused", format!("no {}", attributes.subresource)).cause("Why", "because"))
    }
}

#[tokio::test]
async fn a_plugin_refuses_each_operation_with_its_own_status() {
    let app = app(|builder| builder.kind::<Fleet>().admission(Refuser)).await;
    assert_eq!(send(app.service(), "POST", FLEETS, fleet("refused", 1)).await.code, 421);
    let fleets = app.client().of::<Fleet>("default");
    let spec = FleetSpec { ships: 1, port: None };
    fleets.create(&Fleet { metadata: ObjectMeta::named("refused"), spec, status: None }).await.expect("another user");
    let at = format!("{FLEETS}/refused");
    let body = json!({"metadata": {"name": "refused"}, "spec": {}});
    for (method, path, body, code, message) in [
        ("PATCH", at.clone(), json!({"spec": {"ships": 2}}), 422, "no "),
        ("PATCH", format!("{at}/scale"), json!({"spec": {"replicas": 2}}), 422, "no scale"),
        ("POST", format!("{at}/launch"), body, 421, "no launch"),
        ("GET", format!("{at}/board?stdin=true"), Value::Null, 424, "no board"),
        ("DELETE", at.clone(), Value::Null, 423, "no "),
        ("DELETE", FLEETS.to_owned(), Value::Null, 423, "no "),
    ] {
        let answer = send(app.service(), method, &path, body).await;
        assert_eq!((answer.code, &answer.body["message"]), (code, &json!(message)), "{method} {path}");
        assert_eq!(answer.body["details"]["causes"], json!([{"reason": "Why", "message": "because"}]));
    }
    app.stop().await;
}

/// Asks a slow service about each object called `slow`.
struct Slow {
    asked: Arc<Notify>,
    answer: Arc<Notify>,
}

impl Admission for Slow {
    async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> Result<()> {
        if attributes.name == "slow" {
            self.asked.notify_one();
            self.answer.notified().await;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_slow_plugin_delays_neither_other_writers_nor_namespaces_nor_the_end_of_its_own() {
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let slow = Slow { asked: asked.clone(), answer: answer.clone() };
    let app = app(|builder| builder.kind::<Fleet>().admission(slow)).await;
    let (namespaces, own) = ("/api/v1/namespaces", "/apis/sea.example.com/v1/namespaces/own/fleets");
    assert_eq!(send(app.service(), "POST", namespaces, json!({"metadata": {"name": "own"}})).await.code, 201);
    let service = app.service();
    let waiting = tokio::spawn(async move { send(service, "POST", own, fleet("slow", 1)).await });
    asked.notified().await;

    let others = async {
        for (path, name) in [(own, "a"), (own, "b"), (FLEETS, "a")] {
            assert_eq!(send(app.service(), "POST", path, fleet(name, 1)).await.code, 201);
        }
        assert_eq!(send(app.service(), "PATCH", &format!("{own}/a"), json!({"spec": {"ships": 2}})).await.code, 200);
        assert_eq!(send(app.service(), "DELETE", &format!("{own}/b"), Value::Null).await.code, 200);
        assert_eq!(send(app.service(), "DELETE", &format!("{namespaces}/own"), Value::Null).await.code, 200);
        while send(app.service(), "GET", &format!("{namespaces}/own"), Value::Null).await.code != 404 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), others).await.expect("others do not wait for the plugin");
    answer.notify_one();
    let late = waiting.await.expect("no panic");
    assert_eq!((late.code, &late.body["details"]["name"]), (404, &json!("own")), "its namespace has ended meanwhile");
    app.stop().await;
}
