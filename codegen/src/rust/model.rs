//! The model of the code to write: modules, their kinds, and their types.
use std::collections::BTreeSet;

use kindsmith::{
    kind::model::{Shared, Version},
    schema::Schema,
};

use super::names;

/// Everything that is to be written.
#[derive(Default)]
pub(super) struct Model {
    pub modules: Vec<Module>,
    pub types: Vec<TypeDeclaration>,
}

/// The kinds of a version of a group.
pub(super) struct Module {
    pub group: String,
    /// The name of the group's module.
    pub folder: String,
    pub version: String,
    pub kinds: Vec<Kind>,
    /// The types of the module, in the order of their first use.
    pub types: Vec<usize>,
    /// Types of other modules that this one uses.
    pub imports: Vec<usize>,
}

impl Module {
    /// The name of the version's module: `v1_10_0` of the version `v1-10-0`.
    pub(super) fn name(&self) -> String {
        names::module(&self.version)
    }
}

/// A kind in one version.
pub(super) struct Kind {
    pub root: usize,
    pub shared: Shared,
    pub version: Version,
    pub is_builtin: bool,
    /// The module of the storage version, if that is another one, and the root there.
    pub storage: Option<(usize, usize)>,
}

/// A struct or an enumeration.
pub(super) struct TypeDeclaration {
    /// What identifies the type: its fields or values, and the rules that belong to it.
    pub schema: Schema,
    pub doc: String,
    /// Another description will not do.
    pub is_doc_fixed: bool,
    pub uses: Vec<Use>,
    /// The fields of a struct.
    pub fields: Vec<Field>,
    pub module: usize,
    /// The name without options, which use it.
    pub plain_name: String,
    pub name: String,
    /// The kind of which the type is the root.
    pub is_root: bool,
    /// Which fields there are decides whether a value is valid, so that empty ones are not written.
    pub is_counted: bool,
}

impl TypeDeclaration {
    /// The fields have numbers in messages, all of them, and are not in messages inside of that of the type.
    pub(super) fn is_numbered(&self) -> bool {
        let number = |field: &Field| field.schema.protobuf.filter(|_| field.schema.protobuf_parts.is_none());
        !self.fields.is_empty() && self.fields.iter().all(|field| number(field).is_some_and(|number| number > 0))
    }
}

/// A place where a type is used.
#[derive(Clone, Default)]
pub(super) struct Use {
    pub kind: String,
    /// The parts of the type's name: properties from the root, those of lists in the singular.
    pub path: Vec<String>,
    /// The place in the schema, as a JSON pointer.
    pub pointer: String,
}

/// A field.
pub(super) struct Field {
    pub wire: String,
    pub rust: String,
    pub ty: Ty,
    pub schema: Schema,
    pub is_required: bool,
}

/// A type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// A type of the language or of kindsmith.
    Known(&'static str),
    List(Box<Ty>),
    Map(Box<Ty>),
    /// An item or an entry that may be null.
    Nullable(Box<Ty>),
    /// A declared type.
    Declared(usize),
}

impl Model {
    /// The groups that need the types of a group, by the names of their modules: the group itself, and groups that
    /// import its types, directly or through others.
    pub(super) fn users<'m>(&'m self, folder: &'m str) -> BTreeSet<&'m str> {
        let mut users = BTreeSet::from([folder]);
        loop {
            let imports = |module: &&Module| {
                module.imports.iter().any(|id| users.contains(self.modules[self.types[*id].module].folder.as_str()))
            };
            let found: Vec<&str> = self.modules.iter().filter(imports).map(|module| &*module.folder).collect();
            let before = users.len();
            users.extend(found);
            if users.len() == before {
                return users;
            }
        }
    }

    /// The field of a declared struct.
    pub(super) fn field(&self, ty: &Ty, wire: &str) -> Option<&Field> {
        let Ty::Declared(id) = ty else { return None };
        self.types[*id].fields.iter().find(|field| field.wire == wire)
    }
}

impl Ty {
    /// The type of values that are not null.
    pub(super) fn inner(&self) -> &Self {
        if let Self::Nullable(inner) = self { inner } else { self }
    }

    /// The names of kindsmith's and the standard library's types in it, and the declared types.
    pub(super) fn walk(&self, known: &mut impl FnMut(&'static str), declared: &mut impl FnMut(usize)) {
        match self {
            Self::Known(name) => known(name),
            Self::Declared(id) => declared(*id),
            Self::List(inner) | Self::Nullable(inner) => inner.walk(known, declared),
            Self::Map(inner) => {
                known("BTreeMap");
                inner.walk(known, declared);
            }
        }
    }
}

impl Use {
    /// A field below.
    pub(super) fn field(&self, name: &str) -> Self {
        let mut path = self.path.clone();
        path.push(name.to_owned());
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Self { kind: self.kind.clone(), path, pointer: format!("{}/properties/{escaped}", self.pointer) }
    }

    /// The items or entries below.
    pub(super) fn inner(&self, keyword: &str) -> Self {
        let mut inner = self.clone();
        if let Some(last) = inner.path.last_mut() {
            *last = names::singular(last);
        }
        inner.pointer = format!("{}/{keyword}", self.pointer);
        inner
    }
}
