//! A question to the authorizer: may a user do this?

use super::{Client, Object};
use crate::meta::{User, refusal::Result};

/// What a user wants to do with objects. An empty namespace means all namespaces or a cluster-scoped kind, an empty name all
/// objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The verb, such as `get`, `delete`, or one of your own, such as `lend`.
    pub verb: String,
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub resource: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Access {
    /// A verb on objects of a kind.
    pub fn to<K: Object>(verb: impl Into<String>) -> Self {
        let kind = K::RESOURCE;
        let (group, version, resource) = (kind.group.to_owned(), kind.version.to_owned(), kind.plural.to_owned());
        Self { verb: verb.into(), group, version, resource, ..Self::default() }
    }

    /// A verb on objects of a kind that is not a Rust type, by its group and its plural.
    pub fn to_resource(verb: impl Into<String>, group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { verb: verb.into(), group: group.into(), resource: resource.into(), ..Self::default() }
    }

    /// The same in a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The same on the object of this name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same on a subresource, such as `status`.
    #[must_use]
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = subresource.into();
        self
    }
}

impl Client {
    /// Asks the server's authorizers, roles among them, whether a user may do this. The client itself may do everything, so code
    /// that does more than the request says asks for the user before:
    ///
    /// ```
    /// # extern crate kindsmith_model as kindsmith;
    /// # use kindsmith::{ObjectMeta, Resource, kind::client::{Access, Client}, meta::{User, refusal::Result}};
    /// # #[derive(Resource, Clone, Debug)]
    /// # #[resource(group = "library.example.com", version = "v1")]
    /// # pub struct Book { pub metadata: ObjectMeta }
    /// # async fn run(client: Client, user: &User) -> Result<()> {
    /// let deletion = Access::to::<Book>("delete").in_namespace("attic").named("emma");
    /// client.authorize(user, &deletion).await?;
    /// client.of::<Book>("attic").delete("emma", &Default::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// 403 with the message that the user would get for such a request, if they may not.
    pub async fn authorize(&self, user: &User, access: &Access) -> Result<()> {
        self.backend.authorize(user, access).await
    }
}
