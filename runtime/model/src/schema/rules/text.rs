//! Values of texts with a format: durations, dates, times and bytes, with kube-apiserver's errors.
use base64::{
    DecodeError, Engine,
    alphabet::URL_SAFE,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use jiff::civil;
use kindsmith_cel::{
    Error, Value,
    value::{Duration, Octets, Timestamp},
};

use crate::{meta::time::Layout, schema::format};

/// Go reads the rest of the last byte, whatever it is.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&URL_SAFE, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The value of a text with a format.
pub(super) fn read<'a>(text: &'a str, format: Option<&str>) -> Result<Value<'a>, Error> {
    match format {
        Some("duration") => duration(text),
        Some("date") => date(text),
        Some("date-time") => date_time(text),
        Some("byte") => bytes(text),
        _ => Ok(text.into()),
    }
}

fn duration(text: &str) -> Result<Value<'static>, Error> {
    match format::nanoseconds(text) {
        Some(nanoseconds) => Ok(Value::Duration(Duration { nanoseconds })),
        None => Err(Error::new(format!("Invalid duration {text}: unable to parse {text} as duration"))),
    }
}

fn date(text: &str) -> Result<Value<'static>, Error> {
    if let Some((date, "")) = civil_date(text) {
        return Ok(timestamp(date, [0, 0, 0], 0, 0));
    }
    let why = Layout::DATE.read(text).err().unwrap_or_default();
    Err(Error::new(format!("Invalid date formatted string {text}: {why}")))
}

fn date_time(text: &str) -> Result<Value<'static>, Error> {
    if text.is_empty() {
        return Ok(Value::Timestamp(Timestamp { seconds: 0, nanoseconds: 0, offset: 0 }));
    }
    rfc_3339(text).ok_or_else(|| {
        let why = Layout::RFC_3339.read(text).err().unwrap_or_default();
        Error::new(format!("Invalid date-time formatted string {text}: {why}"))
    })
}

/// A time with an offset, or without one in UTC; with any number of digits after the seconds.
fn rfc_3339(text: &str) -> Option<Value<'static>> {
    let (date, rest) = civil_date(text)?;
    let (hour, rest) = number(rest.strip_prefix('T')?, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, mut rest) = number(rest.strip_prefix(':')?, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut nanoseconds = 0;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let (fraction, after) = fraction.split_at(digits);
        for place in 0..9 {
            nanoseconds = nanoseconds * 10 + u32::from(fraction.as_bytes().get(place).map_or(0, |digit| digit - b'0'));
        }
        rest = if digits == 0 { return None } else { after };
    }
    let offset = match rest.as_bytes() {
        b"" | b"Z" => 0,
        [sign @ (b'+' | b'-'), ..] => {
            let (hours, after) = number(&rest[1..], 2)?;
            let (minutes, after) = number(after.strip_prefix(':')?, 2)?;
            if !after.is_empty() || hours > 24 || minutes > 60 {
                return None;
            }
            (hours * 60 + minutes) * 60 * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    Some(timestamp(date, [hour, minute, second], nanoseconds, offset))
}

fn timestamp(date: civil::Date, [hour, minute, second]: [i32; 3], nanoseconds: u32, offset: i32) -> Value<'static> {
    let days = i64::from(civil::date(1970, 1, 1).until(date).map_or(0, |span| span.get_days()));
    let seconds = days * 86_400 + i64::from((hour * 60 + minute) * 60 + second - offset);
    Value::Timestamp(Timestamp { seconds, nanoseconds, offset })
}

/// The date at the beginning of a text, and the rest.
fn civil_date(text: &str) -> Option<(civil::Date, &str)> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let [year, month, day] = [year, month, day].map(|number| i16::try_from(number).unwrap_or_default());
    let date = civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some((date, rest))
}

/// The number of so many digits at the beginning of a text, and the rest.
fn number(text: &str, digits: usize) -> Option<(i32, &str)> {
    let (digits, rest) = text.split_at_checked(digits)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| Some((digits.parse().ok()?, rest)))?
}

/// The alphabet for URLs alone is read, although validation allows the other one.
fn bytes(text: &str) -> Result<Value<'static>, Error> {
    let decoded =
        if text.contains(['\r', '\n']) { BASE64.decode(text.replace(['\r', '\n'], "")) } else { BASE64.decode(text) };
    decoded.map(|bytes| Value::Bytes(Octets::Shared(bytes.into()))).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len() / 4 * 4,
        };
        Error::new(format!("Invalid byte formatted string {text}: illegal base64 data at input byte {at}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, format: &str) -> String {
        match read(text, Some(format)) {
            Ok(Value::Duration(duration)) => duration.nanoseconds.to_string(),
            Ok(Value::Timestamp(at)) => format!("{}.{:09} {}", at.seconds, at.nanoseconds, at.offset),
            Ok(Value::Bytes(bytes)) => format!("{:?}", &*bytes),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn texts_are_read_by_their_formats() {
        for (text, format, expected) in [
            ("1h30m", "duration", "5400000000000"),
            ("-1s", "duration", "-1000000000"),
            ("3 minutes", "duration", "180000000000"),
            ("22 ns", "duration", "22"),
            ("2 days 1 hr", "duration", "176400000000000"),
            ("x", "duration", "Invalid duration x: unable to parse x as duration"),
            ("1970-01-02", "date", "86400.000000000 0"),
            ("0001-01-01", "date", "-62135596800.000000000 0"),
            ("", "date-time", "0.000000000 0"),
            ("1970-01-01T00:00:01Z", "date-time", "1.000000000 0"),
            ("1970-01-01T01:00:00.25+01:00", "date-time", "0.250000000 3600"),
            ("1970-01-01T00:00:00", "date-time", "0.000000000 0"),
            ("2011-08-18T19:03:37.010000000+01:00", "date-time", "1313690617.010000000 3600"),
            ("YWI=", "byte", "[97, 98]"),
            ("_-8=", "byte", "[255, 239]"),
            ("ab+/", "byte", "Invalid byte formatted string ab+/: illegal base64 data at input byte 2"),
            ("a", "uri", "String(\"a\")"),
        ] {
            assert_eq!(shown(text, format), expected, "{text} {format}");
        }
    }
}
