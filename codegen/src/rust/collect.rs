//! From schemas to types: equal definitions become one type.
use std::collections::{BTreeMap, BTreeSet};

use kindsmith::{
    ApiType,
    kind::model::Version,
    meta::by_priority,
    schema::{Pattern, Scalar, Schema, Type},
};

use super::{
    Warning,
    model::{Field, Kind, Model, Module, Ty, TypeDeclaration, Use},
    names,
};

/// The names of the types that Kubernetes' groups share, which kindsmith has, too.
const MACHINERY: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// Collects the types of a model.
pub(super) struct Collector<'c> {
    pub model: Model,
    pub warnings: &'c mut Vec<Warning>,
    /// Types by what makes most of them differ.
    known: BTreeMap<String, Vec<usize>>,
    /// Types of kindsmith, which stand for structs with the same fields and rules, whatever the descriptions.
    shared: Vec<(&'static str, Schema)>,
    /// The file that is read.
    source: String,
    module: usize,
    /// The first module of the group.
    first: usize,
}

impl<'c> Collector<'c> {
    pub(super) fn new(warnings: &'c mut Vec<Warning>) -> Self {
        let shared = vec![
            ("Condition", bare_of::<kindsmith::Condition>()),
            ("ObjectMeta", bare_of::<kindsmith::ObjectMeta>()),
            ("LabelSelector", bare_of::<kindsmith::LabelSelector>()),
            ("ObjectReference", bare_of::<kindsmith::ObjectReference>()),
        ];
        Self {
            model: Model::default(),
            warnings,
            known: BTreeMap::new(),
            shared,
            source: String::new(),
            module: 0,
            first: 0,
        }
    }

    /// The kinds of a group, whose module has this name.
    pub(super) fn group(&mut self, group: &str, folder: &str, read: &[&crate::ResourceDeclaration]) {
        self.first = self.model.modules.len();
        let mut versions: Vec<&str> =
            read.iter().flat_map(|read| read.definition.versions.iter().map(|version| &*version.name)).collect();
        versions.sort_by(|a, b| by_priority(a, b));
        versions.dedup();
        for name in versions {
            self.module = self.model.modules.len();
            self.model.modules.push(Module {
                group: group.to_owned(),
                folder: folder.to_owned(),
                version: name.to_owned(),
                kinds: Vec::new(),
                types: Vec::new(),
                imports: Vec::new(),
            });
            for read in read {
                let mut versions = read.sources.iter().zip(&read.definition.versions);
                if let Some((source, version)) = versions.find(|(_, version)| version.name == name) {
                    self.source.clone_from(source);
                    self.kind(read, version);
                }
            }
        }
        self.storage(read);
    }

    fn kind(&mut self, read: &crate::ResourceDeclaration, version: &Version) {
        let shared = read.definition.shared.as_ref().clone();
        let at = Use { kind: shared.names.kind.clone(), ..Use::default() };
        if read.definition.conversion != <_>::default() {
            self.warn(
                &at,
                "left out: found conversion by webhook; supported: strategy None, and conversions in Rust".into(),
            );
        }
        if version.names.is_some() {
            self.warn(&at.field("metadata"), "left out: found rules for names; supported: those of all kinds".into());
        }
        for endpoint in &version.subresources {
            let name = &endpoint.subresource;
            self.warn(
                &at,
                format!("the subresource {name} is left out; supported: status, scale, and handlers in Rust"),
            );
        }
        let root = self.declare(&version.schema, version.schema.description.clone(), at.clone());
        self.model.types[root].is_root = true;
        self.model.types[root].is_counted = is_counted(&version.schema);
        // A root is used once: all that it says is said with its type.
        self.model.types[root].schema = Schema::clone(&version.schema);
        self.warn_of_unknown(&version.schema, &at);
        self.model.types[root].is_doc_fixed = true;
        self.model.types[root].fields = self.fields(&version.schema, &at);
        let kind = Kind { root, shared, version: version.clone(), is_builtin: read.is_builtin(), storage: None };
        self.model.modules[self.module].kinds.push(kind);
    }

