//! Every kind in every version of the corpus: created, refused with a misspelt field at any depth, applied by two managers, and
//! listed as a Table.
use kindsmith::{
    Server,
    kind::{Custom, Kind, Verb, crd, openapi},
    schema::{ListType, Schema, Type},
    server::TestServer,
    testing,
};
use kindsmith_tests::{Answer, Client, Random};
use serde_json::{Map, Value, json};

use super::{described, shared};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
/// In how many structs of an object a misspelt field is tried.
const MOST_MISSPELT: usize = 4;
/// How many generated objects are searched for items of lists.
const MOST_SEARCHED: usize = 100;

/// What was tried.
#[derive(Debug, Default, PartialEq)]
struct Count {
    kinds: usize,
    created: usize,
    misspelt: usize,
    /// The misspelt fields that were at least four levels deep.
    deep: usize,
    list_maps: usize,
}

#[tokio::test]
async fn every_kind_of_the_definitions_of_the_corpus_works() {
    let Some(folder) = shared("corpus/crd") else { return };
    let files = std::fs::read_dir(folder).expect("a folder that can be read");
    let mut paths: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
    paths.sort();
    let texts: Vec<_> =
        paths.iter().map(|path| std::fs::read_to_string(path).expect("a file that can be read")).collect();
    let manifests = texts.iter().map(|text| crd::read("corpus", text.as_bytes()));
    let manifests = manifests.map(|read| read.unwrap_or_else(|report| panic!("{report}")));
    let definitions = manifests.flat_map(|manifest| manifest.definitions);
    let kinds: Vec<Kind> = definitions.flat_map(|defined| defined.definition.kinds(&Custom)).collect();
    let server = Server::test().configure(|server| texts.into_iter().fold(server, kindsmith::server::Builder::crd));
    let count = try_all(&server.start().await, kinds).await;
    println!("{count:?}");
    // The rules of a Route refuse the random items of one of its two lists.
    assert_eq!((count.kinds, count.created, count.list_maps), (13, 13, 4));
    // Objects that meet the rules of the corpus are rarely deep.
    assert!(count.misspelt > 2 * count.created && count.deep > 5, "{count:?}");
}

#[tokio::test]
async fn every_kind_of_the_documents_of_kubernetes_works() {
    let Some(sources) = described::sources() else { return };
    let kinds = described::read(&sources).resources.iter().flat_map(openapi::Resource::kinds).collect();
    let (server, _) = described::serve(&sources, false).await;
    let count = try_all(&server, kinds).await;
    println!("{count:?}");
    assert_eq!((count.kinds, count.created, count.list_maps), (88, 87, 114));
    assert!(count.misspelt > 2 * count.created && count.deep > 40, "{count:?}");
}

async fn try_all(server: &TestServer, kinds: Vec<Kind>) -> Count {
    let mut client = Client::new(server.url(), server.token());
    let (mut count, mut random) = (Count::default(), Random::from_seed(11));
    for kind in kinds.iter().filter(|kind| kind.version.served && kind.shared.stored) {
        let can = |verb| kind.version.verbs.as_ref().is_none_or(|verbs| verbs.contains(&verb));
        count.kinds += 1;
        if can(Verb::Create) {
            create(&mut client, kind, &mut count).await;
            misspell(&mut client, kind, &mut random, &mut count).await;
            apply(&mut client, kind, &mut count).await;
        }
        table(&mut client, kind).await;
    }
    count
}

async fn post(client: &mut Client, kind: &Kind, query: &str, object: &Value) -> Answer {
    let path = format!("{}?{query}", described::collection(kind));
    client.json("POST", &path, object).await.expect("an answer")
}

/// An object that a seed gives, with a name that no other test of the kind uses.
fn object(kind: &Kind, seed: u64, name: &str) -> Value {
    let mut object = testing::documents(kind, seed).next().expect("there is no end of them");
    object["metadata"]["name"] = json!(format!("{name}-{}", kind.group_version.version));
    object
}

async fn create(client: &mut Client, kind: &Kind, count: &mut Count) {
    let object = object(kind, 7, "created");
    let answer = post(client, kind, "fieldValidation=Strict", &object).await;
    assert_eq!(answer.status, 201, "{kind:?} {} {object}", answer.json());
    let path = format!("{}/{}", described::collection(kind), object["metadata"]["name"].as_str().expect("a name"));
    let read = client.get(&path).await.expect("an answer");
    assert_eq!((read.status, read.json()), (200, answer.json()), "{kind:?}");
    count.created += 1;
}

/// A struct of a value: its JSON pointer, and what the paths of its fields begin with.
type Place = (String, String);

