//! Messages of kinds, from their schemas.
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use kindsmith_proto::{Field, File, Label, Message};

use super::{Kind, Package, shared};
use crate::{
    meta::text::{capitalized, in_one_line},
    schema::{
        At, Scalar,
        model::Type,
        named_definitions::{NamedDefinitions, Writer},
    },
};

/// The file of a package. Fields without a number have the number 0 in it.
pub(super) fn file(package: &Package, kinds: &[&Kind], about: &[&str]) -> File {
    let mut renderer =
        Renderer { package, imports: BTreeSet::new(), messages: NamedDefinitions::new(BTreeMap::new(), "") };
    if *package == Package::core() {
        for shared in shared::core() {
            let at = At::of(shared);
            let name = at.name.as_deref().unwrap_or_default();
            let message = renderer.write(at, name);
            renderer.messages.define(name, message);
        }
    }
    for kind in kinds {
        renderer.kind(kind);
    }
    let named = renderer.messages.finish().into_iter().map(|(name, message)| Message { name, ..message });
    File {
        about: about.iter().map(|&line| line.to_owned()).collect(),
        package: package.name.clone(),
        imports: renderer.imports.into_iter().map(str::to_owned).collect(),
        messages: named.collect(),
        ..File::default()
    }
}

struct Renderer<'p> {
    package: &'p Package,
    imports: BTreeSet<&'static str>,
    messages: NamedDefinitions<Message>,
}

/// The lines of a description.
fn lines(about: &str) -> Vec<String> {
    about.lines().map(|line| in_one_line(line.trim_end()).into_owned()).collect()
}

fn field(number: u32, about: &str, (label, kind): (Label, String), name: &str) -> Field {
    Field { number, about: lines(about), label, kind, name: name.to_owned(), ..Field::default() }
}

/// A message without a name, which it gets when it is defined.
fn message(about: &str, mut fields: Vec<Field>) -> Message {
    fields.sort_by_key(|field| field.number);
    Message { about: lines(about), fields, ..Message::default() }
}

impl Writer for Renderer<'_> {
    type Definition = Message;

    fn named(&mut self) -> &mut NamedDefinitions<Message> {
        &mut self.messages
    }

    fn write(&mut self, at: At<'_>, name: &str) -> Message {
        // Descriptions are written at the use of a type: a type cannot know which of them is its own.
        message("", self.fields(name, at))
    }
}

impl Renderer<'_> {
    /// Adds a kind, and its list if there can be one.
    fn kind(&mut self, kind: &Kind) {
        let name = &*message_name(&kind.names().kind);
        let list = &*message_name(&kind.names().list_kind);
        let metadata = self.reference(shared::META, "ObjectMeta");
        let mut lines = self.fields(name, At::of(&kind.version.schema));
        lines.push(field(1, "Standard object's metadata.", (Label::Optional, metadata), "metadata"));
        self.messages.define(name, message(&kind.version.schema.description, lines));
        if !kind.shared.stored {
            return;
        }
        let metadata = self.reference(shared::META, "ListMeta");
        let lines = vec![
            field(1, "Standard list metadata.", (Label::Optional, metadata), "metadata"),
            field(2, &format!("The objects of kind {name}."), (Label::Repeated, name.to_owned()), "items"),
        ];
        self.messages.define(list, message(&format!("{list} is a list of {name}."), lines));
    }

    fn fields(&mut self, owner: &str, at: At<'_>) -> Vec<Field> {
        let mut lines = Vec::new();
        for (name, property) in at.properties().filter(|(_, property)| property.protobuf != Some(0)) {
            let place = format!("{owner}{}", capitalized(&field_name(name)));
            let declared = self.declared(&place, property);
            let called = field_name(name);
            let field = field(property.protobuf.unwrap_or_default(), &property.description, declared, &called);
            let options = if called == *name { String::new() } else { format!("json_name = \"{name}\"") };
            let field = Field { options, ..field };
            lines.push((property.node().protobuf_parts.as_deref().unwrap_or_default(), field));
        }
        self.in_parts(owner, lines)
    }

    /// Lines of a message, those of parts in the messages of these.
    fn in_parts(&mut self, owner: &str, all: Vec<(&[u32], Field)>) -> Vec<Field> {
        let (mut lines, mut parts): (Vec<_>, BTreeMap<u32, Vec<_>>) = (Vec::new(), BTreeMap::new());
        for (path, line) in all {
            match path {
                [] => lines.push(line),
                [part, path @ ..] => parts.entry(*part).or_default().push((path, line)),
            }
        }
        for (number, part) in parts {
            let place = format!("{owner}Part{number}");
            let part = message("", self.in_parts(&place, part));
            let name = self.messages.define(&place, part);
            lines.push(field(number, "", (Label::Optional, name), &format!("part{number}")));
        }
        lines
    }

    /// A field's label and type: `optional string`, `repeated Chapter`, `map<string, bytes>`.
    fn declared(&mut self, place: &str, at: At<'_>) -> (Label, String) {
        match (at.kind, at.items(), at.entry()) {
            (Type::Array, Some(items), _) => (Label::Repeated, self.inner(place, items)),
            (Type::Object, _, Some(values)) => (Label::Map("string".to_owned()), self.inner(place, values)),
            _ => (Label::Optional, self.single(place, at)),
        }
    }

    /// An item of a list or a value of a map. Protobuf has no nested lists and maps, so these are messages whose first
    /// field has the entries.
    fn inner(&mut self, place: &str, at: At<'_>) -> String {
        if at.kind != Type::Array && at.entry().is_none() {
            return self.single(place, at);
        }
        let name = format!("{place}Items");
        let declared = self.declared(&name, at);
        self.messages.define(&name, message("", vec![field(1, "", declared, "items")]))
    }

    fn single(&mut self, place: &str, at: At<'_>) -> String {
        match scalar(at) {
            None => self.structure(place, at),
            Some((None, kind)) => kind.to_owned(),
            Some((Some(package), kind)) => self.reference(package, kind),
        }
    }

    fn structure(&mut self, place: &str, at: At<'_>) -> String {
        if let Some((package, name)) = shared::place_of(at) {
            return self.reference(package, name);
        }
        let name = &*at.name.as_deref().map_or(place.into(), message_name);
        if let Some(definition) = at.leads_to() {
            return self.define_recursive(definition, name);
        }
        let message = self.write(at, name);
        self.messages.define(name, message)
    }

    /// The name of a message as referred to from here.
    fn reference(&mut self, package: shared::Home, name: &str) -> String {
        if package.name == self.package.name {
            return name.to_owned();
        }
        self.imports.insert(package.path);
        format!(".{}.{name}", package.name)
    }
}

