//! Generates kinds in Rust from manifests of CustomResourceDefinitions and from OpenAPI documents: [`Builder`], for a build.rs and
//! for committed files. [`Kinds`] reads the files, for checks of them.
//!
//! The package also contains the command `kindsmith`, behind the feature `cli`, which is enabled by default. With
//! `default-features = false` neither the command nor the server is built, but the pure layers of `kindsmith` are.

mod declaration;
#[cfg(feature = "cli")]
pub mod export;
mod exported;
pub mod proto;
mod rust;

pub use declaration::{Kinds, ResourceDeclaration};
pub use rust::{Builder, Error, File, GeneratedCode, Warning};