    /// Finds the storage versions of the group's kinds.
    fn storage(&mut self, read: &[&crate::ResourceDeclaration]) {
        let stored = |kind: &Kind| {
            let read = read.iter().find(|read| read.definition.shared.names.kind == kind.shared.names.kind);
            read.map(|read| read.definition.storage_version.clone()).unwrap_or_default()
        };
        for index in self.first..self.model.modules.len() {
            for kind in 0..self.model.modules[index].kinds.len() {
                let this = &self.model.modules[index].kinds[kind];
                let (name, version) = (this.shared.names.kind.clone(), stored(this));
                if version == self.model.modules[index].version {
                    continue;
                }
                let storage = (self.first..self.model.modules.len()).find_map(|other| {
                    let module = &self.model.modules[other];
                    let kind = module.kinds.iter().find(|kind| kind.shared.names.kind == name)?;
                    (module.version == version).then_some((other, kind.root))
                });
                self.model.modules[index].kinds[kind].storage = storage;
            }
        }
    }

    fn declare(&mut self, schema: &Schema, doc: String, at: Use) -> usize {
        let id = self.model.types.len();
        self.model.types.push(TypeDeclaration {
            schema: content(schema),
            doc,
            is_doc_fixed: false,
            uses: vec![at],
            fields: Vec::new(),
            module: self.module,
            plain_name: String::new(),
            name: String::new(),
            is_root: false,
            is_counted: false,
        });
        self.model.modules[self.module].types.push(id);
        id
    }

    /// The fields of a struct by name; required ones in the order in which the schema names them.
    fn fields(&mut self, schema: &Schema, at: &Use) -> Vec<Field> {
        let mut names: Vec<&str> = schema.properties.keys().map(String::as_str).collect();
        let mut required = schema.required.iter().map(String::as_str);
        for name in &mut names {
            if schema.required.iter().any(|required| required == name) {
                *name = required.next().unwrap_or(name);
            }
        }
        let is_root = at.path.is_empty();
        let mut taken: BTreeSet<String> = is_root.then(|| "metadata".to_owned()).into_iter().collect();
        let fields = names.into_iter().filter_map(|wire| Some((wire, schema.properties.get(wire)?)));
        fields
            .map(|(wire, property)| Field {
                rust: names::free(&names::snake(wire), &mut taken),
                wire: wire.to_owned(),
                ty: self.ty(property, &at.field(wire), false),
                is_required: schema.required.iter().any(|name| name == wire),
                schema: property.clone(),
            })
            .collect()
    }

    /// The type of a value, which may be null where it is an item or an entry.
    fn ty(&mut self, schema: &Schema, at: &Use, is_inner: bool) -> Ty {
        let ty = self.not_null(schema, at, is_inner);
        if is_inner && schema.nullable { Ty::Nullable(Box::new(ty)) } else { ty }
    }

    /// The type of a value other than null. The description of an item is that of its type, if it has one.
    fn not_null(&mut self, schema: &Schema, at: &Use, is_inner: bool) -> Ty {
        if schema.definition.is_some() {
            return self.raw(at, "a type that contains itself", "schemas that end");
        }
        match schema.kind {
            Type::String if is_enumeration(schema) => Ty::Declared(self.declared(schema, at, is_inner)),
            Type::String => Ty::Known(match schema.format.as_deref() {
                _ if schema.scalar == Some(Scalar::MicroTime) => "MicroTime",
                _ if schema.scalar == Some(Scalar::Quantity) => "Quantity",
                Some("date-time") => "Time",
                Some("byte") => "ByteString",
                _ => "String",
            }),
            Type::Integer if fits_i32(schema) => Ty::Known("i32"),
            Type::Integer => Ty::Known("i64"),
            Type::Number => Ty::Known("f64"),
            Type::Boolean => Ty::Known("bool"),
            Type::IntOrString if is_quantity(schema) => Ty::Known("Quantity"),
            Type::IntOrString => Ty::Known("IntOrString"),
            Type::Any => Ty::Known("RawJson"),
            Type::Array => match &schema.items {
                Some(_) if schema.preserve_unknown => Ty::List(Box::new(self.raw(
                    at,
                    "x-kubernetes-preserve-unknown-fields of a list",
                    "lists without it",
                ))),
                Some(items) => Ty::List(Box::new(self.ty(items, &at.inner("items"), true))),
                None => self.raw(at, "a list without items", "lists that declare their items"),
            },
            Type::Object => self.object(schema, at, is_inner),
        }
    }

