//! The resources that a definition may use, summed over all of its versions: the memory and time that it costs to read it and to
//! serve its objects and documents. The bounds are at least ten times what the largest published definitions use.
//!
//! Kinds compiled into a program are not bounded, because their author also runs the program.
use std::{
    fmt,
    ops::{Index, IndexMut},
};

use super::Definition;
pub use default_sizes::{DefaultSizes, length};

mod default_sizes;
mod measure;

/// A resource that definitions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The versions.
    Versions,
    /// The schemas of all values, with branches.
    Schemas,
    /// The values of all enums.
    EnumValues,
    /// The names of required fields.
    RequiredNames,
    /// The keys of one list whose items are identified by them.
    ListKeys,
    /// The distinct patterns.
    Patterns,
    /// The text of distinct patterns, in bytes.
    PatternText,
    /// The classes of Unicode in distinct patterns, such as `\pL`, each of which is hundreds of ranges.
    PatternClasses,
    /// The distinct patterns when compiled, in bytes.
    CompiledPatterns,
    /// All defaults as they are written, in bytes.
    DefaultText,
    /// The default of one field with the defaults in it, in bytes.
    FilledDefault,
    /// The columns.
    Columns,
    /// The steps of the JSONPaths of all columns.
    ColumnSteps,
    /// The selectable fields, whose values are stored twice for each object.
    SelectableFields,
    /// The size of its schemas in the OpenAPI documents, in bytes.
    OpenApi,
    /// The rules in CEL. These and their expressions are counted where a definition is read.
    Rules,
    /// The expressions of rules, in bytes.
    RuleText,
    /// The nodes of the expressions in which macros repeat parts. They are counted where a definition is written.
    RuleNodes,
}

use Resource::{
    ColumnSteps, Columns, CompiledPatterns, DefaultText, EnumValues, FilledDefault, ListKeys, OpenApi, PatternClasses,
    PatternText, Patterns, RequiredNames, RuleNodes, RuleText, Rules, Schemas, SelectableFields, Versions,
};

/// The bound of each resource, and its name in messages.
pub const BOUNDS: [(Resource, u64, &str); 18] = [
    (Versions, 100, "versions"),
    (Schemas, 30_000, "schemas of values"),
    (EnumValues, 20_000, "values of enums"),
    (RequiredNames, 20_000, "names of required fields"),
    (ListKeys, 16, "keys of a list"),
    (Patterns, 1_000, "distinct patterns"),
    (PatternText, 64 << 10, "bytes of distinct patterns"),
    (PatternClasses, 1_000, "classes of Unicode in distinct patterns"),
    (CompiledPatterns, 32 << 20, "bytes of distinct patterns when compiled"),
    (DefaultText, 128 << 10, "bytes of defaults"),
    (FilledDefault, 128 << 10, "bytes of a default with the defaults in it"),
    (Columns, 500, "columns"),
    (ColumnSteps, 2_000, "steps of the JSONPaths of columns"),
    (SelectableFields, 40, "selectable fields"),
    (OpenApi, 8 << 20, "bytes in OpenAPI documents"),
    (Rules, 2_000, "rules"),
    (RuleText, 256 << 10, "bytes of expressions in rules"),
    (RuleNodes, 200_000, "nodes of expressions in rules that repeat parts"),
];

/// The resources that a definition uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage([u64; BOUNDS.len()]);

/// A bound that a definition exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    name: &'static str,
    found: u64,
    bound: u64,
}

impl Usage {
    /// The resources that a definition uses.
    pub fn of(definition: &Definition) -> Self {
        measure::measure(definition)
    }

    /// Adds to the use of a resource.
    pub fn add(&mut self, resource: Resource, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self[resource] = self[resource].saturating_add(count);
    }

    /// True if a resource exceeds its bound.
    pub fn exceeds(&self, resource: Resource) -> bool {
        self[resource] > BOUNDS[resource as usize].1
    }

    /// The exceeded bounds.
    pub fn excess(&self) -> impl Iterator<Item = Excess> {
        let excess =
            |&(resource, bound, name): &(Resource, u64, &'static str)| Excess { name, found: self[resource], bound };
        BOUNDS.iter().filter(|(resource, ..)| self.exceeds(*resource)).map(excess)
    }
}

impl Index<Resource> for Usage {
    type Output = u64;

    fn index(&self, resource: Resource) -> &u64 {
        &self.0[resource as usize]
    }
}

impl IndexMut<Resource> for Usage {
    fn index_mut(&mut self, resource: Resource) -> &mut u64 {
        &mut self.0[resource as usize]
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, found, bound } = self;
        write!(f, "the definition has {found} {name} in all of its versions; supported: at most {bound}")
    }
}
