//! Schemas in OpenAPI documents: types, bounds, defaults, and the `x-kubernetes-*` extensions. They are written as JSON text.
use std::{collections::BTreeMap, mem, sync::Arc};

use serde_json::json;

use self::json::{Json, Members};
use super::{
    At, Document, Pattern, Rule, Schema,
    model::{Junctors, ListType, PatchStrategy, Type},
    named_definitions::{NamedDefinitions, Writer},
    number::of_double,
};

pub mod json;

/// Types that are the same in all documents, which have them anyway.
const SHARED: [&str; 3] = [
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
];

/// Definitions as JSON text, by name.
pub type Definitions = BTreeMap<String, Arc<[u8]>>;

/// The version of the OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// OpenAPI 2: `#/definitions/`; no `nullable`, no junctors.
    V2,
    /// OpenAPI 3: `#/components/schemas/`.
    V3,
}

impl Version {
    /// The location of a definition: `#/components/schemas/<name>`.
    pub fn location(self, name: &str) -> String {
        match self {
            Self::V2 => format!("#/definitions/{name}"),
            Self::V3 => format!("#/components/schemas/{name}"),
        }
    }

    /// Writes a reference to a definition: `{"$ref": "#/components/schemas/<name>"}`.
    pub fn reference(self, name: &str, out: &mut Json) {
        out.object(|out| out.put("$ref", &self.location(name)));
    }
}

/// Defines the schema of objects under this name. Named structs in it become definitions `<prefix>.<name>` in `out`, once each. If
/// two types share a name but not their fields, the later one becomes `<prefix>.<name>_2`. `of_objects` are the properties of the
/// root and of embedded objects in addition to the declared ones, as JSON: `apiVersion`, `kind` and `metadata`. The root gets the
/// members `also`.
///
/// Clients such as kubectl refuse unknown fields by version 2, which cannot say where they are allowed. For custom resources
/// (`is_custom`) it therefore says less, as in kube-apiserver: no properties, items and type of values that keep unknown fields or
/// may be null, and no type of lists without items and of values of several types.
pub fn define(
    (prefix, name): (&str, &str),
    schema: &Schema,
    (version, is_custom): (Version, bool),
    of_objects: &[(&str, Arc<[u8]>)],
    also: impl FnOnce(&mut Members<'_>),
    out: &mut Definitions,
) {
    let prunes = is_custom && version == Version::V2;
    let mut renderer =
        Renderer { prefix, version, prunes, of_objects, named: NamedDefinitions::new(mem::take(out), "_") };
    let mut root = At::object(schema);
    let untyped =
        (schema.kind != Type::Object).then(|| Schema { kind: Type::Object, preserve_unknown: true, ..schema.clone() });
    if let Some(untyped) = &untyped {
        root = At::object(untyped);
    }
    let mut json = Json::default();
    json.object(|out| {
        if prunes && schema.preserve_unknown {
            out.put("type", "object");
        } else {
            renderer.whole(root, out);
        }
        also(out);
    });
    *out = renderer.named.finish();
    out.insert(name.to_owned(), json.finish().into());
}

struct Renderer<'a> {
    prefix: &'a str,
    version: Version,
    /// True if parts that clients of custom resources do not support are left out.
    prunes: bool,
    of_objects: &'a [(&'a str, Arc<[u8]>)],
    named: NamedDefinitions<Arc<[u8]>>,
}

impl Writer for Renderer<'_> {
    type Definition = Arc<[u8]>;

    fn named(&mut self) -> &mut NamedDefinitions<Arc<[u8]>> {
        &mut self.named
    }

    fn write(&mut self, at: At<'_>, _name: &str) -> Arc<[u8]> {
        // A definition describes only the type: defaults, merge rules and descriptions of fields belong to their use,
        // and clients print both.
        let own = Schema {
            default: None,
            description: at.type_description.clone(),
            map_atomic: false,
            immutable: false,
            patch: PatchStrategy::default(),
            ..at.to_schema()
        };
        let mut json = Json::default();
        json.object(|out| self.whole(At::of(&own), out));
        json.finish().into()
    }
}

