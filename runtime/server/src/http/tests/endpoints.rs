//! Discovery in both forms, both versions of OpenAPI, `Allow` and routing must agree on every path and every method.
use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{
    ObjectMeta,
    builtin::{self, ConfigMap},
    handlers::{self, NoOptions, Parent, Pending, Refusal, RequestContext, Session, Text},
    kind::{Policy, model::Scope},
};

/// Subresources that a kind may have, and one that does not exist.
const NAMES: [&str; 8] = ["status", "scale", "finalize", "note", "act", "log", "shell", "nothing"];
/// The methods, with their verbs on a collection, on an object, and on a subresource.
const METHODS: [(&str, &str, &str, &str); 6] = [
    ("GET", "list", "get", "get"),
    ("HEAD", "list", "get", "get"),
    ("POST", "create", "", "create"),
    ("PUT", "", "update", "update"),
    ("PATCH", "", "patch", "patch"),
    ("DELETE", "deletecollection", "delete", ""),
];

fn refuse<T>() -> handlers::Result<T> {
    Err(Refusal::forbidden("not today"))
}

/// A virtual kind.
#[derive(crate::Resource, Clone, Debug)]
#[resource(group = "asked.example.com", version = "v1", unstored)]
struct Question {
    metadata: ObjectMeta,
    answer: Option<String>,
}

/// The policy of a kind with finalizers in its spec.
#[derive(Debug)]
struct Held;

impl Policy for Held {
    fn finalizers(&self) -> Option<&'static [&'static str]> {
        Some(&["spec", "finalizers"])
    }
}

/// The built-in kinds, with all types of subresources for config maps; a virtual kind; a kind with status and scale;
/// and one with finalizers in its spec.
async fn rig() -> Rig {
    let mut kinds = builtin::kinds();
    let mut pending = Pending::default();
    kinds.push(pending.virtual_kind(async |_: Question, _: RequestContext| refuse::<Question>()));
    let held = Widget::kind().with(|shared, _, binding| {
        binding.policy = &Held;
        shared.scope = Scope::Cluster;
        "held.example.com".clone_into(&mut shared.group);
    });
    kinds.extend([Widget::kind(), held]);
    let note = handlers::get(async |_: Parent<ConfigMap>| refuse::<ConfigMap>());
    let note = note.put(async |_: Parent<ConfigMap>, _: ConfigMap| refuse::<()>());
    pending.subresource("note", note);
    pending.subresource("act", handlers::post(async |_: Parent<ConfigMap>, _: ConfigMap| refuse::<ConfigMap>()));
    pending.subresource("log", handlers::text(async |_: Parent<ConfigMap>, _: NoOptions| refuse::<Text>()));
    pending.subresource("shell", handlers::exec(async |_: Parent<ConfigMap>, _: NoOptions| refuse::<Session>()));
    Rig::handled(kinds, pending).await
}

/// The descriptions of one kind.
struct Told {
    /// The verbs by the name in the list of resources, without the plural.
    listed: BTreeMap<String, BTreeSet<String>>,
    /// `/apis/group/version`.
    root: String,
    plural: String,
    namespaced: bool,
    openapi: [Value; 2],
}

fn verbs(resource: &Value) -> BTreeSet<String> {
    let verbs = resource["verbs"].as_array().expect("verbs");
    verbs.iter().map(|verb| verb.as_str().expect("a verb").to_owned()).collect()
}

impl Told {
    async fn of(rig: &Rig, kind: &Kind, v2: &Value) -> Self {
        let at = &kind.group_version;
        let root = match at.group.as_str() {
            "" => format!("/api/{}", at.version),
            group => format!("/apis/{group}/{}", at.version),
        };
        let (_, list) = rig.get(&root).await;
        let listed = list["resources"].as_array().expect("resources").iter().filter_map(|resource| {
            let name = resource["name"].as_str()?.strip_prefix(&kind.names().plural)?;
            (name.is_empty() || name.starts_with('/'))
                .then(|| (name.trim_start_matches('/').to_owned(), verbs(resource)))
        });
        let listed: BTreeMap<_, _> = listed.collect();
        let (_, v3) = rig.get(&format!("/openapi/v3{root}")).await;
        let namespaced = kind.shared.scope == Scope::Namespaced;
        let openapi = [v2["paths"].clone(), v3["paths"].clone()];
        let told = Self { listed, root, plural: kind.names().plural.clone(), namespaced, openapi };
        assert_eq!(told.listed, told.aggregated(rig, &at.group).await, "{}", told.root);
        told
    }

    /// The verbs by aggregated discovery.
    async fn aggregated(&self, rig: &Rig, group: &str) -> BTreeMap<String, BTreeSet<String>> {
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let place = if group.is_empty() { "/api" } else { "/apis" };
        let (_, all) = rig.json("GET", place, &[("accept", accept)], "").await;
        let of = |item: &&Value| item["metadata"]["name"].as_str().unwrap_or_default() == group;
        let group = all["items"].as_array().expect("groups").iter().find(of).expect("the group");
        let resources = group["versions"][0]["resources"].as_array().expect("resources");
        let resource = resources.iter().find(|r| r["resource"] == self.plural).expect("the resource");
        let below = resource["subresources"].as_array().into_iter().flatten();
        let below = below.map(|sub| (sub["subresource"].as_str().expect("a name").to_owned(), verbs(sub)));
        below.chain([(String::new(), verbs(resource))]).collect()
    }

