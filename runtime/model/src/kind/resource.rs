//! The trait that `#[derive(Resource)]` implements, the table it emits, and the [`Kind`] built from that.
use std::{sync::Arc, time::Duration};

use serde::{Serialize, Serializer};

use super::{
    Binding, Convert, Kind, Policy, Problems,
    convert::{self, Change, DeclaredConversion, Unchanged},
    model::{Grace, Names, Path, ScalePaths, Shared, Version},
};
pub use super::{
    binding::{DocumentHooks, NoHooks},
    columns::{CellDecl, ColumnDecl},
    convert::typed,
    endpoint::Verb,
    model::{NameRule, Scope},
    policy::{Compiled, Custom},
    user_roles::{UserRole, UserRoles},
};
use crate::{
    meta::{GroupVersion, ObjectMeta, OwnerReference},
    schema::{
        Schema,
        check::{contradictions, optional_keys},
        declare::{ApiType, TypeDecl, observed_within, resolve},
        rules::rule_problems,
    },
};

#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind",
    label = "not declared as a kind",
    note = "declare it: `#[derive(Resource)] #[resource(group = \"example.com\", version = \"v1\")]`"
)]
/// A kind declared in Rust, with `#[derive(Resource)]`.
pub trait Resource: ApiType {
    /// The scope of its objects: [`Namespaced`] or [`Cluster`].
    type Scope;

    /// The declaration.
    const RESOURCE: &'static ResourceDecl;

    /// An owner reference to the object with this metadata, as the controller of other objects. They are deleted with it.
    fn controller_owner_ref(metadata: &ObjectMeta) -> OwnerReference {
        let kind = Self::RESOURCE;
        OwnerReference {
            api_version: GroupVersion { group: kind.group.to_owned(), version: kind.version.to_owned() }.to_string(),
            kind: kind.kind.to_owned(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The kind.
    ///
    /// # Panics
    /// If the declaration has an error that the derive cannot see. The test that the derive adds to every kind finds such
    /// errors. [`ResourceDecl::build`] returns them instead.
    fn kind() -> Kind {
        match Self::RESOURCE.build(Self::DECLARATION) {
            Ok(kind) => kind,
            Err(problems) => panic!("the declaration of {} cannot be served: {problems}", Self::RESOURCE.kind),
        }
    }
}

/// The scope of kinds whose objects live in namespaces.
#[derive(Clone, Copy, Debug)]
pub enum Namespaced {}

/// The scope of kinds whose objects belong to the cluster.
#[derive(Clone, Copy, Debug)]
pub enum Cluster {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind whose objects are stored",
    label = "not a stored kind",
    note = "derive `Resource` for it, without `unstored`; a kind that is declared `unstored` is served with `virtual_kind(handler)`"
)]
/// A kind whose objects are stored: one that is not declared `unstored`.
pub trait Stored: Resource {}

#[diagnostic::on_unimplemented(
    message = "objects of `{Self}` are stored, so it cannot be a virtual kind",
    label = "not declared `unstored`",
    note = "say `unstored` in `#[resource(…)]`, or serve it with `kind::<…>()`"
)]
/// A virtual kind, whose objects are never stored: one that is declared `unstored`.
pub trait Unstored: Resource {}

/// A path of Rust names.
pub type RustPath = &'static [&'static str];

/// A declared kind without its fields.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the attribute")]
pub struct ResourceDecl {
    /// The API group that the version is served in; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural.
    pub plural: &'static str,
    /// The kind of lists.
    pub list_kind: &'static str,
    /// The singular.
    pub singular: &'static str,
    /// Short names.
    pub short_names: &'static [&'static str],
    /// Categories.
    pub categories: &'static [&'static str],
    /// The scope of objects.
    pub scope: Scope,
    /// The policy, which decides where kinds differ.
    pub policy: &'static dyn Policy,
    /// The rule for names.
    pub names: NameRule,
    /// True if there is a status subresource.
    pub status: bool,
    /// True if `metadata.generation` is maintained.
    pub generation: bool,
    /// True if objects are stored.
    pub stored: bool,
    /// The scale subresource.
    pub scale: Option<ScaleDecl>,
    /// There is no age column beyond the declared ones.
    pub no_age: bool,
    /// Columns beyond the name.
    pub columns: &'static [ColumnDecl],
    /// Selectable fields.
    pub selectable: &'static [RustPath],
    /// An update may omit the resourceVersion.
    pub update_without_version: bool,
    /// A PUT may create.
    pub create_on_update: bool,
    /// A deletion answers with the deleted object.
    pub returns_deleted: bool,
    /// The grace period of deletions.
    pub grace: Option<GraceDecl>,
    /// How long an object lives after its last write, in seconds.
    pub lifetime_seconds: Option<u64>,
    /// The roles that read and write objects.
    pub roles: UserRoles,
    /// Hooks, adapted to documents.
    pub hooks: fn() -> Arc<dyn DocumentHooks>,
    /// True if the version is served.
    pub served: bool,
    /// The warning of a deprecated version; empty for the default one.
    pub deprecated: Option<&'static str>,
    /// The verbs that the version serves; `None` for all.
    pub verbs: Option<&'static [Verb]>,
    /// The storage version, if it is another one.
    pub storage: Option<StorageDecl>,
}

