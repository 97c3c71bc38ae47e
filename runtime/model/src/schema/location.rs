//! The position of a walk in a document: a chain on the stack, which is free until it is printed.
use std::fmt::Write;

use crate::meta::{FieldPath, field::beginning};

/// The maximum printed length of a field's name: map keys may be as long as a body, and each error would repeat them.
const MOST_OF_A_NAME: usize = 1_000;

/// A location in a document, linked to the location above it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location<'p> {
    /// The document itself.
    Root,
    /// A field of a struct, or an entry of a map.
    Field(&'p Location<'p>, &'p str),
    /// An entry of a map, where entries are told from fields.
    Entry(&'p Location<'p>, &'p str),
    /// An item of a list.
    Item(&'p Location<'p>, usize),
}

impl<'p> Location<'p> {
    /// A field below this location.
    pub(crate) fn field(&'p self, name: &'p str) -> Location<'p> {
        Location::Field(self, name)
    }

    /// An entry below this location, printed with brackets.
    pub(crate) fn entry(&'p self, key: &'p str) -> Location<'p> {
        Location::Entry(self, key)
    }

    /// An item below this location.
    pub(crate) fn item(&'p self, index: usize) -> Location<'p> {
        Location::Item(self, index)
    }

    /// True for the object itself.
    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Location::Root)
    }

    /// The path as kube-apiserver prints it: `spec.ports[0].name`, with a dot for map entries, too.
    pub(crate) fn path(&self) -> FieldPath {
        FieldPath::new(self.text())
    }

    /// As text; empty for the root.
    pub(crate) fn text(&self) -> String {
        let mut chain = Vec::new();
        let mut at = self;
        while let Location::Field(above, _) | Location::Entry(above, _) | Location::Item(above, _) = at {
            chain.push(at);
            at = above;
        }
        let mut text = String::new();
        for location in chain.into_iter().rev() {
            match location {
                Location::Field(_, name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&beginning(name, MOST_OF_A_NAME));
                }
                Location::Entry(_, key) => {
                    write!(text, "[{}]", beginning(key, MOST_OF_A_NAME)).expect("writing to a String cannot fail");
                }
                Location::Item(_, index) => write!(text, "[{index}]").expect("writing to a String cannot fail"),
                Location::Root => {}
            }
        }
        text
    }
}
