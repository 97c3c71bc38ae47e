//! The types that values of a schema have in CEL. Objects have a type of their own at each place, named by the way to it: two fields
//! with the same schema are of different types, as in Kubernetes.
//!
//! Types are looked up when the checker asks for them, so that a rule costs nothing for the fields that it does not name.
use std::sync::{Arc, LazyLock};

use kindsmith_cel::{Type, TypeProvider, syntax::is_reserved};

use super::names::{escaped, unescaped};
use crate::schema::{At, Schema, model};

/// The name of the type of `self`.
const SELF: &str = "selfType";
/// What stands in a type's name for the items of a list.
const ITEM: &str = "@idx";
/// What stands in a type's name for the values of a map.
const VALUE: &str = "@elem";
/// How many lists and maps are directly in each other at most. Recursive types of Rust have no end.
const MOST_NESTED: usize = 32;

/// The fields of all whole objects. They replace what a schema declares.
static WHOLE: LazyLock<Schema> = LazyLock::new(|| {
    let text = || Schema::of(model::Type::String);
    let object = |fields: [(&str, Schema); 2]| {
        Schema::of(model::Type::Object).with(|of| of.properties = fields.map(|(name, of)| (name.to_owned(), of)).into())
    };
    let mut whole = object([("apiVersion", text()), ("kind", text())]);
    whole.properties.insert("metadata".to_owned(), object([("name", text()), ("generateName", text())]));
    whole
});

/// A field of metadata that rules see.
pub(super) fn is_name(field: &str) -> bool {
    matches!(field, "name" | "generateName")
}

/// True if a schema of whole objects declares their type and their names, all of them as text. Rules see these as declared then.
pub(crate) fn declares_names(at: At<'_>) -> bool {
    let is_text = |at: Option<At<'_>>| at.is_some_and(|at| at.kind == model::Type::String);
    let metadata = at.property("metadata").filter(|at| at.kind == model::Type::Object);
    is_text(at.property("apiVersion"))
        && is_text(at.property("kind"))
        && metadata.is_some_and(|at| is_text(at.property("name")) && is_text(at.property("generateName")))
}

/// A place in documents, as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'s> {
    pub(super) at: At<'s>,
    pub(super) is_object: bool,
}

/// The sort of values at a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// Rules do not see them.
    Unseen,
    /// A list, with an element.
    List,
    /// A map, with an element.
    Map,
    /// An object with fields.
    Struct,
    /// Something else.
    Scalar(Type),
}

impl<'s> Declared<'s> {
    /// A place, which is that of a whole object if it says so.
    pub(crate) fn new(at: At<'s>, is_object: bool) -> Self {
        Self { at, is_object }
    }

    fn below(at: At<'s>) -> Self {
        Self { at, is_object: at.is_object() }
    }

    pub(super) fn form(self) -> Form {
        match self.at.kind {
            model::Type::IntOrString => Form::Scalar(Type::Dyn),
            model::Type::Boolean => Form::Scalar(Type::Bool),
            model::Type::Number => Form::Scalar(Type::Double),
            model::Type::Integer => Form::Scalar(Type::Int),
            model::Type::String => Form::Scalar(match self.at.format.as_deref() {
                Some("byte") => Type::Bytes,
                Some("duration") => Type::Duration,
                Some("date" | "date-time") => Type::Timestamp,
                _ => Type::String,
            }),
            model::Type::Array if self.at.items().is_some() => Form::List,
            model::Type::Any | model::Type::Array => Form::Unseen,
            model::Type::Object if self.at.entry().is_some_and(|entry| entry.boolean.is_none()) => Form::Map,
            model::Type::Object => Form::Struct,
        }
    }

    /// The items of a list, or the values of a map.
    pub(super) fn element(self) -> Option<Self> {
        match self.form() {
            Form::List => self.at.items().map(Self::below),
            Form::Map => self.at.entry().map(Self::below),
            _ => None,
        }
    }

    /// True if rules see the values: their type is known.
    pub(crate) fn is_seen(self) -> bool {
        let mut place = self;
        for _ in 0..MOST_NESTED {
            match place.element() {
                Some(element) => place = element,
                None => return place.form() != Form::Unseen,
            }
        }
        false
    }

    /// A field by its escaped name.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let plain = unescaped(name)?;
        let is_exact = escaped(&plain).as_deref() == Some(name) && (!self.at.names_only || is_name(&plain));
        (is_exact && self.form() == Form::Struct).then(|| self.property(&plain))?.filter(|field| field.is_seen())
    }

    /// A field by its name in documents.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        let replaced = self.whole().and_then(|whole| whole.property(name));
        replaced.or_else(|| self.at.property(name)).map(Self::below)
    }

    /// The fields that this place has because it is a whole object, or the metadata of one.
    fn whole(self) -> Option<At<'s>> {
        if self.at.names_only {
            return At::of(&WHOLE).property("metadata");
        }
        (self.is_object && !declares_names(self.at)).then(|| At::of(&WHOLE))
    }

    /// The type of the values; the name is that of the type if it is an object's.
    fn kind(self, name: &str) -> Option<Type> {
        self.nested(name, MOST_NESTED)
    }

    fn nested(self, name: &str, left: usize) -> Option<Type> {
        let left = left.checked_sub(1)?;
        match self.form() {
            Form::Unseen => None,
            Form::Scalar(kind) => Some(kind),
            Form::Struct => Some(Type::Struct(name.into())),
            Form::List => Some(Type::list(self.element()?.nested(&format!("{name}.{ITEM}"), left)?)),
            Form::Map => Some(Type::map(Type::String, self.element()?.nested(&format!("{name}.{VALUE}"), left)?)),
        }
    }

    /// The type of the values of this place, with the types of the objects in it. `None` if rules do not see them.
    pub(crate) fn types(self) -> Option<(Type, Arc<dyn TypeProvider>)> {
        let kind = self.kind(SELF)?;
        let types = SelfTypes { schema: self.at.to_schema(), is_object: self.is_object };
        Some((kind, Arc::new(types)))
    }
}

/// The types of the objects below one place.
#[derive(Debug)]
struct SelfTypes {
    schema: Schema,
    is_object: bool,
}

impl SelfTypes {
    /// The object with a type's name.
    fn find(&self, structure: &str) -> Option<Declared<'_>> {
        let steps = structure.strip_prefix(SELF)?;
        let mut place = Declared::new(At::of(&self.schema), self.is_object);
        if steps.is_empty() {
            return Some(place);
        }
        for step in steps.strip_prefix('.')?.split('.') {
            place = match step {
                ITEM | VALUE => place.element()?,
                name => place.field(name)?,
            };
        }
        Some(place)
    }
}

impl TypeProvider for SelfTypes {
    fn has(&self, structure: &str) -> bool {
        self.find(structure).is_some_and(|place| place.form() == Form::Struct)
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let place = self.find(structure)?;
        if let Some(found) = place.field(field) {
            return found.kind(&format!("{structure}.{field}"));
        }
        // A reserved word after a dot is no reserved word.
        let name = is_reserved(field).then(|| format!("__{field}__"))?;
        place.field(&name)?.kind(&format!("{structure}.{name}"))
    }
}
