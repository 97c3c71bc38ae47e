//! What paths find, and what that takes.
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn found(path: &str) -> Document {
    let document = json!({
        "metadata": {"name": "web", "labels": {"app.example.com/name": "x", "a'b": "y"}},
        "spec": {"ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443, "tls": true}]},
        "status": {"conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Idle", "status": "False"}, {"type": "a==b", "status": "?"},
        ]},
    });
    JsonPath::parse(path)
        .unwrap_or_else(|error| panic!("{path}: {error}"))
        .find(&document, &CellMeter::of(0))
        .cloned()
        .collect()
}

#[test]
fn a_path_finds_what_kubectl_finds() {
    for (path, values) in [
        (".metadata.name", json!(["web"])),
        ("{.metadata.name}", json!(["web"])),
        ("$.metadata['name']", json!(["web"])),
        (r".metadata.labels.app\.example\.com/name", json!(["x"])),
        (".metadata.labels['app.example.com/name']", json!(["x"])),
        (r#".metadata.labels["a'b"]"#, json!(["y"])),
        (".spec.ports[0].name", json!(["http"])),
        (".spec.ports[-1].port", json!([443])),
        (".spec.ports[5].port", json!([])),
        (".spec.ports[*].port", json!([80, 443])),
        (".spec.ports.*.port", json!([80, 443])),
        (".spec.ports[0:1].port", json!([80])),
        (".spec.ports[:].port", json!([80, 443])),
        (".spec.ports[::2].port", json!([80])),
        (".spec.ports[0,1].port", json!([80, 443])),
        (".spec.ports[0]['name','port']", json!(["http", 80])),
        ("..port", json!([80, 443])),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"])),
        (".status.conditions[?(@.type == 'a==b')].status", json!(["?"])),
        (r#".status.conditions[?(@.type!="Ready")].status"#, json!(["False", "?"])),
        (".spec.ports[?(@.tls)].name", json!(["https"])),
        (".spec.ports[?(@.tls==true)].name", json!(["https"])),
        (".spec.ports[?(@.port>=100)].name", json!(["https"])),
        (".spec.ports[?(@.port<100)].name", json!(["http"])),
        (".spec.ports[?(@.name>5)].name", json!([])),
        (".spec.nothing.at.all", json!([])),
        (".metadata.name[0]", json!([])),
    ] {
        assert_eq!(found(path), values, "{path}");
    }
    assert_eq!(found("..*")[0]["name"], "web");
}

#[test]
fn what_is_no_path_is_refused() {
    for path in [".spec[size", ".a[?(@.b]", ".a[x]", ".a[1:2:0]", ".a[?(@.b=~'c')]", ".a b", ".a[", "....", ".a]"] {
        assert!(JsonPath::parse(path).is_err(), "{path}");
    }
    let deep = ".a[?(@".repeat(100) + &")]".repeat(100);
    assert!(JsonPath::parse(&deep).is_err());
}

#[test]
fn a_path_of_fields_has_names() {
    assert_eq!(JsonPath::parse(".spec['a.b'].c").unwrap().names().unwrap(), ["spec", "a.b", "c"]);
    assert_eq!(JsonPath::parse(".spec.a[0]").unwrap().names(), None);
}

#[test]
fn the_number_of_steps_counts_those_in_unions_and_filters() {
    for (path, steps) in
        [(".", 0), (".a", 1), (".a[*].b", 3), (".a[0,1]", 4), (r#".a[?(@.b.c=="x")].d"#, 5), ("..a", 2)]
    {
        assert_eq!(JsonPath::parse(path).unwrap().len(), steps, "{path}");
    }
}

/// All values at once, as they were found before values were found one by one.
mod model {
    use super::super::{Comparison, Filter, JsonPath, Operand, Step};
    use crate::schema::Document;

    pub(super) fn find<'d>(path: &JsonPath, document: &'d Document) -> Vec<&'d Document> {
        walk(&path.steps, document)
    }

    fn walk<'d>(steps: &[Step], from: &'d Document) -> Vec<&'d Document> {
        let mut found = vec![from];
        for step in steps {
            found = found.into_iter().flat_map(|at| take(step, at)).collect();
        }
        found
    }

    fn take<'d>(step: &Step, at: &'d Document) -> Vec<&'d Document> {
        match (step, at) {
            (Step::Field(name), Document::Object(fields)) => fields.get(name).into_iter().collect(),
            (Step::Wildcard, Document::Object(fields)) => fields.values().collect(),
            (Step::Wildcard, Document::Array(items)) => items.iter().collect(),
            (Step::Index(index), Document::Array(items)) => position(*index, items).into_iter().collect(),
            (Step::Slice(from, to, by), Document::Array(items)) => slice(items, *from, *to, *by),
            (Step::Union(steps), _) => steps.iter().flat_map(|step| take(step, at)).collect(),
            (Step::Filter(filter), Document::Array(items)) => items.iter().filter(|item| takes(filter, item)).collect(),
            (Step::Descent, _) => descent(at),
            _ => Vec::new(),
        }
    }

    fn position(index: i64, items: &[Document]) -> Option<&Document> {
        let index = if index < 0 { i64::try_from(items.len()).ok()?.checked_add(index)? } else { index };
        items.get(usize::try_from(index).ok()?)
    }

    fn slice(items: &[Document], from: Option<i64>, to: Option<i64>, by: i64) -> Vec<&Document> {
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let bound = |at: i64| if at < 0 { (length + at).max(0) } else { at.min(length) };
        let (from, to) = (bound(from.unwrap_or(0)), bound(to.unwrap_or(length)));
        let by = usize::try_from(by).unwrap_or(1);
        let within = usize::try_from(from).unwrap_or(0)..usize::try_from(to.max(from)).unwrap_or(0);
        items[within].iter().step_by(by).collect()
    }

    /// A value and all values in it.
    fn descent(at: &Document) -> Vec<&Document> {
        let mut found = vec![at];
        match at {
            Document::Object(fields) => found.extend(fields.values().flat_map(descent)),
            Document::Array(items) => found.extend(items.iter().flat_map(descent)),
            _ => {}
        }
        found
    }

    fn takes(filter: &Filter, item: &Document) -> bool {
        let left = values(&filter.left, item);
        let Some((comparison, right)) = &filter.comparison else { return !left.is_empty() };
        // Only single values are compared.
        let ([left], [right]) = (&left[..], &values(right, item)[..]) else { return false };
        Comparison::holds(*comparison, left, right)
    }

    fn values<'o>(operand: &'o Operand, item: &'o Document) -> Vec<&'o Document> {
        match operand {
            Operand::Path(steps) => walk(steps, item),
            Operand::Literal(literal) => vec![literal],
        }
    }
}

