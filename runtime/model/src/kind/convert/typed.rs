//! Conversion written in Rust, between the types of two versions.
use std::{fmt::Display, marker::PhantomData, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::Convert;
use crate::{codec, kind::model::Path, schema::Document};

/// A conversion written in Rust: `V` is the type of this version, `S` that of the storage version, with [`TryFrom`] in
/// both directions.
struct TypedConversion<V, S>(PhantomData<fn() -> (V, S)>);

/// The conversion between two types, for declarations.
pub fn typed<V, S>() -> Arc<dyn Convert>
where
    V: Serialize + DeserializeOwned + ConvertInto<S> + 'static,
    S: Serialize + DeserializeOwned + ConvertInto<V> + 'static,
{
    Arc::new(TypedConversion::<V, S>(PhantomData))
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to `{T}`",
    label = "`convert = from` needs `impl TryFrom<{Self}> for {T}`, whose error is `Display`",
    note = "`impl From<{Self}> for {T}` gives it, where nothing can fail"
)]
/// A type that [`TryFrom`] converts to that of another version.
pub trait ConvertInto<T>: Sized {
    /// The value in the other version.
    ///
    /// # Errors
    /// The conversion's error.
    fn convert_into(self) -> Result<T, String>;
}

#[diagnostic::do_not_recommend]
impl<A, B: TryFrom<A, Error: Display>> ConvertInto<B> for A {
    fn convert_into(self) -> Result<B, String> {
        B::try_from(self).map_err(|error| error.to_string())
    }
}

impl<V, S> Convert for TypedConversion<V, S>
where
    V: Serialize + DeserializeOwned + ConvertInto<S>,
    S: Serialize + DeserializeOwned + ConvertInto<V>,
{
    fn write(&self, document: Document) -> Result<Document, String> {
        convert::<V, S>(document)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        convert::<S, V>(document)
    }
}

fn convert<A: DeserializeOwned + ConvertInto<B>, B: Serialize>(mut document: Document) -> Result<Document, String> {
    // Conversions do not need them, and they are often the larger part of an object.
    Path::from(&["metadata", "managedFields"][..]).remove(&mut document);
    let from: A = serde_json::from_value(document).map_err(|error| error.to_string())?;
    codec::from_typed(&from.convert_into()?)
}
