//! Definitions by name while a document of them is written: each once, and types that hold themselves, too.
use std::{collections::BTreeMap, ptr};

use super::{At, Schema};

/// Definitions that have been written.
pub(crate) struct Named<T> {
    all: BTreeMap<String, T>,
    /// What stands between a name and the number of another definition that asks for the same.
    before_number: &'static str,
    /// The names of types that hold themselves, from the time when they begin to be written.
    recursive: Vec<(*const Schema, String)>,
    /// Names in the order in which they were first given.
    added: Vec<String>,
}

impl<T: PartialEq> Named<T> {
    /// Beside definitions that are there.
    pub fn new(all: BTreeMap<String, T>, before_number: &'static str) -> Self {
        Self { all, before_number, recursive: Vec::new(), added: Vec::new() }
    }

    /// All definitions.
    pub fn finish(self) -> BTreeMap<String, T> {
        self.all
    }

    /// Adds a definition; gives the name that it has: one with a number where another definition has the name.
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
        self.all.get(name).is_none_or(|taken| taken == definition)
    }

    fn put(&mut self, name: &str, definition: T) {
        if self.all.insert(name.to_owned(), definition).is_none() {
            self.added.push(name.to_owned());
        }
    }
}

/// A writer of definitions.
pub(crate) trait Writer {
    /// A definition as it is written.
    type Definition: PartialEq;

    /// What has been written.
    fn named(&mut self) -> &mut Named<Self::Definition>;

    /// Writes the definition of a type.
    fn write(&mut self, at: At<'_>, name: &str) -> Self::Definition;

    /// Defines a type that holds itself; gives its name. What it holds refers to it by the name while it is written, so a name
    /// that turns out to be another definition's is given up with all that was written under it.
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
