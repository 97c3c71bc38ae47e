//! The ownership granularity of values: which are atomic, and how the parts of others are identified.
//!
//! A value without a declared type may be a scalar, a list or a map, which its content determines.
use std::{borrow::Cow, sync::LazyLock};

use super::path_element::PathElement;
use crate::{
    meta::go,
    schema::{
        At, Document, Schema,
        model::{ListType, Type as Kind},
    },
};

/// The items of an undeclared list: anything, atomic.
static UNTYPED: LazyLock<Schema> = LazyLock::new(|| {
    let values = Some(Schema::default().into());
    Schema { map_atomic: true, additional: values, ..Schema::default() }
});

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'s>(At<'s>);

/// The scalars that a type allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Number,
    Text,
    Boolean,
    Any,
}

/// A list: atomic, or owned by item.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'s> {
    /// True if it is owned and replaced as a whole.
    pub(super) atomic: bool,
    /// The keys of its items; empty for a set.
    pub(super) keys: &'s [String],
    /// The type of its items.
    pub(super) item: Type<'s>,
}

/// A map or a struct: atomic, or owned by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'s> {
    /// True if it is owned and replaced as a whole.
    pub(super) atomic: bool,
    of: At<'s>,
}

/// A field of a struct, or an entry of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'s> {
    /// The type of its value.
    pub(super) ty: Type<'s>,
    /// True if it is declared by name, so that owned content implies it.
    pub(super) named: bool,
    /// True if it exists even if it is not written.
    pub(super) implied: bool,
}

/// The form of a value, which determines its ownership.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'s> {
    Map(Map<'s>),
    Scalar(Scalar),
    List(List<'s>),
}

impl Field<'_> {
    /// An existing field that the schema does not have.
    pub(super) fn undeclared() -> Self {
        Self { ty: Type(At::anything()), named: false, implied: false }
    }
}

impl<'s> Type<'s> {
    /// The type of whole objects of a kind.
    pub(super) fn root(schema: &'s Schema) -> Self {
        Self(At::object(schema))
    }

    /// True if the type allows values of several forms.
    fn is_open(self) -> bool {
        matches!(self.0.kind, Kind::Any | Kind::IntOrString)
    }

    /// The form of a value. `null` and values of a wrong type have the type's preferred form.
    pub(super) fn form(self, value: Option<&Document>) -> Form<'s> {
        if !self.is_open() {
            return self.only_form();
        }
        match value {
            Some(Document::Array(_)) => Form::List(self.list()),
            None | Some(Document::Object(_) | Document::Null) => Form::Map(self.map()),
            Some(_) => Form::Scalar(Scalar::Any),
        }
    }

    fn only_form(self) -> Form<'s> {
        match self.0.kind {
            Kind::Object => Form::Map(self.map()),
            Kind::Array => Form::List(self.list()),
            Kind::Integer | Kind::Number => Form::Scalar(Scalar::Number),
            Kind::Boolean => Form::Scalar(Scalar::Boolean),
            Kind::String if matches!(self.0.format.as_deref(), None | Some("byte")) => Form::Scalar(Scalar::Text),
            Kind::String | Kind::IntOrString | Kind::Any => Form::Scalar(Scalar::Any),
        }
    }

    /// True if two values of the type have different forms.
    pub(super) fn tells_apart(self, a: &Document, b: &Document) -> bool {
        let class = |value: &Document| match value {
            Document::Null => 0,
            Document::Array(_) => 1,
            Document::Object(_) => 2,
            _ => 3,
        };
        self.is_open() && class(a) != class(b)
    }

    /// The type as a map, if it allows one.
    pub(super) fn as_map(self) -> Option<Map<'s>> {
        match self.form(None) {
            Form::Map(map) => Some(map),
            Form::List(_) | Form::Scalar(_) => None,
        }
    }

    /// The type as a list, where it allows one.
    pub(super) fn as_list(self) -> Option<List<'s>> {
        match self.form(Some(&Document::Array(Vec::new()))) {
            Form::List(list) => Some(list),
            Form::Map(_) | Form::Scalar(_) => None,
        }
    }

    fn map(self) -> Map<'s> {
        Map { atomic: self.0.map_atomic, of: self.0 }
    }

    fn list(self) -> List<'s> {
        let node = self.0.node();
        let item = Type(self.0.items().unwrap_or_else(|| At::of(&UNTYPED)));
        match &node.list {
            ListType::Map(keys) => List { atomic: false, keys, item },
            ListType::Set => List { atomic: false, keys: &[], item },
            // Kinds older than list types say how lists merge by their patch strategy alone.
            ListType::Atomic if node.patch.merge => {
                let keys = node.patch.merge_key.as_slice();
                List { atomic: false, keys, item }
            }
            ListType::Atomic => List { atomic: true, keys: &[], item },
        }
    }
}