    fn object(&mut self, schema: &Schema, at: &Use, is_inner: bool) -> Ty {
        match &schema.additional {
            _ if schema.embedded && !schema.properties.is_empty() => {
                self.raw(at, "properties of an embedded resource", "embedded resources without properties")
            }
            _ if schema.embedded => Ty::Known("RawJson"),
            Some(_) if !schema.properties.is_empty() => {
                self.raw(at, "properties beside additionalProperties", "one of the two")
            }
            Some(values) if values.boolean == Some(false) => {
                self.raw(at, "additionalProperties: false without properties", "fields that are declared")
            }
            Some(values) => Ty::Map(Box::new(self.ty(values, &at.inner("additionalProperties"), true))),
            None if schema.preserve_unknown && schema.properties.is_empty() => Ty::Map(Box::new(Ty::Known("RawJson"))),
            None => {
                self.warn_of_unknown(schema, at);
                let mut bare = bare(schema, schema.name.as_deref().is_some_and(|name| name.starts_with(MACHINERY)));
                // It belongs to the use.
                bare.default = None;
                match self.shared.iter().find(|(_, shared)| *shared == bare) {
                    Some((name, _)) => Ty::Known(name),
                    None => Ty::Declared(self.declared(schema, at, is_inner)),
                }
            }
        }
    }

    fn warn_of_unknown(&mut self, schema: &Schema, at: &Use) {
        if schema.preserve_unknown {
            let found =
                "found x-kubernetes-preserve-unknown-fields beside properties; supported in Rust: one of the two";
            self.warn(at, format!("fields that are not declared are kept, and not in the type: {found}"));
        }
    }

    fn raw(&mut self, at: &Use, found: &str, supported: &str) -> Ty {
        self.warn(at, format!("kept as raw JSON: found {found}; supported: {supported}"));
        Ty::Known("RawJson")
    }

    fn warn(&mut self, at: &Use, message: String) {
        let (kind, pointer) = (at.kind.clone(), at.pointer.clone());
        self.warnings.push(Warning { source: self.source.clone(), kind, pointer, message });
    }

    /// The declared type of a struct or an enumeration: a known one with the same content, or a new one. Types with names are
    /// known in all groups, and others in their group.
    fn declared(&mut self, schema: &Schema, at: &Use, is_inner: bool) -> usize {
        let (content, is_named) = (content(schema), schema.name.is_some());
        let doc = if is_named { &schema.type_description } else { &schema.description };
        let names: Vec<String> = content.properties.keys().cloned().collect();
        let values: Vec<String> = content.enumeration.iter().map(ToString::to_string).collect();
        let name = content.name.as_deref().unwrap_or_default();
        let key = format!("{name}|{}|{}", names.join(","), values.join(","));
        // The description of a type is seen where the use of it has none, which is so if it has none either.
        let mut candidates: Vec<usize> = self.known.get(&key).into_iter().flatten().copied().collect();
        candidates.retain(|id| {
            let known = &self.model.types[*id];
            let fits = !doc.is_empty() || known.doc.is_empty();
            fits && (is_named || known.module >= self.first) && known.schema == content
        });
        if let Some(&id) = candidates.iter().find(|id| self.model.types[**id].doc == *doc).or(candidates.first()) {
            let known = &mut self.model.types[id];
            if is_inner && !known.is_doc_fixed {
                (known.doc, known.is_doc_fixed) = (doc.clone(), true);
            }
            known.uses.push(at.clone());
            known.is_counted |= is_counted(schema);
            if known.module != self.module {
                self.import(id);
            }
            return id;
        }
        let id = self.declare(schema, doc.clone(), at.clone());
        self.model.types[id].is_doc_fixed = is_inner || is_named;
        self.model.types[id].is_counted = is_counted(schema);
        self.known.entry(key).or_default().push(id);
        self.model.types[id].fields = self.fields(schema, at);
        id
    }

