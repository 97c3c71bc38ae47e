//! Durations and timestamps are what they are in Go.
use super::{Duration, Timestamp, Zone};

#[test]
fn durations_are_read_as_go_reads_them() {
    let read = [
        ("0", 0),
        ("-0", 0),
        ("5s", 5_000_000_000),
        ("1h2m3s", 3_723_000_000_000),
        ("-1.5h", -5_400_000_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("+3us", 3_000),
        ("3\u{b5}s", 3_000),
        ("3\u{3bc}s", 3_000),
        ("1ms1ns", 1_000_001),
        ("0.3333333333333333333h", 1_200_000_000_000),
        ("9223372036854775807ns", i64::MAX),
        ("-9223372036854775808ns", i64::MIN),
        ("0.100000000000000000000h", 360_000_000_000),
        ("0.830103483285477580700h", 2_988_372_539_827),
    ];
    for (text, nanoseconds) in read {
        assert_eq!(Duration::parse(text), Some(Duration { nanoseconds }), "{text}");
    }
    let refused = [
        "",
        "3",
        "-",
        "s",
        ".",
        "-.",
        ".s",
        "+.s",
        "1d",
        "1e3s",
        "3000000h",
        "9223372036854775808ns",
        " 1s",
        "1s ",
        "--1s",
        "1 s",
    ];
    for text in refused {
        assert_eq!(Duration::parse(text), None, "{text}");
    }
}

#[test]
fn durations_are_seconds_in_text_and_whole_units() {
    let durations = [
        (6_347_000_000_000, "6347s", [1, 105, 6_347, 6_347_000]),
        (1_500_000_000, "1.5s", [0, 0, 1, 1_500]),
        (2, "0.000000002s", [0, 0, 0, 0]),
        (-500_000_000, "-0.5s", [0, 0, 0, -500]),
        (0, "0s", [0, 0, 0, 0]),
        (8_589_934_592_007_812_500, "8589934592.007812s", [2_386_092, 143_165_576, 8_589_934_592, 8_589_934_592_007]),
        // A double has no room for the last of these digits.
        (i64::MAX, "9223372036.854776s", [2_562_047, 153_722_867, 9_223_372_036, 9_223_372_036_854]),
        (9_223_369_199_999_999_999, "9223369200s", [2_562_047, 153_722_820, 9_223_369_200, 9_223_369_199_999]),
    ];
    for (nanoseconds, text, units) in durations {
        let duration = Duration { nanoseconds };
        assert_eq!(duration.to_string(), text);
        let read = [duration.hours(), duration.minutes(), duration.seconds(), duration.milliseconds()];
        assert_eq!(read, units, "{text}");
    }
}

#[test]
fn timestamps_are_read_as_go_reads_them() {
    let read = [
        ("2009-02-13T23:31:30Z", 1_234_567_890, 0, "2009-02-13T23:31:30Z"),
        ("2009-02-13T23:31:30.500Z", 1_234_567_890, 500_000_000, "2009-02-13T23:31:30.5Z"),
        ("2009-02-14T00:31:30+01:00", 1_234_567_890, 0, "2009-02-14T00:31:30+01:00"),
        ("2009-02-13T23:31:30+00:00", 1_234_567_890, 0, "2009-02-13T23:31:30Z"),
        ("2009-02-13T3:31:30,1234567899Z", 1_234_495_890, 123_456_789, "2009-02-13T03:31:30.123456789Z"),
        ("2009-02-14T23:31:30+24:00", 1_234_567_890, 0, "2009-02-14T23:31:30+24:00"),
        ("2024-02-29T00:00:00Z", 1_709_164_800, 0, "2024-02-29T00:00:00Z"),
        ("0001-01-01T00:00:00Z", -62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        ("1969-12-31T23:59:59.25Z", -1, 250_000_000, "1969-12-31T23:59:59.25Z"),
    ];
    for (text, seconds, nanoseconds, printed) in read {
        let timestamp = Timestamp::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((timestamp.seconds, timestamp.nanoseconds), (seconds, nanoseconds), "{text}");
        assert_eq!(timestamp.to_string(), printed);
        assert!(timestamp.checked().is_ok());
    }
    let refused = [
        "",
        "2009-02-13",
        "2009-02-13 23:31:30Z",
        "2009-02-13t23:31:30Z",
        "2009-02-13T23:31:30z",
        "2009-02-13T23:31:30",
        "2009-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2009-13-01T00:00:00Z",
        "2009-00-01T00:00:00Z",
        "2009-01-00T00:00:00Z",
        "2009-02-13T24:00:00Z",
        "2009-02-13T23:60:00Z",
        "2009-02-13T23:31:60Z",
        "2009-02-13T23:31:30.Z",
        "2009-02-13T23:31:30+25:00",
        "2009-02-13T23:31:30+00:61",
        "2009-02-13T23:31:30+0100",
        "2009-02-13T23:31:30Z ",
        "12009-02-13T23:31:30Z",
        "209-02-13T23:31:30Z",
        "2009-02-13T23:31:30*01:00",
    ];
    for text in refused {
        assert!(Timestamp::parse(text).is_none(), "{text}");
    }
    for text in ["0000-12-31T23:59:59Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01"] {
        assert_eq!(Timestamp::parse(text).unwrap().checked().unwrap_err().message, "timestamp overflow", "{text}");
    }
}

#[test]
fn timestamps_and_durations_have_sums_and_differences() {
    let at = |text: &str| Timestamp::parse(text).unwrap();
    let length = |nanoseconds| Duration { nanoseconds };
    let plus = |text: &str, nanoseconds| at(text).plus(length(nanoseconds)).map(|at| at.to_string());
    assert_eq!(plus("2009-02-13T23:31:30.5+01:00", 500_000_000).unwrap(), "2009-02-13T23:31:31+01:00");
    assert_eq!(plus("2009-02-13T23:31:30Z", -1).unwrap(), "2009-02-13T23:31:29.999999999Z");
    assert_eq!(plus("9999-12-31T23:59:59+01:00", 3_600_000_000_000).unwrap(), "10000-01-01T00:59:59+01:00");
    assert_eq!(plus("9999-12-31T23:59:59Z", 1_000_000_000).unwrap_err().message, "timestamp overflow");
    assert_eq!(plus("0001-01-01T00:00:00Z", -1).unwrap_err().message, "timestamp overflow");
    assert_eq!(at("2009-02-13T00:00:00Z").minus(length(i64::MIN)).unwrap_err().message, "integer overflow");
    let since = |left: &str, right: &str| at(left).since(at(right)).map(|length| length.nanoseconds);
    assert_eq!(since("2009-02-13T00:00:01Z", "2009-02-13T01:00:00.5+01:00"), Ok(500_000_000));
    assert_eq!(since("9999-01-01T00:00:00Z", "1970-01-01T00:00:00Z").unwrap_err().message, "integer overflow");
    assert!(at("2009-02-14T00:31:30+01:00") == at("2009-02-13T23:31:30Z"));
    assert!(at("0001-01-01T00:00:00Z").is_zero() && !at("1970-01-01T00:00:00Z").is_zero());
}

#[test]
fn the_parts_of_a_timestamp_are_those_of_its_zone() {
    let parts = |text: &str, zone: &str| {
        let at = Timestamp::parse(text).unwrap();
        let at = at.fields(Zone::named(zone).unwrap().offset(at));
        format!(
            "{}-{}-{} {}:{}:{} {} {}",
            at.year, at.month, at.day, at.hour, at.minute, at.second, at.day_of_year, at.day_of_week
        )
    };
    let cases = [
        ("2009-02-13T23:31:30Z", "UTC", "2009-2-13 23:31:30 44 5"),
        ("2009-02-13T23:31:30Z", "", "2009-2-13 23:31:30 44 5"),
        ("2009-02-13T23:31:30Z", "Australia/Sydney", "2009-2-14 10:31:30 45 6"),
        ("2009-02-13T23:31:30Z", "US/Central", "2009-2-13 17:31:30 44 5"),
        ("2009-07-13T23:31:30Z", "America/Los_Angeles", "2009-7-13 16:31:30 194 1"),
        ("2009-02-13T23:31:30Z", "+01:30", "2009-2-14 1:1:30 45 6"),
        ("2009-02-13T23:31:30Z", "2:00", "2009-2-14 1:31:30 45 6"),
        ("2009-02-13T23:31:30Z", "-00:30", "2009-2-13 23:1:30 44 5"),
        ("2009-02-13T23:31:30Z", "-08:15", "2009-2-13 15:16:30 44 5"),
        ("2009-02-13T23:31:30Z", "01:99", "2009-2-14 2:10:30 45 6"),
        ("1800-01-01T00:00:00Z", "America/New_York", "1799-12-31 19:3:58 365 2"),
        ("9999-12-31T23:59:59Z", "Asia/Kolkata", "10000-1-1 5:29:59 1 6"),
        ("0001-01-01T00:00:00Z", "-01:00", "0-12-31 23:0:0 366 0"),
        ("2000-12-31T12:00:00Z", "UTC", "2000-12-31 12:0:0 366 0"),
    ];
    for (text, zone, expected) in cases {
        assert_eq!(parts(text, zone), expected, "{text} {zone}");
    }
    let errors = [
        ("Foo/Bar", "unknown time zone Foo/Bar"),
        ("us/central", "unknown time zone us/central"),
        ("xx:00", "strconv.Atoi: parsing \"xx\": invalid syntax"),
        (":30", "strconv.Atoi: parsing \"\": invalid syntax"),
        ("1:2:3", "strconv.Atoi: parsing \"2:3\": invalid syntax"),
        ("99999999999999999999:00", "strconv.Atoi: parsing \"99999999999999999999\": value out of range"),
        ("../UTC", "time: invalid location name"),
    ];
    for (zone, message) in errors {
        assert_eq!(Zone::named(zone).unwrap_err().message, message, "{zone}");
    }
    // Any number is an offset, as in Go.
    parts("2009-02-13T23:31:30Z", "9223372036854775807:9223372036854775807");
}

#[test]
fn errors_show_times_as_go_prints_them() {
    let durations = [
        (0, "0s"),
        (7, "7ns"),
        (1_500, "1.5µs"),
        (-1_050_000, "-1.05ms"),
        (1_500_000_000, "1.5s"),
        (60_000_000_000, "1m0s"),
        (3_600_000_000_001, "1h0m0.000000001s"),
        (i64::MIN, "-2562047h47m16.854775808s"),
    ];
    for (nanoseconds, text) in durations {
        assert_eq!(Duration { nanoseconds }.go_text(), text);
    }
    let timestamps = [
        ("2009-02-13T23:31:30Z", "2009-02-13 23:31:30 +0000 UTC"),
        ("2009-02-13T23:31:30.50-01:30", "2009-02-13 23:31:30.5 -0130 -0130"),
    ];
    for (text, printed) in timestamps {
        assert_eq!(Timestamp::parse(text).unwrap().go_text(), printed);
    }
}
