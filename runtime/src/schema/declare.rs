//! Declarations: the static tables that the derives emit, and the schema built from them.
//! Tables, not code, so that a kind costs little to build and little in the binary.

/// A type that can be part of a kind. Derived with `#[derive(ApiType)]`; implemented here for the types of the standard
/// library and of `meta` that the API knows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a kind",
    label = "this type has no API declaration",
    note = "derive it: `#[derive(ApiType)]`; numbers are `i32`, `i64` or `f64`, text is `String`, raw JSON is `kindsmith::RawJson`"
)]
pub trait ApiType {
    /// The static description of the type.
    fn declaration() -> &'static TypeDecl;
}

/// A type as declared.
#[derive(Debug)]
pub struct TypeDecl {
    /// The Rust name, which OpenAPI documents use.
    pub name: &'static str,
    /// The doc comment.
    pub doc: &'static str,
}
