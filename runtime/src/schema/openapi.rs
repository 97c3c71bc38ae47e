//! Schemas in OpenAPI documents: types, bounds, defaults, and the `x-kubernetes-*` extensions.
use std::{collections::BTreeMap, mem};

use serde_json::{Map, json};

use super::{
    At, Document, Schema, format,
    junctors::Junctors,
    model::{ListType, PatchStrategy, Type},
    named::{Named, Writer},
};

/// Types that are the same in all documents, which have them anyway.
const SHARED: [&str; 3] = [
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
];

/// The version of the OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// OpenAPI 2: `#/definitions/`; no `nullable`, no junctors.
    V2,
    /// OpenAPI 3: `#/components/schemas/`.
    V3,
}

impl Version {
    /// A reference to a definition: `{"$ref": "#/components/schemas/<name>"}`.
    pub(crate) fn reference(self, name: &str) -> Document {
        let at = match self {
            Self::V2 => "#/definitions/",
            Self::V3 => "#/components/schemas/",
        };
        json!({"$ref": format!("{at}{name}")})
    }
}

/// Renders a schema. Named structs in it become definitions `<prefix>.<name>` in `out`, once each. If two types share a
/// name but not their fields, the later one becomes `<prefix>.<name>_2`. `of_objects` are the properties of the root and
/// of embedded objects in addition to the declared ones: `apiVersion`, `kind` and `metadata`.
pub(crate) fn definitions(
    prefix: &str,
    schema: &Schema,
    version: Version,
    of_objects: &Map<String, Document>,
    out: &mut BTreeMap<String, Document>,
) -> Map<String, Document> {
    let mut rendering = Rendering { prefix, version, of_objects, named: Named::new(mem::take(out), "_") };
    let whole = rendering.whole(At::object(schema));
    *out = rendering.named.finish();
    whole
}

struct Rendering<'a> {
    prefix: &'a str,
    version: Version,
    of_objects: &'a Map<String, Document>,
    named: Named<Document>,
}

impl Writer for Rendering<'_> {
    type Definition = Document;

    fn named(&mut self) -> &mut Named<Document> {
        &mut self.named
    }

    fn write(&mut self, at: At<'_>, _name: &str) -> Document {
        // A definition describes only the type: defaults, merge rules and descriptions of fields belong to their use,
        // and clients print both.
        let own = Schema {
            default: None,
            description: at.type_description.clone(),
            map_atomic: false,
            patch: PatchStrategy::default(),
            ..at.to_schema()
        };
        Document::Object(self.whole(At::of(&own)))
    }
}

