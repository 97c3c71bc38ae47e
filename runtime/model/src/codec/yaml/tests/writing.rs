//! Tests of written YAML: as go-yaml writes it, and readable.
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn write(document: &Document) -> String {
    let mut out = Vec::new();
    encode(document, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn written_as_sigs_yaml_writes() {
    let document = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "data": {"k": "1", "script": "#!/bin/sh\necho hi\n", "kept": "x\n\n", "cut": "a\nb", "led": "  a\nb\n", "": "empty"},
        "metadata": {"name": "x", "finalizers": ["a", "b"], "labels": {}, "ownerReferences": [],
            "managedFields": [{"manager": "m", "fieldsV1": {"f:data": {".": {}, "f:k": {}}}}]},
        "list": [["a", ["b"]], [], {}, {"x": [1, {"y": null}]}, 1.5, 1e21, 1_234_567.5, 1e-7, 18_446_744_073_709_551_615_u64, true],
    });
    let expected = "apiVersion: v1
data:
  \"\": empty
  cut: |-
    a
    b
  k: \"1\"
  kept: |+
    x

  led: |2
      a
    b
  script: |
    #!/bin/sh
    echo hi
kind: ConfigMap
list:
- - a
  - - b
- []
- {}
- x:
  - 1
  - \"y\": null
- 1.5
- 1e+21
- 1.2345675e+06
- 1e-07
- 18446744073709551615
- true
metadata:
  finalizers:
  - a
  - b
  labels: {}
  managedFields:
  - fieldsV1:
      f:data:
        .: {}
        f:k: {}
    manager: m
  name: x
  ownerReferences: []
";
    assert_eq!(write(&document), expected);
    assert_eq!(write(&json!({})), "{}\n");
    assert_eq!(write(&json!([])), "[]\n");
    assert_eq!(write(&json!("a")), "a\n");
    assert_eq!(write(&json!(null)), "null\n");
}

#[test]
fn text_is_quoted_where_it_would_be_read_as_something_else() {
    for (text, expected) in [
        ("plain text", "plain text"),
        ("", "\"\""),
        ("yes", "\"yes\""),
        ("y", "\"y\""),
        ("yep", "yep"),
        ("null", "\"null\""),
        ("~", "\"~\""),
        ("0777", "\"0777\""),
        ("1_000", "\"1_000\""),
        ("1e3", "\"1e3\""),
        ("0x1F", "\"0x1F\""),
        (".5", "\".5\""),
        (".inf", "\".inf\""),
        ("2001-12-14", "\"2001-12-14\""),
        ("2026-11-21T08:21:36Z", "\"2026-11-21T08:21:36Z\""),
        ("2001-13-14", "2001-13-14"),
        ("1:30", "\"1:30\""),
        ("190:20:30.5", "\"190:20:30.5\""),
        ("10.0.0.1:80", "10.0.0.1:80"),
        ("1.2.3", "1.2.3"),
        ("<<", "\"<<\""),
        ("-", "'-'"),
        ("- a", "'- a'"),
        ("-a", "-a"),
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("a:", "'a:'"),
        ("a #b", "'a #b'"),
        ("a#b", "a#b"),
        ("it's", "it's"),
        ("'a'", "'''a'''"),
        ("\"a\"", "'\"a\"'"),
        ("[a]", "'[a]'"),
        ("{a", "'{a'"),
        ("*a", "'*a'"),
        ("!a", "'!a'"),
        ("%a", "'%a'"),
        ("@a", "'@a'"),
        ("---", "'---'"),
        ("--- a", "'--- a'"),
        ("a,b", "a,b"),
        ("?a", "?a"),
        ("=", "="),
        (" a", "' a'"),
        ("a ", "'a '"),
        ("a\tb", "\"a\\tb\""),
        ("a\r\nb", "\"a\\r\\nb\""),
        ("a \nb", "\"a \\nb\""),
        ("a\n ", "\"a\\n \""),
        ("é", "é"),
        ("😀", "\"\\U0001F600\""),
        ("\u{85}\u{2028}\u{feff}\u{1}", "\"\\N\\L\\uFEFF\\x01\""),
        ("\n", "|2+\n\n"),
    ] {
        let written = write(&json!({ "k": text }));
        assert_eq!(
            written.strip_prefix("k: ").map(|line| line.strip_suffix('\n').unwrap_or(line)),
            Some(expected.strip_suffix("\n").unwrap_or(expected)),
            "{text:?}"
        );
        assert_eq!(read(&written), json!({ "k": text }), "{written}");
    }
}

