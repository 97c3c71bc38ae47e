//! `regex`: parts of texts that regular expressions match. Kubernetes does not have it, but functions of its own.
use regex::{Captures, Regex};

use super::{grow_list, grow_text};
use crate::{
    CallCost, Cost, Error, Function, Library, Meter, Range, Type, Value,
    cost::{Call, PATTERN, TRAVERSAL, shared},
    re2,
    value::Text,
};

/// The only version. It needs optional values.
pub static REGEX: Library =
    Library { name: "cel.lib.ext.regex", functions, macros: &[], types: Vec::new, validators: &[] };

fn functions() -> Vec<Function> {
    let texts = [Type::String, Type::String, Type::String];
    vec![
        Function::new("regex.extract")
            .global("regex_extract_string_string", &texts[..2], Type::optional(Type::String))
            .does(|args, meter| match args {
                [Value::String(text), Value::String(pattern)] => extract(text, pattern, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost {
                estimate: |call| {
                    let size = Range::new(0, call.size(0).max);
                    CallCost::of(searched(call).plus(size)).with_size(size)
                },
                charge: |args, _| whole((search(args) + 2.0).ceil()),
            }),
        Function::new("regex.extractAll")
            .global("regex_extractAll_string_string", &texts[..2], Type::list(Type::String))
            .does(|args, meter| match args {
                [Value::String(text), Value::String(pattern)] => extract_all(text, pattern, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost {
                estimate: |call| {
                    let size = Range::new(0, call.size(0).max);
                    CallCost::of(searched(call).plus(size).plus(Range::exactly(10))).with_size(size)
                },
                charge: |args, result| whole((search(args) + 11.0 + size_of(result)).ceil()),
            }),
        Function::new("regex.replace")
            .global("regex_replace_string_string_string", &texts, Type::String)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(pattern), Value::String(new)] => {
                    replace(text, pattern, new, -1, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(REPLACE)
            .global(
                "regex_replace_string_string_string_int",
                &[Type::String, Type::String, Type::String, Type::Int],
                Type::String,
            )
            .does(|args, meter| match args {
                [Value::String(text), Value::String(pattern), Value::String(new), Value::Int(most)] => {
                    replace(text, pattern, new, *most, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(REPLACE),
    ]
}

/// The size of the result overflows, as in cel-go.
const REPLACE: Cost = Cost {
    estimate: |call| {
        let (text, new) = (call.size(0).max, call.size(2).max);
        let size = if new == 0 { Range::new(0, text) } else { Range::new(text, text.wrapping_mul(new)) };
        CallCost::of(searched(call).plus(size)).with_size(size)
    },
    charge: |args, result| whole(search(args) + 1.0 + size_of(result)),
};

fn searched(call: &Call<'_>) -> Range {
    let text = call.size(0).plus(Range::ONE).scaled(TRAVERSAL);
    text.times(call.size(1).plus(Range::ONE).scaled(PATTERN))
}

#[expect(clippy::cast_precision_loss, reason = "cel-go calculates in doubles")]
fn search(args: &[Value<'_>]) -> f64 {
    let size = |argument| shared::size(args, argument).saturating_add(1) as f64;
    size(0) * TRAVERSAL * (size(1) * PATTERN)
}

#[expect(clippy::cast_precision_loss, reason = "cel-go calculates in doubles")]
fn size_of(result: Result<&Value<'_>, &Error>) -> f64 {
    result.map_or(1, Value::size) as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cel-go calculates in doubles")]
fn whole(cost: f64) -> u64 {
    cost as u64
}

/// A pattern, compiled with its groups.
fn read(pattern: &str, meter: &dyn Meter) -> Result<Regex, Error> {
    let compiled = re2::read_with_groups(pattern).map_err(Error::new)?;
    meter.spend(usize::try_from(re2::read(pattern).map_err(Error::new)?.size()).unwrap_or(usize::MAX) / 16)?;
    Ok(compiled)
}

/// Reports a search in a text, with the work that it may be.
fn spend(pattern: &str, text: &str, meter: &dyn Meter) -> Result<(), Error> {
    let steps = re2::read(pattern).map_err(Error::new)?.cost(text.len());
    meter.spend(usize::try_from(steps).unwrap_or(usize::MAX) / 16)
}

/// A pattern with one group at most.
fn read_one(text: &str, pattern: &str, meter: &dyn Meter) -> Result<Regex, Error> {
    let compiled = read(pattern, meter)?;
    if compiled.captures_len() > 2 {
        let pattern = kindsmith_meta::go::quoted(pattern);
        return Err(Error::new(format!("regular expression has more than one capturing group: {pattern}")));
    }
    spend(pattern, text, meter)?;
    Ok(compiled)
}

/// The group of a match, or the whole match if there is no group.
fn part<'a>(text: &Text<'a>, found: &Captures<'_>) -> Option<Value<'a>> {
    let part = match found.len() {
        1 => found.get(0),
        _ => found.get(1).filter(|group| !group.is_empty()),
    };
    part.map(|part| Value::String(text.part(part.range())))
}

fn extract<'a>(text: &Text<'a>, pattern: &str, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let found = read_one(text, pattern, meter)?.captures(text).and_then(|found| part(text, &found));
    Ok(Value::optional(found))
}

fn extract_all<'a>(text: &Text<'a>, pattern: &str, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let mut parts = Vec::new();
    for part in read_one(text, pattern, meter)?.captures_iter(text).filter_map(|found| part(text, &found)) {
        grow_list(meter, parts.len(), 1)?;
        parts.push(part);
    }
    Ok(Value::list(parts))
}

fn replace<'a>(text: &Text<'a>, pattern: &str, new: &str, most: i64, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    if most == 0 {
        return Ok(Value::String(text.clone()));
    }
    let compiled = read(pattern, meter)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut replaced = String::new();
    let mut end = 0;
    spend(pattern, text, meter)?;
    for found in compiled.captures_iter(text).take(most) {
        let whole = found.get_match();
        let kept = &text[end..whole.start()];
        grow_text(meter, replaced.len(), kept.len() + new.len())?;
        replaced.push_str(kept);
        push_replacement(&mut replaced, new, &found, meter)?;
        end = whole.end();
    }
    grow_text(meter, replaced.len(), text.len() - end)?;
    replaced.push_str(&text[end..]);
    Ok(replaced.into())
}

/// A replacement, in which `\1` is a group and `\\` a backslash.
fn push_replacement(replaced: &mut String, new: &str, found: &Captures<'_>, meter: &dyn Meter) -> Result<(), Error> {
    let invalid = |problem| Err(Error::new(format!("invalid replacement string: '{new}' \\ {problem}")));
    let mut chars = new.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            replaced.push(c);
            continue;
        }
        match chars.next() {
            None => return invalid("not allowed at end"),
            Some('\\') => replaced.push('\\'),
            Some(digit) => {
                let Some(group) = digit.to_digit(10) else { return invalid("must be followed by a digit or \\") };
                let groups = found.len() - 1;
                if group as usize > groups {
                    return Err(Error::new(format!(
                        "replacement string references group {group} but regex has only {groups} group(s)"
                    )));
                }
                let part = found.get(group as usize).map_or("", |part| part.as_str());
                grow_text(meter, replaced.len(), part.len())?;
                replaced.push_str(part);
            }
        }
    }
    Ok(())
}
