//! Times, quantities, conditions, statuses and metadata, tested by tables and by properties.
use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::json;

use super::{time::human_duration, *};

#[test]
fn durations_are_printed_as_kubectl_prints_them() {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 3600;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    for (seconds, text) in [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (70, "70s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (5 * MINUTE + 30, "5m30s"),
        (10 * MINUTE + 1, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 20 * MINUTE, "3h20m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (3 * DAY + 4 * HOUR, "3d4h"),
        (8 * DAY + HOUR, "8d"),
        (2 * YEAR - HOUR, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 10 * DAY, "2y10d"),
        (8 * YEAR + 10 * DAY, "8y"),
    ] {
        assert_eq!(human_duration(seconds), text, "{seconds}");
    }
    let then: Time = "2026-01-02T03:04:05Z".parse().expect("a time");
    assert_eq!(then.age(then.plus_seconds(330)), "5m30s");
}

#[test]
fn quantities_have_a_value_and_a_canonical_form() {
    for (text, billionths, canonical) in [
        ("0", 0, "0"),
        ("1", 1_000_000_000, "1"),
        ("-1.5", -1_500_000_000, "-1500m"),
        ("500m", 500_000_000, "500m"),
        ("1000m", 1_000_000_000, "1"),
        ("1000", 1_000_000_000_000, "1k"),
        (".5", 500_000_000, "500m"),
        ("1.", 1_000_000_000, "1"),
        ("+2k", 2_000_000_000_000, "2k"),
        ("1Ki", 1_024_000_000_000, "1Ki"),
        ("1024Ki", 1_048_576_000_000_000, "1Mi"),
        ("1.5Gi", 1_610_612_736_000_000_000, "1536Mi"),
        ("0.5Ki", 512_000_000_000, "512"),
        ("1e3", 1_000_000_000_000, "1e3"),
        ("1E3", 1_000_000_000_000, "1e3"),
        ("12e-1", 1_200_000_000, "1200e-3"),
        ("0.1n", 1, "1n"),
        ("1.0000000001", 1_000_000_001, "1000000001n"),
        ("00001", 1_000_000_000, "1"),
        ("1E", 1_000_000_000_000_000_000_000_000_000, "1E"),
    ] {
        let quantity: Quantity = text.parse().unwrap_or_else(|why| panic!("{text:?}: {why}"));
        assert_eq!(quantity.billionths(), billionths, "{text:?}");
        assert_eq!(quantity.canonical(), canonical, "{text:?}");
        assert_eq!(quantity.as_str(), text);
    }
    for beyond in [
        "170141183460469231731687303715884105727.1n",
        "170141183460469231731687303715884105728n",
        "170141183460469231731687303715884105727e-9",
        "9223372036854775807.9",
        "9223372036854775808",
        "8Ei",
        "8191.999999999999999999999Pi",
        "99999999999999999999999999999999999999999999999999",
        "1e2147483647",
    ] {
        let most = 9_223_372_036_854_775_807_000_000_000;
        for (text, amount) in [(beyond.to_owned(), most), (format!("-{beyond}"), -most)] {
            let quantity: Quantity = text.parse().unwrap_or_else(|why| panic!("{text:?}: {why}"));
            assert_eq!(quantity.billionths(), amount, "{text:?}");
            assert!(!quantity.canonical().is_empty() && quantity.whole().unsigned_abs() >= i64::MAX.unsigned_abs());
        }
    }
    assert_eq!("1e-2147483648".parse::<Quantity>().map(|least| least.billionths()), Ok(1));
    for bad in ["", "-", ".", "1.2.3", "1x", "1 ", " 1", "1ki", "1mi", "1e", "1e+", "1e1.5", "--1", "1Kii", "é", "Ki"]
    {
        assert!(bad.parse::<Quantity>().is_err(), "{bad:?}");
    }
    let of = |text: &str| text.parse::<Quantity>().expect("a quantity");
    assert_eq!(of("1Ki").compare(&of("1k")), Ordering::Greater);
    assert_eq!(of("1000m").compare(&of("1")), Ordering::Equal);
    assert_eq!((of("1.1").whole(), of("-1.1").whole(), of("99Ei").whole()), (2, -2, i64::MAX));
    assert_eq!(serde_json::from_value::<Quantity>(json!(5)).expect("a number").as_str(), "5");
}

#[test]
fn conditions_change_their_time_only_with_their_status() {
    let at = |text: &str| Some(text.parse::<Time>().expect("a time"));
    let ready = |status: &str, reason: &str, time| Condition {
        kind: "Ready".into(),
        status: status.into(),
        reason: reason.into(),
        last_transition_time: time,
        ..Condition::default()
    };
    let (first, second) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
    let mut conditions = Vec::new();
    assert!(set_condition(&mut conditions, ready("False", "Starting", first)));
    assert!(set_condition(&mut conditions, ready("False", "Waiting", second)));
    assert_eq!(
        find_condition(&conditions, "Ready").map(|c| (c.reason.as_str(), c.last_transition_time)),
        Some(("Waiting", first))
    );
    assert!(!set_condition(&mut conditions, ready("False", "Waiting", None)));
    assert!(set_condition(&mut conditions, ready("True", "Done", second)));
    assert_eq!(find_condition(&conditions, "Ready").and_then(|c| c.last_transition_time), second);
    assert_eq!((conditions.len(), find_condition(&conditions, "Other")), (1, None));
}

#[test]
fn statuses_are_written_in_the_api_s_order() {
    let details = StatusDetails { name: "a".into(), kind: "configmaps".into(), ..StatusDetails::default() };
    let failure = Status::failure(404, "NotFound", "configmaps \"a\" not found", Some(details));
    let text = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"configmaps"},"code":404}"#;
    assert_eq!(serde_json::to_string(&failure).expect("JSON"), text);
    assert_eq!(serde_json::from_str::<Status>(text).expect("a Status"), failure);
    let empty = Status::failure(405, "", "no", Some(StatusDetails::default()));
    assert_eq!(
        serde_json::to_string(&empty).expect("JSON"),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","details":{},"code":405}"#
    );
    assert_eq!(
        serde_json::to_string(&Status::success(None)).expect("JSON"),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}"#
    );
}

