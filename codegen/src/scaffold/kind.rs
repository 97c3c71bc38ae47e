//! The file of a kind, and a manifest of an object.

use std::collections::BTreeSet;

use kindsmith_meta::text::is_unsafe;
use serde_json::Value;

use super::{
    field::{Field, Struct},
    names, status_type,
    structure::{imported, structure},
    test_module,
};

/// A kind that is to be added.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// The kind: `Order`.
    pub name: String,
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// Objects are cluster-scoped.
    pub is_cluster: bool,
    /// The short name; may be empty.
    pub short_name: String,
    /// It has a status, which controllers write.
    pub has_status: bool,
    /// The desired state, and the types in it.
    pub types: Vec<Struct>,
}

impl Kind {
    /// A kind with these fields in its `spec`.
    pub(crate) fn spec(name: &str, fields: Vec<Field>) -> Struct {
        let about = format!("The desired state of {}.", names::one(name));
        Struct { name: format!("{name}Spec"), about, fields }
    }

    /// The file in Rust, with its tests.
    pub(crate) fn source(&self) -> String {
        let mut text = self.imports();
        text += &self.root();
        for declared in &self.types {
            text += &structure(declared);
        }
        if self.has_status {
            text.extend(["\n", &*status_type::declaration(&self.name, &[])]);
        }
        text + &test_module::module(&self.name, &self.path(), self.fields())
    }

    fn imports(&self) -> String {
        let mut named: BTreeSet<&str> = ["ApiType", "ObjectMeta", "Resource"].into();
        if self.has_status {
            named.insert("Condition");
        }
        let (maps, named) = imported(named, &self.types.iter().flat_map(|declared| &declared.fields));
        let about = names::capital(&names::phrase(&names::plural(&self.name)));
        format!("//! {about}.\n\n{maps}use kindsmith::{{{named}}};\nuse serde::{{Deserialize, Serialize}};\n")
    }

    fn root(&self) -> String {
        let Self { name, group, version, .. } = self;
        let one = names::one(name);
        let mut arguments = format!("group = {group:?}, version = {version:?}");
        if !self.short_name.is_empty() {
            arguments.extend([format!(", shortname = {:?}", self.short_name)]);
        }
        for (argument, is_given) in [("cluster", self.is_cluster), ("status", self.has_status)] {
            if is_given {
                arguments.extend([", ", argument]);
            }
        }
        let mut text =
            format!("\n/// {}.\n#[derive(Resource, Clone, Debug)]\n#[resource({arguments})]\n", names::capital(&one));
        for field in self.columns() {
            let title = title(&field.name);
            text.extend([format!("#[resource(column({title:?}, path = spec.{}))]\n", names::raw(&field.name))]);
        }
        text.extend([format!(
            "pub struct {name} {{\n    /// Standard object's metadata.\n    pub metadata: ObjectMeta,\n"
        )]);
        text.extend([format!(
            "    /// The desired state of the {}.\n    pub spec: {name}Spec,\n",
            names::phrase(name)
        )]);
        if self.has_status {
            text += &status_type::field(name);
        }
        text + "}\n"
    }

    /// The fields of the desired state.
    fn fields(&self) -> &[Field] {
        self.types.first().map_or(&[], |spec| &spec.fields)
    }

    /// The fields that `kubectl get` shows: the first three that are short.
    fn columns(&self) -> impl Iterator<Item = &Field> {
        self.fields()
            .iter()
            .filter(|field| matches!(&*field.ty, "String" | "bool" | "i32" | "i64" | "Quantity" | "Time"))
            .take(3)
    }

    /// A manifest of an object.
    pub(crate) fn manifest(&self) -> String {
        let Self { name, group, version, .. } = self;
        let mut text = format!("apiVersion: {group}/{version}\nkind: {name}\nmetadata:\n  name: example\n");
        let fields = self.fields();
        text += if fields.is_empty() { "spec: {}\n" } else { "spec:\n" };
        for field in fields {
            // JSON is YAML, and short.
            let (key, value) = (plain(&field.wire.as_str().into()), plain(&field.example));
            let (mark, indent) = if key.len() > LONG_KEY { ("? ", "\n  ") } else { ("", "") };
            text.extend([format!("  {mark}{key}{indent}: {value}\n")]);
        }
        text
    }

    /// The path of its objects.
    fn path(&self) -> String {
        names::objects_path(&self.group, &self.version, &names::plural(&self.name), self.is_cluster)
    }
}

/// The header of a field's column. The column Name is that of the object's name.
fn title(field: &str) -> String {
    let words: Vec<String> = names::words(field).iter().map(|word| names::capital(word)).collect();
    let title = words.join(" ");
    if title == "Name" { "Spec Name".to_owned() } else { title }
}

/// A value as YAML: text without quotes where it is the same.
fn plain(value: &Value) -> String {
    let is_plain = |text: &str| {
        let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
        begins && text.chars().all(|c| c.is_ascii_alphanumeric() || " -_/".contains(c)) && !text.ends_with(' ')
    };
    let is_word =
        |text: &str| ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&&*text.to_lowercase());
    match value {
        Value::String(text) if is_plain(text) && !is_word(text) => text.clone(),
        other => escaped(&flow(other)),
    }
}

/// The length of a key in bytes from which on YAML needs `?` before it: 1,024 characters, with the quotes (YAML 1.2, 7.4.2).
const LONG_KEY: usize = 1_000;

/// A value as JSON, but for the `?` before long keys.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let key = Value::from(name.as_str()).to_string();
                let mark = if escaped(&key).len() > LONG_KEY { "? " } else { "" };
                format!("{mark}{key}:{}", flow(value))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// Escapes what JSON may have in texts, and YAML may not.
fn escaped(json: &str) -> String {
    json.chars().fold(String::new(), |mut text, letter| {
        if is_unsafe(letter) || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
            text.extend(format!("\\u{:04x}", u32::from(letter)).chars());
        } else {
            text.push(letter);
        }
        text
    })
}
