//! The keywords of a schema, by their names in definitions: what the arguments of an attribute do not say is left, so that nothing
//! is lost.
use kindsmith::{
    kind::crd::validations,
    schema::{Document, ListType, Schema, Type},
};
use serde_json::{Map, json};

use super::{
    collect::is_enumeration,
    model::{Model, Ty, TypeDeclaration},
};

/// Keywords that are still to be said.
pub(super) struct Keywords(Map<String, Document>);

impl Keywords {
    /// The keywords of a value that its type does not imply, and overrides where the type implies too much.
    pub(super) fn of_value(schema: &Schema, ty: &Ty, model: &Model) -> Self {
        let mut left = own(schema);
        left.extend(unsaid_parts(schema, ty));
        match ty {
            // The `type` of a type that contains itself is not written.
            Ty::Known("RawJson") if schema.definition.is_some() => _ = left.remove("type"),
            Ty::Known("RawJson") if !schema.preserve_unknown => _ = left.insert(PRESERVE.to_owned(), false.into()),
            Ty::Known("Condition" | "LabelSelector" | "ObjectMeta" | "ObjectReference") => {
                left.retain(|name, _| ["default", "x-kubernetes-map-type"].contains(&name.as_str()));
            }
            Ty::Declared(id) if schema.kind == Type::Object => {
                let said = own(&model.types[*id].schema);
                left.retain(|name, _| !said.contains_key(name));
            }
            // An enumeration.
            Ty::Declared(_) => _ = left.remove("type"),
            _ => {}
        }
        if type_of(ty) == Some(schema.kind) {
            left.remove("type");
            left.remove("x-kubernetes-int-or-string");
        }
        match (matches!(ty, Ty::Known("LabelSelector" | "ObjectReference")), schema.map_atomic) {
            // They are replaced as a whole wherever they are.
            (true, true) => _ = left.remove("x-kubernetes-map-type"),
            (true, false) => _ = left.insert("x-kubernetes-map-type".to_owned(), "granular".into()),
            (false, _) => {}
        }
        if *ty == Ty::Known("RawJson") && schema.preserve_unknown {
            left.remove(PRESERVE);
        }
        if let (Ty::Map(_), Some(values)) = (ty, &schema.additional)
            && (values.boolean.is_some() || schema.preserve_unknown && values.kind == Type::Any)
        {
            // Entries of any value are otherwise taken for unknown fields, and what is in them is kept.
            left.insert("additionalProperties".to_owned(), document(values));
        }
        Self(left)
    }

    /// The keywords of a struct that its fields do not say.
    pub(super) fn of_struct(declaration: &TypeDeclaration) -> Self {
        let mut left = own(&declaration.schema);
        left.extend(parts(&declaration.schema));
        left.remove("properties");
        left.remove("type");
        let required: Vec<&str> =
            declaration.fields.iter().filter(|field| field.is_required).map(|field| &*field.wire).collect();
        if required == declaration.schema.required {
            left.remove("required");
        }
        Self(left)
    }

    /// An argument says them.
    pub(super) fn say(&mut self, names: &[&str]) {
        for name in names {
            self.0.remove(*name);
        }
    }

    /// True if a keyword is not said yet.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value of a keyword that an argument says.
    pub(super) fn take(&mut self, name: &str) -> Option<Document> {
        self.0.remove(name)
    }

