//! For tests of programs that declare kinds: documents made from a schema, and the check that a type and its schema
//! agree.
use crate::{kind::Kind, schema::Document};

/// Documents of a kind that its schema accepts: the same ones for the same seed, without end.
pub fn documents(_kind: &Kind, _seed: u64) -> impl Iterator<Item = Document> {
    std::iter::empty()
}

/// Checks that what the schema of `T` accepts, `T` decodes, and that what `T` encodes, the schema accepts.
///
/// # Panics
/// With the document that shows otherwise.
pub fn schema_and_type_agree<T>()
where
    T: crate::Resource + serde::Serialize + serde::de::DeserializeOwned,
{
    todo!()
}
