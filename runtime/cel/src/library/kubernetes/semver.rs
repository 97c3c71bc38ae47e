//! Semantic versions: `semver("1.2.3-alpha.1")`, read as the Go package `blang/semver` reads them.
use std::{borrow::Cow, cmp::Ordering};

use kindsmith_meta::go::quoted;

use crate::{
    Error, Function, Library, Meter, Type, Value,
    cost::shared::READ,
    library::arguments::{accessor, bool, opaque, read_text},
    value::Opaque,
};

/// The library of versions.
pub static SEMVER: Library =
    Library { name: "kubernetes.Semver", functions, macros: &[], types: Vec::new, validators: &[] };

/// A version: `kubernetes.Semver`. Its build metadata is checked, and not kept: it does not count in comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major, minor and patch.
    numbers: [u64; 3],
    pre_release: Vec<Identifier>,
}

/// An identifier of a pre-release. Numbers come before others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(String),
}

impl Opaque for Version {
    fn type_name(&self) -> &'static str {
        "kubernetes.Semver"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast() == Some(self)
    }

    fn bytes(&self) -> usize {
        let bytes = |identifier: &Identifier| match identifier {
            Identifier::Number(_) => 8,
            Identifier::Text(text) => 8 + text.len(),
        };
        self.pre_release.iter().map(bytes).sum()
    }
}

impl Version {
    /// Reads a version.
    ///
    /// # Errors
    /// What is wrong, in the package's words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::new("Version string empty"));
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(patch)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::new("No Major.Minor.Patch elements found"));
        };
        let (patch, build) = patch.split_once('+').map_or((patch, None), |(patch, build)| (patch, Some(build)));
        let (patch, pre_release) = patch.split_once('-').map_or((patch, None), |(patch, pre)| (patch, Some(pre)));
        let numbers = [number("Major", major)?, number("Minor", minor)?, number("Patch", patch)?];
        let pre_release =
            pre_release.into_iter().flat_map(|pre| pre.split('.')).map(identifier).collect::<Result<_, _>>()?;
        build.into_iter().flat_map(|build| build.split('.')).try_for_each(check_build)?;
        Ok(Self { numbers, pre_release })
    }

    /// Reads a version that may have a `v` before it, zeros before its numbers, and no minor and patch.
    ///
    /// # Errors
    /// As [`Version::parse`].
    pub fn parse_normalized(text: &str) -> Result<Self, Error> {
        let mut parts: Vec<Cow<'_, str>> =
            text.strip_prefix('v').unwrap_or(text).splitn(3, '.').map(normalized).collect();
        if parts.len() < 3 && parts.last().is_some_and(|part| part.contains(['+', '-'])) {
            return Err(Error::new("short version cannot contain PreRelease/Build meta data"));
        }
        parts.resize(3, "0".into());
        Self::parse(&parts.join("."))
    }

    fn order(&self, other: &Self) -> Ordering {
        let pre_release = || match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
            (false, false) => self.pre_release.cmp(&other.pre_release),
            (left, right) => left.cmp(&right),
        };
        self.numbers.cmp(&other.numbers).then_with(pre_release)
    }
}

/// A part without zeros before its number, of which one stays if there is no other digit.
fn normalized(part: &str) -> Cow<'_, str> {
    let bare = part.trim_start_matches('0');
    if part.len() <= 1 {
        part.into()
    } else if bare.starts_with(|first: char| first.is_ascii_digit()) {
        bare.into()
    } else {
        format!("0{bare}").into()
    }
}

fn number(name: &str, text: &str) -> Result<u64, Error> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let name = name.to_ascii_lowercase();
        return Err(Error::new(format!("Invalid character(s) found in {name} number {}", quoted(text))));
    }
    if has_leading_zero(text) {
        return Err(Error::new(format!("{name} number must not contain leading zeroes {}", quoted(text))));
    }
    parsed(text)
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

/// Digits as a number.
fn parsed(text: &str) -> Result<u64, Error> {
    let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
    text.parse().map_err(|_| Error::new(format!("strconv.ParseUint: parsing {}: {why}", quoted(text))))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn identifier(text: &str) -> Result<Identifier, Error> {
    if text.is_empty() {
        return Err(Error::new("Prerelease is empty"));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        if has_leading_zero(text) {
            let message = format!("Numeric PreRelease version must not contain leading zeroes {}", quoted(text));
            return Err(Error::new(message));
        }
        return parsed(text).map(Identifier::Number);
    }
    if !is_word(text) {
        return Err(Error::new(format!("Invalid character(s) found in prerelease {}", quoted(text))));
    }
    Ok(Identifier::Text(text.to_owned()))
}

fn check_build(text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::new("Build meta data is empty"));
    }
    if !is_word(text) {
        return Err(Error::new(format!("Invalid character(s) found in build meta data {}", quoted(text))));
    }
    Ok(())
}

/// The version of the arguments: a text, and if it is to be normalized.
fn read(args: &[Value<'_>], meter: &dyn Meter) -> Result<Result<Version, Error>, Error> {
    let text = read_text(args, 0, meter)?;
    let normalizes = args.len() > 1 && bool(args, 1)?;
    Ok(if normalizes { Version::parse_normalized(text) } else { Version::parse(text) })
}

fn order(args: &[Value<'_>], meter: &dyn Meter) -> Result<Ordering, Error> {
    let left = opaque::<Version>(args, 0)?;
    meter.spend(left.bytes() / 64)?;
    Ok(left.order(opaque(args, 1)?))
}

fn functions() -> Vec<Function> {
    let semver = || Type::Struct("kubernetes.Semver".into());
    // Numbers above the maximum of `int` wrap, as in Go.
    let number =
        |name: &str, id: &str, get: fn(&Version) -> Value<'static>| accessor(name, id, semver(), Type::Int, get);
    vec![
        Function::new("semver")
            .global("string_to_semver", &[Type::String], semver())
            .does(|args, meter| read(args, meter)?.map(Value::opaque))
            .costs(READ)
            .global("string_bool_to_semver", &[Type::String, Type::Bool], semver())
            .does(|args, meter| read(args, meter)?.map(Value::opaque))
            .costs(READ),
        Function::new("isSemver")
            .global("is_semver_string", &[Type::String], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(read(args, meter)?.is_ok())))
            .costs(READ)
            .global("is_semver_string_bool", &[Type::String, Type::Bool], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(read(args, meter)?.is_ok())))
            .costs(READ),
        Function::new("isGreaterThan")
            .member("semver_is_greater_than", &[semver(), semver()], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(order(args, meter)? == Ordering::Greater))),
        Function::new("isLessThan")
            .member("semver_is_less_than", &[semver(), semver()], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(order(args, meter)? == Ordering::Less))),
        Function::new("compareTo")
            .member("semver_compare_to", &[semver(), semver()], Type::Int)
            .does(|args, meter| Ok(Value::Int(order(args, meter)? as i64))),
        number("major", "semver_major", |version| Value::Int(version.numbers[0].cast_signed())),
        number("minor", "semver_minor", |version| Value::Int(version.numbers[1].cast_signed())),
        number("patch", "semver_patch", |version| Value::Int(version.numbers[2].cast_signed())),
    ]
}
