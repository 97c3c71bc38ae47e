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
    /// An entry of a map, where entries and fields differ.
    Entry(&'p Location<'p>, &'p str),
    /// An item of a list.
    Item(&'p Location<'p>, usize),
}

impl<'p> Location<'p> {
    /// A field below this location.
    pub(crate) fn field(&'p self, name: &'p str) -> Location<'p> {
        Location::Field(self, name)
    }

    /// An entry below this location.
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

    /// The path as kube-openapi prints it: `spec.ports[0].name`, with a dot for map entries, too.
    pub(crate) fn path(&self) -> FieldPath {
        FieldPath::new(self.text())
    }

    /// The path as all else of kube-apiserver prints it: `spec.labels[app]`.
    pub(crate) fn keyed_path(&self) -> FieldPath {
        FieldPath::new(self.keyed_text())
    }

    /// As text, with a dot for map entries; empty for the root.
    pub(crate) fn text(&self) -> String {
        self.printed(false)
    }

    /// As text, with brackets for map entries; empty for the root.
    pub(crate) fn keyed_text(&self) -> String {
        self.printed(true)
    }

    fn printed(&self, is_keyed: bool) -> String {
        let mut chain = Vec::new();
        let mut at = self;
        while let Location::Field(above, _) | Location::Entry(above, _) | Location::Item(above, _) = at {
            chain.push(at);
            at = above;
        }
        let mut text = String::new();
        for location in chain.into_iter().rev() {
            match location {
                Location::Entry(_, key) if is_keyed => {
                    write!(text, "[{}]", beginning(key, MOST_OF_A_NAME)).expect("writing to a String cannot fail");
                }
                Location::Field(_, name) | Location::Entry(_, name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&beginning(name, MOST_OF_A_NAME));
                }
                Location::Item(_, index) => write!(text, "[{index}]").expect("writing to a String cannot fail"),
                Location::Root => {}
            }
        }
        text
    }
}
