//! Tests against what Go prints.
use serde_json::json;

use super::*;

#[test]
fn text_is_quoted_as_go_quotes_it() {
    for (text, want) in [
        ("", r#""""#),
        ("it's `plain`, ~", r#""it's `plain`, ~""#),
        (r#"a"b\c/d"#, r#""a\"b\\c/d""#),
        ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
        ("\0\u{1}\u{1b}\u{1f}\u{7f}", r#""\x00\x01\x1b\x1f\x7f""#),
        ("grün, 日本語, 🦀", r#""grün, 日本語, 🦀""#),
        // Go decodes a byte that is not UTF-8 to this character.
        ("\u{fffd}", "\"\u{fffd}\""),
        ("e\u{301}, \u{301}", "\"e\u{301}, \u{301}\""),
        ("\u{80}\u{9f}\u{a0}\u{ad}", r#""\u0080\u009f\u00a0\u00ad""#),
        ("\u{200b}\u{2028}\u{2029}\u{3000}\u{feff}", r#""\u200b\u2028\u2029\u3000\ufeff""#),
        ("\u{e000}\u{ffff}\u{10ffff}\u{e0001}", r#""\ue000\uffff\U0010ffff\U000e0001""#),
    ] {
        assert_eq!(quoted(text), want, "{text:?}");
    }
}

#[test]
fn documents_are_printed_as_percent_v_prints_them() {
    for (value, want) in [
        (json!(null), "<nil>"),
        (json!(true), "true"),
        (json!(-7), "-7"),
        (json!("a \"b\"\n"), "a \"b\"\n"),
        (json!([]), "[]"),
        (json!({}), "map[]"),
        (json!({"b": [1, "x", null, {}], "a": {"c": false}, "": ""}), "map[: a:map[c:false] b:[1 x <nil> map[]]]"),
    ] {
        assert_eq!(plain(&value), want);
    }
    assert_eq!(plain_list(&[json!("a"), json!(1)]), "[a 1]");
    assert_eq!(plain_map(json!({"a": 1}).as_object().expect("a map")), "map[a:1]");
}

#[test]
fn documents_are_printed_as_percent_sharp_v_prints_them() {
    for (value, want) in [
        (json!(null), "<nil>"),
        (json!(false), "false"),
        (json!(1.5), "1.5"),
        (json!("a\"b"), r#""a\"b""#),
        (json!([]), "[]interface {}{}"),
        (json!([1, null]), "[]interface {}{1, interface {}(nil)}"),
        (
            json!({"b": {"\t": "c"}, "a": []}),
            r#"map[string]interface {}{"a":[]interface {}{}, "b":map[string]interface {}{"\t":"c"}}"#,
        ),
    ] {
        assert_eq!(syntax(&value), want);
    }
    assert_eq!(
        syntax_of_yaml(&json!([{"a": null}])),
        r#"[]interface {}{map[interface {}]interface {}{"a":interface {}(nil)}}"#
    );
}

#[test]
fn floats_have_an_exponent_where_go_gives_them_one() {
    for (value, want) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.5, "1.5"),
        (-0.1, "-0.1"),
        (0.0001, "0.0001"),
        (0.000_01, "1e-05"),
        (0.000_012_5, "1.25e-05"),
        (999_999.0, "999999"),
        (1_000_000.0, "1e+06"),
        (123_456_789.0, "1.23456789e+08"),
        (1e21, "1e+21"),
        (1e100, "1e+100"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        // In the middle between two texts.
        (770_138_872_946_856.3, "7.701388729468562e+14"),
        (-1_787_861_880_608_051.3, "-1.7878618806080512e+15"),
        (0.062_900_543_212_890_63, "0.06290054321289062"),
    ] {
        assert_eq!(float(value), want);
    }
    assert_eq!(float(0.1_f32), "0.1");
    for (value, want) in [
        (0.0, "0"),
        (-0.5, "-0.5"),
        (2e-9, "0.000000002"),
        (1e21, "1000000000000000000000"),
        (1234.5, "1234.5"),
        (8_589_934_592.007_813, "8589934592.007812"),
    ] {
        assert_eq!(decimal(value), want);
    }
    assert_eq!(plain(&json!([0.5, 1e21, 9_007_199_254_740_993_i64])), "[0.5 1e+21 9007199254740993]");
}

#[test]
fn types_have_their_names_in_go() {
    let names = [json!(null), json!(true), json!(1), json!(1.5), json!(""), json!([]), json!({})];
    let names: Vec<_> = names.iter().map(type_name).collect();
    assert_eq!(names, ["<nil>", "bool", "int64", "float64", "string", "[]interface {}", "map[string]interface {}"]);
}

#[test]
fn long_documents_are_cut() {
    let text = plain(&json!(["é".repeat(LONGEST), {"b": 1}]));
    assert!(text.len() <= LONGEST + "…".len() && text.ends_with("é…"), "{}", text.len());
    let text = syntax(&json!({"a": vec![1; LONGEST]}));
    assert!(text.len() <= LONGEST + "…".len() && text.ends_with('…'), "{}", text.len());
    assert!(!plain(&json!("x".repeat(LONGEST))).ends_with('…'), "this one just fits");
}
