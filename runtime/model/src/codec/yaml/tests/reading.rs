//! Tests of what is read, and of what is refused.
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Asserts what texts are read as.
fn assert_read(cases: &[(&str, Document)]) {
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "{text:?}");
    }
}

#[test]
fn null_and_booleans_are_those_of_yaml_1_1() {
    assert_read(&[
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
    ]);
}

#[test]
fn integers_are_those_of_yaml_1_1() {
    assert_read(&[
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
    ]);
}

#[test]
fn other_numbers_and_what_only_looks_like_one() {
    assert_read(&[
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
        ("0b-101", json!(-5)),
        ("-0b-101", json!("-0b-101")),
        ("0b", json!("0b")),
        ("08_9", json!(89)),
        (".5_0", json!(".5_0")),
        ("1_0.5_0", json!(10.5)),
        ("+0x8000000000000000", json!("+0x8000000000000000")),
        ("1e300: a\n-1e300: b", json!({".inf": "a", "-.inf": "b"})),
    ]);
}

#[test]
fn further_lines_of_quoted_scalars_need_no_indentation() {
    assert_read(&[
        ("a: 'b\nc'\nd: \"e\n\n  f\\\ng\\\"\"\n", json!({"a": "b c", "d": "e\nfg\""})),
        ("a:\n  b: # it's \"one\n   'c: ''d\n  e''\n  f: #'\n  g: h\n", json!({"a": {"b": "c: 'd e' f: #", "g": "h"}})),
        (
            "- - a: b\n    'c': !!str \"d\ne\"\n- é: &x 'f\ng'\n- *x\n",
            json!([[{"a": "b", "c": "d e"}], {"é": "f g"}, "f g"]),
        ),
        ("a: |\n  'b\n  c'\nd: 'e\nf'\n", json!({"a": "'b\nc'\n", "d": "e f"})),
    ]);
    assert_eq!(refuse("a: 'b\nc\n"), "yaml: line 2: invalid indentation in multiline quoted scalar");
    assert_eq!(refuse("a: 'b\nc'\n d: e\n"), refuse("a: 'b\n c'\n d: e\n"));
    // Each of them would be found by reading all before it again.
    let many = "- 'a\nb'\n".repeat(20_000);
    assert!(refuse(&many).ends_with("invalid indentation in multiline quoted scalar"));
}

#[test]
fn quotes_and_tags_say_what_a_scalar_is() {
    assert_read(&[
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
        ("!!binary |\n  aGVs\n  bG8=\n", json!("hello")),
        ("!!timestamp 2001-12-14", json!("2001-12-14")),
        ("!<tag:yaml.org,2002:str> 12", json!("12")),
    ]);
}

#[test]
fn comments_and_empty_documents_are_left_out() {
    assert_read(&[
        ("# only a comment\n", json!(null)),
        ("--- a\n---\n", json!("a")),
        ("a: 1\n---\n---\n# nothing\n...\n", json!({"a": 1})),
        ("{\"a\": 1}\n---\n# nothing", json!({"a": 1})),
        ("# first\n---\na: 1\n...\n# last\n", json!({"a": 1})),
        ("a # comment", json!("a")),
        ("a#b", json!("a#b")),
    ]);
}

