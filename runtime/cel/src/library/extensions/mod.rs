//! The extensions of cel-go: libraries of functions and macros, most with versions.
//!
//! `strings`, `lists`, `sets` and `comprehensions` are in Kubernetes; the others complete the language of cel-go.
//! Results that are longer than the arguments are reported to the meter before they are made.
use crate::{Error, Meter, Value};

mod bindings;
mod comprehensions;
mod encoders;
mod lists;
mod math;
mod regex;
mod sets;
mod strings;
#[cfg(test)]
mod tests;

pub use self::{
    bindings::BINDINGS,
    comprehensions::COMPREHENSIONS,
    encoders::ENCODERS,
    lists::LISTS,
    math::MATH,
    regex::REGEX,
    sets::SETS,
    strings::{STRINGS, STRINGS_0, STRINGS_2},
};
pub use super::network::NETWORK;

/// The most bytes of a text that a function makes. The budget of an evaluation in Kubernetes allows 10 million characters.
const LONGEST_TEXT: usize = 64 << 20;

/// The most elements of a list that a function makes. The budget of an evaluation in Kubernetes allows 1 million.
const LONGEST_LIST: usize = 2 << 20;

/// Reports that a text is read.
fn read_text(meter: &dyn Meter, text: &str) -> Result<(), Error> {
    meter.spend(1 + text.len() / 64)
}

/// Reports that a text of so many bytes gets so many more.
fn grow_text(meter: &dyn Meter, bytes: usize, more: usize) -> Result<(), Error> {
    grow(bytes, more, LONGEST_TEXT)?;
    meter.reserve(more)?;
    meter.spend(1 + more / 2)
}

/// Reports that a list of so many elements gets so many more.
fn grow_list(meter: &dyn Meter, elements: usize, more: usize) -> Result<(), Error> {
    grow(elements, more, LONGEST_LIST)?;
    meter.reserve(more.saturating_mul(size_of::<Value<'_>>()))?;
    meter.spend(more.saturating_mul(4))
}

fn grow(size: usize, more: usize, most: usize) -> Result<(), Error> {
    if size.saturating_add(more) > most { Err(Error::interrupted()) } else { Ok(()) }
}
