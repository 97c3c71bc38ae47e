//! What a schema says of ownership: which values are owned whole, and how the parts of the others are told apart.
//!
//! A value without a declared type may be a scalar, a list or a map; what it is decides, each time, what it is owned as.
use crate::schema::{
    Document, METADATA, Schema,
    model::{ListType, Type as Kind},
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
    /// Anything: maps are granular, all else is owned whole.
    Deduced,
    /// Anything, owned whole.
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

/// A list: owned whole, or by item.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'s> {
    /// It is owned whole.
    pub(super) atomic: bool,
    /// The keys of its items; none for a set.
    pub(super) keys: &'s [String],
    /// The type of its items.
    pub(super) item: Type<'s>,
}

/// A map or a struct: owned whole, or by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'s> {
    /// It is owned whole.
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

/// How a value is owned.
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

    /// How a value is owned. `null` and a value of a wrong type are taken for what the type prefers.
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

    /// Two values of the type are owned in different forms.
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
        let allows = self.is_open() || matches!(self.only_form(), Form::Map(_));
        allows.then(|| self.map())
    }

    /// The type as a list, where it allows one.
    pub(super) fn as_list(self) -> Option<List<'s>> {
        if self.is_open() {
            return Some(self.list());
        }
        match self.only_form() {
            Form::List(list) => Some(list),
            _ => None,
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

    /// What a field is where it is not given.
    pub(super) fn default_of(&self, name: &str) -> Option<&'s Document> {
        let (Type::Whole(schema, _) | Type::Declared(schema, _)) = self.of else { return None };
        schema.properties.get(name)?.default.as_ref()
    }

    /// Fields below are neither declared nor typed: nothing is known of how they were once owned.
    pub(super) fn is_deduced(&self) -> bool {
        match self.of {
            Type::Deduced => true,
            Type::Declared(schema, _) => schema.properties.is_empty() && schema.additional.is_none(),
            _ => false,
        }
    }

    /// It is the metadata of an object, where `managedFields` are nobody's.
    pub(super) fn is_metadata(&self) -> bool {
        matches!(self.of, Type::Declared(schema, _) if std::ptr::eq(schema, &raw const *METADATA))
    }
}