#[test]
fn what_json_cannot_say_is_refused() {
    for (text, expected) in [
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: 1\nb: .NaN", "json: unsupported value: NaN"),
        ("~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"),
        (
            "0x8000000000000000: {a: [~]}",
            "unsupported map key of type: uint64, key: 0x8000000000000000, value: map[interface {}]interface {}{\"a\":[]interface {}{interface {}(nil)}}",
        ),
        ("? [a, 1.5]\n: 1", "yaml: invalid map key: []interface {}{\"a\", 1.5}"),
        ("a: {{ .Values.a }}", "yaml: invalid map key: map[interface {}]interface {}{\".Values.a\":interface {}(nil)}"),
        ("!!int a", "yaml: cannot decode !!str `a` as a !!int"),
        ("!!int yes", "yaml: cannot decode !!bool `yes` as a !!int"),
        ("!!timestamp 1", "yaml: cannot decode !!int `1` as a !!timestamp"),
        ("!!binary '*'", "yaml: !!binary value contains invalid base64 data"),
        ("!!binary 'aGVs bG8='", "yaml: !!binary value contains invalid base64 data"),
        ("a: *b", "yaml: unknown anchor 'b' referenced"),
        ("a: &a [*a ]", "yaml: anchor 'a' value contains itself"),
        ("a: &a\n  b: *a", "yaml: anchor 'a' value contains itself"),
        ("<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
        ("<<: [{a: 1}, 2]", "yaml: map merge requires map or sequence of maps as the value"),
        ("--- a\n--- b\n", "yaml: line 2: expected a single document, but another one begins here"),
        ("a: 1\n---\n---\n[]\n", "yaml: line 4: expected a single document, but another one begins here"),
        ("a: 1\n---\nnull\n", "yaml: line 3: expected a single document, but another one begins here"),
    ] {
        assert_eq!(refuse(text), expected);
    }
    assert_eq!(
        refuse(&"---\n".repeat(1_000_000)),
        "yaml: line 18: expected a single document, but many follow it",
        "the rest is not read"
    );
    let error = decode(b"a: b\nc: \xff", &Limits::default()).expect_err("not UTF-8");
    assert_eq!(error.to_string(), "yaml: line 2: invalid UTF-8");
    for text in ["a: [", "a: b: c", "a: 1\n b: 2", "{", "]", "a: 'b", "- a\nb: 1", "%YAML 3.0", "@", "`a"] {
        assert!(refuse(text).starts_with("yaml: "), "{text:?}");
    }
}

/// Go-yaml counts lines from 0 in one half of its complaints, and never tells the first.
#[test]
fn mistakes_are_told_in_the_words_of_go_yaml() {
    for (text, expected) in [
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context"),
        ("x: 1\na: @b", "yaml: line 2: found character that cannot start any token"),
        ("x: 1\na: 'b", "yaml: line 2: found unexpected end of stream"),
        ("x: 1\n\ta: 1", "yaml: line 2: found a tab character that violates indentation"),
        ("x:\n\ta: 1", "yaml: line 2: found character that cannot start any token"),
        ("x: [1, 2\ny: 1", "yaml: line 1: did not find expected ',' or ']'"),
        ("x: {a: 1\ny: 1", "yaml: line 1: did not find expected ',' or '}'"),
        ("x:\n- a\n b: 1", "yaml: line 3: mapping values are not allowed in this context"),
        ("x: \"a\\q\"", "yaml: found unknown escape character"),
        ("x: %a", "yaml: found character that cannot start any token"),
        ("x: a\n y: b", "yaml: line 2: mapping values are not allowed in this context"),
        ("x: \"a\" b", "yaml: did not find expected key"),
        ("x: 1\ny\nz: 1", "yaml: line 3: could not find expected ':'"),
        ("x: 1\n- a", "yaml: line 1: did not find expected key"),
        ("a: !x!y z", "yaml: found undefined tag handle"),
    ] {
        assert_eq!(refuse(text), expected, "{text:?}");
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
    let nested = "[".repeat(256) + &"]".repeat(256);
    let maps: String = (0..256).map(|n| " ".repeat(n) + "a:\n").collect();
    let walk = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        assert!(read(&(nested + " # YAML")).is_array());
        assert!(read(&maps).is_object());
        for keys in ["? ".repeat(900), "? [".repeat(900), "{{a: ".repeat(400)] {
            refuse(&keys);
            refuse(&format!("{keys}a{}", "]".repeat(900)));
        }
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

#[test]
fn a_large_text_of_short_items_is_refused_before_it_is_read() {
    let limits = Limits { depth: 256, memory: 256 << 20 };
    for text in ["- 1\n".repeat(2 << 20), format!("a: [{}1]\n", "1,".repeat(4 << 20)), "a:\n".repeat(4 << 20)] {
        let start = std::time::Instant::now();
        let error = decode(text.as_bytes(), &limits).unwrap_err();
        assert_eq!((error.line, &*error.reason), (1, "the document takes too much memory"));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
    assert!(!is_dense(&"  - item\n".repeat(1 << 20)), "lines of people");
    assert!(!is_dense(&"- 1\n".repeat(1 << 20)), "a text that is not large");
}
