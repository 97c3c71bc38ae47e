//! Kinds: the `Resource` trait, the definition of a resource and what a kind does, versions and their conversion, and
//! definitions as CustomResourceDefinitions.

pub(crate) mod binding;
mod budget;
pub(crate) mod cells;
pub(crate) mod changes;
mod columns;
pub(crate) mod convert;
pub mod crd;
pub(crate) mod definition;
pub(crate) mod difference;
pub(crate) mod endpoint;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod generated;
pub(crate) mod hook;
pub(crate) mod jsonpath;
pub mod model;
mod names;
pub mod openapi;
pub(crate) mod policy;
pub mod proto;
pub(crate) mod resource;
mod versions;

pub use binding::{Binding, Compute, DocumentHooks, Hook, HookContext, HookError, HookFuture, Kind, KindData, NoHooks};
pub(crate) use changes::Changes;
pub use convert::{Convert, Unchanged};
pub use definition::{Definition, Problems};
pub use endpoint::Verb;
#[cfg(feature = "schemars")]
pub use generated::structural_schema;
pub use jsonpath::{CellMeter, JsonPath};
pub use policy::{Compiled, Custom, Described, Policy};
pub use resource::{Resource, Stored, Unstored};
pub(crate) use versions::{Versions, by_resource};
