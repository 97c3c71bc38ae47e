//! From the schemas of an OpenAPI document to the model's.
use std::sync::Arc;

use super::{
    components::{Components, Pool, SCHEMAS, is_of_kubernetes, scalar_of},
    defaults::is_zero,
    findings::{Findings, Location, shown},
    members::Members,
    validations::{VALIDATING, is_collection, is_either, says_union},
};
use crate::schema::{
    Document, Rule, Scalar, Schema,
    model::{ListType, PatchStrategy, Type, Unenforced},
    number,
};

/// Names of the types that schemas have.
const TYPES: &str = "array, boolean, integer, number, object, string";
/// The keyword for the selectable fields of a kind.
pub(super) const SELECTABLE: &str = "x-kubernetes-selectable-fields";
/// The keywords that only schemas outside of junctors have. `x-kubernetes-group-version-kind` and `x-kubernetes-selectable-fields`
/// are read where kinds are found.
const OF_NODES: [&str; 23] = [
    "$ref",
    "additionalProperties",
    "default",
    "description",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-group-version-kind",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
    SELECTABLE,
    "x-kubernetes-unions",
    "x-kubernetes-validations",
];
/// The keywords that belong to the use of a type. With others beside a reference, the type is another one without a name.
const OF_USE: [&str; 7] = [
    "default",
    "description",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
];

/// The group of recursive schemas that a schema is in, if it is in one.
pub(super) type Within = Option<usize>;

/// The type whose fields are all omitted when they are empty, as in Kindsmith's own `ObjectReference`. Documents do not say so.
const OBJECT_REFERENCE: &str = "io.k8s.api.core.v1.ObjectReference";

/// Reads the schemas of a document.
pub(super) struct SchemaReader<'r, 'd> {
    components: &'r mut Components<'d>,
    pool: &'r mut Pool<'d>,
    pub findings: &'r mut Findings,
    within: Within,
    /// Empty lists and maps of optional fields are absent, as in the kinds compiled into Kubernetes.
    pub omits_empty: bool,
}

impl<'d> Components<'d> {
    /// The content of a schema that has a name, in its group of recursive schemas or outside of one.
    pub(super) fn content(
        &mut self,
        name: &'d str,
        within: Within,
        pool: &mut Pool<'d>,
        findings: &mut Findings,
    ) -> Schema {
        let Some(raw) = self.raw(name) else { return Schema::default() };
        let location = Location::of_schemas(self.document);
        let omits_empty = is_of_kubernetes(name);
        let mut reader = SchemaReader { components: self, pool, findings, within, omits_empty };
        let mut schema = Arc::unwrap_or_clone(reader.node(raw, &location.key(name)));
        schema.scalar = scalar_of(name).or(schema.scalar);
        if name == OBJECT_REFERENCE {
            let optional = schema.properties.keys().filter(|name| !schema.required.contains(name));
            for name in optional.cloned().collect::<Vec<_>>() {
                if let Some(property) = schema.properties.get_mut(&name) {
                    (property.omit_empty, property.zero_is_absent) = (true, true);
                }
            }
        }
        pool.messages.number(name, &mut schema, &location.key(name), findings);
        // A type that is another one by a reference has that one's description.
        if schema.kind == Type::Object || within.is_some() {
            schema.name = Some(name.to_owned());
            if !schema.description.is_empty() {
                schema.type_description = std::mem::take(&mut schema.description);
            }
        }
        schema
    }

    /// A schema at some place of the document, such as that of a parameter.
    pub(super) fn at(
        &mut self,
        raw: &'d Document,
        location: &Location<'_>,
        pool: &mut Pool<'d>,
        findings: &mut Findings,
    ) -> Arc<Schema> {
        SchemaReader { components: self, pool, findings, within: None, omits_empty: false }.node(raw, location)
    }
}

/// The schema that a schema refers to.
enum Reference<'d> {
    None,
    /// The schema with this name.
    To(&'d str),
    /// Nothing that there is, which was reported.
    Broken,
}