#[test]
fn long_text_is_folded_at_the_first_space_past_the_width() {
    let word = "word ".repeat(20);
    let long = word.trim_end();
    let expected = format!("k: {}\n  {}\n", "word ".repeat(16).trim_end(), "word ".repeat(4).trim_end());
    assert_eq!(write(&json!({ "k": long })), expected);
    let quoted = format!("- {long}");
    assert_eq!(read(&write(&json!({ "k": quoted }))), json!({ "k": quoted }));
    let spaced = "a  ".repeat(60) + "\t" + &"b c  ".repeat(40) + "d";
    assert_eq!(read(&write(&json!({ "k": spaced }))), json!({ "k": spaced }));
    let key = "k".repeat(129);
    assert_eq!(write(&json!({ &key: {"a": [1]} })), format!("? {key}\n: a:\n  - 1\n"));
    assert_eq!(write(&json!({ &key: [1, 2] })), format!("? {key}\n: - 1\n  - 2\n"));
    assert_eq!(write(&json!({ "a\nb": 1 })), "? |-\n  a\n  b\n: 1\n");
    let long_key = json!({ "a": [{ format!("{long} {long}"): {"x": {"y": 1}} , "z": [[]]}] });
    assert_eq!(read(&write(&long_key)), long_key);
}

#[test]
fn keys_are_in_the_order_of_go_yaml() {
    let keys =
        ["a10", "a9", "A", "b", "a", "_", "1", "10", "2", "f:a", ".", "k:{\"x\":1}", "a01", "a1", "é", "a-b", "ab"];
    let map: Document = keys.iter().map(|key| ((*key).to_owned(), json!(null))).collect();
    let written = write(&map);
    let order: Vec<&str> = written.lines().map(|line| line.strip_suffix(": null").unwrap_or(line)).collect();
    let expected = [
        ".",
        "_",
        "\"1\"",
        "\"2\"",
        "\"10\"",
        "A",
        "a",
        "a-b",
        "a1",
        "a01",
        "a9",
        "a10",
        "ab",
        "b",
        "f:a",
        "k:{\"x\":1}",
        "é",
    ];
    assert_eq!(order, expected);
    // Without a consistent order: some order, and no panic.
    let odd: Document =
        (0..3_000).map(|n: u32| (format!("a{}{}", n % 97, ["b", "", "c", "0"][n as usize % 4]), json!(n))).collect();
    assert_eq!(read(&write(&odd)), odd);
}

/// Text that is difficult to write.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-\\[\\]{},:\"'?*&!|>%@`#~<=0-9a-zA-Z.+_ \\\\\n\t\r\u{85}\u{a0}\u{2028}\u{feff}é😀]{0,12}",
        "[ \n'ab:-]{60,200}",
        "(yes|no|on|y|N|0x1|0o7|0777|1_0|1e3|\\.5|-1|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}:[0-9]{2}|null|<<|=)",
        any::<String>(),
    ]
}

fn documents() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![nasty().prop_map(Document::from), crate::schema::fixture::documents()];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Document::from),
            prop::collection::btree_map(nasty(), inner, 0..5).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn written_documents_round_trip(document in documents()) {
        let document = json!({ "document": document });
        let text = write(&document);
        let decoded = decode(text.as_bytes(), &Limits::default()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&decoded.document, &document, "{}", text);
        prop_assert!(decoded.faults.is_empty());
    }
}

#[test]
fn deep_values_are_written_in_brackets() {
    let deep = (0..250).fold(json!(["a", 1, null, {"b": "\u{7f}", "k".repeat(2_000): []}]), |inner, _| json!([inner]));
    let wide = (0..60).fold((0..100_000).collect::<Document>(), |inner, level| {
        [(format!("level{level}"), inner)].into_iter().collect()
    });
    for (document, most) in [(deep, 10_000), (wide, 5 << 20)] {
        let mut text = Vec::new();
        encode(&document, &mut text);
        assert!(text.len() < most, "{} bytes", text.len());
        assert_eq!(decode(&text, &Limits::default()).expect("YAML").document, document);
    }
}

#[test]
fn a_list_item_by_item_is_the_same_text() {
    // Together the items exceed the indentation budget of a document; from there on they are in brackets.
    let deep = (0..40).fold(json!(vec!["x"; 1_000]), |inner, _| json!({ "k": inner }));
    let items = |count| {
        let shallow = json!({"a": "line\n", "b": ["x\n\n", {"": null}], "c": {}});
        (0..count).map(|at| if at % 2 == 0 { shallow.clone() } else { deep.clone() }).collect::<Vec<_>>()
    };
    let odd = vec![json!(1), json!([]), json!("a\n"), json!([[1]])];
    let names = ["a", "items", "rows", "z10"];
    for (items, names) in
        [(items(0), &names[..]), (items(1), &names), (items(2), &names), (odd, &names), (items(120), &names[3..])]
    {
        for list in names.iter().copied() {
            let mut whole = json!({"apiVersion": "v1", "kind": "L", "metadata": {"a": "b"}, "z9": [1]});
            let Document::Object(members) = whole.clone() else { unreachable!() };
            whole[list] = items.clone().into();
            let mut out = Vec::new();
            let mut writer = ListWriter::start(members, list, items.is_empty(), &mut out);
            for item in &items {
                writer.item(item, &mut out);
            }
            writer.end(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), write(&whole), "{} {list}", items.len());
        }
    }
}