impl Renderer<'_> {
    fn full(&self, name: &str) -> String {
        if name.contains('.') { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    /// Writes a schema at its use: for a named type a reference with the properties of this use.
    fn used(&mut self, at: At<'_>, out: &mut Json) {
        let full = at.name.as_deref().map(|name| self.full(name));
        let defined = match full {
            // Its definition has a type.
            _ if self.prunes && at.nullable => return out.object(|out| self.whole(at, out)),
            name if let Some(definition) = at.leads_to() => {
                self.define_recursive(definition, &name.unwrap_or_else(|| self.full("")))
            }
            Some(name) if SHARED.contains(&&*name) => name,
            Some(name) if at.kind == Type::Object => {
                let definition = self.write(at, &name);
                self.named.define(&name, definition)
            }
            // Named scalars, such as enums, are inlined: clients like `kubectl explain` show a field's enum only then.
            _ => return out.object(|out| self.whole(at, out)),
        };
        out.object(|out| {
            described(at.node(), out);
            out.put_some("default", at.default.as_ref());
            merging(at.node(), out);
            let rule = at.immutable.then(|| [Rule::unchanged()]);
            out.put_some("x-kubernetes-validations", rule.as_ref());
            // Version 3 forbids siblings of `$ref`; readers of version 2 accept them.
            if self.version == Version::V3 && !out.is_empty() {
                out.with("allOf", |out| out.list([defined], |out, name| self.version.reference(&name, out)));
            } else {
                out.put("$ref", &self.version.location(&defined));
            }
        });
    }

    fn whole(&mut self, at: At<'_>, out: &mut Members<'_>) {
        let schema = at.node();
        described(schema, out);
        self.type_of(schema, out);
        bounds(schema, out);
        merging(schema, out);
        out.put_some("default", schema.default.as_ref());
        if schema.nullable && self.version == Version::V3 {
            out.put("nullable", &true);
        }
        self.fields(at, out);
    }

    /// True if it does not say what a value has in it.
    fn is_opaque(&self, schema: &Schema) -> bool {
        self.prunes && (schema.nullable || schema.preserve_unknown)
    }

    fn is_untyped(&self, schema: &Schema) -> bool {
        let is_pruned = match schema.kind {
            Type::Object => schema.preserve_unknown,
            Type::Array => schema.preserve_unknown || schema.items.is_none(),
            _ => false,
        };
        self.prunes && (schema.nullable || is_pruned)
    }

    fn type_of(&self, schema: &Schema, out: &mut Members<'_>) {
        if let Some(name) = schema.kind.name() {
            out.put_some("type", (!self.is_untyped(schema)).then_some(name));
            out.put_some("format", schema.format.as_deref());
        } else if schema.kind == Type::IntOrString {
            if self.version == Version::V2 && !self.prunes {
                out.put("type", "string");
            }
            out.put_some("format", (!self.prunes).then_some("int-or-string"));
            out.put("x-kubernetes-int-or-string", &true);
        }
    }

    /// The `oneOf` of the type: for values of one of two types, and for unions.
    fn one_of_type(&self, at: At<'_>) -> Option<Document> {
        if self.version == Version::V2 {
            None
        } else if at.union {
            Some(at.properties().map(|(name, _)| json!({"required": [name]})).collect())
        } else {
            (at.kind == Type::IntOrString).then(|| json!([{"type": "integer"}, {"type": "string"}]))
        }
    }

    /// The names of required fields; clients take null for a missing field.
    fn required<'s>(&self, at: At<'s>) -> Vec<&'s str> {
        if self.prunes && at.entry().is_some_and(|values| values.nullable) {
            return Vec::new();
        }
        let may_be_null = |name: &str| self.prunes && at.property(name).is_some_and(|property| property.nullable);
        at.node().required.iter().map(String::as_str).filter(|name| !may_be_null(name)).collect()
    }

    fn fields(&mut self, at: At<'_>, out: &mut Members<'_>) {
        let schema = at.node();
        let is_opaque = self.is_opaque(schema);
        let of_objects = if at.is_object() { self.of_objects } else { &[] };
        let declared = |(name, _): &(&String, At<'_>)| !of_objects.iter().any(|(other, _)| other == name);
        if !is_opaque && (at.properties().len() > 0 || !of_objects.is_empty()) {
            out.with("properties", |out| {
                out.object(|out| {
                    for (name, property) in at.properties().filter(declared) {
                        out.with(name, |out| self.used(property, out));
                    }
                    for (name, property) in of_objects {
                        out.with(name, |out| out.text(property));
                    }
                });
            });
        }
        let required = self.required(at);
        if !required.is_empty() {
            out.put("required", &required);
        }
        if let Some(values) = at.entry() {
            match values.boolean {
                Some(is_allowed) => out.put("additionalProperties", &is_allowed),
                None => out.with("additionalProperties", |out| self.used(values, out)),
            }
        }
        if let Some(items) = at.items().filter(|_| !is_opaque) {
            out.with("items", |out| self.used(items, out));
        }
        if let Some(unenforced) = &schema.unenforced {
            out.put_some("title", Some(&unenforced.title).filter(|title| !title.is_empty()));
            out.put_some("example", unenforced.example.as_ref());
            out.put_some("externalDocs", unenforced.external_docs.as_ref());
            out.put_some("x-kubernetes-unions", Some(&unenforced.unions).filter(|unions| !unions.is_empty()));
        }
        let rules = schema.published_rules();
        out.put_some("x-kubernetes-validations", Some(&rules).filter(|rules| !rules.is_empty()));
        let said = schema.junctors.as_deref().filter(|_| self.version == Version::V3);
        junctors(said.unwrap_or(&Junctors::default()), self.one_of_type(at), out);
        if schema.preserve_unknown || schema.kind == Type::Any {
            out.put("x-kubernetes-preserve-unknown-fields", &true);
        }
        if schema.embedded {
            out.put("x-kubernetes-embedded-resource", &true);
        }
    }
}

