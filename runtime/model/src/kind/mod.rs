//! Kinds: the `Resource` trait, definitions, the behaviour of kinds, versions and their conversion, and the resources that
//! definitions use.

pub mod binding;
pub mod budget;
pub mod cells;
pub(crate) mod changes;
pub mod client;
mod columns;
pub mod convert;
pub(crate) mod definition;
pub mod difference;
pub mod endpoint;
#[cfg(any(test, feature = "test-support"))]
pub mod fixture;
pub mod hook;
pub mod jsonpath;
pub mod model;
pub mod names;
pub mod policy;
pub mod resource;
mod user_roles;
mod versions;
pub mod write_rules;

pub use binding::{Binding, Compute, DocumentHooks, Hook, HookContext, HookError, HookFuture, Kind, KindData, NoHooks};
pub use changes::Changes;
pub use convert::{Convert, Unchanged};
pub use definition::{Definition, Problems};
pub use endpoint::Verb;
pub use jsonpath::{CellMeter, JsonPath};
pub use policy::{Compiled, Custom, Described, Policy};
pub use resource::{Resource, Stored, Unstored};
pub use user_roles::{InvalidRoles, UserRole, UserRoles};
pub use versions::{Versions, by_resource};
