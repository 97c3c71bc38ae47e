//! Tests of YAML, by what go-yaml and sigs.k8s.io/yaml are known to do.
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::Document;

fn read(text: &str) -> Document {
    decode(text.as_bytes(), &Limits::default()).expect(text).document
}

fn refuse(text: &str) -> String {
    decode(text.as_bytes(), &Limits::default()).expect_err(text).to_string()
}

#[test]
fn plain_scalars_are_read_as_yaml_1_1() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("nULL", json!("nULL")),
        ("y", json!(true)),
        ("Y", json!(true)),
        ("yes", json!(true)),
        ("On", json!(true)),
        ("TRUE", json!(true)),
        ("tRUE", json!("tRUE")),
        ("n", json!(false)),
        ("No", json!(false)),
        ("off", json!(false)),
        ("0", json!(0)),
        ("-0", json!(0)),
        ("+12", json!(12)),
        ("0777", json!(511)),
        ("-0777", json!(-511)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("0b101", json!(5)),
        ("-0b101", json!(-5)),
        ("089", json!(89)),
        ("1_000", json!(1000)),
        ("_1", json!("_1")),
        ("9223372036854775807", json!(i64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_f64)),
        ("+9223372036854775808", json!(9_223_372_036_854_775_808_f64)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616_f64)),
        ("1.5", json!(1.5)),
        (".5", json!(0.5)),
        ("+.5", json!(0.5)),
        ("1.", json!(1)),
        ("1e3", json!(1000)),
        ("1.5e-3", json!(0.0015)),
        ("1e", json!("1e")),
        ("1e999", json!("1e999")),
        (".", json!(".")),
        ("..", json!("..")),
        ("-", json!([null])),
        ("+", json!("+")),
        ("0x", json!("0x")),
        ("0x1p2", json!("0x1p2")),
        ("--1", json!("--1")),
        ("+-1", json!("+-1")),
        ("0x-1", json!("0x-1")),
        ("1:30", json!("1:30")),
        ("190:20:30", json!("190:20:30")),
        ("2001-12-14", json!("2001-12-14")),
        ("2001-12-14t21:59:43.10-05:00", json!("2001-12-14t21:59:43.10-05:00")),
        ("1.2.3", json!("1.2.3")),
        ("10.0.0.1", json!("10.0.0.1")),
        ("1Gi", json!("1Gi")),
        ("100m", json!("100m")),
        ("inf", json!("inf")),
        ("nan", json!("nan")),
        ("\"yes\"", json!("yes")),
        ("'0777'", json!("0777")),
        ("!!str 0777", json!("0777")),
        ("!!int \"3\"", json!(3)),
        ("!!float 3", json!(3)),
        ("!!bool yes", json!(true)),
        ("!!null ''", json!(null)),
        ("! 12", json!("12")),
        ("!mine 12", json!("12")),
        ("!!binary aGVsbG8=", json!("hello")),
        ("# only a comment\n", json!(null)),
        ("--- a\n--- b\n", json!("a")),
        ("a # comment", json!("a")),
        ("a#b", json!("a#b")),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn what_json_cannot_say_is_refused() {
    for (text, expected) in [
        ("a: .inf", "yaml: line 1: unsupported value: .inf"),
        ("a: 1\nb: .NaN", "yaml: line 2: unsupported value: .NaN"),
        ("~: 1", "yaml: line 1: unsupported map key: null"),
        ("? [a]\n: 1", "yaml: line 1: invalid map key: a list or map"),
        ("!!int a", "yaml: line 1: cannot decode `a` as a !!int"),
        ("!!binary '*'", "yaml: line 1: !!binary value is not base64 data of text in UTF-8"),
        ("a: *b", "yaml: line 1: unknown anchor 'b' referenced"),
        ("a: &a [*a]", "yaml: line 1: an anchor's value contains itself"),
        ("a: &a\n  b: *a", "yaml: line 2: an anchor's value contains itself"),
        ("<<: 1", "yaml: line 1: map merge requires map or sequence of maps as the value"),
        ("<<: [{a: 1}, 2]", "yaml: line 1: map merge requires map or sequence of maps as the value"),
    ] {
        assert_eq!(refuse(text), expected);
    }
    let error = decode(b"a: b\nc: \xff", &Limits::default()).expect_err("not UTF-8");
    assert_eq!(error.to_string(), "yaml: line 2: invalid UTF-8");
    for text in ["a: [", "a: b: c", "a: 1\n b: 2", "{", "]", "a: 'b", "- a\nb: 1", "%YAML 3.0", "@", "`a"] {
        assert!(refuse(text).starts_with("yaml: "), "{text:?}");
    }
}