    /// Keywords that no argument says.
    pub(super) fn rest(self) -> Option<Document> {
        (!self.0.is_empty()).then(|| self.0.into())
    }
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// The type of a schema that a type of Rust says by itself.
fn type_of(ty: &Ty) -> Option<Type> {
    Some(match ty {
        Ty::Known("String" | "Time" | "MicroTime" | "ByteString" | "Quantity") => Type::String,
        Ty::Known("i32" | "i64") => Type::Integer,
        Ty::Known("f64") => Type::Number,
        Ty::Known("bool") => Type::Boolean,
        Ty::Known("IntOrString") => Type::IntOrString,
        Ty::Known("RawJson") => Type::Any,
        Ty::List(_) => Type::Array,
        Ty::Map(_) => Type::Object,
        Ty::Known(_) | Ty::Declared(_) | Ty::Nullable(_) => return None,
    })
}

/// A schema in JSON.
pub(super) fn document(schema: &Schema) -> Document {
    if let Some(is_allowed) = schema.boolean {
        return is_allowed.into();
    }
    let mut all = own(schema);
    if !schema.description.is_empty() {
        all.insert("description".to_owned(), json!(schema.description));
    }
    if schema.definition.is_some() {
        all.insert(PRESERVE.to_owned(), true.into());
    }
    if schema.immutable {
        all.insert("x-kubernetes-validations".to_owned(), json!(schema.published_rules()));
    }
    all.extend(parts(schema));
    all.into()
}

/// The schemas of fields, entries and items.
fn parts(schema: &Schema) -> Map<String, Document> {
    let mut all = Map::new();
    let properties: Map<_, _> = schema.properties.iter().map(|(name, of)| (name.clone(), document(of))).collect();
    if !properties.is_empty() {
        all.insert("properties".to_owned(), properties.into());
    }
    for (name, part) in [("additionalProperties", &schema.additional), ("items", &schema.items)] {
        all.extend(part.as_ref().map(|part| (name.to_owned(), document(part))));
    }
    all
}

/// The schemas of fields, entries and items that a type does not say. Any type can have any of them.
fn unsaid_parts(schema: &Schema, ty: &Ty) -> Map<String, Document> {
    if schema.definition.is_some() {
        return Map::new();
    }
    let mut all = parts(schema);
    let said = match ty {
        Ty::List(_) => "items",
        Ty::Map(_) => "additionalProperties",
        Ty::Declared(_) if schema.kind == Type::Object => "properties",
        _ => return all,
    };
    all.remove(said);
    all
}

/// The keywords of a schema itself.
fn own(schema: &Schema) -> Map<String, Document> {
    let mut all = validations(schema);
    let mut put = |name: &str, value: Option<Document>| all.extend(value.map(|value| (name.to_owned(), value)));
    let flag = |on: bool| on.then(|| true.into());
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    put("type", schema.kind.name().map(Into::into));
    put("x-kubernetes-int-or-string", flag(schema.kind == Type::IntOrString));
    put("format", schema.format.clone().map(Into::into));
    put("default", schema.default.clone());
    put("nullable", flag(schema.nullable));
    put(PRESERVE, flag(schema.preserve_unknown));
    put("x-kubernetes-embedded-resource", flag(schema.embedded));
    put("x-kubernetes-map-type", schema.map_atomic.then(|| "atomic".into()));
    match &schema.list {
        ListType::Atomic => {}
        ListType::Set => put("x-kubernetes-list-type", Some("set".into())),
        ListType::Map(keys) => {
            put("x-kubernetes-list-type", Some("map".into()));
            put("x-kubernetes-list-map-keys", Some(json!(keys)));
        }
    }
    let strategies = [("merge", schema.patch.merge), ("retainKeys", schema.patch.retain_keys)];
    let strategies: Vec<&str> = strategies.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    put("x-kubernetes-patch-strategy", text(&strategies.join(",")));
    put("x-kubernetes-patch-merge-key", schema.patch.merge_key.clone().map(Into::into));
    if let Some(published) = &schema.unenforced {
        put("title", text(&published.title));
        put("example", published.example.clone());
        put("externalDocs", published.external_docs.clone());
    }
    put("x-kubernetes-validations", (!schema.rules.is_empty()).then(|| json!(schema.rules)));
    all
}

/// True if a type of an enumeration says the values.
pub(super) fn says_values(schema: &Schema, ty: &Ty) -> bool {
    matches!(ty, Ty::Declared(_)) && is_enumeration(schema)
}

/// True for structs, maps, and raw JSON.
pub(super) fn is_object(ty: &Ty, model: &Model) -> bool {
    match ty {
        Ty::Declared(id) => !is_enumeration(&model.types[*id].schema),
        Ty::Known(name) => ["RawJson", "LabelSelector", "ObjectReference", "ObjectMeta", "Condition"].contains(name),
        Ty::Map(_) => true,
        Ty::List(_) | Ty::Nullable(_) => false,
    }
}
