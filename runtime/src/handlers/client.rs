//! A typed client inside the process: the verbs as the wire has them, on the Rust types of kinds. It goes through the same
//! pipeline as requests do, and asks no authenticator and no authorizer: who holds it is the server's own code.
use std::{marker::PhantomData, sync::Arc};

use super::{Object, Refusal, Result, States, decode, encode};
use crate::{
    auth::User,
    cache,
    kind::registry::Served,
    meta::options::{DeleteOptions, GetOptions, ListOptions, WriteOptions},
    schema::Document,
    verbs::{Answer, Api, Deleted, Request, Unconverted},
};

/// A typed client inside the process.
///
/// ```
/// # use kindsmith::{builtin::ConfigMap, ObjectMeta, handlers::{Client, Result}};
/// # async fn run(client: Client) -> Result<()> {
/// let maps = client.of::<ConfigMap>("default");
/// let map = maps.create(&ConfigMap { metadata: ObjectMeta::named("settings"), ..ConfigMap::default() }).await?;
/// maps.change(&map.metadata.name, |map| {
///     map.data.insert("colour".into(), "green".into());
///     Ok(())
/// }).await?;
/// assert_eq!(maps.list().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    api: Arc<Api>,
    user: Arc<User>,
    options: WriteOptions,
}

/// The objects of one kind, in one namespace or in all of them.
pub struct Objects<K> {
    client: Client,
    namespace: String,
    kind: PhantomData<fn() -> K>,
}

impl Client {
    /// A client that acts as the server itself, under the name of a field manager.
    pub fn new(api: Arc<Api>, field_manager: impl Into<String>) -> Self {
        let options = WriteOptions { field_manager: field_manager.into(), ..WriteOptions::default() };
        Self::acting_as(api, Arc::new(User::system()), options)
    }

    pub(super) fn acting_as(api: Arc<Api>, user: Arc<User>, options: WriteOptions) -> Self {
        Self { api, user, options }
    }

    /// The objects of a kind in a namespace. An empty namespace stands for all of them, which only lists make sense of, or
    /// for the cluster, whose kinds have no namespace.
    pub fn of<K: Object>(&self, namespace: impl Into<String>) -> Objects<K> {
        Objects { client: self.clone(), namespace: namespace.into(), kind: PhantomData }
    }

    /// The verbs, on documents.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }
}