#[test]
fn documents_as_people_write_them() {
    let text = "# a comment\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: x, labels: {a: \"1\", 'b': two}}\r\n\
        data:\r\n  script: |\r\n    #!/bin/sh\r\n    echo hi\r\n\r\n  folded: >-\r\n    one\r\n    two\r\n\r\n    three\r\n\
        \r\n  kept: |+\r\n    x\r\n\r\n  list:\r\n  - a\r\n  - b: 1\r\n    c:\r\n    - d\r\n  -\r\n  - [x, {k: z}]\r\n";
    let expected = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a": "1", "b": "two"}},
        "data": {"script": "#!/bin/sh\necho hi\n", "folded": "one two\nthree", "kept": "x\n\n",
            "list": ["a", {"b": 1, "c": ["d"]}, null, ["x", {"k": "z"}]]},
    });
    assert_eq!(read(text), expected);
    assert_eq!(read(&text.replace("\r\n", "\n")), expected);
    assert_eq!(read(&format!("\u{feff}---\n{text}...\n")), expected);
    assert_eq!(
        read("a: \"x\\u00e9\\n\\x41\\\n  b\"\nc: 'it''s'\nd: \"\\/\""),
        json!({"a": "x\u{e9}\nAb", "c": "it's", "d": "/"})
    );
    assert_eq!(
        read("1: a\ntrue: b\n1.5: c\n1e6: d\n'2': e\n2001-01-01: f"),
        json!({"1": "a", "true": "b", "1.5": "c", "1e+06": "d", "2": "e", "2001-01-01": "f"})
    );
    assert_eq!(read("a:\tb\n"), json!({"a": "b"}));
}

#[test]
fn json_is_yaml() {
    let text = "{\n\t\"a\": [1, 1.5, \"\\ud83d\\ude00\", null, true],\n\t\"b\": {\"c\": \"0777\"}\n}";
    assert_eq!(read(text), json!({"a": [1, 1.5, "😀", null, true], "b": {"c": "0777"}}));
    assert_eq!(read("{\"a\": 0777, b: yes,}"), json!({"a": 511, "b": true}));
    let twice = decode(b"{\"a\":1,\n\"a\":2}", &Limits::default()).expect("YAML");
    assert_eq!(twice.faults, ["yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"]);
    assert_eq!(twice.document, json!({"a": 2}));
}

#[test]
fn anchors_and_merges() {
    let text = "base: &base {a: 1, b: 2}\nmore: &more\n  b: 3\n  c: 4\none:\n  <<: *base\n  b: x\n\
        both:\n  <<: [*base, *more]\n  d: &d [*more]\nlast: *d\nplain:\n  \"<<\": 1\n";
    let expected = json!({
        "base": {"a": 1, "b": 2}, "more": {"b": 3, "c": 4}, "one": {"a": 1, "b": "x"},
        "both": {"a": 1, "b": 2, "c": 4, "d": [{"b": 3, "c": 4}]}, "last": [{"b": 3, "c": 4}], "plain": {"<<": 1},
    });
    assert_eq!(read(text), expected);
    assert_eq!(read("a: &x 1\nb: *x\nc: &x 2\nd: *x"), json!({"a": 1, "b": 1, "c": 2, "d": 2}));
    assert_eq!(read("&k a: 1\nb: {*k : 2}"), json!({"a": 1, "b": {"a": 2}}));
}

