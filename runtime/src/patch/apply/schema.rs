//! The walk through a schema: which values are atomic, and how the parts of the others are identified.
//!
//! A value without a declared type may be a scalar, a list or a map; the value decides, each time.
use std::borrow::Cow;

use super::path_element::PathElement;
use crate::{
    meta::go,
    schema::{
        Document, METADATA, Schema,
        model::{ListType, Type as Kind},
    },
};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type<'s> {
    /// An object with type meta and metadata.
    Whole(&'s Schema, Unknown),
    /// A declared type.
    Declared(&'s Schema, Unknown),
    /// `apiVersion` and `kind`.
    Text,
    /// Anything: maps are granular, all else is atomic.
    Deduced,
    /// Anything, atomic.
    Untyped,
}

/// What becomes of fields that a struct does not declare; where they are kept, they are so below, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    Refused,
    Kept,
}

/// What scalars a type allows.
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
    /// It is owned and replaced as a whole.
    pub(super) atomic: bool,
    /// The keys of its items; none for a set.
    pub(super) keys: &'s [String],
    /// The type of its items.
    pub(super) item: Type<'s>,
}

/// A map or a struct: atomic, or owned by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'s> {
    /// It is owned and replaced as a whole.
    pub(super) atomic: bool,
    of: Type<'s>,
}

/// A field of a struct, or an entry of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'s> {
    /// The type of its value.
    pub(super) ty: Type<'s>,
    /// It is declared by name: with something in it, it need not be owned itself.
    pub(super) named: bool,
    /// It is there even where it is not written.
    pub(super) implied: bool,
}

impl Field<'_> {
    /// A field that the schema does not have, and that is there.
    pub(super) const UNDECLARED: Self = Self { ty: Type::Deduced, named: false, implied: false };
}

/// The form of a value, which decides how it is owned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'s> {
    Map(Map<'s>),
    Scalar(Scalar),
    List(List<'s>),
}

impl<'s> Type<'s> {
    /// The type of whole objects of a kind.
    pub(super) fn root(schema: &'s Schema) -> Self {
        Self::Whole(schema, unknown(schema, Unknown::Refused))
    }

    fn declared(schema: &'s Schema, around: Unknown) -> Self {
        let unknown = unknown(schema, around);
        if schema.embedded { Self::Whole(schema, unknown) } else { Self::Declared(schema, unknown) }
    }

    /// The type allows values of several forms.
    fn is_open(self) -> bool {
        match self {
            Self::Deduced | Self::Untyped => true,
            Self::Text => false,
            Self::Whole(schema, _) | Self::Declared(schema, _) => matches!(schema.kind, Kind::Any | Kind::IntOrString),
        }
    }

    /// The form of a value. `null` and a value of a wrong type are taken for what the type prefers.
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
        let (Self::Whole(schema, _) | Self::Declared(schema, _)) = self else { return Form::Scalar(Scalar::Text) };
        match schema.kind {
            Kind::Object => Form::Map(self.map()),
            Kind::Array => Form::List(self.list()),
            Kind::Integer | Kind::Number => Form::Scalar(Scalar::Number),
            Kind::Boolean => Form::Scalar(Scalar::Boolean),
            Kind::String if matches!(schema.format.as_deref(), None | Some("byte")) => Form::Scalar(Scalar::Text),
            Kind::String | Kind::IntOrString | Kind::Any => Form::Scalar(Scalar::Any),
        }
    }

    /// Two values of the type have different forms.
    pub(super) fn tells_apart(self, a: &Document, b: &Document) -> bool {
        let class = |value: &Document| match value {
            Document::Null => 0,
            Document::Array(_) => 1,
            Document::Object(_) => 2,
            _ => 3,
        };
        self.is_open() && class(a) != class(b)
    }

    /// The type as a map, where it allows one.
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
        let atomic = match self {
            Self::Whole(schema, _) | Self::Declared(schema, _) => schema.map_atomic,
            Self::Untyped => true,
            Self::Deduced | Self::Text => false,
        };
        Map { atomic, of: self }
    }

    fn list(self) -> List<'s> {
        let (Self::Whole(schema, open) | Self::Declared(schema, open)) = self else {
            return List { atomic: true, keys: &[], item: Type::Untyped };
        };
        let item = schema.items.as_deref().map_or(Type::Untyped, |items| Type::declared(items, open));
        match &schema.list {
            ListType::Map(keys) => List { atomic: false, keys, item },
            ListType::Set => List { atomic: false, keys: &[], item },
            // Kinds older than list types say how lists merge by their patch strategy alone.
            ListType::Atomic if schema.patch.merge => {
                let keys = schema.patch.merge_key.as_slice();
                List { atomic: false, keys, item }
            }
            ListType::Atomic => List { atomic: true, keys: &[], item },
        }
    }
}

fn unknown(schema: &Schema, around: Unknown) -> Unknown {
    if schema.preserve_unknown { Unknown::Kept } else { around }
}

impl<'s> Map<'s> {
    /// The field or entry of a name; `None` where the schema has none.
    pub(super) fn field(&self, name: &str) -> Option<Field<'s>> {
        let plain = |ty, named| Some(Field { ty, named, implied: false });
        let (schema, open) = match self.of {
            Type::Whole(schema, open) | Type::Declared(schema, open) => (schema, open),
            Type::Deduced => return plain(Type::Deduced, false),
            Type::Untyped => return plain(Type::Untyped, false),
            Type::Text => return None,
        };
        if let Some(known) = schema.properties.get(name) {
            // What Go holds by value is there even where it is not written.
            let implied = known.zero_is_absent && !known.properties.is_empty();
            return Some(Field { ty: Type::declared(known, open), named: true, implied });
        }
        if matches!(self.of, Type::Whole(..)) {
            match name {
                "apiVersion" | "kind" => return plain(Type::Text, true),
                "metadata" => return plain(Type::declared(&METADATA, Unknown::Refused), true),
                _ => {}
            }
        }
        match &schema.additional {
            Some(values) => plain(Type::declared(values, open), false),
            None if open == Unknown::Kept || schema.properties.is_empty() => plain(Type::Deduced, false),
            None => None,
        }
    }

    /// The type of a field or entry; anything where the schema has none.
    pub(super) fn type_of(&self, name: &str) -> Type<'s> {
        self.field(name).map_or(Type::Deduced, |field| field.ty)
    }

    /// What a field is where it is not given.
    fn default_of(&self, name: &str) -> Option<&'s Document> {
        let (Type::Whole(schema, _) | Type::Declared(schema, _)) = self.of else { return None };
        schema.properties.get(name)?.default.as_ref()
    }

    /// It declares neither fields nor entries, so nothing is known of how they were once owned.
    pub(super) fn is_deduced(&self) -> bool {
        match self.of {
            Type::Deduced => true,
            Type::Declared(schema, _) => schema.properties.is_empty() && schema.additional.is_none(),
            _ => false,
        }
    }

    /// It is the metadata of an object, of which `managedFields` are owned by nobody.
    pub(super) fn is_metadata(&self) -> bool {
        matches!(self.of, Type::Declared(schema, _) if std::ptr::eq(schema, &raw const *METADATA))
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
