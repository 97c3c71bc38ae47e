//! Reads an object of a definition whose shape was checked: absent, null and zero are the same, as they are in Go.
use std::iter;

use serde_json::Map;

use crate::schema::Document;

/// The fields of an object: the definition, a part of it, or a schema.
#[derive(Clone, Copy, PartialEq)]
pub struct Fields<'d>(Option<&'d Map<String, Document>>);

/// The keyword `additionalProperties`.
#[derive(Clone, Copy)]
pub enum Additional<'d> {
    /// Whether there may be any.
    Any(bool),
    /// Their schema.
    Schema(Fields<'d>),
}

impl<'d> Fields<'d> {
    /// The fields of a value; none where it is no object.
    pub fn of(value: &'d Document) -> Self {
        Self(value.as_object())
    }

    /// A field's value that is not null.
    pub fn get(self, name: &str) -> Option<&'d Document> {
        self.0?.get(name).filter(|value| !value.is_null())
    }

    /// A text, empty if absent.
    pub fn text(self, name: &str) -> &'d str {
        self.get(name).and_then(Document::as_str).unwrap_or_default()
    }

    /// A flag, false if absent.
    pub fn flag(self, name: &str) -> bool {
        self.get(name).and_then(Document::as_bool).unwrap_or_default()
    }

    /// A number.
    pub fn number(self, name: &str) -> Option<f64> {
        self.get(name).and_then(Document::as_f64)
    }

    /// A whole number.
    pub fn integer(self, name: &str) -> Option<i64> {
        self.get(name).and_then(Document::as_i64)
    }

    /// The items of a list, no items if absent.
    pub fn items(self, name: &str) -> &'d [Document] {
        self.get(name).and_then(Document::as_array).map_or(&[], Vec::as_slice)
    }

    /// The texts of a list.
    pub fn texts(self, name: &str) -> impl Iterator<Item = &'d str> + Clone {
        self.items(name).iter().map(|item| item.as_str().unwrap_or_default())
    }

    /// An object.
    pub fn object(self, name: &str) -> Option<Self> {
        self.get(name).filter(|value| value.is_object()).map(Self::of)
    }

    /// An object, or one without fields.
    #[must_use]
    pub fn part(self, name: &str) -> Self {
        self.object(name).unwrap_or(Self(None))
    }

    /// The objects of a list.
    pub fn objects(self, name: &str) -> impl Iterator<Item = Self> + Clone {
        self.items(name).iter().map(Self::of)
    }

    /// The objects of a map by key.
    pub fn entries(self, name: &str) -> impl Iterator<Item = (&'d str, Self)> + Clone {
        let entries = self.get(name).and_then(Document::as_object).into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), Self::of(value)))
    }

    /// The keywords of a schema whose value is not null, false or empty text.
    pub fn keywords(self) -> impl Iterator<Item = &'d str> {
        let says = |value: &Document| match value {
            Document::Null | Document::Bool(false) => false,
            Document::String(text) => !text.is_empty(),
            _ => true,
        };
        self.0.into_iter().flatten().filter(move |(_, value)| says(value)).map(|(keyword, _)| keyword.as_str())
    }

    /// The `additionalProperties` of a schema.
    pub fn additional(self) -> Option<Additional<'d>> {
        match self.get("additionalProperties")? {
            Document::Bool(allowed) => Some(Additional::Any(*allowed)),
            schema => Some(Additional::Schema(Self::of(schema))),
        }
    }

    /// True for a schema whose only keyword is `type`, with the given value.
    pub fn is_bare_type(self, kind: &str) -> bool {
        self.text("type") == kind && self.0.is_some_and(|fields| fields.values().filter(|v| !v.is_null()).count() == 1)
    }

    /// The branches of a schema (`not`, `allOf`, `oneOf`, `anyOf`) by keyword and index.
    pub fn branches(self) -> impl Iterator<Item = (&'static str, Option<usize>, Self)> + Clone {
        let lists = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(move |keyword| {
            self.objects(keyword).enumerate().map(move |(index, branch)| (keyword, Some(index), branch))
        });
        iter::once("not").filter_map(move |not| Some((not, None, self.object(not)?))).chain(lists)
    }

    /// True where `anyOf` says that the value is an integer or a string, which is the one thing that it may say of types.
    pub fn is_int_or_string(self) -> bool {
        let types = ["integer", "string"];
        self.items("anyOf").len() == 2
            && iter::zip(self.objects("anyOf"), types).all(|(of, kind)| of.is_bare_type(kind))
    }
}