#[test]
fn empty_metadata_fields_are_omitted() {
    let meta = ObjectMeta { generation: 2, ..ObjectMeta::named("a") };
    assert_eq!(serde_json::to_value(&meta).expect("JSON"), json!({"name": "a", "generation": 2}));
    let whole = json!({
        "name": "a", "namespace": "t", "uid": "u", "resourceVersion": "5", "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["x/y"], "deletionGracePeriodSeconds": 0,
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "1", "controller": true}],
        "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]
    });
    let meta: ObjectMeta = serde_json::from_value(whole.clone()).expect("metadata");
    assert_eq!(serde_json::to_value(&meta).expect("JSON"), whole);
}

#[test]
fn bytes_are_base64() {
    assert_eq!(ByteString::from_base64("YWJj\nZA==").expect("bytes").0, b"abcd");
    assert!(ByteString::from_base64("YWJ").is_err() && ByteString::from_base64("a b=").is_err());
    assert_eq!(serde_json::to_value(ByteString(b"hi".to_vec())).expect("JSON"), json!("aGk="));
    assert_eq!(serde_json::from_value::<IntOrString>(json!("50%")).expect("text"), IntOrString::from("50%"));
    assert_eq!(serde_json::from_value::<IntOrString>(json!(80)).expect("a number"), IntOrString::from(80));
    assert!(serde_json::from_value::<IntOrString>(json!(1.5)).is_err());
}

proptest! {
    #[test]
    fn times_round_trip(seconds in -62_135_596_800i64..253_402_207_200, nanos in 0i32..1_000_000_000) {
        let stamp = jiff::Timestamp::new(seconds, if seconds < 0 { 0 } else { nanos }).expect("a timestamp");
        let (time, micro) = (Time::from_timestamp(stamp), MicroTime::from_timestamp(stamp));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        prop_assert_eq!(micro.to_string().parse(), Ok(micro));
        prop_assert_eq!(time.to_string().len(), 20);
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), near in "[0-9TZ:.+-]{15,30}", number in "[+-]?[0-9.]{0,40}([KMGTPEeinumk][-+i]?[0-9]{0,12})?") {
        for text in [text, near, number] {
            let _ = (text.parse::<Time>(), text.parse::<MicroTime>(), ByteString::from_base64(&text));
            if let Ok(quantity) = text.parse::<Quantity>() {
                let canonical: Quantity = quantity.canonical().parse().expect("canonical text parses");
                prop_assert_eq!(canonical.canonical(), quantity.canonical());
                prop_assert!(human_duration(quantity.whole()).len() < 30);
            }
        }
    }

    #[test]
    fn quantities_keep_their_amount_in_canonical_form(whole in 0u64..10_000_000_000, fraction in 0u32..1_000_000, suffix in prop::sample::select(vec!["", "m", "k", "M", "Ki", "Mi", "e3", "E-2"])) {
        let quantity: Quantity = format!("{whole}.{fraction:06}{suffix}").parse().expect("a quantity");
        let canonical: Quantity = quantity.canonical().parse().expect("canonical text parses");
        if suffix.ends_with('i') {
            prop_assert_eq!(canonical.whole(), quantity.whole());
        } else {
            prop_assert_eq!(canonical.billionths(), quantity.billionths());
        }
    }
}
