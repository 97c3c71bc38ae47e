//! The watch promise: a hundred watchers with different selectors, some slow, some reconnecting, and eight thousand
//! changes, or as many as `KINDSMITH_CHANGES` says. Each watcher gets exactly what a model says: every matching change, once, in
//! order.

mod leaf;

use std::{
    collections::BTreeMap,
    env, fmt,
    sync::{Arc, LazyLock},
    time::Duration,
};

use kindsmith::Server;
use kindsmith_tests::{Client, Random};
use leaf::Leaf;
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

const WATCHERS: usize = 100;
const WRITERS: usize = 8;
const NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-system"];
const COLORS: [&str; 3] = ["Green", "Red", "Brown"];
const APPS: [Option<&str>; 4] = [None, Some("a"), Some("b"), Some("c")];
/// The changes of each writer.
static CHANGES_EACH: LazyLock<usize> = LazyLock::new(|| {
    let changes =
        env::var("KINDSMITH_CHANGES").map_or(8_000, |text| text.parse().expect("KINDSMITH_CHANGES is a number"));
    changes / WRITERS
});
/// The objects of one writer. No other writer changes them, so their order is known.
const OBJECTS: usize = 12;

/// An object's state after a write.
#[derive(Clone, Debug, PartialEq)]
struct State {
    app: Option<&'static str>,
    color: &'static str,
    write: u64,
}

/// One change of an object: its revision, if the answer has it, and the new state.
type Change = (Option<u64>, Option<State>);

