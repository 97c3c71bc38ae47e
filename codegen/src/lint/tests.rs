//! Tests of the rules by their own examples, and of the walk.
use std::collections::BTreeSet;

use kindsmith_codegen::Kinds;
use kindsmith_model::codec::{Limits, yaml};
use serde_json::{Value, json};

use super::{Finding, check, finding::merged, raw::Files, rules};

/// What the examples of rules replace parts of. It has no findings.
const EXAMPLES: &str = "\
group: library.example.com
names: {kind: Book, plural: books, singular: book, listKind: BookList}
scope: Namespaced
version: {name: v1, subresources: {status: {}}}
required: [spec]
columns: [{name: Ready, type: string, jsonPath: .status.observedGeneration}]
spec: {properties: {title: {type: string}}}
status:
  properties:
    observedGeneration: {type: integer, format: int64}
    conditions:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [type]
      items:
        required: [type, status]
        properties:
          type: {type: string}
          status: {type: string, enum: ['True', 'False', Unknown]}
";

fn value(text: &str) -> Value {
    yaml::decode(text.as_bytes(), &Limits { depth: 64, memory: 1 << 20 }).unwrap().document
}

/// Changes a value by a merge patch.
fn patch(value: &mut Value, by: &Value) {
    let Value::Object(members) = by else {
        *value = by.clone();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    let object = value.as_object_mut().unwrap();
    for (name, by) in members {
        if by.is_null() {
            object.remove(name);
        } else {
            patch(object.entry(name.clone()).or_insert(Value::Null), by);
        }
    }
}

/// Adds what examples leave out: types of objects, and descriptions.
fn completed(schema: &mut Value) {
    let is_object = schema.get("type").is_none() && schema.get("properties").is_some();
    let members = schema.as_object_mut().unwrap();
    if is_object {
        members.insert("type".to_owned(), "object".into());
    }
    members.entry("description").or_insert("Described.".into());
    for below in ["items", "additionalProperties"] {
        if let Some(schema) = members.get_mut(below) {
            completed(schema);
        }
    }
    for schema in
        members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
    {
        completed(schema);
    }
}

/// The definition of an example.
fn definition(example: &str) -> Value {
    let mut parts = value(EXAMPLES);
    patch(&mut parts, &value(example));
    let mut take = |name: &str| parts.as_object_mut().unwrap().remove(name).unwrap_or_default();
    let (group, names, scope, mut version) = (take("group"), take("names"), take("scope"), take("version"));
    let (required, columns) = (take("required"), take("columns"));
    let mut schema = json!({"type": "object", "properties": parts});
    if required.is_array() {
        schema["required"] = required;
    }
    completed(&mut schema);
    version["served"] = true.into();
    version["storage"] = true.into();
    version["schema"] = json!({"openAPIV3Schema": schema});
    if columns.is_array() {
        version["additionalPrinterColumns"] = columns;
    }
    let name = format!("{}.{}", names["plural"].as_str().unwrap(), group.as_str().unwrap());
    let mut metadata = json!({"name": name});
    if group.as_str().unwrap().ends_with("k8s.io") {
        // A definition in such a group has to say something about its approval.
        metadata["annotations"] = json!({"api-approved.kubernetes.io": "unapproved, an example"});
    }
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
        "spec": {"group": group, "names": names, "scope": scope, "versions": [version]}})
}

/// The findings in a file.
fn found(text: &str) -> Vec<Finding> {
    let kinds = Kinds::of_texts(&[("example.yaml".to_owned(), text.as_bytes().to_vec())]);
    let kinds = kinds.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut files = Files::default();
    files.add("example.yaml", text);
    check(&kinds.kinds, &files)
}

/// The rules that definitions are not read with. Documents are.
const REFUSED: [&str; 2] = ["expression-invalid", "expression-too-costly"];

/// The findings in an example of a rule.
fn found_in(rule: &str, definition: &Value) -> Vec<Finding> {
    let text = definition.to_string();
    if !REFUSED.contains(&rule) {
        return found(&text);
    }
    let refused = Kinds::of_texts(&[("example.yaml".to_owned(), text.into_bytes())]);
    assert!(refused.is_err(), "{rule} finds what definitions are read with");
    found(&document(definition).to_string())
}

/// The document that describes the kind of a definition.
fn document(definition: &Value) -> Value {
    let spec = &definition["spec"];
    let (group, names, version) = (&spec["group"], &spec["names"], &spec["versions"][0]);
    let kind = json!({"group": group, "version": version["name"], "kind": names["kind"]});
    let mut schema = version["schema"]["openAPIV3Schema"].clone();
    schema["x-kubernetes-group-version-kind"] = json!([kind]);
    for (name, of) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        schema["properties"][name] = json!({"type": of, "description": "Described."});
    }
    let on = |action: &str| json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind});
    let all = format!(
        "/apis/{}/{}/namespaces/{{namespace}}/{}",
        group.as_str().unwrap(),
        version["name"].as_str().unwrap(),
        names["plural"].as_str().unwrap()
    );
    json!({"openapi": "3.0.0", "info": {"title": "example", "version": "1"},
        "paths": {
            &all: {"get": on("list"), "post": on("post")},
            format!("{all}/{{name}}"): {"get": on("get"), "put": on("put"), "patch": on("patch"), "delete": on("delete")},
            format!("{all}/{{name}}/status"): {"get": on("get"), "put": on("put"), "patch": on("patch")},
        },
        "components": {"schemas": {"com.example.library.v1.Book": schema}}})
}