impl Rendering<'_> {
    fn full(&self, name: &str) -> String {
        if name.contains('.') { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    /// A schema at its use: for a named type a reference with the properties of this use.
    fn used(&mut self, at: At<'_>) -> Document {
        let name = self.full(at.name.as_deref().unwrap_or_default());
        let defined = if let Some(definition) = at.leads_to() {
            self.define_recursive(definition, &name)
        } else if SHARED.contains(&&*name) {
            name
        } else if at.name.is_some() && at.kind == Type::Object {
            let definition = self.write(at, &name);
            self.named.define(&name, definition)
        } else {
            // Named scalars, such as enums, are inlined: clients like `kubectl explain` show a field's enum only then.
            return Document::Object(self.whole(at));
        };
        let reference = self.version.reference(&defined);
        let mut used = Self::use_of(&at);
        if used.is_empty() {
            return reference;
        }
        match self.version {
            // Version 3 forbids siblings of `$ref`; readers of version 2 accept them.
            Version::V3 => {
                used.insert("allOf".to_owned(), json!([reference]));
            }
            Version::V2 => used.extend(reference.as_object().cloned().unwrap_or_default()),
        }
        Document::Object(used)
    }

    /// The properties of a named type's use.
    fn use_of(schema: &Schema) -> Map<String, Document> {
        let mut used = Map::new();
        if !schema.description.is_empty() {
            used.insert("description".to_owned(), json!(schema.description));
        }
        if let Some(default) = &schema.default {
            used.insert("default".to_owned(), default.clone());
        }
        merging(schema, &mut used);
        used
    }

    fn whole(&mut self, at: At<'_>) -> Map<String, Document> {
        let (mut out, schema) = (Map::new(), at.node());
        if !schema.description.is_empty() {
            out.insert("description".to_owned(), json!(schema.description));
        }
        self.type_of(schema, &mut out);
        bounds(schema, &mut out);
        merging(schema, &mut out);
        if let Some(default) = &schema.default {
            out.insert("default".to_owned(), default.clone());
        }
        if schema.nullable && self.version == Version::V3 {
            out.insert("nullable".to_owned(), json!(true));
        }
        self.fields(at, &mut out);
        out
    }

    fn type_of(&self, schema: &Schema, out: &mut Map<String, Document>) {
        if let Some(name) = schema.kind.name() {
            out.insert("type".to_owned(), json!(name));
            if let Some(format) = &schema.format {
                out.insert("format".to_owned(), json!(format::published(format)));
            }
        } else if schema.kind == Type::Any {
            out.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
        } else {
            if self.version == Version::V2 {
                out.insert("type".to_owned(), json!("string"));
            } else {
                out.insert("oneOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
            }
            out.insert("format".to_owned(), json!("int-or-string"));
            out.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
        }
    }

    fn fields(&mut self, at: At<'_>, out: &mut Map<String, Document>) {
        let schema = at.node();
        let mut properties: Map<_, _> =
            at.properties().map(|(name, property)| (name.clone(), self.used(property))).collect();
        if at.is_object() {
            properties.extend(self.of_objects.clone());
        }
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Document::Object(properties));
        }
        if !schema.required.is_empty() {
            out.insert("required".to_owned(), json!(schema.required));
        }
        if let Some(values) = at.entry() {
            out.insert("additionalProperties".to_owned(), self.used(values));
        }
        if let Some(items) = at.items() {
            out.insert("items".to_owned(), self.used(items));
        }
        if schema.union && self.version == Version::V3 {
            let members: Vec<_> = at.properties().map(|(name, _)| json!({"required": [name]})).collect();
            out.insert("oneOf".to_owned(), json!(members));
        }
        if let Some(unenforced) = &schema.unenforced {
            let texts = |text: &String| (!text.is_empty()).then(|| json!(text));
            let list = |list: &Vec<Document>| (!list.is_empty()).then(|| json!(list));
            let members = [
                ("title", texts(&unenforced.title)),
                ("example", unenforced.example.clone()),
                ("externalDocs", unenforced.external_docs.clone()),
                ("x-kubernetes-validations", list(&unenforced.rules)),
                ("x-kubernetes-unions", list(&unenforced.unions)),
            ];
            out.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        if let Some(said) = schema.junctors.as_deref().filter(|_| self.version == Version::V3) {
            junctors(said, out);
        }
        for (name, holds) in [
            ("x-kubernetes-preserve-unknown-fields", schema.preserve_unknown),
            ("x-kubernetes-embedded-resource", schema.embedded),
        ] {
            if holds {
                out.insert(name.to_owned(), json!(true));
            }
        }
    }
}

fn bounds(schema: &Schema, out: &mut Map<String, Document>) {
    let mut put = |name: &str, value: Option<Document>| {
        if let Some(value) = value {
            out.insert(name.to_owned(), value);
        }
    };
    put("minimum", schema.minimum.map(number));
    put("maximum", schema.maximum.map(number));
    put("exclusiveMinimum", schema.exclusive_minimum.then_some(json!(true)));
    put("exclusiveMaximum", schema.exclusive_maximum.then_some(json!(true)));
    put("multipleOf", schema.multiple_of.map(number));
    put("minLength", schema.min_length.map(Document::from));
    put("maxLength", schema.max_length.map(Document::from));
    put("pattern", schema.pattern.as_ref().map(|pattern| json!(pattern.text)));
    put("minItems", schema.min_items.map(Document::from));
    put("maxItems", schema.max_items.map(Document::from));
    put("minProperties", schema.min_properties.map(Document::from));
    put("maxProperties", schema.max_properties.map(Document::from));
    put("enum", (!schema.enumeration.is_empty()).then(|| json!(schema.enumeration)));
}

/// Junctors. An existing `oneOf` belongs to the type, and applies in addition.
fn junctors(junctors: &Junctors, out: &mut Map<String, Document>) {
    let own = if junctors.one_of.is_empty() { None } else { out.remove("oneOf") };
    let own = own.map(|one_of| json!({"oneOf": one_of}));
    let all_of = own.into_iter().chain(junctors.all_of.iter().map(branch));
    for (keyword, shown) in [
        ("allOf", all_of.collect::<Vec<_>>()),
        ("anyOf", junctors.any_of.iter().map(branch).collect()),
        ("oneOf", junctors.one_of.iter().map(branch).collect()),
    ] {
        if !shown.is_empty() {
            out.insert(keyword.to_owned(), shown.into());
        }
    }
    if let Some(not) = &junctors.not {
        out.insert("not".to_owned(), branch(not));
    }
}

/// A branch of a junctor: only validation.
fn branch(schema: &Schema) -> Document {
    let mut out = Map::new();
    if let Some(format) = &schema.format {
        out.insert("format".to_owned(), json!(format::published(format)));
    }
    bounds(schema, &mut out);
    if !schema.properties.is_empty() {
        let properties: Map<_, _> = schema.properties.iter().map(|(name, said)| (name.clone(), branch(said))).collect();
        out.insert("properties".to_owned(), properties.into());
    }
    if !schema.required.is_empty() {
        out.insert("required".to_owned(), json!(schema.required));
    }
    if let Some(items) = &schema.items {
        out.insert("items".to_owned(), branch(items));
    }
    if let Some(said) = &schema.junctors {
        junctors(said, &mut out);
    }
    Document::Object(out)
}

/// A bound: integers without a fraction.
fn number(bound: f64) -> Document {
    let whole = format!("{bound:.0}").parse::<i64>().ok().filter(|_| bound.fract() == 0.0);
    whole.map_or_else(|| json!(bound), Document::from)
}

/// How lists, maps and structs merge.
fn merging(schema: &Schema, out: &mut Map<String, Document>) {
    if schema.kind == Type::Array {
        let (kind, keys) = match &schema.list {
            ListType::Atomic => ("atomic", None),
            ListType::Set => ("set", None),
            ListType::Map(keys) => ("map", Some(keys)),
        };
        out.insert("x-kubernetes-list-type".to_owned(), json!(kind));
        if let Some(keys) = keys {
            out.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
        }
    }
    if schema.map_atomic {
        out.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
    }
    let strategies = [("merge", schema.patch.merge), ("retainKeys", schema.patch.retain_keys)];
    let strategies: Vec<_> = strategies.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    if !strategies.is_empty() {
        out.insert("x-kubernetes-patch-strategy".to_owned(), json!(strategies.join(",")));
    }
    if let Some(key) = &schema.patch.merge_key {
        out.insert("x-kubernetes-patch-merge-key".to_owned(), json!(key));
    }
}

#[cfg(test)]
mod tests;