#[test]
fn repeated_keys_are_one_fault_that_names_the_lines_of_their_values() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: one\n  a: two\n  1: x\n  1: z\nnope: 1\nnope:\n  b: 1\n";
    let decoded = decode(text.as_bytes(), &Limits::default()).expect("YAML");
    let lines = "  line 7: key \"a\" already set in map\n  line 9: key 1 already set in map\n  line 12: key \"nope\" already set in map";
    assert_eq!(decoded.faults, [format!("yaml: unmarshal errors:\n{lines}")]);
    assert_eq!(decoded.document["data"], json!({"a": "two", "1": "z"}));
}

/// That they are refused fast enough is for `benches/codec.rs` to show, in a build that is optimized.
#[test]
fn bombs_are_refused() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let aliases = |before: usize| [format!("*a{before}").as_str(); 9].join(",");
    let laughs: Vec<String> = (1..12).map(|n| format!("a{n}: &a{n} [{}]\n", aliases(n - 1))).collect();
    let keys: Vec<String> = (0..1_000).map(|n| format!("k{n}: 1")).collect();
    for (name, text) in [
        ("laughs", format!("a0: &a0 [lol]\n{}", laughs.concat())),
        ("long text", format!("a: &a {}\nb: [{}]", "x".repeat(100_000), ["*a"; 100].join(","))),
        ("long keys", format!("a: &a {}\nb: [{}]", "x".repeat(100_000), ["{*a : 1}"; 100].join(","))),
        ("maps", format!("a: &a {{x: 1}}\nb: [{}]", vec!["*a"; 3_000].join(","))),
        ("merges", format!("a: &a {{{}}}\nb: [{}]", keys.join(","), vec!["{<<: *a}"; 1_000].join(","))),
        ("lists in brackets", "[".repeat(100_000)),
        ("maps in braces", "{a: ".repeat(100_000)),
        ("dashes", "- ".repeat(100_000)),
        ("question marks", "? ".repeat(100_000)),
        ("blocks", (0..2_000).map(|n| " ".repeat(n) + "a:\n").collect()),
        ("objects", "- a: 1\n".repeat(10_000)),
        ("items", format!("[{}1]", "1,".repeat(50_000))),
        ("anchors", (0..10_000).map(|n| format!("- &a{n} a\n")).collect::<Vec<_>>().concat() + "- *b"),
        ("colons", "a: ".repeat(100_000)),
    ] {
        let answer = decode(text.as_bytes(), &limits);
        assert!(answer.is_err(), "{name}");
    }
}

#[test]
fn what_is_allowed_fits_the_stack() {
    let nested = "[".repeat(1_000) + &"]".repeat(1_000);
    let maps: String = (0..1_000).map(|n| " ".repeat(n) + "a:\n").collect();
    let walk = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        assert!(read(&(nested + " # YAML")).is_array());
        assert!(read(&maps).is_object());
    });
    walk.expect("a thread").join().expect("no overflow");
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "[-\\[\\]{},:\"'?*&!|>%@`#~<0-9a-z.+ \\\\\n\t\r]{0,40}") {
        let _ = decode(text.as_bytes(), &Limits::default());
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, &Limits::default());
    }
}

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
    // No order that is one: some order, and no panic.
    let odd: Document =
        (0..3_000).map(|n: u32| (format!("a{}{}", n % 97, ["b", "", "c", "0"][n as usize % 4]), json!(n))).collect();
    assert_eq!(read(&write(&odd)), odd);
}

/// Text with all that is hard to write.
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
    fn what_is_written_decodes_to_the_same(document in documents()) {
        let document = json!({ "document": document });
        let text = write(&document);
        let decoded = decode(text.as_bytes(), &Limits::default()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&decoded.document, &document, "{}", text);
        prop_assert!(decoded.faults.is_empty());
    }
}
