//! Declarations: the static tables that the derives emit, and the schema built from them.
//! Tables, not code, so that a kind costs little to build and little in the binary. Nested types are named by functions
//! ([`TypeRef`]), so that tables are constants.

mod build;
pub mod checks;
mod meta_types;
mod std_types;
mod table;
mod walk;

pub use table::{FieldDecl, ListDecl, Literal, MergeDecl, Rules, Shape, TypeDecl, TypeRef, VariantDecl};
pub use walk::{Leaf, PathError, observed_within, resolve};

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a kind",
    label = "this type has no API declaration",
    note = "derive it: `#[derive(ApiType)]`; numbers are `i32`, `i64` or `f64`, text is `String`, raw JSON is `kindsmith::RawJson`"
)]
/// A type that can be part of a kind. Derived with `#[derive(ApiType)]`; implemented here for the types of the standard
/// library and of `meta` that the API knows.
pub trait ApiType {
    /// The type inside `Option` and `Box`, whose fields a path names; any other type is its own.
    type Inner: ApiType;

    /// The static description of the type.
    const DECLARATION: &'static TypeDecl;

    /// How deep values nest; 1 for scalars. A type that holds itself has no such number, so it does not compile: a schema
    /// has an end.
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
