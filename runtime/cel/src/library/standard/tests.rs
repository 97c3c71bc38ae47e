//! What functions give for arguments, and their errors.
use super::{OPTIONALS, STANDARD};
use crate::{
    Error, Function, Unmetered, Value,
    value::{Duration, Octets, Timestamp},
};

/// Calls the overload with an id.
fn call(id: &str, arguments: &[Value<'static>]) -> Result<Value<'static>, Error> {
    let mut functions = (STANDARD.functions)().into_iter().chain((OPTIONALS.functions)());
    let overload = functions.find_map(|function: Function| function.with_id(id).cloned()).expect(id);
    overload.implementation.expect(id)(arguments, &Unmetered)
}

fn shown(result: &Result<Value<'_>, Error>) -> String {
    match result {
        Ok(value @ (Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Bool(_))) => {
            format!("{} {value}", value.type_name())
        }
        Ok(Value::Duration(duration)) => format!("duration {duration}"),
        Ok(Value::Timestamp(timestamp)) => format!("timestamp {timestamp}"),
        Ok(value) => value.to_string(),
        Err(error) => format!("! {error}"),
    }
}

fn check(cases: &[(&str, Vec<Value<'static>>, &str)]) {
    for (id, arguments, expected) in cases {
        assert_eq!(shown(&call(id, arguments)), *expected, "{id} {arguments:?}");
    }
}

fn int(value: i64) -> Value<'static> {
    Value::Int(value)
}

fn uint(value: u64) -> Value<'static> {
    Value::Uint(value)
}

fn double(value: f64) -> Value<'static> {
    Value::Double(value)
}

fn text(value: &'static str) -> Value<'static> {
    Value::from(value)
}

fn bytes(value: &'static [u8]) -> Value<'static> {
    Value::Bytes(Octets::Borrowed(value))
}

fn duration(nanoseconds: i64) -> Value<'static> {
    Value::Duration(Duration { nanoseconds })
}

fn timestamp(value: &str) -> Value<'static> {
    Value::Timestamp(Timestamp::parse(value).expect("a timestamp"))
}

#[test]
fn every_overload_is_declared_once_and_does_something_unless_the_evaluator_does() {
    let of_evaluator = [
        "conditional",
        "logical_and",
        "logical_or",
        "equals",
        "not_equals",
        "index_list",
        "index_map",
        "in_list",
        "in_map",
        "optional_or_optional",
        "optional_orValue_value",
        "select_optional_field",
        "list_optindex_optional_int",
        "optional_list_optindex_optional_int",
        "map_optindex_optional_value",
        "optional_map_optindex_optional_value",
        "optional_list_index_int",
        "optional_map_index_value",
    ];
    let mut ids = std::collections::HashSet::new();
    for function in (STANDARD.functions)().into_iter().chain((OPTIONALS.functions)()) {
        for overload in function.overloads {
            assert!(ids.insert(overload.id.to_string()), "{}", overload.id);
            assert_eq!(overload.implementation.is_none(), of_evaluator.contains(&&*overload.id), "{}", overload.id);
        }
    }
    assert_eq!(ids.len(), 181);
}

#[test]
fn arithmetic_is_checked() {
    check(&[
        ("add_int64", vec![int(i64::MAX), int(1)], "! integer overflow"),
        ("subtract_int64", vec![int(i64::MIN), int(1)], "! integer overflow"),
        ("multiply_int64", vec![int(i64::MIN), int(-1)], "! integer overflow"),
        ("divide_int64", vec![int(i64::MIN), int(-1)], "! integer overflow"),
        ("modulo_int64", vec![int(i64::MIN), int(-1)], "! integer overflow"),
        ("negate_int64", vec![int(i64::MIN)], "! integer overflow"),
        ("divide_int64", vec![int(-7), int(2)], "int -3"),
        ("modulo_int64", vec![int(-7), int(2)], "int -1"),
        ("divide_int64", vec![int(1), int(0)], "! division by zero"),
        ("modulo_uint64", vec![uint(1), uint(0)], "! modulus by zero"),
        ("subtract_uint64", vec![uint(0), uint(1)], "! unsigned integer overflow"),
        ("add_uint64", vec![uint(u64::MAX), uint(1)], "! unsigned integer overflow"),
        ("divide_double", vec![double(1.0), double(0.0)], "double +Inf"),
        ("add_string", vec![text("a"), text("b")], "string ab"),
        ("add_bytes", vec![bytes(b"a"), bytes(b"b")], "[97 98]"),
        ("add_list", vec![Value::list(vec![int(1)]), Value::list(vec![int(2)])], "[1, 2]"),
        ("add_duration_duration", vec![duration(i64::MAX), duration(1)], "! integer overflow"),
        (
            "add_duration_timestamp",
            vec![duration(1), timestamp("2009-02-13T23:31:30Z")],
            "timestamp 2009-02-13T23:31:30.000000001Z",
        ),
        ("negate_int64", vec![duration(1)], "duration -0.000000001s"),
    ]);
}

#[test]
fn singletons_refuse_what_they_are_not_for() {
    check(&[
        ("add_int64", vec![int(1), uint(1)], "! no such overload"),
        ("add_int64", vec![Value::Null, int(1)], "! no such overload: _+_"),
        ("add_int64", vec![Value::Bool(true), int(1)], "! no such overload: _+_"),
        ("subtract_int64", vec![text("a"), int(1)], "! no such overload"),
        ("modulo_int64", vec![double(1.0), double(1.0)], "! no such overload: _%_"),
        ("negate_int64", vec![uint(1)], "! no such overload: -_"),
        ("negate_int64", vec![Value::Bool(true)], "! no such overload"),
        ("logical_not", vec![int(1)], "! no such overload"),
        ("less_int64", vec![int(1), text("a")], "! no such overload"),
        ("less_int64", vec![Value::list(vec![]), int(1)], "! no such overload: _<_"),
        ("size_string", vec![int(1)], "! no such overload: size"),
        ("matches", vec![int(1), text("a")], "! no such overload: matches"),
        ("contains_string", vec![int(1), text("a")], "! no such overload"),
        ("not_strictly_false", vec![int(1)], "bool true"),
    ]);
}

#[test]
fn values_are_ordered_across_numbers() {
    check(&[
        ("less_int64_double", vec![int(1), double(1.5)], "bool true"),
        ("less_int64_uint64", vec![int(-1), uint(0)], "bool true"),
        ("greater_double_uint64", vec![double(1e300), uint(u64::MAX)], "bool true"),
        ("less_equals_double", vec![double(f64::NAN), double(1.0)], "! NaN values cannot be ordered"),
        ("less_double", vec![double(f64::NAN), text("a")], "! NaN values cannot be ordered"),
        ("less_int64_double", vec![int(1), double(f64::NAN)], "! NaN values cannot be ordered"),
        ("greater_equals_string", vec![text("b"), text("a")], "bool true"),
        ("less_bool", vec![Value::Bool(false), Value::Bool(true)], "bool true"),
        ("less_bytes", vec![bytes(b"a"), bytes(b"ab")], "bool true"),
        ("less_duration", vec![duration(1), duration(1)], "bool false"),
        (
            "less_equals_timestamp",
            vec![timestamp("2009-02-14T00:31:30+01:00"), timestamp("2009-02-13T23:31:30Z")],
            "bool true",
        ),
    ]);
}

#[test]
fn conversions_give_what_go_gives() {
    check(&[
        ("double_to_int64", vec![double(-3.9)], "int -3"),
        ("double_to_int64", vec![double(9_223_372_036_854_775_807.0)], "! integer overflow"),
        ("double_to_int64", vec![double(-9_223_372_036_854_775_808.0)], "! integer overflow"),
        ("double_to_int64", vec![double(f64::NAN)], "! integer overflow"),
        ("double_to_uint64", vec![double(-0.5)], "! unsigned integer overflow"),
        ("double_to_uint64", vec![double(-0.0)], "uint 0"),
        ("double_to_uint64", vec![double(18_446_744_073_709_551_616.0)], "! unsigned integer overflow"),
        ("int64_to_uint64", vec![int(-1)], "! unsigned integer overflow"),
        ("uint64_to_int64", vec![uint(u64::MAX)], "! integer overflow"),
        ("string_to_int64", vec![text("+5")], "int 5"),
        ("string_to_int64", vec![text("0x5")], "! type conversion error from 'string' to 'int'"),
        ("string_to_uint64", vec![text("+5")], "! type conversion error from 'string' to 'uint'"),
        ("string_to_uint64", vec![text("18446744073709551615")], "uint 18446744073709551615"),
        ("string_to_bool", vec![text("T")], "bool true"),
        ("string_to_bool", vec![text("tRUE")], "! type conversion error from 'string' to 'bool'"),
        ("string_to_double", vec![text("1e400")], "! type conversion error from 'string' to 'double'"),
        ("duration_to_int64", vec![duration(5)], "int 5"),
        ("timestamp_to_int64", vec![timestamp("1969-12-31T23:59:59.5Z")], "int -1"),
        ("int64_to_timestamp", vec![int(1)], "timestamp 1970-01-01T00:00:01Z"),
        ("int64_to_timestamp", vec![int(i64::MAX)], "! timestamp overflow"),
        ("int64_to_duration", vec![int(1)], "! type conversion error from 'int' to 'google.protobuf.Duration'"),
        ("string_to_duration", vec![text("1d")], "! type conversion error from 'string' to 'google.protobuf.Duration'"),
        (
            "string_to_timestamp",
            vec![text("x")],
            "! type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        ("string_to_timestamp", vec![text("0000-01-01T00:00:00Z")], "! timestamp overflow"),
        ("bytes_to_string", vec![bytes(b"\xff")], "! invalid UTF-8 in bytes, cannot convert to string"),
        ("string_to_bytes", vec![text("é")], "[195 169]"),
        ("bool_to_string", vec![Value::Bool(true)], "string true"),
        ("double_to_string", vec![double(1e6)], "string 1e+06"),
        ("double_to_string", vec![double(123_456.0)], "string 123456"),
        ("double_to_string", vec![double(0.00001)], "string 1e-05"),
        ("double_to_string", vec![double(f64::NEG_INFINITY)], "string -Inf"),
        ("duration_to_string", vec![duration(1_500_000_000)], "string 1.5s"),
        ("timestamp_to_string", vec![timestamp("2009-02-13T23:31:30.50+01:00")], "string 2009-02-13T23:31:30.5+01:00"),
        ("type", vec![Value::Null], "null_type"),
        ("type", vec![duration(1)], "google.protobuf.Duration"),
        ("type", vec![Value::Type("int".into())], "type"),
    ]);
}

#[test]
fn doubles_are_read_as_go_reads_them() {
    let read = [
        ("1.5", 1.5),
        ("-1e3", -1000.0),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("infinity", f64::INFINITY),
        ("-Inf", f64::NEG_INFINITY),
        ("0x1p-2", 0.25),
        ("-0X1.8p1", -3.0),
        ("0x_1_2.3_4_5p+1_2", 74_565.0),
        ("1_23.50_0_0e+1_2", 1.235e14),
        ("4.9e-324", 5e-324),
        ("1e-400", 0.0),
        ("0x1p-1074", 5e-324),
        ("0x1p-1075", 0.0),
        ("0x1.8p-1075", 5e-324),
        ("0x1.fffffffffffff8p1022", 8.988_465_674_311_58e307),
        ("0x.1p0", 0.0625),
        ("0x1.00000000000008p0", 1.0),
        ("0x1.000000000000081p0", 1.000_000_000_000_000_2),
        ("0x1p-9999999999999999999", 0.0),
        ("0x0p99999", 0.0),
    ];
    for (given, value) in read {
        assert_eq!(super::number::parse_double(given).map(f64::to_bits), Some(value.to_bits()), "{given}");
    }
    assert!(super::number::parse_double("NaN").is_some_and(f64::is_nan));
    let refused = [
        "", "+", ".", "e5", "1e", "1e400", "-1e400", "+nan", "1__2", "_1", "1_", "1_.5", "0x1", "0x1p", "0xp1",
        "0x1p1024", "0x1_p1", "1e_5", " 1", "1 ", "0x1p1.5", "0x1p--1", "infin", "1f",
    ];
    for given in refused {
        assert_eq!(super::number::parse_double(given), None, "{given}");
    }
}

#[test]
fn strings_are_searched_and_matched() {
    check(&[
        ("contains_string", vec![text("hello"), text("ell")], "bool true"),
        ("contains_string", vec![text(""), text("")], "bool true"),
        ("starts_with_string", vec![text("hello"), text("lo")], "bool false"),
        ("ends_with_string", vec![text("hello"), text("lo")], "bool true"),
        ("matches_string", vec![text("hello"), text("^h.l+o$")], "bool true"),
        ("matches", vec![text("hello"), text("(")], "! error parsing regexp: missing closing ): `(`"),
        ("size_string", vec![text("héé")], "int 3"),
        ("size_bytes", vec![bytes("é".as_bytes())], "int 2"),
        ("list_size", vec![Value::list(vec![int(1), int(2)])], "int 2"),
    ]);
}

#[test]
fn parts_of_times_are_counted_as_the_reference_counts_them() {
    let at = || timestamp("2009-02-13T23:31:30.123Z");
    check(&[
        ("timestamp_to_year", vec![at()], "int 2009"),
        ("timestamp_to_month", vec![at()], "int 1"),
        ("timestamp_to_day_of_year", vec![at()], "int 43"),
        ("timestamp_to_day_of_month", vec![at()], "int 12"),
        ("timestamp_to_day_of_month_1_based", vec![at()], "int 13"),
        ("timestamp_to_day_of_week", vec![at()], "int 5"),
        ("timestamp_to_hours", vec![timestamp("2009-02-13T23:31:30+01:00")], "int 22"),
        ("timestamp_to_hours_with_tz", vec![at(), text("Australia/Sydney")], "int 10"),
        ("timestamp_to_minutes_with_tz", vec![at(), text("-00:30")], "int 1"),
        ("timestamp_to_seconds_tz", vec![at(), text("UTC")], "int 30"),
        ("timestamp_to_milliseconds", vec![at()], "int 123"),
        ("timestamp_to_year_with_tz", vec![at(), text("Foo/Bar")], "! unknown time zone Foo/Bar"),
        ("duration_to_hours", vec![duration(5_400_000_000_000)], "int 1"),
        ("duration_to_milliseconds", vec![duration(123_321_456)], "int 123"),
    ]);
}

#[test]
fn optional_values_hold_a_value_or_none() {
    let (some, none) = (|value| Value::optional(Some(value)), || Value::Optional(None));
    let list = || Value::list(vec![some(int(1)), none()]);
    check(&[
        ("optional_ofNonZeroValue", vec![text("")], "optional.none()"),
        ("optional_ofNonZeroValue", vec![double(-0.0)], "optional.none()"),
        ("optional_ofNonZeroValue", vec![timestamp("0001-01-01T00:00:00Z")], "optional.none()"),
        ("optional_ofNonZeroValue", vec![none()], "optional(optional.none())"),
        ("optional_of", vec![Value::Bool(false)], "optional(false)"),
        ("optional_none", vec![], "optional.none()"),
        ("optional_value", vec![none()], "! optional.none() dereference"),
        ("optional_value", vec![some(int(1))], "int 1"),
        ("optional_hasValue", vec![some(Value::Null)], "bool true"),
        ("list_first", vec![Value::list(vec![])], "optional.none()"),
        ("list_last", vec![Value::list(vec![int(1), int(2)])], "optional(2)"),
        ("optional_unwrap", vec![list()], "[1]"),
        ("optional_unwrapOpt", vec![Value::list(vec![int(5)])], "! value 5 is not optional"),
    ]);
}
