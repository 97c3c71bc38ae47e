//! The file of a kind, and a manifest of an object.

use std::collections::BTreeSet;

use kindsmith_meta::text::is_unsafe;
use serde_json::Value;

use super::{
    field::{Field, Struct},
    names, rename, status, test,
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
            text.extend(["\n", &*status::type_of(&self.name, &[])]);
        }
        text + &test::module(self)
    }

    fn imports(&self) -> String {
        let mut named: BTreeSet<&str> = ["ApiType", "ObjectMeta", "Resource"].into();
        if self.has_status {
            named.insert("Condition");
        }
        let (maps, named) = imported(named, &self.types.iter().flat_map(|declared| &declared.fields));
        let about = names::capital(&names::words(&names::plural(&self.name)).join(" "));
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
            let title = rename::title(&field.name);
            text.extend([format!("#[resource(column({title:?}, path = spec.{}))]\n", raw(&field.name))]);
        }
        text.extend([format!(
            "pub struct {name} {{\n    /// Standard object's metadata.\n    pub metadata: ObjectMeta,\n"
        )]);
        text.extend([format!(
            "    /// The desired state of the {}.\n    pub spec: {name}Spec,\n",
            names::words(name).join(" ")
        )]);
        if self.has_status {
            text += &status::field_of(name);
        }
        text + "}\n"
    }

    /// The fields that `kubectl get` shows: the first three that are short.
    fn columns(&self) -> impl Iterator<Item = &Field> {
        let fields = self.types.first().into_iter().flat_map(|spec| &spec.fields);
        fields.filter(|field| matches!(&*field.ty, "String" | "bool" | "i32" | "i64" | "Quantity" | "Time")).take(3)
    }

    /// A manifest of an object.
    pub(crate) fn manifest(&self) -> String {
        let Self { name, group, version, .. } = self;
        let mut text = format!("apiVersion: {group}/{version}\nkind: {name}\nmetadata:\n  name: example\n");
        let fields = self.types.first().map_or(&[][..], |spec| &spec.fields);
        text += if fields.is_empty() { "spec: {}\n" } else { "spec:\n" };
        for field in fields {
            // JSON is YAML, and short.
            text.extend([format!("  {}: {}\n", plain(&field.wire.as_str().into()), plain(&field.example))]);
        }
        text
    }

    /// The path of its objects, those of the namespace `default`.
    pub(crate) fn path(&self) -> String {
        let namespace = if self.is_cluster { "" } else { "namespaces/default/" };
        format!("/apis/{}/{}/{namespace}{}", self.group, self.version, names::plural(&self.name))
    }
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
        other => other.to_string().chars().fold(String::new(), |mut text, letter| {
            // JSON may have these in texts, and YAML may not.
            if is_unsafe(letter) || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
                text.extend(format!("\\u{:04x}", u32::from(letter)).chars());
            } else {
                text.push(letter);
            }
            text
        }),
    }
}

/// The imports for these names of Kindsmith and for the types of fields: that of maps, and the list of Kindsmith's names.
pub(crate) fn imported<'f>(
    named: impl IntoIterator<Item = &'static str>,
    fields: &(impl Iterator<Item = &'f Field> + Clone),
) -> (&'static str, String) {
    let is_named = |name: &str| {
        fields.clone().any(|field| field.ty.split(|c: char| !c.is_alphanumeric()).any(|part| part == name))
    };
    let mut all: BTreeSet<&str> = named.into_iter().collect();
    all.extend(OF_FIELDS.into_iter().filter(|name| is_named(name)));
    let maps = if is_named("BTreeMap") { "use std::collections::BTreeMap;\n\n" } else { "" };
    (maps, all.into_iter().collect::<Vec<_>>().join(", "))
}

/// Types of Kindsmith that a field can have.
pub(crate) const OF_FIELDS: [&str; 8] =
    ["Quantity", "Time", "MicroTime", "IntOrString", "ByteString", "RawJson", "LabelSelector", "ObjectReference"];

/// An identifier; keywords become raw ones. Keywords that cannot be raw get a `_`, which the name on the wire lacks.
pub(crate) fn raw(name: &str) -> String {
    if ["self", "super", "crate"].contains(&name) {
        return format!("{name}_");
    }
    if names::is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

/// The declaration of a struct.
pub(crate) fn structure(declared: &Struct) -> String {
    let Struct { name, about, fields } = declared;
    let mut text = format!(
        "\n/// {about}\n#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]\n#[serde(rename_all = \"camelCase\")]\n\
         pub struct {name} {{\n"
    );
    for field in fields {
        let words = names::words(&field.name).join(" ");
        text.extend([format!("    /// The {words}.\n")]);
        if !field.api.is_empty() {
            text.extend([format!("    #[api({})]\n", field.api.join(", "))]);
        }
        let mut serde = Vec::new();
        if field.wire != names::camel(&field.name) || raw(&field.name).ends_with('_') {
            serde.push(format!("rename = {:?}", field.wire));
        }
        if field.is_list_or_map() && !field.is_required {
            serde.push("default".to_owned());
        }
        if !serde.is_empty() {
            text.extend([format!("    #[serde({})]\n", serde.join(", "))]);
        }
        text.extend([format!("    pub {}: {},\n", raw(&field.name), field.ty)]);
    }
    text + "}\n"
}