/// All changes by namespace and name, in order.
type Model = BTreeMap<(&'static str, String), Vec<Change>>;

/// The scope and selector of a watcher.
struct Selection {
    namespace: Option<&'static str>,
    name: Option<String>,
    color: Option<(&'static str, bool)>,
    app: App,
}

/// A selector on the label `app`.
#[derive(Clone, Copy)]
enum App {
    Any,
    Is(&'static str),
    Not(&'static str),
    OneOf(&'static str, &'static str),
    Exists,
    Missing,
}

impl Selection {
    fn random(random: &mut Random) -> Self {
        let namespace = (!random.one_in(4)).then(|| *random.pick(&NAMESPACES));
        let name = random.one_in(3).then(|| format!("leaf-{}-{}", random.below(WRITERS), random.below(OBJECTS)));
        let color = random.one_in(2).then(|| (*random.pick(&COLORS), random.one_in(3)));
        let app = match random.below(8) {
            0 => App::Is("a"),
            1 => App::Not("b"),
            2 => App::OneOf("a", "c"),
            3 => App::Exists,
            4 => App::Missing,
            _ => App::Any,
        };
        Self { namespace, name, color, app }
    }

    fn has(&self, namespace: &str, name: &str, state: &State) -> bool {
        let app = match self.app {
            App::Any => true,
            App::Is(app) => state.app == Some(app),
            App::Not(app) => state.app != Some(app),
            App::OneOf(one, other) => state.app == Some(one) || state.app == Some(other),
            App::Exists => state.app.is_some(),
            App::Missing => state.app.is_none(),
        };
        app && self.namespace.is_none_or(|wanted| wanted == namespace)
            && self.name.as_ref().is_none_or(|wanted| wanted == name)
            && self.color.is_none_or(|(color, not)| (state.color == color) != not)
    }

    fn path(&self) -> String {
        let mut fields = Vec::new();
        fields.extend(self.name.as_ref().map(|name| format!("metadata.name%3D{name}")));
        fields.extend(self.color.map(|(color, not)| format!("spec.color{}{color}", if not { "!%3D" } else { "%3D" })));
        let labels = match self.app {
            App::Any => String::new(),
            App::Is(app) => format!("app%3D{app}"),
            App::Not(app) => format!("app!%3D{app}"),
            App::OneOf(one, other) => format!("app%20in%20({one},{other})"),
            App::Exists => "app".into(),
            App::Missing => "!app".into(),
        };
        let within = self.namespace.map_or(String::new(), |namespace| format!("/namespaces/{namespace}"));
        format!(
            "/apis/wire.example.com/v1{within}/leaves?watch=true&fieldSelector={}&labelSelector={labels}",
            fields.join(",")
        )
    }

    /// The events that the model gives a watcher with this selection for one object.
    fn expected(&self, namespace: &str, name: &str, changes: &[Change]) -> Vec<Told> {
        let mut told = Vec::new();
        let mut before: Option<&State> = None;
        for (revision, after) in changes {
            let had = before.filter(|state| self.has(namespace, name, state));
            let has = after.as_ref().filter(|state| self.has(namespace, name, state));
            let (kind, state) = match (had, has) {
                (None, None) => ("", None),
                (None, Some(state)) => ("ADDED", Some(state)),
                (Some(_), Some(state)) => ("MODIFIED", Some(state)),
                // The old state with the new revision.
                (Some(state), None) => ("DELETED", Some(state)),
            };
            told.extend(state.map(|state| Told { kind: kind.into(), revision: *revision, state: state.clone() }));
            before = after.as_ref();
        }
        told
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

/// One event as far as the model knows it. Answers to deletions do not contain their revision.
#[derive(Clone, Debug)]
struct Told {
    kind: String,
    revision: Option<u64>,
    state: State,
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        let same_revision = self.revision.is_none() || other.revision.is_none() || self.revision == other.revision;
        self.kind == other.kind && self.state == other.state && same_revision
    }
}

fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("an object has a revision: {object}"))
}

/// A writer on objects of its own.
async fn write(number: usize, mut random: Random, mut client: Client) -> Model {
    let mut model = Model::new();
    for write in 0..*CHANGES_EACH {
        let namespace = *random.pick(&NAMESPACES);
        let name = format!("leaf-{number}-{}", random.below(OBJECTS));
        let collection = format!("/apis/wire.example.com/v1/namespaces/{namespace}/leaves");
        let object = format!("{collection}/{name}");
        let changes = model.entry((namespace, name.clone())).or_default();
        let before = changes.last().and_then(|(_, state)| state.clone());
        let write = u64::try_from(write * WRITERS + number).expect("a small number");
        let state = State { app: *random.pick(&APPS), color: random.pick::<&str>(&COLORS), write };
        let labels = json!({"app": state.app});
        let spec = json!({"color": state.color, "write": write});
        let (answer, wanted, state) = match before {
            None => {
                let labels = if state.app.is_some() { labels } else { json!({}) };
                let body = json!({
                    "apiVersion": "wire.example.com/v1", "kind": "Leaf",
                    "metadata": {"name": name, "labels": labels}, "spec": spec,
                });
                (client.json("POST", &collection, &body).await, 201, Some(state))
            }
            Some(_) if random.one_in(6) => (client.json("DELETE", &object, &Value::Null).await, 200, None),
            Some(_) => {
                let body = json!({"metadata": {"labels": labels}, "spec": spec});
                (client.json("PATCH", &object, &body).await, 200, Some(state))
            }
        };
        let answer = answer.expect("the server answers");
        assert_eq!(answer.status, wanted, "{object}: {:?}", answer.body);
        changes.push((state.is_some().then(|| revision(&answer.json())), state));
    }
    model
}

/// The behaviour of a watcher.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Prompt,
    /// Waits a little now and then.
    Slow,
    /// Stops reading for seconds, once.
    Stalls,
    /// Breaks its connection now and then, and resumes.
    Drops,
}

/// Watches until there are no more changes; returns the events of each object.
async fn watch_all(
    path: String,
    manner: Manner,
    mut random: Random,
    client: Client,
    from: u64,
    done: watch::Receiver<bool>,
) -> BTreeMap<(String, String), Vec<Told>> {
    let mut told: BTreeMap<_, Vec<Told>> = BTreeMap::new();
    let mut at = from;
    let mut count = 0;
    loop {
        let last = *done.borrow();
        let seconds = if last { 1 } else { 2 + random.below(5) };
        let bookmarks = random.one_in(2);
        let request = format!("{path}&resourceVersion={at}&timeoutSeconds={seconds}&allowWatchBookmarks={bookmarks}");
        let mut events = client.watch(&request).await.unwrap_or_else(|error| panic!("{request}: {error}"));
        let mut fresh = 0;
        loop {
            // A stream that the server cuts is resumed like one that has timed out. It must not end inside an event.
            let Some(event) = events.next().await.unwrap_or_else(|error| panic!("{request}: {error}")) else { break };
            let revision = revision(&event["object"]);
            if event["type"] == "BOOKMARK" {
                assert!(revision >= at, "{request}: a bookmark at {revision} after {at}");
                at = revision;
                continue;
            }
            assert!(revision > at, "{request}: {event} came after revision {at}");
            at = revision;
            (fresh, count) = (fresh + 1, count + 1);
            let object = &event["object"];
            let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{request}: {event}")).to_owned();
            let key = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
            let app = APPS.into_iter().find(|app| *app == object["metadata"]["labels"]["app"].as_str());
            let color = COLORS.into_iter().find(|color| object["spec"]["color"] == *color);
            let state = State {
                app: app.expect("a label that was written"),
                color: color.expect("a color that was written"),
                write: object["spec"]["write"].as_u64().expect("a number that was written"),
            };
            told.entry(key).or_default().push(Told { kind: text(&event["type"]), revision: Some(revision), state });
            match manner {
                Manner::Slow if count % 40 == 0 => sleep(Duration::from_millis(20)).await,
                Manner::Stalls if count == 50 => sleep(Duration::from_secs(4)).await,
                Manner::Drops if random.one_in(200) => break,
                _ => {}
            }
        }
        if last && fresh == 0 {
            return told;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_gets_every_matching_change_once_and_in_order() {
    let mut random = Random::from_environment();
    let server = Server::test().kind::<Leaf>().start().await;
    let client = Client::new(server.url(), server.token());
    let list = client.another().get("/apis/wire.example.com/v1/leaves").await.expect("the server answers").json();
    let from = revision(&list);

    let (tell_done, done) = watch::channel(false);
    let mut watchers = Vec::new();
    for number in 0..WATCHERS {
        let selection = match number {
            0..4 => Selection { namespace: None, name: None, color: None, app: App::Any },
            _ => Selection::random(&mut random),
        };
        let manner = [Manner::Prompt, Manner::Slow, Manner::Drops, Manner::Stalls, Manner::Drops][number % 5];
        let watching = watch_all(selection.path(), manner, random.fork(), client.another(), from, done.clone());
        watchers.push((selection, manner, tokio::spawn(watching)));
    }
    let writers: Vec<_> =
        (0..WRITERS).map(|number| tokio::spawn(write(number, random.fork(), client.another()))).collect();
    let mut model = Model::new();
    for writer in writers {
        model.extend(writer.await.expect("no write was refused"));
    }
    tell_done.send(true).expect("the watchers listen");

    let model = Arc::new(model);
    let mut events = 0;
    for (selection, manner, watcher) in watchers {
        let mut told = watcher.await.unwrap_or_else(|error| panic!("{manner:?} {selection}: {error}"));
        for ((namespace, name), changes) in model.iter() {
            let told = told.remove(&((*namespace).to_owned(), name.clone())).unwrap_or_default();
            let expected = selection.expected(namespace, name, changes);
            assert_eq!(told, expected, "{namespace}/{name}, to a watcher that is {manner:?}: {selection}");
            events += told.len();
        }
        assert!(told.is_empty(), "{selection} received events of objects that were not written: {:?}", told.keys());
    }
    let changes: usize = model.values().map(Vec::len).sum();
    assert_eq!(changes, *CHANGES_EACH * WRITERS);
    eprintln!("{changes} changes, {WATCHERS} watchers, {events} events");
}
