//! Kinds: the `Resource` trait, the definition of a resource and what a kind does, versions and their conversion, and
//! definitions as CustomResourceDefinitions.

pub mod binding;
pub mod changes;
mod columns;
pub mod convert;
pub mod crd;
pub mod definition;
pub(crate) mod difference;
pub mod endpoint;
#[cfg(test)]
pub(crate) mod fixture;
pub mod hook;
pub mod jsonpath;
pub mod model;
pub mod openapi;
pub mod policy;
pub mod proto;
pub mod resource;
mod versions;

pub use binding::{Binding, Kind};
pub use changes::Changes;
pub use convert::Convert;
pub use definition::{Definition, Problems};
pub use jsonpath::JsonPath;
pub use policy::Policy;
pub use resource::Resource;
pub use versions::{Versions, by_resource};
