//! Measures definitions. Each schema that is shared is measured once.
use std::{
    collections::{HashMap, HashSet},
    ptr,
};

use super::{
    Resource::{
        ColumnSteps, Columns, CompiledPatterns, DefaultText, EnumValues, FilledDefault, ListKeys, OpenApi,
        PatternClasses, PatternText, Patterns, RequiredNames, Schemas, SelectableFields, Versions,
    },
    Usage,
    default_sizes::{DefaultSizes, length},
};
use crate::{
    kind::{
        Definition,
        model::{Cell, Version},
    },
    schema::{Schema, keywords::pattern::classes, model::ListType},
};

/// The bytes in a document around the keywords of a schema, about.
const AROUND: u64 = 40;

/// The usage of a definition.
pub(super) fn measure(definition: &Definition) -> Usage {
    let mut usage = Usage::default();
    let mut patterns = HashSet::new();
    for version in &definition.versions {
        usage.add(Versions, 1);
        let mut measurer = Measurer {
            usage: &mut usage,
            patterns: &mut patterns,
            default_sizes: DefaultSizes::default(),
            parts: HashMap::new(),
            named: HashSet::new(),
        };
        measurer.schema(&version.schema);
        columns(version, &mut usage);
    }
    usage
}

fn columns(version: &Version, usage: &mut Usage) {
    usage.add(Columns, version.columns.len());
    usage.add(SelectableFields, version.selectable.len());
    for column in &version.columns {
        let steps = match &column.cell {
            Cell::Path(path) => path.0.len(),
            Cell::JsonPath(path) => path.len(),
            Cell::Call(_) | Cell::Computed => 0,
        };
        usage.add(ColumnSteps, steps);
    }
}

/// The usage of a schema and the schemas below it where they are written out, without types that have their own name.
#[derive(Clone, Copy, Default)]
struct Part {
    schemas: u64,
    enum_values: u64,
    required: u64,
    defaults: u64,
    bytes: u64,
}

struct Measurer<'d, 'u> {
    usage: &'u mut Usage,
    patterns: &'u mut HashSet<&'d str>,
    default_sizes: DefaultSizes,
    parts: HashMap<*const Schema, Part>,
    named: HashSet<*const Schema>,
}

impl<'d> Measurer<'d, '_> {
    /// Measures a schema that is written once.
    fn schema(&mut self, schema: &'d Schema) {
        if !self.named.insert(ptr::from_ref(schema)) {
            return;
        }
        let part = self.part(schema);
        for (resource, count) in [
            (Schemas, part.schemas),
            (EnumValues, part.enum_values),
            (RequiredNames, part.required),
            (DefaultText, part.defaults),
            (OpenApi, part.bytes),
        ] {
            self.usage[resource] = self.usage[resource].saturating_add(count);
        }
    }

    fn part(&mut self, schema: &'d Schema) -> Part {
        if let Some(known) = self.parts.get(&ptr::from_ref(schema)) {
            return *known;
        }
        let mut part = self.keywords(schema);
        for (name, property) in &schema.properties {
            part.bytes = part.bytes.saturating_add(name.len() as u64);
            self.below(property, &mut part);
        }
        for below in [&schema.additional, &schema.items].into_iter().flatten() {
            self.below(below, &mut part);
        }
        for definition in schema.definitions.iter().flat_map(|all| all.iter()) {
            self.schema(definition);
        }
        for (_, branches) in schema.junctors.iter().flat_map(|junctors| junctors.branches()) {
            for branch in branches {
                self.below(branch, &mut part);
            }
        }
        self.parts.insert(ptr::from_ref(schema), part);
        part
    }

    /// Adds what a schema takes within another one: a type with a name is only referred to.
    fn below(&mut self, schema: &'d Schema, part: &mut Part) {
        if schema.name.is_some() {
            part.bytes = part.bytes.saturating_add(AROUND);
            return self.schema(schema);
        }
        part.add(self.part(schema));
    }

    /// The keywords of a schema, without the schemas below it.
    fn keywords(&mut self, schema: &'d Schema) -> Part {
        let mut text = schema.description.len() + schema.type_description.len();
        text += schema.required.iter().map(|name| name.len() + 3).sum::<usize>();
        if let Some(pattern) = &schema.pattern {
            text += pattern.text().len();
            if self.patterns.insert(pattern.text()) {
                self.usage.add(Patterns, 1);
                self.usage.add(PatternText, pattern.text().len());
                self.usage.add(PatternClasses, classes(pattern.text()));
                self.usage[CompiledPatterns] = self.usage[CompiledPatterns].saturating_add(pattern.size());
            }
        }
        let mut bytes = schema.enumeration.iter().map(length).sum::<u64>() + text as u64 + AROUND;
        for rule in &schema.rules {
            let texts = [&rule.rule, &rule.message, &rule.message_expression, &rule.field_path];
            bytes += texts.map(|text| text.len() as u64).iter().sum::<u64>() + AROUND;
        }
        if let Some(unenforced) = &schema.unenforced {
            let documents = unenforced.example.iter().chain(&unenforced.external_docs);
            bytes += documents.map(length).sum::<u64>() + unenforced.title.len() as u64;
        }
        let defaults = schema.default.as_ref().map_or(0, length);
        if schema.default.is_some() {
            let filled = self.default_sizes.of(schema);
            self.usage[FilledDefault] = self.usage[FilledDefault].max(filled);
        }
        if let ListType::Map(keys) = &schema.list {
            self.usage[ListKeys] = self.usage[ListKeys].max(keys.len() as u64);
        }
        Part {
            schemas: 1,
            enum_values: schema.enumeration.len() as u64,
            required: schema.required.len() as u64,
            defaults,
            bytes: bytes + defaults,
        }
    }
}

impl Part {
    fn add(&mut self, other: Self) {
        for (mine, others) in [
            (&mut self.schemas, other.schemas),
            (&mut self.enum_values, other.enum_values),
            (&mut self.required, other.required),
            (&mut self.defaults, other.defaults),
            (&mut self.bytes, other.bytes),
        ] {
            *mine = mine.saturating_add(others);
        }
    }
}