fn described(schema: &Schema, out: &mut Members<'_>) {
    out.put_some("description", Some(&schema.description).filter(|description| !description.is_empty()));
}

fn bounds(schema: &Schema, out: &mut Members<'_>) {
    out.put_some("minimum", schema.minimum.and_then(of_double));
    out.put_some("maximum", schema.maximum.and_then(of_double));
    out.put_some("exclusiveMinimum", schema.exclusive_minimum.then_some(true));
    out.put_some("exclusiveMaximum", schema.exclusive_maximum.then_some(true));
    out.put_some("multipleOf", schema.multiple_of.and_then(of_double));
    out.put_some("minLength", schema.min_length);
    out.put_some("maxLength", schema.max_length);
    out.put_some("pattern", schema.pattern.as_ref().map(Pattern::text));
    out.put_some("minItems", schema.min_items);
    out.put_some("maxItems", schema.max_items);
    out.put_some("minProperties", schema.min_properties);
    out.put_some("maxProperties", schema.max_properties);
    out.put_some("enum", Some(&schema.enumeration).filter(|values| !values.is_empty()));
}

/// Junctors. The `oneOf` of the type applies in addition.
fn junctors(junctors: &Junctors, of_type: Option<Document>, out: &mut Members<'_>) {
    let (beside, alone) = if junctors.one_of.is_empty() { (None, of_type) } else { (of_type, None) };
    if beside.is_some() || !junctors.all_of.is_empty() {
        let beside = beside.map(|one_of| json!({"oneOf": one_of}));
        let all = beside.as_ref().map(Err).into_iter().chain(junctors.all_of.iter().map(Ok));
        let write = |out: &mut Json, one| match one {
            Ok(said) => branch(said, out),
            Err(one_of) => out.value(one_of),
        };
        out.with("allOf", |out| out.list(all, write));
    }
    for (keyword, branches) in [("anyOf", &junctors.any_of), ("oneOf", &junctors.one_of)] {
        if !branches.is_empty() {
            out.with(keyword, |out| out.list(branches, |out, said| branch(said, out)));
        }
    }
    out.put_some("oneOf", alone);
    if let Some(not) = &junctors.not {
        out.with("not", |out| branch(not, out));
    }
}

/// A branch of a junctor: only validation.
fn branch(schema: &Schema, out: &mut Json) {
    out.object(|out| {
        out.put_some("format", schema.format.as_deref());
        bounds(schema, out);
        if !schema.properties.is_empty() {
            out.with("properties", |out| {
                out.object(|out| {
                    for (name, said) in &schema.properties {
                        out.with(name, |out| branch(said, out));
                    }
                });
            });
        }
        if !schema.required.is_empty() {
            out.put("required", &schema.required);
        }
        if let Some(items) = &schema.items {
            out.with("items", |out| branch(items, out));
        }
        if let Some(said) = &schema.junctors {
            junctors(said, None, out);
        }
    });
}

/// How lists, maps and structs merge.
fn merging(schema: &Schema, out: &mut Members<'_>) {
    if schema.kind == Type::Array {
        let (kind, keys) = match &schema.list {
            ListType::Atomic => ("atomic", None),
            ListType::Set => ("set", None),
            ListType::Map(keys) => ("map", Some(keys)),
        };
        out.put("x-kubernetes-list-type", kind);
        out.put_some("x-kubernetes-list-map-keys", keys);
    }
    if schema.map_atomic {
        out.put("x-kubernetes-map-type", "atomic");
    }
    let strategies = [("merge", schema.patch.merge), ("retainKeys", schema.patch.retain_keys)];
    let strategies: Vec<_> = strategies.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    if !strategies.is_empty() {
        out.put("x-kubernetes-patch-strategy", &strategies.join(","));
    }
    out.put_some("x-kubernetes-patch-merge-key", schema.patch.merge_key.as_ref());
}

#[cfg(test)]
mod tests;