    /// Compares the descriptions of a path with these methods.
    async fn check(&self, rig: &Rig, template: &str, expected: &BTreeSet<&str>, in_openapi: bool) {
        let path = template.replace("{namespace}", "default").replace("{name}", "default");
        let allow = rig.answer("OPTIONS", &path, &[], "").await;
        let allow = header(allow.headers(), "allow");
        let allow: BTreeSet<&str> = allow.split(", ").filter(|name| !name.is_empty() && *name != "OPTIONS").collect();
        assert_eq!(allow, *expected, "Allow of {template}");
        let listed: BTreeSet<&str> =
            expected.iter().copied().filter(|method| in_openapi && *method != "HEAD").collect();
        for openapi in &self.openapi {
            let members = openapi[template].as_object().into_iter().flatten().map(|(name, _)| name.to_uppercase());
            let found: BTreeSet<String> = members.filter(|name| name != "PARAMETERS").collect();
            assert_eq!(found, listed.iter().map(|name| (*name).to_owned()).collect(), "OpenAPI of {template}");
        }
        for (method, ..) in METHODS {
            let url = format!("{path}?dryRun=All&timeoutSeconds=1");
            let code = rig.answer(method, &url, &[("content-type", "application/json")], "{}").await.status().as_u16();
            if expected.is_empty() {
                assert!([404, 405].contains(&code), "{method} {template}: {code}");
            } else {
                assert_eq!(code != 405, expected.contains(method), "{method} {template}: {code}");
            }
        }
    }

    /// True if OpenAPI describes an operation as a connection.
    fn connects(&self, template: &str) -> bool {
        self.openapi[1][template]["get"]["x-kubernetes-action"] == "connect"
    }

    async fn check_all(&self, rig: &Rig) {
        let whole = &self.listed[""];
        let methods =
            |verbs: &BTreeSet<String>, of: fn(&(&str, &'static str, &'static str, &'static str)) -> &'static str| {
                METHODS.iter().filter(|row| verbs.contains(of(row))).map(|row| row.0).collect::<BTreeSet<&str>>()
            };
        let scope = if self.namespaced { "/namespaces/{namespace}" } else { "" };
        let collection = format!("{}{scope}/{}", self.root, self.plural);
        self.check(rig, &collection, &methods(whole, |row| row.1), true).await;
        self.check(rig, &format!("{collection}/{{name}}"), &methods(whole, |row| row.2), true).await;
        let reads = if whole.contains("list") { BTreeSet::from(["GET", "HEAD"]) } else { BTreeSet::new() };
        if self.namespaced && !reads.is_empty() {
            self.check(rig, &format!("{}/{}", self.root, self.plural), &reads, true).await;
        }
        assert_eq!(whole.contains("watch"), whole.contains("list"), "{collection}");
        if whole.contains("watch") {
            self.check(rig, &collection.replacen(&self.root, &format!("{}/watch", self.root), 1), &reads, false).await;
        }
        for name in NAMES {
            let template = format!("{collection}/{{name}}/{name}");
            let mut expected = self.listed.get(name).map(|verbs| methods(verbs, |row| row.3)).unwrap_or_default();
            if self.connects(&template) {
                expected.remove("HEAD");
            }
            self.check(rig, &template, &expected, true).await;
        }
        let unknown: Vec<&String> =
            self.listed.keys().filter(|name| !name.is_empty() && !NAMES.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?} are not tested");
    }
}

#[tokio::test(start_paused = true)]
async fn all_descriptions_of_endpoints_agree() {
    let rig = rig().await;
    let (_, v2) = rig.get("/openapi/v2").await;
    let (kinds, _) = rig.0.backend.api.registry.all();
    let mut subresources = BTreeSet::new();
    for served in kinds.iter() {
        let told = Told::of(&rig, &served.kind, &v2).await;
        told.check_all(&rig).await;
        subresources.extend(told.listed.into_keys());
    }
    let all: BTreeSet<String> = NAMES[..7].iter().map(|name| (*name).to_owned()).chain([String::new()]).collect();
    assert_eq!(subresources, all, "every sort of endpoint was there");
}

#[tokio::test]
async fn the_old_watch_paths_have_no_subresources() {
    let rig = rig().await;
    for (method, name) in [("GET", "log"), ("GET", "note"), ("POST", "act"), ("POST", "shell")] {
        let path = format!("/api/v1/watch/namespaces/default/configmaps/default/{name}");
        assert_eq!(rig.answer(method, &path, &[], "{}").await.status(), 405, "{method} {name}");
    }
}
