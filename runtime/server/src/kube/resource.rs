//! A kind's type as kube-rs takes it.
use std::{
    borrow::Cow,
    ops::{Deref, DerefMut},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _, ser::Error as _};
use serde_json::Value;

use crate::kind::resource::{Cluster, Namespaced, Resource};

/// An object of a declared kind, with the metadata that kube-rs reads: `Api<Kube<Book>>`.
///
/// It reads and changes as the object itself, `book.spec.copies`; only `book.metadata` is k8s-openapi's type. That is the
/// metadata that counts: what the object within holds as its own is what was read, and is never sent.
///
/// ```
/// use kindsmith::{ObjectMeta, builtin::ConfigMap, kube::Kube};
/// use kube::ResourceExt;
///
/// let metadata = ObjectMeta::named("settings");
/// let mut map = Kube::from(ConfigMap { metadata, ..ConfigMap::default() });
/// map.data.insert("colour".into(), "green".into());
/// map.labels_mut().insert("app".into(), "painter".into());
/// assert_eq!(map.name_any(), "settings");
/// ```
#[derive(Clone, Debug)]
pub struct Kube<K> {
    /// Name, labels and what else every object has.
    pub metadata: ObjectMeta,
    object: K,
}

impl<K: Resource + Serialize + DeserializeOwned> Kube<K> {
    /// The object, with this metadata as its own.
    pub fn into_inner(self) -> K {
        let document = serde_json::to_value(&self).expect("a declared type is written as an object");
        serde_json::from_value(document).expect("both types of metadata have one form on the wire")
    }
}

/// Equal on the wire.
impl<K: Serialize> PartialEq for Kube<K> {
    fn eq(&self, other: &Self) -> bool {
        let document = |of: &Self| serde_json::to_value(of).ok();
        document(self) == document(other)
    }
}

impl<K> Deref for Kube<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.object
    }
}

impl<K> DerefMut for Kube<K> {
    fn deref_mut(&mut self) -> &mut K {
        &mut self.object
    }
}

impl<K: Resource + Serialize> From<K> for Kube<K> {
    fn from(object: K) -> Self {
        let mut document = serde_json::to_value(&object).expect("a declared type is written as an object");
        let metadata = serde_json::from_value(document["metadata"].take());
        Self { metadata: metadata.expect("both types of metadata have one form on the wire"), object }
    }
}

/// A scope, as kube-rs names it.
pub trait Scope {
    /// kube's marker.
    type Kube;
}

impl Scope for Namespaced {
    type Kube = ::kube::core::NamespaceResourceScope;
}

impl Scope for Cluster {
    type Kube = ::kube::core::ClusterResourceScope;
}

impl<K: Resource<Scope: Scope>> ::kube::Resource for Kube<K> {
    type DynamicType = ();
    type Scope = <K::Scope as Scope>::Kube;

    fn kind((): &()) -> Cow<'_, str> {
        K::RESOURCE.kind.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        K::RESOURCE.group.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        K::RESOURCE.version.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::RESOURCE.plural.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<K: Serialize> Serialize for Kube<K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = serde_json::to_value(&self.object).map_err(S::Error::custom)?;
        document["metadata"] = serde_json::to_value(&self.metadata).map_err(S::Error::custom)?;
        document.serialize(to)
    }
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Kube<K> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(from)?;
        let metadata = ObjectMeta::deserialize(&document["metadata"]).map_err(D::Error::custom)?;
        Ok(Self { metadata, object: K::deserialize(document).map_err(D::Error::custom)? })
    }
}