impl<'d> SchemaReader<'_, 'd> {
    /// A structural schema node.
    pub(super) fn node(&mut self, raw: &'d Document, location: &Location<'_>) -> Arc<Schema> {
        let Some(members) = Members::of(raw, location, self.findings) else { return Arc::default() };
        match self.reference(members) {
            Reference::To(name) => self.used(name, members),
            Reference::Broken => Arc::default(),
            Reference::None => {
                let mut schema = self.keywords(members);
                self.children(members, &mut schema);
                Arc::new(schema)
            }
        }
    }

    /// The schema that a schema refers to: by `$ref`, or by `allOf` with nothing but a `$ref`, which Kubernetes writes
    /// if there are members beside it.
    fn reference(&mut self, members: Members<'d, '_>) -> Reference<'d> {
        let all_of = members.location.key("allOf");
        let (target, location) = match (members.get("$ref"), members.get("allOf").and_then(Document::as_array)) {
            (Some(target), _) => (target, members.location.key("$ref")),
            (None, Some(list)) if list.len() == 1 => {
                let only = list[0].as_object().filter(|only| only.len() == 1);
                let Some(target) = only.and_then(|only| only.get("$ref")) else { return Reference::None };
                (target, all_of.index(0))
            }
            _ => return Reference::None,
        };
        let found = target.as_str().and_then(|target| target.strip_prefix(SCHEMAS));
        match found {
            Some(name) if self.components.contains(name) => return Reference::To(name),
            Some(name) => self.findings.error(&location, format!("the document has no schema {name:?}")),
            None => {
                let message = format!("found a reference to {}; supported: {SCHEMAS}<name>", shown(target));
                self.findings.error(&location, message);
            }
        }
        Reference::Broken
    }

    /// A schema that refers to another one.
    fn used(&mut self, name: &'d str, members: Members<'d, '_>) -> Arc<Schema> {
        let position = self.within.and_then(|group| self.components.position(name, group));
        let base = match position {
            Some(position) => Arc::new(self.back_reference(name, position)),
            None => self.components.schema(name, self.pool, self.findings),
        };
        if members.all.len() == 1 && (members.all.contains_key("$ref") || members.get("allOf").is_some()) {
            return base;
        }
        let own = self.keywords(members);
        let mut schema = Schema::clone(&base);
        if position.is_some() && own.default.as_ref().is_some_and(|default| !is_zero(default)) {
            let location = members.location.key("default");
            self.findings
                .error(&location, format!("the type {name:?} is recursive: a field of it cannot have a default"));
        }
        overlay(&mut schema, own);
        let is_of_use = |name: &&String| OF_USE.contains(&name.as_str()) || ["$ref", "allOf"].contains(&name.as_str());
        if position.is_none() && !members.all.keys().all(|name| is_of_use(&name)) {
            schema.name = None;
            if schema.description.is_empty() {
                schema.description = std::mem::take(&mut schema.type_description);
            }
        }
        Arc::new(schema)
    }

    /// A node that refers back to a definition: the keywords of that, without its fields, entries and items.
    fn back_reference(&mut self, name: &'d str, position: usize) -> Schema {
        let location = Location::of_schemas(self.components.document);
        let (location, mut unused) = (location.key(name), Findings::default());
        let raw = self.components.raw(name);
        let Some(members) = raw.and_then(|raw| Members::of(raw, &location, &mut unused)) else {
            return Schema::default();
        };
        if !matches!(self.reference(members), Reference::None) {
            self.findings.error(&location, "the schema refers to itself, and has no content");
        }
        // Errors of the keywords are reported where the definition is read.
        let findings = std::mem::take(self.findings);
        let mut schema = self.keywords(members);
        *self.findings = findings;
        schema.definition = u32::try_from(position).ok();
        schema.name = Some(name.to_owned());
        schema.type_description = std::mem::take(&mut schema.description);
        schema
    }

    /// The keywords of a node, without its fields, entries, items and junctors.
    fn keywords(&mut self, members: Members<'d, '_>) -> Schema {
        members.warn_of_others(&[&OF_NODES[..], &VALIDATING].concat(), self.findings);
        let mut schema = self.validations(members);
        let findings = &mut *self.findings;
        schema.description = members.text_or_empty("description", findings);
        schema.preserve_unknown = members.flag("x-kubernetes-preserve-unknown-fields", findings);
        schema.embedded = members.flag("x-kubernetes-embedded-resource", findings);
        schema.nullable |= members.flag("nullable", findings);
        schema.default = members.get("default").cloned().map(settled);
        schema.map_atomic =
            members.one_of("x-kubernetes-map-type", &["granular", "atomic"], findings) == Some("atomic");
        schema.list = match members.one_of("x-kubernetes-list-type", &["atomic", "set", "map"], findings) {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(members.texts("x-kubernetes-list-map-keys", findings)),
            _ => ListType::Atomic,
        };
        schema.may_repeat = self.omits_empty && schema.list != ListType::Atomic;
        let strategies = members.text("x-kubernetes-patch-strategy", self.findings).unwrap_or_default();
        for strategy in strategies.split(',').filter(|name| !["merge", "retainKeys", "replace", ""].contains(name)) {
            let location = members.location.key("x-kubernetes-patch-strategy");
            self.findings.error(&location, format!("found {strategy:?}; supported: merge, replace, retainKeys"));
        }
        schema.patch = PatchStrategy {
            merge: strategies.split(',').any(|strategy| strategy == "merge"),
            retain_keys: strategies.split(',').any(|strategy| strategy == "retainKeys"),
            merge_key: members.text("x-kubernetes-patch-merge-key", self.findings).map(str::to_owned),
        };
        self.unenforced(members, &mut schema);
        self.set_type(members, &mut schema);
        // Kubernetes' parameters have it, whatever their type.
        if members.flag("uniqueItems", self.findings) && schema.kind == Type::Array {
            let location = members.location.key("uniqueItems");
            self.findings.warning(&location, "uniqueItems is not enforced; supported: x-kubernetes-list-type: set");
        }
        schema
    }

    /// Reads keywords that are published and have no other effect, and rules.
    fn unenforced(&mut self, members: Members<'d, '_>, schema: &mut Schema) {
        schema.rules = members.list("x-kubernetes-validations", self.findings).iter().map(Rule::of).collect();
        let unions = members.list("x-kubernetes-unions", self.findings).to_vec();
        if !unions.is_empty() {
            let location = members.location.key("x-kubernetes-unions");
            let message = format!("x-kubernetes-unions is published and not enforced yet: {}", unions.len());
            self.findings.warning(&location, message);
        }
        let external_docs = members.object("externalDocs", self.findings).map(|docs| docs.clone().into());
        let title = members.text_or_empty("title", self.findings);
        // OpenAPI 3.1 lists examples.
        let example = members.get("example").or_else(|| members.list("examples", self.findings).first()).cloned();
        let found = Unenforced { title, example, external_docs, unions };
        schema.unenforced = (found != Unenforced::default()).then(|| found.into());
    }

    /// The type, which may be in what surrounds it.
    fn set_type(&mut self, members: Members<'d, '_>, schema: &mut Schema) {
        let location = members.location.key("type");
        let found = match members.get("type") {
            // OpenAPI 3.1 lists types; null among them means that the value may be null.
            Some(Document::Array(list)) => {
                schema.nullable |= list.iter().any(|one| one == "null");
                let mut others = list.iter().filter(|one| *one != "null");
                let only = others.next().filter(|_| others.next().is_none());
                if only.is_none() {
                    self.findings.error(&location, format!("found several types; supported: one of {TYPES}, and null"));
                }
                only
            }
            other => other,
        };
        schema.kind = match found.map(|found| (found.as_str().and_then(Type::of_name), found)) {
            _ if members.get("x-kubernetes-int-or-string") == Some(&true.into()) => Type::IntOrString,
            Some((Some(kind), _)) => kind,
            Some((None, other)) => {
                self.findings.error(&location, format!("found {}; supported: {TYPES}", shown(other)));
                Type::Any
            }
            None if schema.format.as_deref() == Some("int-or-string") || is_either(members, "integer") => {
                Type::IntOrString
            }
            // As Kubernetes publishes quantities.
            None if is_either(members, "number") => {
                schema.format.get_or_insert_with(|| "quantity".to_owned());
                Type::String
            }
            None if members.get("properties").is_some() => Type::Object,
            None if members.get("items").is_some() => Type::Array,
            None => Type::Any,
        };
        if schema.kind == Type::IntOrString {
            schema.format = None;
        }
        match (schema.kind, schema.format.as_deref()) {
            (Type::String, Some("quantity")) => schema.scalar = Some(Scalar::Quantity),
            (Type::String, Some("byte")) if self.omits_empty => schema.scalar = Some(Scalar::Bytes),
            (Type::IntOrString, _) if self.omits_empty => schema.scalar = Some(Scalar::IntOrString),
            _ => {}
        }
        let refers = members.get("$ref").is_some() || members.get("allOf").is_some();
        if schema.kind == Type::Any && !refers {
            schema.preserve_unknown = true;
        }
    }

    /// The fields, entries, items and junctors.
    fn children(&mut self, members: Members<'d, '_>, schema: &mut Schema) {
        let location = members.location.key("properties");
        // An object in an object has these by itself.
        let embedded = schema.embedded;
        let is_given = |name: &str| !embedded || !["apiVersion", "kind", "metadata"].contains(&name);
        let properties = members.object("properties", self.findings).into_iter().flatten();
        let properties: Vec<_> = properties
            .filter(|(name, _)| is_given(name))
            .map(|(name, raw)| {
                let mut property = self.node(raw, &location.key(name));
                let is_optional = self.omits_empty && !schema.required.contains(name);
                if is_optional && is_collection(&property) {
                    Arc::make_mut(&mut property).omit_empty = true;
                }
                if self.settle_default(&mut property, &location.key(name))
                    && name != "status"
                    && !schema.required.contains(name)
                {
                    schema.required.push(name.clone());
                }
                (name.clone(), property)
            })
            .collect();
        schema.properties = properties.into_iter().collect();
        let location = members.location.key("items");
        schema.items = members.get("items").map(|items| self.element(items, &location));
        let location = members.location.key("additionalProperties");
        schema.additional = match members.get("additionalProperties") {
            None => None,
            Some(Document::Bool(is_allowed)) if schema.properties.is_empty() && !(*is_allowed && self.omits_empty) => {
                Some(Schema { boolean: Some(*is_allowed), ..Schema::default() }.into())
            }
            Some(Document::Bool(false)) => {
                self.findings.warning(&location, "unknown fields are dropped rather than refused");
                None
            }
            Some(Document::Bool(true)) => Some(Schema { preserve_unknown: true, ..Schema::default() }.into()),
            Some(values) => Some(self.element(values, &location)),
        };
        let is_union = schema.kind == Type::Object && says_union(members, schema);
        schema.union = is_union;
        schema.junctors = self.junctors(members, schema.kind, is_union);
    }
}

/// Puts the keywords of a use over those of the type.
fn overlay(schema: &mut Schema, own: Schema) {
    let absent = Schema::default();
    macro_rules! put {
        ($($field:ident),*) => { $( if own.$field != absent.$field { schema.$field = own.$field; } )* };
    }
    put!(description, default, list, patch, unenforced, format, enumeration, minimum, maximum, multiple_of);
    put!(min_length, max_length, pattern, min_items, max_items, min_properties, max_properties);
    put!(scalar, map_atomic, immutable, nullable, preserve_unknown, embedded, exclusive_minimum, exclusive_maximum);
    schema.required.extend(own.required);
    schema.rules.extend(own.rules);
}

/// A number as documents have it.
pub(super) fn settled(mut value: Document) -> Document {
    number::settle(&mut value);
    value
}
