//! Schemas of definitions, as `JSONSchemaProps` of `apiextensions.k8s.io/v1`: their shape, and the schema that they mean.
//!
//! Errors are reported by their location, in kube-apiserver's words.

mod build;
mod fields;
mod findings;
mod formats;
mod location;
mod shape;

pub use build::{names, read, schema};
pub use kindsmith_cel::re2 as pattern;

pub use fields::{Additional, Fields};
pub use findings::{Fault, Findings, Warning};
pub use formats::format_warnings;
pub use location::Location;
pub use shape::{Shape, object as check_object, schema_of_schemas};