/// The type of a value that has no message of its own, and the package of the API machinery that it is in; `None` for a struct.
pub(super) fn scalar(at: At<'_>) -> Option<(Option<shared::Home>, &'static str)> {
    let of_go = match at.scalar {
        Some(Scalar::MicroTime) => Some((shared::META, "MicroTime")),
        Some(Scalar::Quantity) => Some((shared::RESOURCE, "Quantity")),
        Some(Scalar::Time | Scalar::Bytes | Scalar::IntOrString) | None => None,
    };
    if let Some((package, name)) = of_go {
        return Some((Some(package), name));
    }
    let (package, name) = match (at.kind, at.format.as_deref()) {
        (Type::Boolean, _) => return Some((None, "bool")),
        (Type::Integer, Some("int32")) => return Some((None, "int32")),
        (Type::Integer, _) => return Some((None, "int64")),
        (Type::Number, _) => return Some((None, "double")),
        (Type::String, Some("byte")) => return Some((None, "bytes")),
        (Type::String, Some("date-time")) => (shared::META, "Time"),
        (Type::String, _) => return Some((None, "string")),
        (Type::IntOrString, _) => (shared::INTSTR, "IntOrString"),
        (Type::Object, _) if !at.preserve_unknown => return None,
        _ => (shared::RUNTIME, "RawExtension"),
    };
    Some((Some(package), name))
}

/// The name of a field of a message: `xKubernetesMap` for `x-kubernetes-map`.
fn field_name(name: &str) -> Cow<'_, str> {
    if is_identifier(name) {
        return name.into();
    }
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined: String =
        words.enumerate().map(|(index, word)| if index == 0 { word.into() } else { capitalized(word) }).collect();
    if is_identifier(&joined) { joined.into() } else { format!("_{joined}").into() }
}

/// The first property that fields of a message cannot stand for: its name cannot be said, or is that of another field.
pub(super) fn unnameable<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let is_sayable = |name: &str| name.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"\"'\\".contains(&byte));
    let mut taken = BTreeSet::new();
    names.into_iter().find(|name| !is_sayable(name) || !taken.insert(field_name(name).into_owned()))
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The name of the message of a type: that of the type in its package, as far as it can be one.
fn message_name(name: &str) -> Cow<'_, str> {
    if is_identifier(name) {
        return name.into();
    }
    let last = name.rsplit(['.', '/']).next().unwrap_or_default();
    let fitting = last.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    if is_identifier(&fitting) { fitting.into() } else { format!("_{fitting}").into() }
}