    fn import(&mut self, id: usize) {
        let imports = &mut self.model.modules[self.module].imports;
        if !imports.contains(&id) {
            imports.push(id);
        }
    }
}

/// The part of a schema that its type says, wherever it is used.
fn content(schema: &Schema) -> Schema {
    Schema::of(schema.kind).with(|content| {
        content.name.clone_from(&schema.name);
        content.properties = schema.properties.clone();
        content.required.clone_from(&schema.required);
        if schema.kind == Type::Object {
            content.junctors.clone_from(&schema.junctors);
            content.unenforced.clone_from(&schema.unenforced);
            content.rules.clone_from(&schema.rules);
            content.preserve_unknown = schema.preserve_unknown;
        } else {
            content.enumeration.clone_from(&schema.enumeration);
        }
    })
}

/// The content of one of kindsmith's types.
fn bare_of<T: ApiType>() -> Schema {
    let schema = T::DECLARATION.schema(false, false);
    bare(&schema.expect("kindsmith's types have schemas"), false)
}

/// The content of a struct without descriptions, names, the order of required fields, and, if so said, defaults that are Go's zero
/// values, which Kubernetes publishes for each field that is no pointer.
fn bare(schema: &Schema, drops_zeros: bool) -> Schema {
    let mut bare = schema.clone();
    bare.default = bare.default.filter(|default| !drops_zeros || *default != "");
    bare.description.clear();
    bare.type_description.clear();
    bare.name = None;
    bare.protobuf = None;
    bare.zero_is_absent = false;
    bare.omit_empty = false;
    bare.may_repeat = false;
    bare.map_atomic = false;
    bare.required.sort();
    bare.properties =
        bare.properties.iter().map(|(name, property)| (name.clone(), self::bare(property, drops_zeros))).collect();
    bare.items = bare.items.map(|items| self::bare(&items, drops_zeros).into());
    bare.additional = bare.additional.map(|values| self::bare(&values, drops_zeros).into());
    bare
}

/// A closed set of strings, without further rules for them.
pub(super) fn is_enumeration(schema: &Schema) -> bool {
    let is_bounded = schema.min_length.is_some() || schema.max_length.is_some() || schema.pattern.is_some();
    let texts: BTreeSet<&str> = schema.enumeration.iter().filter_map(serde_json::Value::as_str).collect();
    let are_texts = !texts.is_empty() && texts.len() == schema.enumeration.len();
    schema.kind == Type::String && are_texts && !is_bounded
}

/// A quantity as definitions have it. In Rust, its default is a text.
fn is_quantity(schema: &Schema) -> bool {
    schema.pattern.as_ref().is_some_and(Pattern::is_quantity)
        && schema.default.as_ref().is_none_or(serde_json::Value::is_string)
}

/// True if fields without content make a difference: a schema counts fields, or asks which there are.
fn is_counted(schema: &Schema) -> bool {
    schema.min_properties.is_some()
        || schema.max_properties.is_some()
        || !schema.enumeration.is_empty()
        || schema.junctors.is_some()
}

fn fits_i32(schema: &Schema) -> bool {
    let fits = |bound: Option<f64>| bound.is_none_or(|bound| bound.abs() < f64::from(i32::MAX));
    schema.format.as_deref() == Some("int32") && fits(schema.minimum) && fits(schema.maximum)
}
