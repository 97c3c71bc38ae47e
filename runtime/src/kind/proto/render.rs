//! Messages of kinds, from their schemas.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::{File, Kind, Package, shared};
use crate::schema::{
    At,
    model::Type,
    named::{Named, Writer},
};

/// The file of a package.
pub(super) fn file(package: &Package, kinds: &[&Kind]) -> File {
    let mut rendering = Rendering { package, imports: BTreeSet::new(), messages: Named::new(BTreeMap::new(), "") };
    if *package == Package::core() {
        for shared in shared::core() {
            let at = At::of(shared);
            let name = at.name.as_deref().unwrap_or_default();
            let message = rendering.write(at, name);
            rendering.messages.define(name, message);
        }
    }
    for kind in kinds {
        rendering.kind(kind);
    }
    let mut text = String::from(
        "// Generated from the kinds that the server has; the numbers are what counts on the wire.\n\nsyntax = \"proto2\";\n\n",
    );
    writeln!(text, "package {};", package.name).expect("text takes all");
    for (index, path) in rendering.imports.iter().enumerate() {
        let space = if index == 0 { "\n" } else { "" };
        writeln!(text, "{space}import \"{path}\";").expect("text takes all");
    }
    for (name, message) in rendering.messages.finish() {
        write!(text, "\n{}message {name} {{\n{}}}\n", comment(&message.about, ""), message.fields)
            .expect("text takes all");
    }
    File { path: package.path.clone(), text }
}

struct Rendering<'p> {
    package: &'p Package,
    imports: BTreeSet<&'static str>,
    messages: Named<Message>,
}

/// A message as text.
#[derive(PartialEq, Eq)]
struct Message {
    about: String,
    fields: String,
}

/// A field: its number, and its line with the comment above it.
type Line = (u32, String);

fn line(number: u32, about: &str, declared: &str, name: &str) -> Line {
    (number, format!("{}  {declared} {name} = {number};\n", comment(about, "  ")))
}

impl Message {
    fn new(about: &str, mut lines: Vec<Line>) -> Self {
        lines.sort_by_key(|(number, _)| *number);
        let fields: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
        Self { about: about.to_owned(), fields: fields.join("\n") }
    }
}

impl Writer for Rendering<'_> {
    type Definition = Message;

    fn named(&mut self) -> &mut Named<Message> {
        &mut self.messages
    }

    fn write(&mut self, at: At<'_>, name: &str) -> Message {
        // Descriptions are written at the use of a type: a type cannot know which of them is its own.
        Message::new("", self.fields(name, at))
    }
}

impl Rendering<'_> {
    /// Adds a kind, and its list if there can be one.
    fn kind(&mut self, kind: &Kind) {
        let name = kind.names().kind.as_str();
        let metadata = self.reference(shared::META, "ObjectMeta");
        let mut lines = self.fields(name, At::of(&kind.version.schema));
        lines.push(line(1, "Standard object's metadata.", &format!("optional {metadata}"), "metadata"));
        self.messages.define(name, Message::new(&kind.version.schema.description, lines));
        if !kind.shared.stored {
            return;
        }
        let metadata = self.reference(shared::META, "ListMeta");
        let lines = vec![
            line(1, "Standard list metadata.", &format!("optional {metadata}"), "metadata"),
            line(2, &format!("The objects of kind {name}."), &format!("repeated {name}"), "items"),
        ];
        let about = format!("{} is a list of {name}.", kind.names().list_kind);
        self.messages.define(&kind.names().list_kind, Message::new(&about, lines));
    }

    fn fields(&mut self, owner: &str, at: At<'_>) -> Vec<Line> {
        let mut lines = Vec::new();
        for (name, property) in at.properties().filter(|(_, property)| property.protobuf != Some(0)) {
            let place = format!("{owner}{}", capital(name));
            let declared = self.declared(&place, property);
            let field = line(property.protobuf.unwrap_or_default(), &property.description, &declared, name);
            lines.push((property.node().protobuf_parts.as_deref().unwrap_or_default(), field));
        }
        self.in_parts(owner, lines)
    }

    /// Lines of a message, those of parts in the messages of these.
    fn in_parts(&mut self, owner: &str, all: Vec<(&[u32], Line)>) -> Vec<Line> {
        let (mut lines, mut parts): (Vec<_>, BTreeMap<u32, Vec<_>>) = (Vec::new(), BTreeMap::new());
        for (path, line) in all {
            match path {
                [] => lines.push(line),
                [part, path @ ..] => parts.entry(*part).or_default().push((path, line)),
            }
        }
        for (number, part) in parts {
            let place = format!("{owner}Part{number}");
            let part = Message::new("", self.in_parts(&place, part));
            let name = self.messages.define(&place, part);
            lines.push(line(number, "", &format!("optional {name}"), &format!("part{number}")));
        }
        lines
    }

    /// A field's label and type: `optional string`, `repeated Chapter`, `map<string, bytes>`.
    fn declared(&mut self, place: &str, at: At<'_>) -> String {
        match (at.kind, at.items(), at.entry()) {
            (Type::Array, Some(items), _) => format!("repeated {}", self.inner(place, items)),
            (Type::Object, _, Some(values)) => format!("map<string, {}>", self.inner(place, values)),
            _ => format!("optional {}", self.single(place, at)),
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
        self.messages.define(&name, Message::new("", vec![line(1, "", &declared, "items")]))
    }

    fn single(&mut self, place: &str, at: At<'_>) -> String {
        let (package, name) = match (at.kind, at.format.as_deref()) {
            (Type::Boolean, _) => return "bool".to_owned(),
            (Type::Integer, Some("int32")) => return "int32".to_owned(),
            (Type::Integer, _) => return "int64".to_owned(),
            (Type::Number, _) => return "double".to_owned(),
            (Type::String, Some("byte")) => return "bytes".to_owned(),
            (Type::String, Some("date-time")) => (shared::META, "Time"),
            (Type::String, Some("micro-time")) => (shared::META, "MicroTime"),
            (Type::String, Some("quantity")) => (shared::RESOURCE, "Quantity"),
            (Type::String, _) => return "string".to_owned(),
            (Type::IntOrString, _) => (shared::INTSTR, "IntOrString"),
            (Type::Object, _) if !at.preserve_unknown => return self.structure(place, at),
            _ => (shared::RUNTIME, "RawExtension"),
        };
        self.reference(package, name)
    }

    fn structure(&mut self, place: &str, at: At<'_>) -> String {
        if let Some((package, name)) = shared::place_of(at) {
            return self.reference(package, name);
        }
        let name = at.name.as_deref().unwrap_or(place);
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

/// A comment above a line; empty for an empty description.
fn comment(about: &str, indent: &str) -> String {
    about.lines().map(|line| format!("{indent}// {line}").trim_end().to_owned() + "\n").collect()
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
