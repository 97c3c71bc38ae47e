//! Reference documentation: its examples are valid, its links lead somewhere, and its tables are complete.

use std::collections::BTreeSet;

use kindsmith::{
    kind::{Kind, crd},
    schema, testing,
};
use kindsmith_codegen::{Kinds, ResourceDeclaration, export::docs};
use kindsmith_model::codec::{Limits, yaml};
use serde_json::{Value, json};

use crate::{corpus, own_kinds};

/// The texts between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Vec<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

/// Everything that is wrong with the pages of these kinds.
fn check(kinds: &[ResourceDeclaration]) {
    let docs = docs::files(kinds);
    assert_eq!(docs.warnings, Vec::<String>::new());
    let mut examples = 0;
    for page in &docs.files {
        let anchors: Vec<_> = between(&page.text, "<a id=\"", "\"></a>");
        let unique: BTreeSet<_> = anchors.iter().collect();
        assert_eq!(unique.len(), anchors.len(), "{}: an anchor is there twice", page.path);
        for link in between(&page.text, "](#", ")") {
            assert!(unique.contains(&link), "{}: nothing has the anchor {link}", page.path);
        }
        let rows: Vec<_> = page.text.lines().filter(|line| line.starts_with('|')).collect();
        for (number, line) in rows.iter().enumerate() {
            let cells = line.replace("\\|", "").matches('|').count();
            let before = rows[number.saturating_sub(1)].replace("\\|", "").matches('|').count();
            let is_head = rows.get(number + 1).is_some_and(|next| next.starts_with("|---"));
            assert!(is_head || cells == before, "{}: {line}", page.path);
        }
        for text in between(&page.text, "```yaml\n", "```") {
            let example = yaml::decode(text.as_bytes(), &Limits { depth: 64, memory: 1 << 20 }).unwrap().document;
            let kind = kinds_of(kinds).into_iter().find(|kind| {
                example["apiVersion"] == kind.group_version.to_string() && example["kind"] == kind.names().kind.as_str()
            });
            let kind = kind.unwrap_or_else(|| panic!("{text}"));
            let mut filled = example.clone();
            let unknown = schema::prune(&kind.version.schema, &mut filled);
            schema::default(&kind.version.schema, &mut filled, &schema::Meter::default()).unwrap();
            let errors = schema::validate(&kind.version.schema, &filled, &schema::Meter::default()).unwrap();
            assert!(unknown.is_empty() && errors.is_empty(), "{unknown:?} {errors:?}\n{text}");
            examples += 1;
        }
    }
    assert_eq!(examples, kinds_of(kinds).len(), "an example for each kind and version");
}

fn kinds_of(kinds: &[ResourceDeclaration]) -> Vec<Kind> {
    kinds.iter().flat_map(|declaration| declaration.definition.kinds(declaration.policy)).collect()
}

#[test]
fn pages_have_examples_that_validate_and_links_that_lead_somewhere() {
    let kinds = own_kinds();
    check(&kinds);
    check(&corpus());
}

#[test]
fn a_page_says_what_is_declared() {
    let docs = docs::files(&own_kinds());
    assert_eq!(
        docs.files.iter().map(|file| &*file.path).collect::<Vec<_>>(),
        ["bakery.example.com.md", "marina.example.com.md"]
    );
    let (bakery, marina) = (&docs.files[0].text, &docs.files[1].text);
    for line in [
        "| [Order](#order) | `orders` | Namespaced | v1 |",
        "- Short names: `ord`",
        "| `/apis/bakery.example.com/v1/namespaces/{namespace}/orders/{name}/status` | get, update, patch | the status, which other writes do not change |",
        "Field selectors: `spec.customer`",
        "| Ready | string | `.status.conditions[?(@.type==\"Ready\")].status` |  |",
        "| `count` | integer (int32) |  | `1` | at least 1 | How many. |",
        "| `status` | string | yes |  | one of `True`, `False`, `Unknown` |  |",
        "| `items` | list of [spec.items\\[\\]](#order-v1-spec.items--) | yes |  | at least 1 item; unique by `name` | What is to be baked. |",
    ] {
        assert!(bakery.lines().any(|found| found == line), "{line}\n{bakery}");
    }
    for line in [
        "| `power` | quantity |  |  |  | The electric current that the berth provides, such as 16 or 500m. |",
        "| `fees` | map of integer (int32) |  |  | each: at least 0 | The fee in cents by the kind of boat. |",
        "| Arrival | string | `.spec.arrival` | When the boat arrives (only with `-o wide`) |",
        "#### Size",
    ] {
        assert_eq!(
            marina.lines().filter(|found| *found == line).count(),
            1 + usize::from(line == "#### Size"),
            "{line}\n{marina}"
        );
    }
}

