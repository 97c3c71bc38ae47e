//! The example's kinds for the client.
//!
//! The client reads and writes a kind's root type. Only the metadata has the client's own type, because the client
//! returns references to it. Group, version and plural come from the kind's declaration.

use std::borrow::Cow;

use kube::core::{ClusterResourceScope, NamespaceResourceScope, ObjectMeta};
use library::{Book, BookSpec, Genre, Shelf};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _, ser::Error as _};
use serde_json::Value;

/// A kind's root type with the client's metadata, which replaces the root type's own.
#[derive(Clone, Debug)]
pub struct Typed<R> {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The object.
    pub object: R,
}

/// The scope of a kind's objects, which the client asks of the type.
pub trait Scoped {
    /// The client's marker for the scope.
    type Scope;
}

impl Scoped for Book {
    type Scope = NamespaceResourceScope;
}

impl Scoped for Shelf {
    type Scope = ClusterResourceScope;
}

impl<R: kindsmith::Resource + Scoped> kube::Resource for Typed<R> {
    type DynamicType = ();
    type Scope = R::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        R::RESOURCE.kind.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        R::RESOURCE.group.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        R::RESOURCE.version.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        R::RESOURCE.plural.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<R: Serialize> Serialize for Typed<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = serde_json::to_value(&self.object).map_err(S::Error::custom)?;
        document["metadata"] = serde_json::to_value(&self.metadata).map_err(S::Error::custom)?;
        document.serialize(to)
    }
}

impl<'de, R: DeserializeOwned> Deserialize<'de> for Typed<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(from)?;
        let metadata = ObjectMeta::deserialize(&document["metadata"]).map_err(D::Error::custom)?;
        Ok(Self { metadata, object: R::deserialize(document).map_err(D::Error::custom)? })
    }
}

/// A book to create.
pub fn book(name: &str, copies: i32) -> Typed<Book> {
    let author = "Someone".to_owned();
    let spec = BookSpec { title: None, author, genre: Genre::Fiction, copies, shelf: None, chapters: Vec::new() };
    Typed { metadata: named(name), object: Book { metadata: kindsmith::ObjectMeta::named(name), spec, status: None } }
}

/// Metadata with a name.
pub fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}
