//! Random writes through random versions of a kind, compared with a simple model. Every version shows the converted
//! object, and watches in every version get each change once and in order.
use std::{collections::BTreeMap, time::Duration};

use proptest::{option, prelude::*, sample::select};

use super::*;
use crate::kind::model::Path;

mod gears;

use gears::{BETA, NARROW, STORED, VERSIONS, kinds};

/// The annotation for a field that a version lacks.
const FINISH: &str = "example.com/v1.spec.finish";
const TONE: &str = "example.com/v1beta1.spec.tone";

/// The stored content of an object.
#[derive(Clone, Debug, PartialEq)]
struct Gear {
    teeth: i64,
    color: Option<&'static str>,
    finish: &'static str,
    tone: Option<&'static str>,
    note: Option<&'static str>,
    phase: Option<&'static str>,
    generation: u64,
}

/// The fields of a request: absent, null, or a value.
#[derive(Clone, Debug, Default)]
#[expect(clippy::option_option, reason = "a merge patch tells the three apart")]
struct Fields {
    teeth: Option<Option<i64>>,
    color: Option<Option<&'static str>>,
    finish: Option<Option<&'static str>>,
    tone: Option<Option<&'static str>>,
    note: Option<Option<&'static str>>,
}

#[derive(Clone, Debug)]
enum Verb {
    Create(Fields),
    Update(Fields),
    Merge(Fields),
    Apply(i64, &'static str),
    Json(i64, &'static str),
    Scale(i64),
    Status(&'static str),
    Delete,
}

/// A verb on an object through a version, and the version in which the result is read.
type Step = (usize, &'static str, Verb, usize);

fn fields() -> impl Strategy<Value = Fields> {
    let word = |words: &'static [&'static str]| option::of(option::of(select(words)));
    (
        option::of(option::of(1..4_i64)),
        word(&["red", "blue"]),
        word(&["Plain", "Shiny"]),
        word(&["Dark", "Light"]),
        word(&["x", "y"]),
    )
        .prop_map(|(teeth, color, finish, tone, note)| Fields { teeth, color, finish, tone, note })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let verb = prop_oneof![
        3 => fields().prop_map(Verb::Create),
        3 => fields().prop_map(Verb::Update),
        6 => fields().prop_map(Verb::Merge),
        3 => (1..4_i64, select(&["red", "blue"][..])).prop_map(|(teeth, color)| Verb::Apply(teeth, color)),
        2 => (1..4_i64, select(&["red", "blue"][..])).prop_map(|(teeth, color)| Verb::Json(teeth, color)),
        2 => (1..4_i64).prop_map(Verb::Scale),
        3 => select(&["On", "Off"][..]).prop_map(Verb::Status),
        1 => Just(Verb::Delete),
    ];
    prop::collection::vec((0..3_usize, select(&["a", "b"][..]), verb, 0..3_usize), 1..25)
}

/// The paths of a gear's fields in a version, in the order of [`Fields`]; `None` for a missing field.
fn paths(version: usize) -> [Option<Path>; 5] {
    let annotation = |name: &str| Some(Path(["metadata", "annotations", name].map(str::to_owned).to_vec()));
    let field = |path: &str| Some(Path::from(path));
    match version {
        BETA => [field("spec.cogs"), field("color"), annotation(FINISH), field("spec.tone"), annotation("note")],
        STORED => {
            [field("spec.teeth"), field("spec.color"), field("spec.finish"), annotation(TONE), annotation("note")]
        }
        _ => [field("spec.teeth"), field("spec.color"), None, annotation(TONE), annotation("note")],
    }
}

/// The body of a request.
fn body(version: usize, name: &str, fields: &Fields, is_patch: bool) -> Value {
    let mut body = json!({"metadata": {"name": name}, "spec": {}});
    let text = |value: &Option<Option<&'static str>>, is_kept: bool| {
        // An annotation contains a field as JSON.
        value.map(|value| value.map(|value| Value::from(if is_kept { format!("{value:?}") } else { value.to_owned() })))
    };
    // The default is not kept.
    let is_kept = |finish: &&str| version != BETA || *finish != "Plain";
    let finish = fields.finish.map(|finish| finish.filter(is_kept));
    let values = [
        fields.teeth.map(|value| value.map(Value::from)),
        text(&fields.color, false),
        text(&finish, version == BETA),
        text(&fields.tone, version != BETA),
        text(&fields.note, false),
    ];
    for (path, value) in paths(version).iter().zip(values) {
        let (Some(path), Some(value)) = (path, value) else { continue };
        match value {
            Some(value) => path.put(&mut body, Some(value)),
            None if is_patch => path.put(&mut body, Some(Value::Null)),
            None => {}
        }
    }
    body
}

impl Gear {
    /// The stored content after writing these fields through a version, to an existing or a new object. A write that
    /// replaces the object contains all fields.
    fn written(before: Option<&Self>, version: usize, fields: &Fields, replaces: bool) -> Self {
        let kept = before.filter(|_| !replaces);
        let or = |said: Option<Option<&'static str>>, was: Option<&'static str>| said.unwrap_or(was);
        let default = [12, 10, 20][version];
        let finish = or(fields.finish, kept.map(|gear| gear.finish)).unwrap_or("Plain");
        let mut gear = Self {
            teeth: fields.teeth.unwrap_or(kept.map(|gear| gear.teeth)).unwrap_or(default),
            color: or(fields.color, kept.and_then(|gear| gear.color)),
            // A version without the field, and without an annotation for it, loses it.
            finish: if version == NARROW { "Plain" } else { finish },
            tone: or(fields.tone, kept.and_then(|gear| gear.tone)),
            note: or(fields.note, kept.and_then(|gear| gear.note)),
            phase: before.and_then(|gear| gear.phase),
            generation: 1,
        };
        if let Some(before) = before {
            let spec = |gear: &Self| {
                let shown = gear.shown(version);
                [shown["spec"].clone(), shown["color"].clone()]
            };
            gear.generation = before.generation + u64::from(spec(&gear) != spec(before));
        }
        gear
    }

    /// The object in a version.
    fn shown(&self, version: usize) -> Value {
        let said = |value: Option<&'static str>| value.map(Some);
        let fields = Fields {
            teeth: Some(Some(self.teeth)),
            color: said(self.color),
            finish: said(Some(self.finish)),
            tone: said(self.tone),
            note: said(self.note),
        };
        let mut shown = body(version, "", &fields, false);
        shown["apiVersion"] = json!(format!("example.com/{}", VERSIONS[version]));
        shown["metadata"]["generation"] = json!(self.generation);
        if let Some(phase) = self.phase {
            shown["status"]["phase"] = json!(phase);
        }
        seen(&shown)
    }
}

/// The compared part of an object.
fn seen(object: &Value) -> Value {
    let mut seen = json!({});
    for member in ["apiVersion", "spec", "color"] {
        seen[member] = object[member].clone();
    }
    seen["phase"] = object["status"]["phase"].clone();
    seen["annotations"] = object["metadata"]["annotations"].clone();
    seen["generation"] = object["metadata"]["generation"].clone();
    seen
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// An expected event: its type, the object, and its state after or before the change.
struct Changed {
    event: &'static str,
    name: &'static str,
    gear: Gear,
}

/// The server and its expected content.
struct Checked {
    rig: Rig,
    gears: BTreeMap<&'static str, (Gear, u64)>,
    changes: Vec<Changed>,
}

fn path(version: usize) -> String {
    format!("/apis/example.com/{}/namespaces/default/gears", VERSIONS[version])
}

/// A request, and the stored content after it.
struct Request {
    method: &'static str,
    at: String,
    media: &'static str,
    sent: Value,
    after: Option<Gear>,
}

/// A body with its type.
fn typed(version: usize, mut body: Value) -> Value {
    (body["apiVersion"], body["kind"]) = (json!(format!("example.com/{}", VERSIONS[version])), json!("Gear"));
    body
}

/// The request of a verb on an object with this content.
fn request(was: Option<&Gear>, version: usize, name: &str, verb: &Verb) -> Request {
    let one = format!("{}/{name}", path(version));
    let merge = "application/merge-patch+json";
    let write = |fields: &Fields, replaces| Some(Gear::written(was, version, fields, replaces));
    let (method, at, media, sent, after) = match verb {
        Verb::Create(fields) => (
            "POST",
            path(version),
            "application/json",
            typed(version, body(version, name, fields, false)),
            write(fields, true),
        ),
        Verb::Update(fields) => (
            "PUT",
            one.clone(),
            "application/json",
            typed(version, body(version, name, fields, false)),
            write(fields, true),
        ),
        Verb::Merge(fields) => ("PATCH", one.clone(), merge, body(version, name, fields, true), write(fields, false)),
        Verb::Apply(teeth, color) => {
            let fields = Fields { teeth: Some(Some(*teeth)), color: Some(Some(color)), ..Fields::default() };
            let sent = typed(version, body(version, name, &fields, false));
            let at = format!("{one}?fieldManager=applier&force=true");
            ("PATCH", at, "application/apply-patch+yaml", sent, write(&fields, false))
        }
        Verb::Json(teeth, color) => {
            let fields = Fields { teeth: Some(Some(*teeth)), color: Some(Some(color)), ..Fields::default() };
            let [at_teeth, at_color, ..] = paths(version).map(|path| path.map_or(String::new(), |at| at.0.join("/")));
            let sent = json!([
                {"op": "replace", "path": format!("/{at_teeth}"), "value": teeth},
                {"op": "add", "path": format!("/{at_color}"), "value": color},
            ]);
            ("PATCH", one.clone(), "application/json-patch+json", sent, write(&fields, false))
        }
        Verb::Scale(teeth) => {
            let fields = Fields { teeth: Some(Some(*teeth)), ..Fields::default() };
            let sent = json!({"spec": {"replicas": teeth}});
            ("PATCH", format!("{one}/scale"), merge, sent, write(&fields, false))
        }
        Verb::Status(phase) => {
            let after = write(&Fields::default(), false).map(|gear| Gear { phase: Some(*phase), ..gear });
            ("PATCH", format!("{one}/status"), merge, json!({"status": {"phase": phase}}), after)
        }
        Verb::Delete => ("DELETE", one.clone(), "application/json", json!({}), None),
    };
    Request { method, at, media, sent, after }
}

impl Checked {
    async fn take(&mut self, (version, name, verb, reader): Step) -> Result<(), TestCaseError> {
        let before = self.gears.get(name).cloned();
        let was = before.as_ref().map(|(gear, _)| gear);
        let Request { method, at, media, sent, after } = request(was, version, name, &verb);
        let code = match (&verb, was) {
            (Verb::Create(_) | Verb::Apply(..), None) => 201,
            (Verb::Create(_), Some(_)) => 409,
            (_, None) => 404,
            _ => 200,
        };
        let (answered, answer) = self.rig.json(method, &at, &[("content-type", media)], &sent.to_string()).await;
        prop_assert_eq!(answered, code, "{} {}: {}", method, at, answer);
        match after.filter(|_| code < 300) {
            Some(after) => {
                if let Verb::Scale(teeth) = verb {
                    let shown = (&answer["kind"], &answer["spec"]["replicas"]);
                    prop_assert_eq!(shown, (&json!("Scale"), &json!(teeth)), "{}", answer);
                } else {
                    prop_assert_eq!(seen(&answer), after.shown(version), "{} {} {}", method, at, sent);
                }
                let is_new = before.as_ref().is_none_or(|(gear, _)| *gear != after);
                let has_new_revision = before.as_ref().is_none_or(|(_, at)| *at != revision(&answer));
                // An apply may change only the owners.
                let is_apply = matches!(verb, Verb::Apply(..));
                prop_assert!(has_new_revision == is_new || is_apply && has_new_revision, "{} {} {}", method, at, sent);
                if has_new_revision {
                    let event = if before.is_some() { "MODIFIED" } else { "ADDED" };
                    self.changes.push(Changed { event, name, gear: after.clone() });
                }
                self.gears.insert(name, (after, revision(&answer)));
            }
            None if code == 200 => {
                let (gear, _) = self.gears.remove(name).expect("it was there");
                self.changes.push(Changed { event: "DELETED", name, gear });
            }
            None => {}
        }
        let (code, got) = self.rig.get(&format!("{}/{name}", path(reader))).await;
        if let Some((gear, at)) = self.gears.get(name) {
            prop_assert_eq!((code, seen(&got), revision(&got)), (200, gear.shown(reader), *at));
        } else {
            prop_assert_eq!(code, 404);
        }
        Ok(())
    }

    /// Compares lists and events in every version.
    async fn finish(&self, watches: Vec<(usize, Body)>) -> Result<(), TestCaseError> {
        for (version, mut watch) in watches {
            let (mut events, expected) = (
                Vec::new(),
                self.changes.iter().map(|change| (json!(change.event), json!(change.name), change.gear.shown(version))),
            );
            while events.len() < self.changes.len() {
                let more = tokio::time::timeout(Duration::from_secs(10), frame(&mut watch)).await;
                let more = more.map_err(|_| {
                    TestCaseError::fail(format!("of {} changes, {} were seen", self.changes.len(), events.len()))
                })?;
                events.extend(more.expect("an event"));
            }
            let events = events.iter().map(|event| {
                let object = &event["object"];
                (event["type"].clone(), object["metadata"]["name"].clone(), seen(object))
            });
            prop_assert_eq!(events.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
        for version in 0..VERSIONS.len() {
            let (_, list) = self.rig.get(&path(version)).await;
            let items: Vec<Value> = list["items"].as_array().unwrap().iter().map(seen).collect();
            prop_assert_eq!(items, self.gears.values().map(|(gear, _)| gear.shown(version)).collect::<Vec<_>>());
        }
        Ok(())
    }
}

async fn check(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let rig = Rig::with(kinds()).await;
    let start = revision(&rig.get(&path(STORED)).await.1);
    let mut checked = Checked { rig, gears: BTreeMap::new(), changes: Vec::new() };
    let mut watches = Vec::new();
    for version in 0..VERSIONS.len() {
        let watch = format!("{}?watch=1&resourceVersion={start}", path(version));
        watches.push((version, checked.rig.answer("GET", &watch, &[], "").await.into_body()));
    }
    for step in steps {
        checked.take(step).await?;
    }
    // This must be the next event after the last change.
    checked.take((STORED, "z", Verb::Create(Fields::default()), BETA)).await?;
    for version in 0..VERSIONS.len() {
        let late = format!("{}?watch=1&resourceVersion={start}", path(version));
        watches.push((version, checked.rig.answer("GET", &late, &[], "").await.into_body()));
    }
    checked.finish(watches).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_version_reads_what_any_version_wrote(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps))?;
    }
}