impl<'s> Map<'s> {
    /// The field or entry of a name; `None` where the schema has none.
    pub(super) fn field(&self, name: &str) -> Option<Field<'s>> {
        if let Some(at) = self.of.named(name) {
            // Go's non-pointer fields exist even if they are not written.
            let implied = at.zero_is_absent && at.properties().len() > 0;
            return Some(Field { ty: Type(at), named: true, implied });
        }
        if let Some(at) = self.of.entry() {
            return Some(Field { ty: Type(at), named: false, implied: false });
        }
        // If unknown fields are kept, that also applies to everything below.
        (self.of.is_within_open() || self.of.properties().len() == 0).then(Field::undeclared)
    }

    /// The type of a field or entry; anything where the schema has none.
    pub(super) fn type_of(&self, name: &str) -> Type<'s> {
        self.field(name).unwrap_or_else(Field::undeclared).ty
    }

    /// The value of an absent field.
    fn default_of(&self, name: &str) -> Option<&'s Document> {
        self.of.property(name)?.node().default.as_ref()
    }

    /// It declares neither fields nor entries, so nothing is known of how they were once owned.
    pub(super) fn is_deduced(&self) -> bool {
        !self.of.is_object() && self.of.properties().len() == 0 && self.of.entry().is_none()
    }

    /// It is the metadata of an object, whose `managedFields` are unowned.
    pub(super) fn is_metadata(&self) -> bool {
        self.of.is_metadata()
    }
}

impl<'s> List<'s> {
    /// The path element of an item, of a list that is owned by item. Keys that are not given count with their defaults.
    ///
    /// # Errors
    /// Why the item cannot be identified, as kube-apiserver says it.
    pub(super) fn element_of<'a>(&self, item: &'a Document) -> Result<PathElement<'a>, String>
    where
        's: 'a,
    {
        if self.keys.is_empty() {
            let why = match item {
                Document::Object(_) => "associative list without keys has an element that's a map type",
                Document::Array(_) => "not supported: associative list with lists as elements",
                Document::Null => "associative list without keys has an element that's an explicit null",
                scalar => return Ok(PathElement::Value(Cow::Borrowed(scalar))),
            };
            return Err(why.to_owned());
        }
        if !item.is_object() {
            let what = if item.is_null() { "a null element" } else { "non-map elements" };
            return Err(format!("associative list with keys may not have {what}"));
        }
        let given = |key: &'s String| Some((Cow::Borrowed(key.as_str()), Cow::Borrowed(self.key_of(item, key)?)));
        let mut keys: Vec<_> = self.keys.iter().filter_map(given).collect();
        if keys.is_empty() {
            let names: Vec<String> = self.keys.iter().map(|key| go::quoted(key)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] \
                 (and doesn't have default values for any key fields)",
                names.join(" ")
            ));
        }
        keys.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(PathElement::Key(keys))
    }

    /// The path elements of items, in their order.
    ///
    /// # Errors
    /// As [`List::element_of`], with the index of the item.
    pub(super) fn elements_of<'a>(&self, items: &'a [Document]) -> Result<Vec<PathElement<'a>>, String>
    where
        's: 'a,
    {
        let element = |(index, item)| self.element_of(item).map_err(|why| format!("element {index}: {why}"));
        items.iter().enumerate().map(element).collect()
    }

    /// Two items have the same path element, where they have one at all.
    pub(super) fn is_same_item(&self, a: &Document, b: &Document) -> bool {
        match self.keys {
            [] => a == b,
            keys => keys.iter().all(|key| a.get(key) == b.get(key) || self.key_of(a, key) == self.key_of(b, key)),
        }
    }

    /// The value of a key in an item, or its default.
    fn key_of<'a>(&self, item: &'a Document, key: &str) -> Option<&'a Document>
    where
        's: 'a,
    {
        item.get(key).or_else(|| self.item.as_map()?.default_of(key))
    }
}
