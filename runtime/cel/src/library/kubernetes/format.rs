//! Formats of text: `format.dns1123Label().validate("a b")` gives the errors that Kubernetes has for names.
use kindsmith_meta::{time::Layout, validate as names, values::is_base64};

use super::url::check_request_uri;
use crate::{
    Cost, Function, Library, Type, Value,
    cost::{CallCost, PATTERN, TRAVERSAL, scaled, shared::read},
    library::arguments::{opaque, read_text, text, texts},
    value::Opaque,
};

/// The library of formats.
pub static FORMAT: Library =
    Library { name: "kubernetes.format", functions, macros: &[], types: Vec::new, validators: &[] };

/// A format of text: `kubernetes.NamedFormat`.
#[derive(Debug)]
pub struct Format {
    name: &'static str,
    /// The errors of a text.
    errors: fn(&str) -> Vec<String>,
    /// The length of the regular expression of the format, or of one like it, for costs.
    pattern_length: u64,
}

impl Opaque for &'static Format {
    fn type_name(&self) -> &'static str {
        "kubernetes.NamedFormat"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.name == other.name)
    }
}

const fn format(name: &'static str, pattern_length: u64, errors: fn(&str) -> Vec<String>) -> Format {
    Format { name, errors, pattern_length }
}

static FORMATS: [Format; 13] = [
    format("dns1123Label", 30, |text| names::label(text, false)),
    format("dns1123Subdomain", 60, |text| names::subdomain(text, false)),
    format("dns1035Label", 30, names::dns_1035_label),
    format("qualifiedName", 60, names::qualified_name),
    format("dns1123LabelPrefix", 30, |text| names::label(text, true)),
    format("dns1123SubdomainPrefix", 60, |text| names::subdomain(text, true)),
    format("dns1035LabelPrefix", 30, |text| names::dns_1035_label(&without_dash(text))),
    format("labelValue", 40, names::label_value),
    format("uri", 1103, |text| check_request_uri(text).err().into_iter().collect()),
    format("uuid", 70, |text| unless(is_uuid(text), "does not match the UUID format")),
    format("byte", 84, |text| unless(is_base64(text), "invalid base64")),
    format("date", 71, |text| unless(Layout::DATE.allows(text), "invalid date")),
    format("datetime", 71, |text| unless(is_date_time(text), "invalid datetime")),
];

/// A prefix of a name without the dash at its end. One more character goes than the dash, as in kube-apiserver.
fn without_dash(prefix: &str) -> String {
    let mut masked = prefix.to_owned();
    if masked.len() > 1 && masked.ends_with('-') {
        masked.truncate(masked.floor_char_boundary(masked.len() - 2));
        masked.push('a');
    }
    masked
}

fn unless(is_valid: bool, error: &str) -> Vec<String> {
    if is_valid { Vec::new() } else { vec![error.to_owned()] }
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12, with optional dashes in between.
pub fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (index, size) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        match rest.split_at_checked(size) {
            Some((group, after)) if group.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// A date, a `T`, a time of day and an offset, in upper or lower case. Any character may come before the fraction, an offset is any
/// four digits, and text after another `T` does not count.
pub fn is_date_time(text: &str) -> bool {
    let mut parts = text.split(['T', 't']);
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    if !Layout::DATE.allows(date) {
        return false;
    }
    let two_digits = |at: usize, most: &str| {
        time.get(at..at + 2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()) && digits <= most)
    };
    let is = |at: usize, byte: u8| time.as_bytes().get(at) == Some(&byte);
    if !(two_digits(0, "23") && is(2, b':') && two_digits(3, "59") && is(5, b':') && two_digits(6, "59")) {
        return false;
    }
    let (fraction, has_offset) = match time.as_bytes() {
        [.., b'Z' | b'z'] => (&time[8..time.len() - 1], true),
        [.., sign, h1, h2, b':', m1, m2] if time.len() >= 14 => {
            let digits = [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit());
            (time.get(8..time.len() - 6).unwrap_or("?"), digits && matches!(sign, b'+' | b'-'))
        }
        _ => return false,
    };
    let mut fraction = fraction.chars();
    let is_fraction = match fraction.next() {
        None => true,
        Some('\n') => false,
        Some(_) => !fraction.as_str().is_empty() && fraction.all(|c| c.is_ascii_digit()),
    };
    has_offset && is_fraction
}

/// The greatest length of a regular expression of a format, for estimates.
const LONGEST_PATTERN: f64 = 128.0;

/// A text is matched with the regular expression of a format.
const VALIDATE: Cost = Cost {
    estimate: |call| CallCost::of(read(call, 1).scaled(LONGEST_PATTERN * PATTERN)),
    charge: |args, _| {
        let size = args.get(1).map_or(0, Value::size).saturating_add(1);
        let pattern = args.first().and_then(Value::downcast).map_or(0, |format: &&Format| format.pattern_length);
        scaled(size, TRAVERSAL).saturating_mul(scaled(pattern, PATTERN))
    },
};

fn functions() -> Vec<Function> {
    let kind = || Type::Struct("kubernetes.NamedFormat".into());
    let constants = FORMATS.iter().map(|format| {
        let name = format!("format.{}", format.name);
        Function::new(&name).global(&name, &[], kind()).does(move |_, _| Ok(Value::opaque(format)))
    });
    let named = Function::new("format.named").global("format-named", &[Type::String], Type::optional(kind())).does(
        |args, _| {
            let name = text(args, 0)?;
            Ok(Value::optional(FORMATS.iter().find(|format| format.name == name).map(Value::opaque)))
        },
    );
    let validate = Function::new("validate")
        .member("format-validate", &[kind(), Type::String], Type::optional(Type::list(Type::String)))
        .does(|args, meter| {
            let text = read_text(args, 1, meter)?;
            let errors = (opaque::<&Format>(args, 0)?.errors)(text);
            Ok(Value::optional((!errors.is_empty()).then(|| texts(errors))))
        })
        .costs(VALIDATE);
    constants.chain([named, validate]).collect()
}
