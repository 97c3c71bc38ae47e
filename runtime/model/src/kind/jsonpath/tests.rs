//! What paths find, and what that takes.
use serde_json::json;

use super::*;

/// The document in the first row, and for each path what `client-go/util/jsonpath` finds in it: `-` if it cannot be read, and else the
/// values, sorted, since Go has the entries of a map in any order.
const PATHS: &str = include_str!("paths.tsv");

#[test]
fn a_path_finds_what_kube_apiserver_finds() {
    let mut rows = PATHS.lines();
    let document: Document = serde_json::from_str(rows.next().expect("a row")).expect("JSON");
    let mut wrong = Vec::new();
    for row in rows {
        let (path, go) = row.split_once('\t').expect("two columns");
        let path: String = serde_json::from_str(path).expect("JSON");
        let found = match JsonPath::parse(&path) {
            Err(_) => "-".to_owned(),
            Ok(path) => {
                let meter = CellMeter::of(10_000);
                let mut values: Vec<_> = path.find(&document, &meter).map(Document::to_string).collect();
                values.sort_unstable();
                format!("+[{}]", values.join(","))
            }
        };
        if found != go {
            wrong.push(format!("{row}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn values_are_in_the_order_of_the_document() {
    let document = json!({"a": [{"x": 1, "y": 2}, {"x": 3}], "b": {"c": {"x": 4}}});
    for (path, values) in [
        (".a[*].x", json!([1, 3])),
        (".a[*]['y','x']", json!([2, 1, 3])),
        ("..x", json!([1, 3, 4])),
        (".a[::-1].x", json!([])),
        ("{.b.c.x}", json!([4])),
        ("{$}", json!([document])),
    ] {
        let path = JsonPath::parse(path).expect("a path");
        let found: Document = path.find(&document, &CellMeter::of(0)).cloned().collect();
        assert_eq!(found, values, "{path}");
    }
}

#[test]
fn a_path_that_cannot_be_read_says_why() {
    for (path, why) in [
        (".spec[size", "unterminated array"),
        (".a[?(@.b]", "unterminated filter"),
        (".a[?(@.b)", "unclosed array expect ]"),
        (".a[x]", "invalid array index x"),
        ("......", "invalid multiple recursive descent"),
        (".a]", "unrecognized character in action: U+005D ']'"),
        (".a 'b", "unterminated quoted string"),
    ] {
        assert_eq!(JsonPath::parse(path).unwrap_err(), why, "{path}");
    }
    let deep = ".a[?(@".repeat(100) + &")]".repeat(100);
    assert!(JsonPath::parse(&deep).is_err());
}

#[test]
fn a_path_of_fields_has_names() {
    assert_eq!(JsonPath::parse(r".spec['a\.b'].c").unwrap().names().unwrap(), ["spec", "a.b", "c"]);
    assert_eq!(JsonPath::parse(".spec['a.b']").unwrap().names().unwrap(), ["spec", "a", "b"]);
    assert_eq!(JsonPath::parse(".spec.a[0]").unwrap().names(), None);
}

#[test]
fn the_number_of_steps_counts_those_in_unions_and_filters() {
    for (path, steps) in
        [("$", 0), (".a", 1), (".a[*].b", 3), (".a[0,1]", 4), (r#".a[?(@.b.c=="x")].d"#, 6), ("..a", 2)]
    {
        assert_eq!(JsonPath::parse(path).unwrap().len(), steps, "{path}");
    }
}

#[test]
fn paths_that_multiply_take_what_the_meter_allows() {
    let items = json!({"spec": [[[[[[[[[[[[[1, 2], 3]]]]]]]]]]]]});
    let deep = (0..300).fold(json!({"b": 1}), |inner, _| json!({"a": [inner]}));
    for path in [
        format!(".spec{}", "[*,*,*,*]".repeat(13)),
        format!(".spec{}.missing", "[*,*,*,*]".repeat(13)),
        "..[*]".repeat(12) + ".missing",
        format!("{}[?(@..a==@..b)]", "..[*]".repeat(6)),
        format!(".spec[?(@{}.missing)]", "[*,*,*,*]".repeat(12)),
    ] {
        let path = JsonPath::parse(&path).unwrap();
        for document in [&items, &deep] {
            let meter = CellMeter::of(0);
            let count = path.find(document, &meter).count();
            assert!(count <= 2_000, "{path}");
        }
    }
    let meter = CellMeter::of(0);
    let found = JsonPath::parse(&format!(".spec{}", "[*,*,*,*]".repeat(12))).unwrap().find(&items, &meter).count();
    assert!(found == 0 && meter.is_exhausted());
}

#[test]
fn a_meter_that_is_exhausted_stays_so() {
    let meter = CellMeter::of(100);
    assert!(meter.text(16 << 10) && meter.text(400) && !meter.is_exhausted());
    assert!(!meter.text(1) && meter.is_exhausted() && !meter.visit());
}