/// The page of a definition of gears with this schema.
fn page(schema: &Value) -> (String, Vec<String>) {
    let text = json!({
        "apiVersion": crd::API_VERSION, "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Gear", "plural": "gears", "singular": "gear", "listKind": "GearList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let kinds = Kinds::of_texts(&[("gears.json".to_owned(), text.to_string().into_bytes())]).unwrap();
    check(&kinds.kinds);
    let docs = docs::files(&kinds.kinds);
    (docs.files[0].text.clone(), docs.warnings)
}

#[test]
fn a_quantity_is_called_so_and_has_no_pattern() {
    let quantity = json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": schema::Pattern::QUANTITY,
        "x-kubernetes-int-or-string": true});
    let spec =
        json!({"type": "object", "properties": {"size": quantity, "port": {"x-kubernetes-int-or-string": true}}});
    let (page, _) = page(&json!({"type": "object", "properties": {"spec": spec}}));
    assert!(page.contains("| `size` | quantity |  |  |  |  |\n"), "{page}");
    assert!(page.contains("| `port` | integer or string |"), "{page}");
}

#[test]
fn names_of_examples_are_names_that_the_kind_allows() {
    for rule in [
        json!({"pattern": "^key-"}),
        json!({"pattern": "-key$"}),
        json!({"pattern": "^[a-f0-9]{8}$"}),
        json!({"pattern": "^(left|right)-[0-9]+$"}),
        json!({"enum": ["default", "other"]}),
        json!({"minLength": 20}),
        json!({"maxLength": 3}),
        json!({"format": "ipv4"}),
        json!({"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}),
        json!({"oneOf": [{"pattern": "^a-[0-9]$"}, {"pattern": "^b-[0-9]$"}]}),
        json!({"not": {"pattern": "^example"}}),
        json!({"maxLength": 12, "pattern": "^v[0-9]"}),
    ] {
        let mut name = rule.clone();
        name["type"] = json!("string");
        let metadata = json!({"type": "object", "properties": {"name": name}});
        let (page, warnings) = page(&json!({"type": "object", "properties": {"metadata": metadata}}));
        assert!(warnings.is_empty() && page.contains("\n  name: "), "{rule}: {page}");
        let text = between(&page, "```yaml\n", "```")[0];
        let example = yaml::decode(text.as_bytes(), &Limits::default()).unwrap().document;
        let schema = json!({"type": "object", "properties": {"metadata": metadata}});
        assert!(
            jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap().is_valid(&example),
            "{rule}: {example}"
        );
    }
    // An example that the server refuses is not printed.
    let metadata = json!({"type": "object", "properties": {"name": {"type": "string", "pattern": "^[A-Z]+$"}}});
    let kinds = json!({"type": "object", "properties": {"metadata": metadata}});
    let text = json!({"apiVersion": crd::API_VERSION, "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Gear", "plural": "gears"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": kinds}}]}});
    let kinds = Kinds::of_texts(&[("gears.json".to_owned(), text.to_string().into_bytes())]).unwrap();
    assert_eq!(docs::files(&kinds.kinds).warnings.len(), 1);
}

#[test]
fn subresources_have_their_requests_and_responses() {
    let docs = docs::files(&corpus());
    let Some(core) = docs.files.iter().find(|file| file.path == "core.md") else { return };
    for line in [
        "| create | [Eviction](#pod-v1-eviction-eviction) | [Eviction](#pod-v1-eviction-eviction) |",
        "| `deleteOptions` | [DeleteOptions](#pod-v1-eviction-eviction-deleteoptions) |",
        "| create | [TokenRequest](#serviceaccount-v1-token-tokenrequest) |",
    ] {
        assert!(
            core.text.lines().any(|found| found.starts_with(line)),
            "{line}\n{}",
            core.text.lines().filter(|l| l.contains("viction")).take(20).collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn an_example_has_what_is_required_and_stays_short() {
    let kinds = kinds_of(&corpus());
    for kind in &kinds {
        let example = testing::example(kind).unwrap();
        let text = format!("{example:#}");
        assert!(text.lines().count() < 200, "{text}");
        assert!(example.get("status").is_none(), "{text}");
    }
}
