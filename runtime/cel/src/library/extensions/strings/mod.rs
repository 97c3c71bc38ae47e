//! `strings`: searches, parts, changes, `split`, `join` and `format`.
//!
//! Kubernetes has version 2, and had version 0 before 1.29; the latest version formats as the specification of the language says.
//! The costs are those of Kubernetes. `text` has what the functions do, `format` formats.
use crate::{
    CallCost, Cost, Error, Function, Library, Range, Type, Value,
    cost::{Call, TRAVERSAL, shared},
    syntax::ast::Literal,
};

mod format;
mod text;

/// Version 0.
pub static STRINGS_0: Library = Library { name: NAME, functions: first, macros: &[], types: Vec::new, validators: &[] };

/// Version 2: with `format` and `strings.quote`.
pub static STRINGS_2: Library = Library {
    name: NAME,
    functions: || [first(), second(format::Style::Locale)].concat(),
    macros: &[],
    types: Vec::new,
    validators: &[format::validate_locale],
};

/// The latest version, with `reverse`, and with the formats of the specification.
pub static STRINGS: Library = Library {
    name: NAME,
    functions: || [first(), second(format::Style::Plain), vec![reverse()]].concat(),
    macros: &[],
    types: Vec::new,
    validators: &[format::validate_plain],
};

const NAME: &str = "cel.lib.ext.strings";

/// The text is read and made anew. The result may have any length.
const REPLACE: Cost = Cost {
    estimate: |call| CallCost::of(call.size(0).scaled(2.0 * TRAVERSAL)).with_size(replaced(call)),
    charge: shared::READ_TWICE.charge,
};

/// The text is read and made anew, as a list with an element for each character at most.
const SPLIT: Cost = Cost {
    estimate: |call| {
        let most = match call.literal(2) {
            Some(Literal::Int(most)) => most.cast_unsigned(),
            _ => call.size(0).max,
        };
        CallCost::of(call.size(0).scaled(2.0 * TRAVERSAL)).with_size(Range::new(0, most))
    },
    charge: shared::READ_TWICE.charge,
};

/// By the length of the result, which counts twice when it runs.
const JOIN: Cost = Cost {
    estimate: |call| {
        let size = joined(call);
        CallCost::of(size.scaled(TRAVERSAL)).with_size(size)
    },
    charge: |_, result| crate::cost::scaled(result.map_or(1, Value::size), 2.0 * TRAVERSAL),
};

/// The text is read; each character may be escaped. A size of which nothing is known overflows, as in cel-go.
const QUOTE: Cost = Cost {
    estimate: |call| {
        let size = call.size(0);
        let quoted = Range::new(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2));
        CallCost::of(size.scaled(TRAVERSAL)).with_size(quoted)
    },
    charge: shared::READ.charge,
};

