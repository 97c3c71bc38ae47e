//! The declaration of a struct, and the imports that the types of its fields need.

use std::collections::BTreeSet;

use super::{
    field::{Field, Struct},
    names,
};

/// Types of Kindsmith that a field can have.
pub(crate) const OF_FIELDS: [&str; 8] =
    ["Quantity", "Time", "MicroTime", "IntOrString", "ByteString", "RawJson", "LabelSelector", "ObjectReference"];

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

/// The declaration of a struct.
pub(crate) fn structure(declared: &Struct) -> String {
    let Struct { name, about, fields } = declared;
    let mut text = format!(
        "\n/// {about}\n#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]\n#[serde(rename_all = \"camelCase\")]\n\
         pub struct {name} {{\n"
    );
    for field in fields {
        let words = names::phrase(&field.name);
        text.extend([format!("    /// The {words}.\n")]);
        if !field.api.is_empty() {
            text.extend([format!("    #[api({})]\n", field.api.join(", "))]);
        }
        let mut serde = Vec::new();
        if field.wire != names::camel(&field.name) || names::raw(&field.name).ends_with('_') {
            serde.push(format!("rename = {:?}", field.wire));
        }
        if field.is_list_or_map() && !field.is_required {
            serde.push("default".to_owned());
        }
        if !serde.is_empty() {
            text.extend([format!("    #[serde({})]\n", serde.join(", "))]);
        }
        text.extend([format!("    pub {}: {},\n", names::raw(&field.name), field.ty)]);
    }
    text + "}\n"
}
