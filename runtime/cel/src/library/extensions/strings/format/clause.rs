//! Clauses of formats: `%s`, `%.2f`.
use super::Style;

/// The greatest precision that the plain style accepts.
const MOST_PRECISE: u64 = 100;

/// A clause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause {
    pub verb: Verb,
    pub precision: Option<u64>,
}

/// How a clause prints its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    String,
    Decimal,
    Fixed,
    Scientific,
    Binary,
    Hexadecimal { upper: bool },
    Octal,
}

impl Clause {
    /// Reads what follows a percent sign, and returns the rest.
    ///
    /// # Errors
    /// It is no clause.
    pub(super) fn read(text: &str, style: Style) -> Result<(Self, &str), String> {
        if text.is_empty() {
            return Err(ENDS_EARLY.into());
        }
        Self::parse(text, style).map_err(|error| format!("could not parse formatting clause: {error}"))
    }

    fn parse(text: &str, style: Style) -> Result<(Self, &str), String> {
        let (precision, text) = match text.strip_prefix('.') {
            None => (None, text),
            Some(text) => {
                let (precision, text) =
                    precision(text, style).map_err(|error| format!("error while parsing precision: {error}"))?;
                (Some(precision), text)
            }
        };
        let verb = match text.as_bytes().first() {
            Some(b's') => Verb::String,
            Some(b'd') => Verb::Decimal,
            Some(b'f') => Verb::Fixed,
            Some(b'e') => Verb::Scientific,
            Some(b'b') => Verb::Binary,
            Some(b'x') => Verb::Hexadecimal { upper: false },
            Some(b'X') => Verb::Hexadecimal { upper: true },
            Some(b'o') => Verb::Octal,
            // A byte, whatever character it begins.
            other => {
                let byte = char::from(other.copied().unwrap_or_default());
                return Err(format!("unrecognized formatting clause \"{byte}\""));
            }
        };
        Ok((Self { verb, precision }, &text[1..]))
    }
}

/// A clause that ends with its percent sign.
pub(super) const ENDS_EARLY: &str = "unexpected end of string";

/// The error of a clause without a value.
pub(super) fn out_of_range(index: usize) -> String {
    format!("index {index} out of range")
}

fn precision(text: &str, style: Style) -> Result<(u64, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .ok_or_else(|| "could not find end of precision specifier".to_owned())?;
    let (digits, rest) = text.split_at(end);
    let invalid =
        |problem| format!("error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": {problem}");
    if digits.is_empty() {
        return Err(invalid("invalid syntax"));
    }
    let precision = digits.parse::<i64>().map_err(|_| invalid("value out of range"))?.unsigned_abs();
    if style == Style::Plain && precision > MOST_PRECISE {
        return Err(format!("precision {precision} exceeds maximum allowed precision {MOST_PRECISE}"));
    }
    Ok((precision, rest))
}

impl Verb {
    /// The error of a value of a type that the clause does not print.
    pub(super) fn rejection(self, style: Style, given: &str) -> String {
        let (locale, plain) = match self {
            Self::String => (STRING, STRING),
            Self::Decimal => (
                "decimal clause can only be used on integers",
                "decimal clause can only be used on ints, uints, and doubles",
            ),
            Self::Fixed => (
                "fixed-point clause can only be used on doubles",
                "fixed-point clause can only be used on ints, uints, and doubles",
            ),
            Self::Scientific => (
                "scientific clause can only be used on doubles",
                "scientific clause can only be used on ints, uints, and doubles",
            ),
            Self::Binary => (
                "only integers and bools can be formatted as binary",
                "only ints, uints, and bools can be formatted as binary",
            ),
            Self::Hexadecimal { .. } => (
                "only integers, byte buffers, and strings can be formatted as hex",
                "only ints, uints, bytes, and strings can be formatted as hex",
            ),
            Self::Octal => {
                ("octal clause can only be used on integers", "octal clause can only be used on ints and uints")
            }
        };
        let text = if style == Style::Locale { locale } else { plain };
        format!("{text}, was given {given}")
    }
}

const STRING: &str = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";