/// Paths over the fields that the documents below have.
fn paths() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    let simple = prop_oneof![
        name.clone().prop_map(|name| format!(".{name}")),
        Just("[*]".to_owned()),
        Just(".*".to_owned()),
        (-3i64..3).prop_map(|index| format!("[{index}]")),
        (-3i64..3, -3i64..4, 1i64..3).prop_map(|(from, to, by)| format!("[{from}:{to}:{by}]")),
        prop::sample::select(vec!["['a','b']", "[0,-1]", "[*,*]", "[0:2,*]", "['c','a','c']", "[0,1,2,0]"])
            .prop_map(str::to_owned),
        name.clone().prop_map(|name| format!("..{name}")),
        Just("..*".to_owned()),
    ];
    let filter = (name, prop::sample::select(vec!["", "==1", "!=\"x\"", ">0", "<=@.b", "==@..c", "==true"]), "[*]?")
        .prop_map(|(name, comparison, more)| {
            format!("[?(@.{name}{}{comparison})]", if more.is_empty() { "" } else { "[*]" })
        });
    prop::collection::vec(prop_oneof![4 => simple, 1 => filter], 0..5).prop_map(|steps| steps.concat())
}

/// Small documents.
fn documents() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Into::into),
        (0i64..3).prop_map(Into::into),
        "[xy]?".prop_map(Into::into)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Document::Array),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|fields| Document::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn values_found_one_by_one_are_those_found_at_once(path in paths(), document in documents()) {
        let read = JsonPath::parse(&path).map_err(TestCaseError::fail)?;
        let meter = CellMeter::of(100_000);
        let found: Vec<_> = read.find(&document, &meter).collect();
        prop_assert!(!meter.is_exhausted());
        prop_assert_eq!(found, model::find(&read, &document), "{}", path);
    }
}

#[test]
fn paths_that_multiply_take_what_the_meter_allows() {
    let items = json!({"spec": [[[[[[[[[[[[[1, 2], 3]]]]]]]]]]]]});
    let deep = (0..300).fold(json!({"b": 1}), |inner, _| json!({"a": [inner]}));
    for path in [
        format!(".spec{}", "[*,*,*,*]".repeat(13)),
        format!(".spec{}.missing", "[*,*,*,*]".repeat(13)),
        "..*".repeat(12) + ".missing",
        format!("{}[?(@..a==@..b)]", "..*".repeat(6)),
        format!(".spec[?(@{}.missing)]", "[*,*,*,*]".repeat(12)),
    ] {
        let path = JsonPath::parse(&path).unwrap();
        for document in [&items, &deep] {
            let meter = CellMeter::of(0);
            let count = path.find(document, &meter).count();
            assert!(count <= 2_000, "{path}");
        }
    }
    let first = JsonPath::parse(&format!(".spec{}", "[*,*,*,*]".repeat(12))).unwrap();
    let meter = CellMeter::of(0);
    assert!(first.find(&items, &meter).next().is_some() && !meter.is_exhausted());
}

#[test]
fn a_meter_that_is_exhausted_stays_so() {
    let meter = CellMeter::of(100);
    assert!(meter.text(16 << 10) && meter.text(400) && !meter.is_exhausted());
    assert!(!meter.text(1) && meter.is_exhausted() && !meter.visit());
}