/// The storage version, as another version of the kind declares it.
#[derive(Clone, Copy)]
pub struct StorageDecl {
    /// Its declaration, which defines deletion for all versions.
    pub resource: &'static ResourceDecl,
    /// Its root type.
    pub root: &'static TypeDecl,
    /// The conversion.
    pub conversion: ConversionDecl,
}

/// A conversion as declared.
#[derive(Clone, Copy)]
pub enum ConversionDecl {
    /// Only `apiVersion` differs.
    None,
    /// Written in Rust: [`typed`].
    Typed(fn() -> Arc<dyn Convert>),
    /// By changes of fields.
    Changes(&'static [ChangeDecl]),
}

/// A change of fields as declared.
#[derive(Clone, Copy, Debug)]
pub enum ChangeDecl {
    /// A renamed or moved field: its path here, and in the storage version.
    Renamed(RustPath, RustPath),
    /// A field of the storage version only.
    Added(RustPath),
    /// A field of this version only.
    Removed(RustPath),
}

/// The scale subresource as declared.
#[derive(Clone, Copy, Debug)]
pub struct ScaleDecl {
    /// Desired replicas.
    pub replicas: RustPath,
    /// Observed replicas.
    pub status: RustPath,
    /// The serialized label selector.
    pub selector: Option<RustPath>,
}

/// A declared grace period.
#[derive(Clone, Copy, Debug)]
pub enum GraceDecl {
    /// A number of seconds.
    Seconds(u32),
    /// The number of seconds in a field of the object.
    Path(RustPath),
}

/// The group and version as in `apiVersion`; `v1` in the core group.
pub struct ApiVersion(pub &'static ResourceDecl);

impl Serialize for ApiVersion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.group {
            "" => to.serialize_str(self.0.version),
            group => to.collect_str(&format_args!("{group}/{}", self.0.version)),
        }
    }
}

impl ResourceDecl {
    /// Checks the type meta of a decoded document. List items have none.
    ///
    /// # Errors
    /// If it is the type meta of another kind or version.
    pub fn check_type_meta(&self, api_version: Option<&str>, kind: Option<&str>) -> Result<(), String> {
        let (group, version) = match api_version.and_then(|text| text.split_once('/')) {
            Some((group, version)) => (group, version),
            None => ("", api_version.unwrap_or(self.version)),
        };
        let known = api_version.is_none() || (group, version) == (self.group, self.version);
        if !known || kind.is_some_and(|kind| kind != self.kind) {
            let expected = self.group_version();
            let (given, kind) = (api_version.unwrap_or_default(), kind.unwrap_or_default());
            return Err(format!("expected apiVersion {expected} and kind {}, got {given:?} and {kind:?}", self.kind));
        }
        Ok(())
    }

    /// The kind with this root type.
    ///
    /// # Errors
    /// The errors of the declaration, such as an invalid pattern, or a path to a field that is not declared.
    pub fn build(&self, root: &'static TypeDecl) -> Result<Kind, Problems> {
        let mut problems = Problems::default();
        if let Some(field) = root.field("spec").and_then(|spec| observed_within((spec.ty)())) {
            problems.push(format!(
                "spec.{field} is declared as observed, and a spec holds what is wanted; \
                 floats change on their way through encodings"
            ));
        }
        let schema = problems.note(self.schema(root)).unwrap_or_default();
        let shared = self.shared(root, &mut problems);
        let conversion = self.storage.and_then(|storage| problems.note(storage.conversion(root, self, &schema)));
        let version = self.version(root, schema, &mut problems);
        problems.extend(version.problems(&shared));
        let mut faults = if root.published { Vec::new() } else { contradictions(&version.schema) };
        // Lists of kinds compiled into Kubernetes have keys that items may lack.
        if !self.policy.decodes_into_types() {
            faults.extend(optional_keys(&version.schema));
        }
        faults.extend(rule_problems(&version.schema).iter().map(ToString::to_string));
        problems.extend(faults.into_iter().collect());
        let computed = |column: &ColumnDecl| match column.cell {
            CellDecl::Computed(compute, _) => Some((column.name.to_owned(), compute)),
            CellDecl::Path(_) | CellDecl::JsonPath(..) => None,
        };
        let cells = self.columns.iter().filter_map(computed).collect();
        let binding = Binding { policy: self.policy, hooks: (self.hooks)(), conversion, cells, keeps_unknown: true };
        problems.or(Kind::new(shared, version, binding))
    }

