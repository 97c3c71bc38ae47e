//! Tests.
mod merging;
mod random;
mod reading;

use crate::{File, parse, parse_draft};

fn file(text: &str) -> File {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn draft(text: &str) -> File {
    parse_draft(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
