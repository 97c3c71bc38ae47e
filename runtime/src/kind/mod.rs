//! Kinds: the `Resource` trait, the definition of a resource and what a kind does, versions and their conversion, the
//! registry, records as stored, and the reader given to the cache.

pub mod binding;
pub mod changes;
mod clashes;
mod columns;
pub mod convert;
pub mod crd;
pub mod definition;
pub(crate) mod difference;
pub mod endpoint;
#[cfg(test)]
pub(crate) mod fixture;
pub mod hook;
pub(crate) mod index;
pub mod jsonpath;
pub mod model;
pub mod policy;
pub mod proto;
pub mod reader;
#[cfg(test)]
mod reader_tests;
pub(crate) mod record;
#[cfg(test)]
mod record_tests;
pub mod registry;
pub mod resource;
mod versions;
pub mod view;
#[cfg(test)]
mod view_tests;

pub use binding::{Binding, Kind};
pub use changes::Changes;
pub use convert::Convert;
pub use definition::{Definition, Problems};
pub use jsonpath::JsonPath;
pub use policy::Policy;
pub use registry::Registry;
pub use resource::Resource;
pub use versions::{Versions, by_resource};
pub use view::View;