/// Tries an object with a misspelt field in one of its structs, of which some are chosen.
async fn misspell(client: &mut Client, kind: &Kind, random: &mut Random, count: &mut Count) {
    let object = object(kind, 11, "misspelt");
    let root = &kind.version.schema;
    let mut places = vec![("/metadata".to_owned(), "metadata.".to_owned())];
    structs(root, &[], &object, &(String::new(), String::new()), &mut places);
    for _ in 0..MOST_MISSPELT.min(places.len()) {
        let (pointer, field) = places.swap_remove(random.below(places.len()));
        let mut wrong = object.clone();
        wrong.pointer_mut(&pointer).expect("it was found there")["misspelt"] = json!(1);
        let expected = format!("unknown field \"{field}misspelt\"");
        let strict = post(client, kind, "fieldValidation=Strict", &wrong).await;
        let message = strict.json()["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(strict.status, 400, "{kind:?} {field}: {message}");
        assert!(message.ends_with(&format!("strict decoding error: {expected}")), "{kind:?} {expected}: {message}");
        let warned = post(client, kind, "fieldValidation=Warn&dryRun=All", &wrong).await;
        assert_eq!(warned.status, 201, "{kind:?} {field}: {}", warned.json());
        let warnings = warned.headers.get_all("warning").iter();
        let mut warnings = warnings.map(|text| text.to_str().expect("ASCII").replace("\\\"", "\""));
        assert!(warnings.any(|warning| warning.contains(&expected)), "{kind:?} {expected}: {:?}", warned.headers);
        assert!(warned.json().pointer(&format!("{pointer}/misspelt")).is_none(), "{kind:?} keeps {field}misspelt");
        count.misspelt += 1;
        count.deep += usize::from(pointer.matches('/').count() > 3);
    }
}

/// The structs of a value that keep no unknown fields.
fn structs(schema: &Schema, definitions: &[Schema], value: &Value, at: &Place, found: &mut Vec<Place>) {
    let definitions = schema.definitions.as_ref().map_or(definitions, |own| own);
    let children = schema.definition.map_or(schema, |index| &definitions[index as usize]);
    if schema.preserve_unknown || schema.embedded || schema.kind == Type::Any {
        return;
    }
    let (pointer, field) = at;
    match value {
        Value::Object(fields) => {
            if children.additional.is_none() {
                found.push(at.clone());
            }
            // Other keys would be escaped in pointers and paths.
            let is_plain = |name: &str| name.chars().all(|char| char.is_ascii_alphanumeric() || char == '$');
            for (name, value) in fields.iter().filter(|(name, _)| is_plain(name)) {
                if let Some(below) = children.properties.get(name).or(children.additional.as_deref()) {
                    structs(
                        below,
                        definitions,
                        value,
                        &(format!("{pointer}/{name}"), format!("{field}{name}.")),
                        found,
                    );
                }
            }
        }
        Value::Array(items) => {
            let Some(below) = children.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                let field = format!("{}[{index}].", field.trim_end_matches('.'));
                structs(below, definitions, item, &(format!("{pointer}/{index}"), field), found);
            }
        }
        _ => {}
    }
}

/// A list whose items have keys.
struct ListMap {
    path: Vec<String>,
    keys: Vec<String>,
}

impl ListMap {
    fn pointer(&self) -> String {
        format!("/{}", self.path.join("/"))
    }

    /// The keys of an item; `None` if it lacks one of them.
    fn key(&self, item: &Value) -> Option<Value> {
        let key = |name: &String| Some((name.clone(), item.get(name).filter(|key| !key.is_null())?.clone()));
        self.keys.iter().map(key).collect::<Option<Map<_, _>>>().map(Value::from)
    }

    /// Two items of the list in an object.
    fn items(&self, object: &Value) -> Option<[Value; 2]> {
        let items = object.pointer(&self.pointer())?.as_array()?;
        let mut keyed = items.iter().filter(|item| self.key(item).is_some()).cloned();
        Some([keyed.next()?, keyed.next()?])
    }
}

/// The lists that merge by keys, without those inside of lists and maps, and those of the status.
fn list_maps(schema: &Schema, at: &mut Vec<String>, found: &mut Vec<ListMap>) {
    if let ListType::Map(keys) = &schema.list
        && schema.min_items.is_none_or(|least| least < 2)
    {
        found.push(ListMap { path: at.clone(), keys: keys.clone() });
    }
    let properties = schema.properties.iter().filter(|(name, _)| *name != "status" && !name.contains(['/', '~']));
    for (name, property) in properties.filter(|_| !schema.map_atomic) {
        at.push(name.clone());
        list_maps(property, at, found);
        at.pop();
    }
}

