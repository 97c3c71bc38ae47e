//! Declarations: the static tables that the derives emit, and the schema built from them. Tables instead of code keep
//! the build time and binary size of a kind small. Nested types are referred to by functions ([`TypeRef`]), so that
//! tables are constants.

mod build;
pub mod checks;
mod generated;
mod keywords;
mod meta_types;
mod std_types;
mod table;
mod walk;

pub use table::{FieldDecl, Generate, ListDecl, Literal, MergeDecl, Rules, Shape, TypeDecl, TypeRef, VariantDecl};
pub use walk::{Leaf, PathError, observed_within, resolve};

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a kind",
    label = "this type has no API declaration",
    note = "derive it: `#[derive(ApiType)]`; numbers are `i32`, `i64` or `f64`, text is `String`, raw JSON is `kindsmith::RawJson`"
)]
/// A type that can be part of a kind. Derived with `#[derive(ApiType)]`; implemented here for types of the standard
/// library and of `meta`.
pub trait ApiType {
    /// The type inside `Option` and `Box`, whose fields a path may name; for any other type itself.
    type Inner: ApiType;

    /// The static description of the type.
    const DECLARATION: &'static TypeDecl;

    /// The nesting depth of values; 1 for scalars. A type that contains itself has no such number and does not compile,
    /// because a schema is finite.
    const NESTING: usize;

    /// The static description of the type, as a function, which tables hold.
    fn declaration() -> &'static TypeDecl {
        Self::DECLARATION
    }
}

/// The larger of two nestings.
pub const fn deeper(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}
