//! Messages of kinds, from their schemas.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::{File, Kind, Package, shared};
use crate::schema::{Schema, model::Type};

/// The file of a package.
pub fn file(package: &Package, kinds: &[&Kind]) -> File {
    let mut rendering = Rendering { package, imports: BTreeSet::new(), messages: BTreeMap::new() };
    if *package == Package::core() {
        for shared in shared::core() {
            rendering.define(&shared.name.clone().unwrap_or_default(), &shared);
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
    for (name, message) in &rendering.messages {
        write!(text, "\n{}message {name} {{\n{}}}\n", comment(&message.about, ""), message.fields)
            .expect("text takes all");
    }
    File { path: package.path.clone(), text }
}

struct Rendering<'p> {
    package: &'p Package,
    imports: BTreeSet<&'static str>,
    messages: BTreeMap<String, Message>,
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

impl Rendering<'_> {
    /// A kind and its list.
    fn kind(&mut self, kind: &Kind) {
        let name = kind.kind.as_str();
        let metadata = self.reference(shared::META, "ObjectMeta");
        let mut lines = self.fields(name, &kind.schema);
        lines.push(line(1, "Standard object's metadata.", &format!("optional {metadata}"), "metadata"));
        self.insert(name, &kind.schema.description, lines);
        let metadata = self.reference(shared::META, "ListMeta");
        let lines = vec![
            line(1, "Standard list metadata.", &format!("optional {metadata}"), "metadata"),
            line(2, &format!("The objects of kind {name}."), &format!("repeated {name}"), "items"),
        ];
        self.insert(&kind.list_kind, &format!("{} is a list of {name}.", kind.list_kind), lines);
    }

    /// A message of a name in this package; what it is called there, where another one has the name.
    fn insert(&mut self, name: &str, about: &str, mut lines: Vec<Line>) -> String {
        lines.sort_by_key(|(number, _)| *number);
        let fields: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
        let message = Message { about: about.to_owned(), fields: fields.join("\n") };
        let mut free = name.to_owned();
        let mut number = 2;
        while self.messages.get(&free).is_some_and(|taken| *taken != message) {
            free = format!("{name}{number}");
            number += 1;
        }
        self.messages.insert(free.clone(), message);
        free
    }

    fn define(&mut self, name: &str, schema: &Schema) -> String {
        let lines = self.fields(name, schema);
        // What is said of a type is said where it is used: a type does not know which of its descriptions is its own.
        self.insert(name, "", lines)
    }

    fn fields(&mut self, owner: &str, schema: &Schema) -> Vec<Line> {
        let mut lines = Vec::new();
        for (name, property) in &schema.properties {
            let place = format!("{owner}{}", capital(name));
            let declared = self.declared(&place, property);
            lines.push(line(property.protobuf.unwrap_or_default(), &property.description, &declared, name));
        }
        lines
    }

    /// A field's label and type: `optional string`, `repeated Chapter`, `map<string, bytes>`.
    fn declared(&mut self, place: &str, schema: &Schema) -> String {
        match (schema.kind, &schema.items, &schema.additional) {
            (Type::Array, Some(items), _) => format!("repeated {}", self.inner(place, items)),
            (Type::Object, _, Some(values)) => format!("map<string, {}>", self.inner(place, values)),
            _ => format!("optional {}", self.single(place, schema)),
        }
    }

    /// An item of a list or a value of a map. Of lists and maps there are none in lists and maps, so these are messages
    /// whose first field has the entries.
    fn inner(&mut self, place: &str, schema: &Schema) -> String {
        if schema.kind != Type::Array && schema.additional.is_none() {
            return self.single(place, schema);
        }
        let name = format!("{place}Items");
        let declared = self.declared(&name, schema);
        self.insert(&name, "", vec![line(1, "", &declared, "items")])
    }

    fn single(&mut self, place: &str, schema: &Schema) -> String {
        let (package, name) = match (schema.kind, schema.format.as_deref()) {
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
            (Type::Object, _) if !schema.preserve_unknown => return self.structure(place, schema),
            _ => (shared::RUNTIME, "RawExtension"),
        };
        self.reference(package, name)
    }

    fn structure(&mut self, place: &str, schema: &Schema) -> String {
        if let Some((package, name)) = shared::place_of(schema) {
            return self.reference(package, name);
        }
        self.define(schema.name.as_deref().unwrap_or(place), schema)
    }

    /// The name by which a message is referred to from here.
    fn reference(&mut self, package: shared::Home, name: &str) -> String {
        if package.name == self.package.name {
            return name.to_owned();
        }
        self.imports.insert(package.path);
        format!(".{}.{name}", package.name)
    }
}

/// A comment above a line; nothing where there is nothing to say.
fn comment(about: &str, indent: &str) -> String {
    about.lines().map(|line| format!("{indent}// {line}").trim_end().to_owned() + "\n").collect()
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