/// Two managers apply an item each of every list map of the kind.
async fn apply(client: &mut Client, kind: &Kind, count: &mut Count) {
    let mut lists = Vec::new();
    list_maps(&kind.version.schema, &mut Vec::new(), &mut lists);
    let mut objects = testing::documents(kind, 5).take(MOST_SEARCHED);
    while !lists.is_empty() {
        let Some(object) = objects.next() else {
            // Rules may forbid what documents are made of.
            assert!(kind.rules().is_some(), "{kind:?} has no two items in {}", lists[0].pointer());
            return;
        };
        let (found, rest): (Vec<_>, Vec<_>) = lists.into_iter().partition(|list| list.items(&object).is_some());
        for list in found {
            apply_items(client, kind, &list, object.clone()).await;
            count.list_maps += 1;
        }
        lists = rest;
    }
}

async fn apply_items(client: &mut Client, kind: &Kind, list: &ListMap, mut object: Value) {
    let (what, pointer) = (format!("{kind:?} {}", list.pointer()), list.pointer());
    let items = list.items(&object).expect("it was found there");
    let name = format!(
        "applied-{}-{}",
        list.path.join("-").to_lowercase().replace(['_', '$'], ""),
        kind.group_version.version
    );
    object["metadata"]["name"] = json!(name);
    let second = list.path.iter().rev().fold(json!([items[1]]), |below, name| json!({ name: below }));
    let mut second: Map<String, Value> = second.as_object().expect("an object").clone();
    for name in ["apiVersion", "kind", "metadata"] {
        second.insert(name.to_owned(), object[name].clone());
    }
    *object.pointer_mut(&pointer).expect("it was found there") = json!([items[0]]);
    let path = format!("{}/{name}", described::collection(kind));
    for (manager, config, status) in [("one", object, 201), ("two", second.into(), 200)] {
        let at = format!("{path}?fieldManager={manager}&fieldValidation=Strict");
        let answer = client.typed("PATCH", &at, "application/apply-patch+yaml", &config).await.expect("an answer");
        assert_eq!(answer.status, status, "{what}: {} {config}", answer.json());
    }
    let read = client.get(&path).await.expect("an answer").json();
    let kept = read.pointer(&pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{what}: {read}"));
    let keys: Vec<_> = items.iter().filter_map(|item| list.key(item)).collect();
    assert_eq!(kept.iter().filter_map(|item| list.key(item)).collect::<Vec<_>>(), keys, "{what}");
    let managed = read["metadata"]["managedFields"].as_array().expect("managed fields");
    for (manager, key) in ["one", "two"].into_iter().zip(keys) {
        let entry = managed.iter().find(|entry| entry["manager"] == manager && entry["operation"] == "Apply");
        let mut fields = &entry.unwrap_or_else(|| panic!("{what}: no fields of {manager}"))["fieldsV1"];
        for name in &list.path {
            fields = &fields[format!("f:{name}")];
        }
        let members = fields.as_object().into_iter().flat_map(Map::keys).filter_map(|name| name.strip_prefix("k:"));
        let owned: Vec<Value> = members.map(|key| serde_json::from_str(key).expect("keys in JSON")).collect();
        assert_eq!(owned, [key], "{what}: {fields}");
    }
}

/// A Table has the columns that are declared.
async fn table(client: &mut Client, kind: &Kind) {
    let answer = client.accepting(&described::collection(kind), TABLE).await.expect("an answer");
    assert_eq!(answer.status, 200, "{kind:?}");
    let table = answer.json();
    let shown = table["columnDefinitions"].as_array().expect("columns");
    // Compiled kinds show dates as text.
    let of = |name: &Value, kind: &str, priority: &Value| {
        (name.to_string(), kind.replace("date", "string"), priority.to_string())
    };
    let shown: Vec<_> = shown
        .iter()
        .map(|of_table| of(&of_table["name"], of_table["type"].as_str().unwrap_or_default(), &of_table["priority"]))
        .collect();
    let columns = &kind.version.columns;
    let is_named = columns.iter().any(|column| column.name == "Name");
    let name = (!is_named).then(|| of(&json!("Name"), "string", &json!(0)));
    let declared = columns.iter().map(|column| of(&json!(column.name), &column.kind, &json!(column.priority)));
    assert_eq!(shown, name.into_iter().chain(declared).collect::<Vec<_>>(), "{kind:?}");
    let rows = table["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["cells"].as_array().is_some_and(|cells| cells.len() == shown.len())), "{kind:?}");
}
