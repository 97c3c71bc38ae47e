//! Times are read and printed as Go does: `times.tsv` says for each type and text what Go 1.26 prints, or why it refuses the text.
use serde_json::json;

use super::{Layout, MicroTime, Time};

const TIMES: &str = include_str!("times.tsv");

#[test]
fn times_are_read_and_printed_as_go_does() {
    let mut wrong = Vec::new();
    for row in TIMES.lines() {
        let [name, text, go] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let text: String = serde_json::from_str(text).expect("JSON");
        let layout = if name == "time" { Layout::RFC_3339 } else { Layout::MICRO };
        let read = match layout.read(&text) {
            Ok(printed) => format!("+{}", json!(printed)),
            Err(error) => format!("-{}", json!(error)),
        };
        if read != go {
            wrong.push(format!("{row}: {read}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TIMES.lines().count(), wrong.join("\n"));
}

#[test]
fn times_at_the_ends_of_the_calendar_are_times() {
    let last: Time = "9999-12-31T23:59:59Z".parse().expect("a time");
    assert_eq!(last.to_string(), "9999-12-31T23:59:59Z");
    assert_eq!(last.plus_seconds(5).to_string(), "9999-12-31T23:59:59Z");
    assert_eq!(last.timestamp(), jiff::Timestamp::MAX);
    assert!(last > Time::now() && "-001-01-01T00:00:00Z".parse::<Time>().is_err());
    assert_eq!("0000-01-01T00:00:00+00:01".parse::<Time>().expect("a time").to_string(), "-0001-12-31T23:59:00Z");
}

#[test]
fn any_number_of_digits_is_read_from_an_object() {
    let read = |text: &str| serde_json::from_value::<MicroTime>(json!(text)).map(|time| json!(time));
    assert_eq!(read("2026-01-02T03:04:05Z").expect("a time"), json!("2026-01-02T03:04:05.000000Z"));
    assert_eq!(read("2026-01-02T03:04:05.1234567+01:00").expect("a time"), json!("2026-01-02T02:04:05.123456Z"));
    assert!(read("2026-01-02").is_err() && serde_json::from_value::<Time>(json!(5)).is_err());
}

#[test]
fn printed_times_are_read_like_any_other() {
    for (layout, fraction) in [(Layout::RFC_3339, ""), (Layout::MICRO, ".123456")] {
        for year in ["0000", "1900", "2000", "2026", "2028", "9999", "20x6", "+026"] {
            for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
                for time in ["00:00:00", "23:59:59", "24:00:00", "12:60:00", "12:00:60", "1a:00:00"] {
                    let text = format!("{year}-{month:02}-{day:02}T{time}{fraction}Z");
                    assert_eq!(layout.printed(&text), layout.parse_any(&text).ok(), "{text}");
                }
            }
        }
    }
    for (text, is_printed) in [
        ("2026-01-02T03:04:05Z", true),
        ("2026-01-02T03:04:05.Z", false),
        ("2026-01-02T03:04:05.5Z", false),
        ("2026-01-02T03:04:05+00:00", false),
        ("2026-01-02t03:04:05Z", false),
    ] {
        assert_eq!(Layout::RFC_3339.printed(text).is_some(), is_printed, "{text}");
    }
    assert_eq!(Layout::DATE.printed("2026-01-02T03:04:05Z"), None);
}
