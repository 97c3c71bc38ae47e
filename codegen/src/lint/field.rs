//! A field as rules see it, and the walk along all fields of a version.
use std::{ptr, sync::Arc};

use kindsmith::schema::{ListType, Schema, Type};

use super::{Subject, raw::Raw};

/// How a field is reached from the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'f> {
    /// The object itself.
    Root,
    /// A property of this name.
    Property(&'f str),
    /// The items of a list.
    Items,
    /// The values of a map.
    Values,
}

impl Step<'_> {
    /// It in a path.
    fn text(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Property(name) => format!(".{name}"),
            Self::Items => "[]".to_owned(),
            Self::Values => ".*".to_owned(),
        }
    }
}

/// A field, an item of a list, or a value of a map.
pub(crate) struct Field<'f> {
    /// The version that has it.
    pub subject: &'f Subject<'f>,
    /// The field around it.
    pub parent: Option<&'f Field<'f>>,
    /// How it is reached from there.
    pub step: Step<'f>,
    /// Its schema.
    pub schema: &'f Schema,
    /// The field around it requires it.
    pub is_required: bool,
    /// The schema as the file has it, for what the model does not keep.
    pub raw: Option<Raw<'f>>,
}

impl<'f> Field<'f> {
    /// The name of a property; items and values have none.
    pub(crate) fn name(&self) -> Option<&'f str> {
        match self.step {
            Step::Property(name) => Some(name),
            Step::Root | Step::Items | Step::Values => None,
        }
    }

    /// Its place, such as `.spec.chapters[].title`.
    pub(crate) fn path(&self) -> String {
        self.parent.map(Self::path).unwrap_or_default() + &self.step.text()
    }

    /// The fields around it, from the innermost to the object.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = &Field<'f>> {
        std::iter::successors(self.parent, |field| field.parent)
    }

    /// The name of the object's field that it is in, or is.
    pub(crate) fn section(&self) -> &'f str {
        let all = std::iter::once(self).chain(self.ancestors());
        let top = all.filter(|field| field.is_top()).find_map(Field::name);
        top.unwrap_or_default()
    }

    /// It is in `spec`.
    pub(crate) fn is_in_spec(&self) -> bool {
        self.section() == "spec"
    }

    /// It is in `status`, and not `status` itself.
    pub(crate) fn is_in_status(&self) -> bool {
        self.section() == "status" && !self.is_top()
    }

    /// It is a field of the object itself.
    pub(crate) fn is_top(&self) -> bool {
        self.parent.is_some_and(|parent| parent.step == Step::Root)
    }

    /// It is a direct field of the object's field with this name.
    pub(crate) fn is_directly_in(&self, section: &str) -> bool {
        self.parent.is_some_and(|parent| parent.is_top() && parent.name() == Some(section))
    }

    /// It is one of the kinds of Kubernetes itself.
    pub(crate) fn is_builtin(&self) -> bool {
        self.subject.kind.is_builtin
    }

    /// Objects of its kind are stored.
    pub(crate) fn is_stored(&self) -> bool {
        self.subject.kind.definition.shared.stored
    }

    /// The innermost type with a name of its own around it or at it, and the path below that.
    pub(crate) fn named_type(&self) -> Option<(&'f str, String)> {
        let mut path = String::new();
        let mut at = Some(self);
        while let Some(field) = at {
            let name = field.schema.name.as_deref().filter(|name| name.contains('.'));
            // The field that has the type is another one in each use.
            if let Some(name) = name.filter(|_| !path.is_empty()) {
                return Some((name, path));
            }
            path = field.step.text() + &path;
            at = field.parent;
        }
        None
    }
}

/// It is an object with declared fields.
pub(crate) fn is_struct(schema: &Schema) -> bool {
    schema.kind == Type::Object
        && schema.additional.is_none()
        && (!schema.properties.is_empty() || is_recursive(schema))
}

fn is_recursive(schema: &Schema) -> bool {
    schema.definition.is_some()
}

/// It is a whole number.
pub(crate) fn is_integer(schema: &Schema) -> bool {
    schema.kind == Type::Integer
}

/// It is text without a format that is a type of its own.
pub(crate) fn is_plain_text(schema: &Schema) -> bool {
    schema.kind == Type::String && schema.format.is_none()
}

/// It is a point in time.
pub(crate) fn is_time(schema: &Schema) -> bool {
    schema.kind == Type::String && matches!(schema.format.as_deref(), Some("date-time" | "date" | "time"))
}

/// It is a point in time, and not a day, or a time of each day.
pub(crate) fn is_instant(schema: &Schema) -> bool {
    schema.kind == Type::String && schema.format.as_deref() == Some("date-time")
}

/// Items of the list are merged by these keys.
pub(crate) fn merge_keys(schema: &Schema) -> Option<Vec<&str>> {
    match &schema.list {
        ListType::Map(keys) => Some(keys.iter().map(String::as_str).collect()),
        ListType::Set => None,
        ListType::Atomic => schema.patch.merge.then(|| schema.patch.merge_key.as_deref().into_iter().collect()),
    }
}

/// Visits each field of a version, the object itself first. A type that contains itself is visited once.
pub(crate) fn walk(subject: &Subject<'_>, raw: Option<Raw<'_>>, visit: &mut dyn FnMut(&Field<'_>)) {
    let root =
        Field { subject, parent: None, step: Step::Root, schema: &subject.version.schema, is_required: true, raw };
    Visitor { visit, seen: Vec::new() }.field(&root, None);
}

struct Visitor<'v> {
    visit: &'v mut dyn FnMut(&Field<'_>),
    /// The definitions of recursive types that were visited.
    seen: Vec<*const Schema>,
}

impl Visitor<'_> {
    fn field(&mut self, field: &Field<'_>, definitions: Option<&Arc<Vec<Schema>>>) {
        (self.visit)(field);
        let definitions = field.schema.definitions.as_ref().or(definitions);
        let below = match field.schema.definition {
            None => field.schema,
            Some(index) => {
                let definition = definitions.and_then(|all| all.get(index as usize));
                let Some(definition) = definition.filter(|of| !self.seen.iter().any(|seen| ptr::eq(*seen, *of))) else {
                    return;
                };
                self.seen.push(definition);
                definition
            }
        };
        let of = |step, schema, is_required, raw| {
            let (subject, parent) = (field.subject, Some(field));
            Field { subject, parent, step, schema, is_required, raw }
        };
        // Metadata of an object in an object is that of all objects, which a kind does not name.
        if field.name() == Some("metadata") && below.properties.contains_key("creationTimestamp") {
            return;
        }
        for (name, schema) in &below.properties {
            let raw = field.raw.as_ref().and_then(|raw| raw.property(name));
            let is_required = match &field.raw {
                // Reading a document makes further fields required.
                Some(raw) => raw.requires(name),
                None => below.required.contains(name),
            };
            self.field(&of(Step::Property(name), schema, is_required, raw), definitions);
        }
        if let Some(items) = &below.items {
            self.field(&of(Step::Items, items, false, field.raw.as_ref().and_then(Raw::items)), definitions);
        }
        if let Some(values) = &below.additional {
            self.field(&of(Step::Values, values, false, field.raw.as_ref().and_then(Raw::values)), definitions);
        }
    }
}
