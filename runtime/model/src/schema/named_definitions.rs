//! Definitions by name, while a document with them is written. Each definition is written once; recursive types refer to
//! themselves by name.
use std::{collections::BTreeMap, ptr};

use super::{At, Schema};

/// The package of types that all groups share.
const MACHINERY: &str = "io.k8s.apimachinery.pkg.";

/// Definitions that have been written.
pub struct NamedDefinitions<T> {
    all: BTreeMap<String, T>,
    /// The separator between a name and a number, for the second and further definitions of the same name.
    before_number: &'static str,
    /// The names of recursive types, including types that are still being written.
    recursive: Vec<(*const Schema, String)>,
    /// Names in the order in which they were added.
    added: Vec<String>,
}

impl<T: PartialEq> NamedDefinitions<T> {
    /// Starts with these definitions.
    pub fn new(all: BTreeMap<String, T>, before_number: &'static str) -> Self {
        Self { all, before_number, recursive: Vec::new(), added: Vec::new() }
    }

    /// All definitions.
    pub fn finish(self) -> BTreeMap<String, T> {
        self.all
    }

    /// Adds a definition and returns its name, which has a number if a different definition has the name.
    pub fn define(&mut self, name: &str, definition: T) -> String {
        let mut free = name.to_owned();
        let mut number = 2;
        while !self.is_free(&free, &definition) {
            free = self.numbered(name, number);
            number += 1;
        }
        self.put(&free, definition);
        free
    }

    fn numbered(&self, name: &str, number: u32) -> String {
        format!("{name}{}{number}", self.before_number)
    }

    fn is_free(&self, name: &str, definition: &T) -> bool {
        // A kind's definition of a type that all groups share replaces the document's.
        name.starts_with(MACHINERY) || self.all.get(name).is_none_or(|taken| taken == definition)
    }

    fn put(&mut self, name: &str, definition: T) {
        if self.all.insert(name.to_owned(), definition).is_none() {
            self.added.push(name.to_owned());
        }
    }
}

/// Writes definitions.
pub trait Writer {
    /// A definition as it is written.
    type Definition: PartialEq;

    /// The definitions that have been written.
    fn named(&mut self) -> &mut NamedDefinitions<Self::Definition>;

    /// Writes the definition of a type that has this name.
    fn write(&mut self, at: At<'_>, name: &str) -> Self::Definition;

    /// Defines a recursive type and returns its name. The definition refers to itself by this name, so it is written before it is
    /// known whether a different definition has the name. If so, what was written is removed, and the next name is tried.
    fn define_recursive(&mut self, at: At<'_>, name: &str) -> String {
        let key = ptr::from_ref(at.node());
        if let Some((_, known)) = self.named().recursive.iter().find(|(other, _)| ptr::eq(*other, key)) {
            return known.clone();
        }
        let (mut tried, mut number) = (name.to_owned(), 2);
        loop {
            let named = self.named();
            let (recursive, added) = (named.recursive.len(), named.added.len());
            named.recursive.push((key, tried.clone()));
            let definition = self.write(at, &tried);
            let named = self.named();
            if named.is_free(&tried, &definition) {
                named.put(&tried, definition);
                return tried;
            }
            named.recursive.truncate(recursive);
            for name in named.added.split_off(added) {
                named.all.remove(&name);
            }
            tried = named.numbered(name, number);
            number += 1;
        }
    }
}
