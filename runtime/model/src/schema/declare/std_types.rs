//! The types of the standard library that a kind may contain.
use std::collections::{BTreeMap, HashMap};

use super::{ApiType, Shape, TypeDecl};
use crate::schema::model::Type;

/// Declares scalars: Rust type, schema type, format, and the type in Go if it has one of its own.
macro_rules! scalars {
    ($($ty:ty: $kind:ident, $format:literal, $scalar:expr;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ApiType for $ty {
            type Inner = Self;
            const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Scalar(Type::$kind, $format, $scalar));
            const NESTING: usize = 1;
        }
    )* };
}
pub(super) use scalars;

scalars! {
    String: String, "", None;
    bool: Boolean, "", None;
    i32: Integer, "int32", None;
    i64: Integer, "int64", None;
    f64: Number, "double", None;
}

#[diagnostic::do_not_recommend]
impl<T: ApiType> ApiType for Option<T> {
    type Inner = T::Inner;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Optional(T::declaration));
    const NESTING: usize = T::NESTING;
}

#[diagnostic::do_not_recommend]
impl<T: ApiType> ApiType for Box<T> {
    type Inner = T::Inner;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Boxed(T::declaration));
    const NESTING: usize = T::NESTING;
}

#[diagnostic::do_not_recommend]
impl<T: ApiType> ApiType for Vec<T> {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::List(T::declaration));
    const NESTING: usize = T::NESTING + 1;
}

#[diagnostic::do_not_recommend]
impl<T: ApiType> ApiType for BTreeMap<String, T> {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Map(T::declaration));
    const NESTING: usize = T::NESTING + 1;
}

#[diagnostic::do_not_recommend]
impl<T: ApiType, S> ApiType for HashMap<String, T, S> {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Map(T::declaration));
    const NESTING: usize = T::NESTING + 1;
}