fn rules_of(findings: &[Finding]) -> BTreeSet<&'static str> {
    findings.iter().map(|finding| finding.rule.name).collect()
}

#[test]
fn each_rule_finds_its_bad_example_and_nothing_in_its_good_one() {
    assert!(found(&definition("{}").to_string()).is_empty(), "what examples are a part of has no findings");
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let bad = found_in(rule.name, &definition(rule.bad));
        if rules_of(&bad) != BTreeSet::from([rule.name]) {
            wrong.push(format!("{} finds in its bad example: {:?}", rule.name, messages(&bad)));
        }
        let good = found(&definition(rule.good).to_string());
        if !good.is_empty() {
            wrong.push(format!("{} finds in its good example: {:?}", rule.name, messages(&good)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}: {}", finding.path, finding.rule.name, finding.message)).collect()
}

#[test]
fn names_of_rules_are_unique_and_reasons_are_sentences() {
    let mut names = BTreeSet::new();
    for rule in rules::all() {
        assert!(names.insert(rule.name), "{}", rule.name);
        assert!(rule.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", rule.name);
        assert!(rule.reason.ends_with('.') && !rule.reason.contains(". "), "{}: one sentence", rule.name);
        assert!(!rule.section.is_empty() && rule.bad != rule.good, "{}", rule.name);
    }
    assert!(names.len() >= 60, "{}", names.len());
}

#[test]
fn a_finding_in_two_versions_is_one() {
    let mut definition = definition("spec: {properties: {page_count: {type: integer, format: int32}}}");
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let findings = merged(found(&definition.to_string()));
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (&findings[0].versions[..], findings[0].path.as_str()),
        (&["v1".to_owned(), "v2".to_owned()][..], ".spec.page_count")
    );
}

#[test]
fn paths_say_items_and_values() {
    let example = "spec: {properties: {chapters: {type: array, x-kubernetes-list-type: atomic, items: {properties: {notes: {type: object, \
                   additionalProperties: {type: number}}}}}}}";
    let findings = found(&definition(example).to_string());
    assert_eq!(findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), [".spec.chapters[].notes.*"]);
}

/// The findings of a field of `spec` with this schema, as `rule: suggestion`.
fn of_field(name: &str, schema: &str) -> Vec<(&'static str, String)> {
    let example = json!({"spec": {"properties": {(name): value(schema)}}});
    let findings = found(&definition(&example.to_string()).to_string());
    let suggested =
        |message: &str| message.rsplit_once("call it ").map_or_else(String::new, |(_, name)| name.to_owned());
    findings.iter().map(|finding| (finding.rule.name, suggested(&finding.message))).collect()
}

/// Numbers that are neither times nor sizes.
const COUNTS: [(&str, &str); 27] = [
    ("hopTTL", "Of packets."),
    ("ttl", "How many hops a packet takes at most."),
    ("checkpointInterval", "The number of transactions between two checkpoints."),
    ("reshuffleInterval", "In epochs."),
    ("retryBackoff", "The multiplier of the backoff after each retry."),
    ("consumerLag", "The messages that wait."),
    ("evaluationPeriod", "How many samples are evaluated together."),
    ("uptime", "In percent of the requests."),
    ("maxAge", "The number of generations that are kept."),
    ("dayOfWeek", "Sunday is 0."),
    ("startHour", "Of the day."),
    ("quotaPerMinute", "Requests."),
    ("workingDays", "How many days of a week are worked."),
    ("cacheSize", "The number of entries."),
    ("pageSize", "How many books are on a page."),
    ("batchSize", "Of records of up to 1 MB each, the number of records."),
    ("fileSize", "The number of lines."),
    ("blockSize", "The length of the prefix."),
    ("keySize", "In bits."),
    ("queueCapacity", "How many messages wait."),
    ("disk", "The index of the disk to boot from."),
    ("throughput", "Requests a second."),
    ("retries", "How often it is tried again."),
    ("weight", "Between 0 and 100."),
    ("port", "Of the service."),
    ("epoch", "The current one."),
    ("version", "Of the document."),
];

#[test]
fn what_is_neither_time_nor_data_has_no_unit() {
    let described = |name: &str, kind: &str, about: &str| {
        let schema = json!({"type": kind, "description": about, "format": (kind == "integer").then_some("int32")});
        let findings = of_field(name, &schema.to_string());
        let units = [
            "duration-without-unit",
            "duration-not-in-seconds",
            "duration-as-text",
            "time-without-format",
            "size-without-unit",
        ];
        findings.into_iter().map(|(rule, _)| rule).filter(|rule| units.contains(rule)).collect::<Vec<_>>()
    };
    for (name, about) in COUNTS {
        assert_eq!(described(name, "integer", about), [""; 0], "{name}: {about}");
    }
    for (name, about) in [
        ("startTime", "The time of day, as HH:MM."),
        ("backupTime", "A cron expression."),
        ("birthDate", "As YYYY-MM-DD."),
        ("coolDownTime", "30s or 5m."),
        ("backoff", "The name of the strategy."),
        ("interval", "The schedule, as in crontab."),
    ] {
        let found = described(name, "string", about);
        assert!(found.is_empty() || found == ["duration-as-text"], "{name}: {about}: {found:?}");
    }
    assert_eq!(of_field("birthDate", "{type: string, format: date}"), []);
    for (name, kind, about, expected) in [
        ("timeout", "integer", "How long a request takes at most.", "duration-without-unit"),
        ("ttl", "integer", "How long a record is kept, in seconds.", "duration-without-unit"),
        ("retryInterval", "integer", "The number of seconds between two attempts.", "duration-without-unit"),
        ("idleTime", "integer", "How long a connection may be idle.", "duration-without-unit"),
        ("timeout_ms", "integer", "Of a request.", "duration-not-in-seconds"),
        ("idleTime", "string", "How long a connection may be idle.", "duration-as-text"),
        ("creationTime", "string", "When it was made.", "time-without-format"),
        ("expiration", "integer", "The Unix timestamp at which it ends.", "time-without-format"),
        ("bodySize", "integer", "The largest body.", "size-without-unit"),
        ("cacheSize", "integer", "How large the cache is, in megabytes.", "size-without-unit"),
        ("memory", "integer", "How much a worker gets.", "size-without-unit"),
    ] {
        let found = described(name, kind, about);
        assert!(found.contains(&expected), "{name}: {about}: {found:?}");
    }
}

#[test]
fn requirements_of_a_selector_need_no_key() {
    let items =
        "{type: object, required: [key, operator], properties: {key: {type: string}, operator: {type: string}}}";
    assert_eq!(of_field("matchExpressions", &format!("{{type: array, items: {items}}}")), []);
}

/// Names that rules object to.
const NAMES: [&str; 33] = [
    "jwks_uri",
    "daemon_id",
    "DAEMON_IDS",
    "URL",
    "HTTPPath",
    "isOpen",
    "is_open",
    "is-URL-path",
    "timeStamp",
    "Lent",
    "lent_at",
    "lentTimestamp",
    "timeAdded",
    "timeout",
    "timeout_ms",
    "max-age",
    "retryIntervalSeconds",
    "loanDays",
    "interval",
    "pub_addr",
    "num_vms",
    "podIds",
    "Ttl",
    "cpu_limits",
    "x509_cert",
    "src-ips",
    "notIpBlocks",
    "isCA",
    "isQPSLimited",
    "is_3d",
    "is_https",
    "start_time_utc",
    "_Other",
];

#[test]
fn no_rule_about_names_objects_to_a_suggested_name() {
    let rules = [
        "field-name-case",
        "acronym-case",
        "abbreviation",
        "bool-named-is",
        "time-name",
        "time-named-stamp",
        "duration-without-unit",
        "duration-not-in-seconds",
        "interval-name",
    ];
    let kinds = [
        "{type: string}",
        "{type: boolean}",
        "{type: integer, format: int32}",
        "{type: string, format: date-time}",
        "{type: array, items: {type: string}, x-kubernetes-list-type: atomic}",
    ];
    let mut count = 0;
    for name in NAMES {
        for kind in kinds {
            let findings = of_field(name, kind);
            let suggested: BTreeSet<&String> =
                findings.iter().filter(|(rule, to)| rules.contains(rule) && !to.is_empty()).map(|(_, to)| to).collect();
            assert!(suggested.len() <= 1, "{name} {kind}: {findings:?}");
            for to in suggested {
                count += 1;
                let left: Vec<_> = of_field(to, kind).into_iter().filter(|(rule, _)| rules.contains(rule)).collect();
                assert!(left.is_empty(), "{name} {kind}: call it {to}, and then {left:?}");
            }
        }
    }
    assert!(count > 80, "{count}");
    for name in ["1st", "größe", "日本"] {
        let findings =
            found(&definition(&json!({"spec": {"properties": {(name): {"type": "string"}}}}).to_string()).to_string());
        let message = &findings.iter().find(|finding| finding.rule.name == "field-name-case").unwrap().message;
        assert!(message.contains("begin it with a letter from a to z"), "{message}");
    }
}