impl<K: Object> Objects<K> {
    /// The object of a name.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn get(&self, name: &str) -> Result<K> {
        let answer = self.api().get(&self.request(name)?, &GetOptions::default()).await?;
        typed(&document_of(answer)?)
    }

    /// All objects, in the order of their names.
    ///
    /// # Errors
    /// As [`Objects::select`].
    pub async fn list(&self) -> Result<Vec<K>> {
        self.select(&ListOptions::default()).await
    }

    /// The objects that the options select. Those that cannot be read from the store are left out.
    ///
    /// # Errors
    /// Options that make no sense.
    pub async fn select(&self, options: &ListOptions) -> Result<Vec<K>> {
        let request = self.request("")?;
        let list = self.api().list(&request, options).await?;
        let readable = list.items.iter().filter(|object| object.unreadable().is_none());
        readable.map(|object| shown(&request.served, object, list.items.json_bytes())).collect()
    }

    /// The states of an object: the one that it is in, and those to come.
    ///
    /// # Errors
    /// 404.
    pub async fn states(&self, name: &str) -> Result<States<K>> {
        States::of(self.api(), &self.request(name)?).await
    }

    /// Stores a new object, and gives it as it was stored.
    ///
    /// # Errors
    /// 409 where the name is taken, 422 for what is wrong with the object, 403 and 404 for its namespace.
    pub async fn create(&self, object: &K) -> Result<K> {
        let written = self.api().create(&self.request("")?, encode(object)?, self.options()).await?;
        typed(&document_of(written.answer)?)
    }

    /// Replaces an object as a whole. A resourceVersion in it is a precondition.
    ///
    /// # Errors
    /// 409 where the object is not of the newest state, 404, 422.
    pub async fn update(&self, name: &str, object: &K) -> Result<K> {
        self.put(self.request(name)?, object).await
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    /// As [`Objects::update`].
    pub async fn update_status(&self, name: &str, object: &K) -> Result<K> {
        self.put(self.status(name)?, object).await
    }

    /// Changes an object by code, which is run again on the newer object when another write came first. Fields that the
    /// type does not know are left as they are.
    ///
    /// # Errors
    /// What the code says; 404, 422.
    pub async fn change(&self, name: &str, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        let request = self.request(name)?;
        let changed = super::change::document(self.api(), &request, self.options(), &on_type(change)).await?;
        typed(&changed)
    }

    /// Changes the status of an object by code, as [`Objects::change`] does.
    ///
    /// # Errors
    /// As [`Objects::change`].
    pub async fn change_status(&self, name: &str, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        let request = self.status(name)?;
        let changed = super::change::document(self.api(), &request, self.options(), &on_type(change)).await?;
        typed(&changed)
    }

    /// Deletes an object. `Some` is the object that waits for its finalizers or its grace period.
    ///
    /// # Errors
    /// 404; 409 where a precondition does not hold.
    pub async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Option<K>> {
        let options = DeleteOptions { dry_run: options.dry_run || self.options().dry_run, ..options.clone() };
        match self.api().delete(&self.request(name)?, &options).await? {
            Deleted::Gone { .. } | Deleted::Forced => Ok(None),
            Deleted::Marked(object) => typed(&parsed(&object)?).map(Some),
        }
    }

    async fn put(&self, request: Request, object: &K) -> Result<K> {
        let written = self.api().update(&request, encode(object)?, self.options()).await?;
        typed(&document_of(written.answer)?)
    }

    fn api(&self) -> &Api {
        &self.client.api
    }

    fn options(&self) -> &WriteOptions {
        &self.client.options
    }

    fn request(&self, name: &str) -> Result<Request> {
        let (user, served) = (self.client.user.clone(), served::<K>(self.api())?);
        let (namespace, name) = (self.namespace.clone(), name.to_owned());
        Ok(Request { user, served, namespace, name, subresource: "".into() })
    }

    fn status(&self, name: &str) -> Result<Request> {
        Ok(Request { subresource: "status".into(), ..self.request(name)? })
    }
}

/// Where a kind is served.
fn served<K: Object>(api: &Api) -> Result<Arc<Served>> {
    let kind = K::RESOURCE;
    let none = || Refusal::internal(format!("{} of {:?} is not served here", kind.plural, kind.group));
    api.registry.find(kind.group, kind.version, kind.plural).ok_or_else(none)
}

/// A change of a type as a change of documents.
pub(super) fn on_type<K: Object>(
    change: impl Fn(&mut K) -> Result<()> + Send + Sync,
) -> impl Fn(&mut Document) -> Result<()> + Send + Sync {
    move |document| {
        let mut value: K = decode(document)?;
        let before = encode(&value)?;
        change(&mut value)?;
        crate::kind::hook::apply_difference(document, &before, encode(&value)?);
        Ok(())
    }
}

/// What a verb answered, as a document.
pub(super) fn document_of(answer: Answer) -> Result<Document> {
    match answer {
        Answer::Object(object) => parsed(&object),
        Answer::Document(document) => Ok(document),
    }
}

/// An object as a document.
pub(super) fn parsed(object: &cache::Object) -> Result<Document> {
    serde_json::from_slice(&object.json())
        .map_err(|error| Refusal::internal(format!("{:?} cannot be read: {error}", object.key())))
}

/// A stored object as the type of a version, for who goes through so many bytes of objects.
pub(super) fn shown<K: Object>(served: &Served, object: &Arc<cache::Object>, bytes: usize) -> Result<K> {
    match served.show_among(object, bytes) {
        Ok(shown) => typed(&parsed(&shown)?),
        Err(reason) => Err(Unconverted::one(served, object, &reason).refusal(served, object.name()).into()),
    }
}

/// A document as its type.
pub(super) fn typed<K: Object>(document: &Document) -> Result<K> {
    decode(document)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