    /// The properties that all versions share; each declares the same as the storage version.
    fn shared(&self, root: &'static TypeDecl, problems: &mut Problems) -> Shared {
        let stored_root = self.storage.map_or(root, |storage| storage.root);
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Shared {
            group: self.storage.map_or(self.group, |storage| storage.resource.group).to_owned(),
            names: Names {
                plural: self.plural.to_owned(),
                singular: self.singular.to_owned(),
                kind: self.kind.to_owned(),
                list_kind: self.list_kind.to_owned(),
                short_names: owned(self.short_names),
                categories: owned(self.categories),
            },
            scope: self.scope,
            name_rule: self.names,
            stored: self.stored,
            lifetime: self.lifetime_seconds.map(Duration::from_secs),
            roles: self.roles,
            grace: self.grace.and_then(|grace| match grace {
                GraceDecl::Seconds(seconds) => Some(Grace::Seconds(seconds.into())),
                GraceDecl::Path(rust) => problems.note(wire(stored_root, rust)).map(Grace::Path),
            }),
        }
    }

    fn version(&self, root: &'static TypeDecl, schema: Schema, problems: &mut Problems) -> Version {
        let deprecated = self.deprecated.map(|text| match text {
            "" => format!("{} {} is deprecated", self.group_version(), self.kind),
            text => text.to_owned(),
        });
        let mut path = |rust: RustPath| problems.note(wire(root, rust));
        let scale = self.scale.and_then(|scale| {
            let (replicas, status) = (path(scale.replicas), path(scale.status));
            let selector = scale.selector.and_then(&mut path);
            Some(ScalePaths { replicas: replicas?, status_replicas: status?, selector })
        });
        let selectable = self.selectable.iter().filter_map(|rust| path(rust)).collect();
        let is_elsewhere = self.storage.is_some_and(|storage| storage.resource.group != self.group);
        Version {
            group: is_elsewhere.then(|| self.group.to_owned()),
            served: self.served,
            deprecated,
            columns: self.columns(root, problems),
            selectable,
            status: self.status,
            generation: self.generation,
            scale,
            update_without_version: self.update_without_version,
            create_on_update: self.create_on_update,
            returns_deleted: self.returns_deleted,
            verbs: self.verbs.map(<[Verb]>::to_vec),
            ..Version::new(self.version, schema)
        }
    }

    /// The schema of the kind with this root type.
    fn schema(&self, root: &'static TypeDecl) -> Result<Schema, String> {
        let mut schema = root.schema(self.policy.omits_empty(), self.policy.omits_zeros())?;
        schema.properties.remove("metadata");
        schema.required.retain(|name| name != "metadata");
        Ok(schema)
    }

    /// The group and version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion { group: self.group.to_owned(), version: self.version.to_owned() }
    }
}

impl StorageDecl {
    /// The conversion of the version that has this root type and schema.
    fn conversion(
        &self,
        root: &'static TypeDecl,
        here: &ResourceDecl,
        schema: &Schema,
    ) -> Result<Arc<dyn Convert>, String> {
        let changes = match self.conversion {
            ConversionDecl::None => return Ok(Arc::new(Unchanged { fills: true })),
            ConversionDecl::Typed(make) => return Ok(make()),
            ConversionDecl::Changes(changes) => changes,
        };
        let change = |change: &ChangeDecl| {
            Ok(match *change {
                ChangeDecl::Renamed(here, stored) => Change::Renamed(wire(root, here)?, wire(self.root, stored)?),
                ChangeDecl::Added(path) => Change::Added(wire(self.root, path)?),
                ChangeDecl::Removed(path) => Change::Removed(wire(root, path)?),
            })
        };
        let changes: Vec<_> = changes.iter().map(change).collect::<Result<_, String>>()?;
        let names = [here, self.resource].map(ResourceDecl::group_version);
        let stored_schema = self.resource.schema(self.root)?;
        let here = convert::Version { name: &names[0], schema };
        let stored = convert::Version { name: &names[1], schema: &stored_schema };
        Ok(Arc::new(DeclaredConversion::new(here, stored, &changes)?))
    }
}

fn wire(root: &'static TypeDecl, rust: RustPath) -> Result<Path, String> {
    resolve(root, rust).map(|leaf| Path(leaf.wire)).map_err(|e| e.to_string())
}
