//! Compile-time checks used by derived code: trait bounds whose errors name the allowed types, and assertions on
//! tables. Nothing here runs; it is public because derived code refers to it.
use std::collections::BTreeMap;

use serde::{Serialize, de::DeserializeOwned};

use super::{ApiType, Shape};
use crate::{
    meta::{ByteString, IntOrString, LabelSelector, MicroTime, Quantity, Time},
    schema::model::Type,
};

#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    label = "a scalar is needed here",
    note = "sets, columns and selectable fields hold `String`, `i32`, `i64`, `bool`, times, quantities and enumerations"
)]
/// A scalar value.
pub trait Scalar {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a list map",
    label = "the key is a scalar that every item has",
    note = "a key is a `String`, `i32`, `i64`, `bool` or an enumeration, without `Option`"
)]
/// A value that can be the key of a list's items.
pub trait ListKey {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown in a column",
    label = "not a cell",
    note = "a column's function returns `String`, `i32`, `i64`, `f64`, `bool`, a time, or an `Option` of one"
)]
/// A result type of a computed column.
pub trait Cell {
    /// The column's type.
    const COLUMN: &'static str;
}

#[diagnostic::on_unimplemented(message = "`{Self}` is not a list", label = "a `Vec` is needed here")]
/// A list, inside `Option` and `Box`.
pub trait List {
    /// Its items.
    type Item: ApiType;
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a number of replicas",
    label = "`i32` or `Option<i32>` is needed here"
)]
/// A number of replicas.
pub trait Replicas {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a number of seconds",
    label = "`i64`, `i32` or an `Option` of them is needed here"
)]
/// A number of seconds.
pub trait Seconds {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the selector of the scale subresource",
    label = "`String`, `LabelSelector` or `BTreeMap<String, String>` is needed here, or an `Option` of them",
    note = "the selector is its text form, such as `app=web`, or an object"
)]
/// A label selector as text, or as an object.
pub trait Selector {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` derives `ApiType` without serde's `Serialize` and `Deserialize`",
    label = "this type has no form on the wire",
    note = "derive them beside it: `#[derive(ApiType, Serialize, Deserialize)]`"
)]
/// A type that serde writes and reads.
pub trait OnTheWire {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> OnTheWire for T {}

#[diagnostic::do_not_recommend]
impl<T: ApiType> List for Vec<T> {
    type Item = T;
}
#[diagnostic::do_not_recommend]
impl Replicas for i32 {}
#[diagnostic::do_not_recommend]
impl Seconds for i32 {}
#[diagnostic::do_not_recommend]
impl Seconds for i64 {}
#[diagnostic::do_not_recommend]
impl Selector for String {}
#[diagnostic::do_not_recommend]
impl Selector for LabelSelector {}
#[diagnostic::do_not_recommend]
impl Selector for BTreeMap<String, String> {}

/// Implements a trait without content for types.
macro_rules! each {
    ($name:ident: $($ty:ty),*) => { $(#[diagnostic::do_not_recommend] impl $name for $ty {})* };
}
each!(Scalar: String, bool, i32, i64, f64, Time, MicroTime, Quantity, IntOrString, ByteString);
each!(ListKey: String, bool, i32, i64);

/// Implements `Cell` for types of each column type.
macro_rules! cells {
    ($($column:literal: $($ty:ty),*;)*) => { $($(#[diagnostic::do_not_recommend] impl Cell for $ty { const COLUMN: &'static str = $column; })*)* };
}
cells! {
    "string": String, &str, Quantity, IntOrString;
    "integer": i32, i64;
    "number": f64;
    "boolean": bool;
    "date": Time, MicroTime;
}
#[diagnostic::do_not_recommend]
impl<T: Cell> Cell for Option<T> {
    const COLUMN: &'static str = T::COLUMN;
}

/// The items of a list field, inside `Option` and `Box`.
pub type Item<T> = <<<T as ApiType>::Inner as List>::Item as ApiType>::Inner;

/// Checks that serde's traits are derived, too.
pub fn on_the_wire<T: OnTheWire>() {}

/// The value inside `Option` and `Box`, so that a path can continue.
pub fn inner<T: ApiType>(_: &T) -> &T::Inner {
    unreachable!("the compiler checks paths; nothing runs them")
}

/// Checks that the field can be shown in a column.
pub fn column<T: ApiType<Inner: Scalar>>(_: &T) {}

/// Checks that the field is selectable.
pub fn selectable<T: ApiType<Inner: Scalar>>(_: &T) {}

/// Checks that the field is a number of replicas.
pub fn replicas<T: ApiType<Inner: Replicas>>(_: &T) {}

/// Checks that the field is declared, whatever its type.
pub fn declared<T: ApiType>(_: &T) {}

/// Checks that the field is a number of seconds.
pub fn seconds<T: ApiType<Inner: Seconds>>(_: &T) {}

/// Checks that the field is a selector.
pub fn selector<T: ApiType<Inner: Selector>>(_: &T) {}

/// Checks that the field can be a key of list items.
pub fn key<T: ListKey>(_: &T) {}

/// Checks that the field can be a key of items of a list that is published elsewhere, which may lack it.
pub fn published_key<T: ApiType<Inner: ListKey>>(_: &T) {}

/// Checks that the items of the list field can be those of a set.
pub fn set_items<T>()
where
    T: ApiType,
    T::Inner: List<Item: Scalar>,
{
}

/// The type of a computed column.
pub const fn column_of<T, R: Cell>(_: &fn(&T) -> R) -> &'static str {
    R::COLUMN
}

/// JSON types, for [`is`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Text, except enums.
    Text,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A struct, union or map.
    Object,
}

/// True if values of a type may have a JSON type.
pub const fn is<T: ApiType>(sort: Sort) -> bool
where
    T::Inner: ApiType + Sized,
{
    match <T::Inner as ApiType>::DECLARATION.shape {
        Shape::Scalar(Type::String, ..) => matches!(sort, Sort::Text),
        Shape::Scalar(Type::Integer | Type::Number, ..) => matches!(sort, Sort::Number),
        Shape::Scalar(Type::IntOrString, ..) => matches!(sort, Sort::Number | Sort::Text),
        Shape::Scalar(Type::Boolean, ..) => matches!(sort, Sort::Boolean),
        Shape::List(_) => matches!(sort, Sort::List),
        Shape::Struct(_) | Shape::Union(_) | Shape::Map(_) => matches!(sort, Sort::Object),
        Shape::Any | Shape::Generated(_) => true,
        Shape::Scalar(..) | Shape::Enum(_) | Shape::Optional(_) | Shape::Boxed(_) => false,
    }
}

/// True if a struct's field has no `#[serde(default)]`. Missing fields are reported elsewhere.
pub const fn required<T: ApiType>(rust: &str) -> bool {
    let Shape::Struct(fields) = T::DECLARATION.shape else { return true };
    let mut at = 0;
    while at < fields.len() {
        if same(fields[at].rust.as_bytes(), rust.as_bytes()) {
            return !fields[at].defaulted;
        }
        at += 1;
    }
    true
}

/// True if a struct has a field with this name on the wire. Other types are reported elsewhere.
pub const fn has<T: ApiType>(wire: &str) -> bool {
    let Shape::Struct(fields) = T::DECLARATION.shape else { return true };
    let mut at = 0;
    while at < fields.len() {
        if same(fields[at].wire.as_bytes(), wire.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

/// True if two texts are equal.
pub const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}