fn first() -> Vec<Function> {
    let mut functions = searches();
    functions.extend(changes());
    functions.extend([
        substring(),
        Function::new("split")
            .member("string_split_string", &texts::<2>(), Type::list(Type::String))
            .does(|args, meter| match args {
                [Value::String(text), Value::String(separator)] => text::split(text, separator, -1, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(SPLIT)
            .member("string_split_string_int", &[Type::String, Type::String, Type::Int], Type::list(Type::String))
            .does(|args, meter| match args {
                [Value::String(text), Value::String(separator), Value::Int(most)] => {
                    text::split(text, separator, *most, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(SPLIT),
        Function::new("join")
            .member("list_join", &[Type::list(Type::String)], Type::String)
            .does(|args, meter| match args {
                [Value::List(parts)] => text::join(parts, "", meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(JOIN)
            .member("list_join_string", &[Type::list(Type::String), Type::String], Type::String)
            .does(|args, meter| match args {
                [Value::List(parts), Value::String(separator)] => text::join(parts, separator, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(JOIN),
    ]);
    functions
}

fn searches() -> Vec<Function> {
    vec![
        Function::new("charAt").member("string_char_at_int", &[Type::String, Type::Int], Type::String).does(
            |args, meter| match args {
                [Value::String(text), Value::Int(index)] => text::char_at(text, *index, meter),
                _ => Err(Error::no_such_overload()),
            },
        ),
        Function::new("indexOf")
            .member("string_index_of_string", &texts::<2>(), Type::Int)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(searched)] => text::index_of(text, searched, 0, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRAVERSE)
            .member("string_index_of_string_int", &[Type::String, Type::String, Type::Int], Type::Int)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(searched), Value::Int(from)] => {
                    text::index_of(text, searched, *from, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRAVERSE)
            .costs_by_name(),
        Function::new("lastIndexOf")
            .member("string_last_index_of_string", &texts::<2>(), Type::Int)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(searched)] => text::last_index_of(text, searched, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRAVERSE)
            .member("string_last_index_of_string_int", &[Type::String, Type::String, Type::Int], Type::Int)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(searched), Value::Int(from)] => {
                    text::last_index_up_to(text, searched, *from, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRAVERSE)
            .costs_by_name(),
    ]
}

fn changes() -> Vec<Function> {
    vec![
        Function::new("lowerAscii")
            .member("string_lower_ascii", &texts::<1>(), Type::String)
            .does(|args, meter| match args {
                [Value::String(text)] => text::with_ascii(text, str::to_ascii_lowercase, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRANSFORM),
        Function::new("upperAscii")
            .member("string_upper_ascii", &texts::<1>(), Type::String)
            .does(|args, meter| match args {
                [Value::String(text)] => text::with_ascii(text, str::to_ascii_uppercase, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRANSFORM),
        Function::new("trim")
            .member("string_trim", &texts::<1>(), Type::String)
            .does(|args, meter| match args {
                [Value::String(text)] => text::trim(text, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::TRANSFORM),
        Function::new("replace")
            .member("string_replace_string_string", &texts::<3>(), Type::String)
            .does(|args, meter| match args {
                [Value::String(text), Value::String(old), Value::String(new)] => {
                    text::replace(text, old, new, -1, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(REPLACE)
            .member(
                "string_replace_string_string_int",
                &[Type::String, Type::String, Type::String, Type::Int],
                Type::String,
            )
            .does(|args, meter| match args {
                [Value::String(text), Value::String(old), Value::String(new), Value::Int(most)] => {
                    text::replace(text, old, new, *most, meter)
                }
                _ => Err(Error::no_such_overload()),
            })
            .costs(REPLACE),
    ]
}

fn substring() -> Function {
    Function::new("substring")
        .member("string_substring_int", &[Type::String, Type::Int], Type::String)
        .does(|args, meter| match args {
            [Value::String(text), Value::Int(start)] => text::substring(text, *start, None, meter),
            _ => Err(Error::no_such_overload()),
        })
        .costs(shared::TRANSFORM)
        .member("string_substring_int_int", &[Type::String, Type::Int, Type::Int], Type::String)
        .does(|args, meter| match args {
            [Value::String(text), Value::Int(start), Value::Int(end)] => {
                text::substring(text, *start, Some(*end), meter)
            }
            _ => Err(Error::no_such_overload()),
        })
        .costs(shared::TRANSFORM)
}

fn second(style: format::Style) -> Vec<Function> {
    vec![
        Function::new("format")
            .member("string_format", &[Type::String, Type::list(Type::Dyn)], Type::String)
            .does(move |args, meter| match args {
                [Value::String(format), Value::List(values)] => format::format(style, format, values, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(shared::READ),
        Function::new("strings.quote")
            .global("strings_quote", &texts::<1>(), Type::String)
            .does(|args, meter| match args {
                [Value::String(text)] => text::quote(text, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(QUOTE),
    ]
}

fn reverse() -> Function {
    Function::new("reverse").member("string_reverse", &texts::<1>(), Type::String).does(|args, meter| match args {
        [Value::String(text)] => text::reverse(text, meter),
        _ => Err(Error::no_such_overload()),
    })
}

fn texts<const N: usize>() -> [Type; N] {
    [const { Type::String }; N]
}

/// The length of a text in which another is replaced.
fn replaced(call: &Call<'_>) -> Range {
    let (text, old, new) = (call.size(0), call.size(1), call.size(2));
    // An empty text is replaced before each character and at the end. If the length cannot grow (or shrink), nothing is replaced.
    let (most, kept_at_most) = match old.min {
        0 => (text.max.saturating_add(1), text.max),
        least if new.max <= least => (0, text.max),
        least => (quotient(text.max, least), 0),
    };
    let (least, kept_at_least) = match old.max {
        0 => (text.min.saturating_add(1), text.min),
        most if most <= new.min => (0, text.min),
        most => (quotient(text.min, most), 0),
    };
    Range::new(least, most).times(new).plus(Range::new(kept_at_least, kept_at_most))
}

/// A quotient rounded up in doubles, as kube-apiserver calculates it. What does not fit is 2⁶³, as on amd64.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "kube-apiserver calculates in doubles"
)]
fn quotient(dividend: u64, divisor: u64) -> u64 {
    let quotient = (dividend as f64 / divisor as f64).ceil();
    if quotient < 18_446_744_073_709_551_616.0 { quotient as u64 } else { 1 << 63 }
}

/// The length of the texts of a list with a text between them.
fn joined(call: &Call<'_>) -> Range {
    let elements = call.size(0);
    let texts = match call.kind(0) {
        Type::List(_) => elements.times(call.element_size(0)),
        _ => Range::ZERO,
    };
    if call.len() < 2 {
        return texts;
    }
    let separators = Range::new(elements.min.saturating_sub(1), elements.max.saturating_sub(1));
    texts.plus(call.size(1).times(separators))
}
