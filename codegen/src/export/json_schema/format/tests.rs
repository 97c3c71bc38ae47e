//! Tests of formats as patterns, by texts that have them and that do not.
use kindsmith::schema::Type;

use super::*;

/// A format, its type in Go, and texts that have it and that do not.
type Case<'c> = (&'c str, Option<Scalar>, &'c [&'c str], &'c [&'c str]);

#[test]
fn patterns_say_what_servers_check() {
    let (bytes, quantity) = (Some(Scalar::Bytes), Some(Scalar::Quantity));
    let cases: [Case<'_>; 8] = [
        ("byte", bytes, &["", "YQ==", "YR==", "YWFh", "YW\nFh\n", "YQ=\n="], &["YQ=", "Y", "YWFhY", "Y-=="]),
        ("byte", None, &["YQ==", "YR==", "YWE=", "YWFh"], &["", "YQ=", "YW\nFh", "YWFhY", "Y-=="]),
        ("quantity", quantity, &["1", "1Gi", ".5", "-2.5k", "1e3", "12E", "1."], &["", "1 Gi", "Gi", "1KiB", "."]),
        ("uuid", None, &["11111111222243338444555555555555"], &["1111"]),
        ("uuid-4", None, &["11111111-2222-4333-8444-555555555555"], &["11111111-2222-3333-8444-555555555555"]),
        ("hexcolor", None, &["#fff", "A1B2C3"], &["#ff", "fffg"]),
        ("ssn", None, &["078-05 1120"], &["078051120"]),
        ("k8s-long-name", None, &["a.b-c"], &["a..b", "-a", "A"]),
    ];
    for (format, scalar, good, bad) in cases {
        let text = Schema::of(Type::String);
        let declared = text.with(|text| (text.format, text.scalar) = (Some(format.to_owned()), scalar));
        let Format::Pattern(pattern, _) = Format::of(&declared) else { panic!("{format} is a pattern") };
        let schema = jsonschema::validator_for(&serde_json::json!({"pattern": pattern})).unwrap();
        for (texts, expected) in [(good, true), (bad, false)] {
            for text in texts {
                assert_eq!(schema.is_valid(&(*text).into()), expected, "{format} {text:?}");
            }
        }
    }
}
