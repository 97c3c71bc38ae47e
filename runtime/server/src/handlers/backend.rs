//! The verbs behind the typed client.
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use kindsmith_model::kind::client::{
    Access, InvalidObject, WatchEvent,
    backend::{self, Backend, Change, Item},
};
use tokio::time::{Instant, Sleep};

use super::{Refusal, Result, change};
use crate::{
    auth::{Attributes, Decision, User},
    cache::{self, Event, EventType, WatchError},
    codec,
    kind::{Kind, resource::ResourceDecl},
    meta::{
        Revision,
        object::ListMeta,
        options::{DeleteOptions, GetOptions, ListOptions, PatchOptions, WriteOptions},
    },
    registry::ResourceEntry,
    schema::Document,
    verbs::{
        self, Answer, DeleteResult, Error, ItemPosition, Items, Patch, Request, Verbs, WatchResult, status::of_watch,
    },
};

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);

impl Verbs {
    /// The resource of a type. Fails with 500 if it is not served.
    fn resource_of(&self, kind: &ResourceDecl) -> Result<Arc<ResourceEntry>> {
        let missing = || Refusal::internal(format!("{} of {:?} is not served here", kind.plural, kind.group));
        self.registry.find(kind.group, kind.version, kind.plural).ok_or_else(missing)
    }

    /// A request of the typed client.
    fn request(&self, of: &backend::Request) -> Result<Request> {
        let resource = self.resource_of(of.resource)?;
        let (namespace, name, subresource) = (of.namespace.clone(), of.name.clone(), of.subresource.into());
        Ok(Request { namespace, name, subresource, ..Request::for_all(&of.user, &resource) })
    }
}

impl Backend for Verbs {
    fn shared(&self) -> Arc<dyn Backend> {
        self.shared()
    }

    fn kind(&self, resource: &ResourceDecl) -> Result<Arc<Kind>> {
        Ok(self.resource_of(resource)?.kind.clone())
    }

    fn authorize<'a>(&'a self, user: &'a User, access: &'a Access) -> backend::Answer<'a, ()> {
        Box::pin(async move {
            let Access { verb, group, version, resource, subresource, namespace, name, .. } = access;
            let attributes = Attributes {
                group,
                version,
                resource,
                subresource,
                namespace,
                name,
                ..Attributes::new(user, verb, "")
            };
            match self.decide(&attributes).await {
                Decision::Allow(_) => Ok(()),
                refusal => Err(verbs::status::forbidden(&attributes, &refusal).into()),
            }
        })
    }

    fn get<'a>(&'a self, of: &'a backend::Request, options: &'a GetOptions) -> backend::Answer<'a, Document> {
        Box::pin(async move { document(self.get(&self.request(of)?, options).await?) })
    }

    fn list<'a>(&'a self, of: &'a backend::Request, options: &'a ListOptions) -> backend::Answer<'a, backend::Items> {
        Box::pin(async move {
            let request = self.request(of)?;
            let list = self.list(&request, options).await?;
            let items = list.items.converted(&request).await?;
            Ok(objects(request.resource, verbs::List { items, ..list }))
        })
    }

    fn watch<'a>(&'a self, of: &'a backend::Request, options: &'a ListOptions) -> backend::Answer<'a, backend::Events> {
        Box::pin(async move {
            let request = self.request(of)?;
            let watch_result = self.watch(&request, options).await?;
            Ok(Box::pin(Events::of(request.resource, watch_result)) as backend::Events)
        })
    }

    fn create<'a>(
        &'a self,
        of: &'a backend::Request,
        object: Document,
        options: &'a WriteOptions,
    ) -> backend::Answer<'a, Document> {
        Box::pin(async move {
            let create = |request| {
                let object = object.clone();
                async move { Ok(self.create(&request, object, options).await?) }
            };
            document(change::following(self, &self.request(of)?, create).await?.answer)
        })
    }

    fn update<'a>(
        &'a self,
        of: &'a backend::Request,
        object: Document,
        options: &'a WriteOptions,
    ) -> backend::Answer<'a, Document> {
        Box::pin(async move {
            let update = |request| {
                let object = object.clone();
                async move { Ok(self.update(&request, object, options).await?) }
            };
            document(change::following(self, &self.request(of)?, update).await?.answer)
        })
    }

    fn patch<'a>(
        &'a self,
        of: &'a backend::Request,
        patch: kindsmith_model::kind::client::Patch<Document>,
        options: &'a PatchOptions,
    ) -> backend::Answer<'a, Document> {
        use kindsmith_model::kind::client::Patch::{Apply, Json, Merge, Strategic};
        Box::pin(async move {
            let patch = match patch {
                Apply(config) => Patch::Apply(config.into()),
                Json(patch) => Patch::Json(patch.to_string().into()),
                Merge(patch) => Patch::Merge(patch.to_string().into()),
                Strategic(patch) => Patch::Strategic(patch.to_string().into()),
            };
            let patch = |request| {
                let patch = patch.clone();
                async move { Ok(self.patch(&request, patch, options).await?) }
            };
            document(change::following(self, &self.request(of)?, patch).await?.answer)
        })
    }

    fn change<'a>(
        &'a self,
        of: &'a backend::Request,
        change: Change<'a>,
        options: &'a WriteOptions,
    ) -> backend::Answer<'a, Document> {
        Box::pin(async move { change::document(self, &self.request(of)?, options, change).await })
    }

    fn delete<'a>(&'a self, of: &'a backend::Request, options: &'a DeleteOptions) -> backend::Answer<'a, Option<Item>> {
        Box::pin(async move {
            let request = self.request(of)?;
            let delete = |request| async move { Ok(self.delete(&request, options).await?) };
            Ok(match change::following(self, &request, delete).await? {
                DeleteResult::Gone { .. } | DeleteResult::Forced => None,
                DeleteResult::Marked(object) => Some(json(&request.resource, &object, 0)),
            })
        })
    }

    fn delete_collection<'a>(
        &'a self,
        of: &'a backend::Request,
        options: &'a DeleteOptions,
        selected: &'a ListOptions,
    ) -> backend::Answer<'a, backend::Items> {
        Box::pin(async move {
            let request = self.request(of)?;
            let delete = |request| async move { Ok(self.delete_collection(&request, selected, options).await?) };
            let deleted = change::following(self, &request, delete).await?;
            Ok(objects(request.resource, deleted))
        })
    }
}

/// The answer of a verb as a document.
fn document(answer: Answer) -> Result<Document> {
    match answer {
        Answer::Object(object) => parsed(&object),
        Answer::Document(document) => Ok(document),
    }
}

/// An object as a document.
pub(super) fn parsed(object: &cache::Object) -> Result<Document> {
    codec::from_written(&object.json())
        .map_err(|error| Refusal::internal(format!("{:?} cannot be read: {error}", object.key())))
}

/// An object in the version of a resource; the caller reads this many bytes of objects.
fn json(resource: &ResourceEntry, object: &Arc<cache::Object>, bytes: usize) -> Item {
    let shown = resource.show_among(object, bytes);
    shown.map(|shown| shown.json()).map_err(|reason| InvalidObject {
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
        reason: format!("object not convertible to {}: {reason}", resource.kind.group_version),
    })
}

fn objects(resource: Arc<ResourceEntry>, list: verbs::List) -> backend::Items {
    let metadata = ListMeta {
        resource_version: list.revision.to_string(),
        continue_token: list.continue_token.unwrap_or_default(),
        remaining_item_count: list.remaining.and_then(|count| i64::try_from(count).ok()),
    };
    backend::Items {
        metadata,
        objects: Box::new(Objects { resource, items: list.items, position: ItemPosition::default() }),
    }
}

/// The objects of a snapshot, one by one.
struct Objects {
    resource: Arc<ResourceEntry>,
    items: Items,
    position: ItemPosition,
}

impl Iterator for Objects {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let mut iter = self.items.iter_from(self.position);
        let object = iter.next();
        self.position = iter.position();
        object.map(|object| json(&self.resource, object, self.items.json_bytes()))
    }
}

/// The events of a watch.
pub(super) struct Events {
    resource: Arc<ResourceEntry>,
    initial: Option<Objects>,
    initial_bookmark: Option<Revision>,
    next_bookmark: Option<Pin<Box<Sleep>>>,
    changes: Option<verbs::Watch>,
    /// It ends with the first deletion.
    of_one: bool,
}

impl Events {
    pub(super) fn of(resource: Arc<ResourceEntry>, watch_result: WatchResult) -> Self {
        let WatchResult { initial: items, initial_bookmark, bookmarks, watch } = watch_result;
        let initial = (!items.is_empty()).then(|| Objects {
            resource: resource.clone(),
            items,
            position: ItemPosition::default(),
        });
        let next_bookmark = bookmarks.then(|| Box::pin(tokio::time::sleep(BOOKMARK_INTERVAL)));
        Self { resource, initial, initial_bookmark, next_bookmark, changes: Some(watch), of_one: false }
    }

    /// The events of the only selected object, until it is deleted. `None` if it is not the one with this uid.
    pub(super) fn of_one(resource: Arc<ResourceEntry>, watch_result: WatchResult, uid: &str) -> Option<Self> {
        let first = parsed(watch_result.initial.iter().next()?).ok()?;
        (first["metadata"]["uid"] == uid).then(|| Self { of_one: true, ..Self::of(resource, watch_result) })
    }

    fn poll_initial(&mut self) -> Option<WatchEvent<Bytes>> {
        if let Some(object) = self.initial.as_mut().and_then(Iterator::next) {
            return Some(event(object, EventType::Added));
        }
        self.initial = None;
        let revision = self.initial_bookmark.take()?;
        Some(WatchEvent::Bookmark { resource_version: revision.to_string(), initial_events_end: true })
    }

    /// A bookmark, if it is due.
    fn poll_bookmark(&mut self, cx: &mut Context<'_>) -> Poll<WatchEvent<Bytes>> {
        let (Some(alarm), Some(changes)) = (&mut self.next_bookmark, &self.changes) else { return Poll::Pending };
        ready!(alarm.as_mut().poll(cx));
        alarm.as_mut().reset(Instant::now() + BOOKMARK_INTERVAL);
        let resource_version = changes.position().to_string();
        Poll::Ready(WatchEvent::Bookmark { resource_version, initial_events_end: false })
    }
}

impl Stream for Events {
    type Item = Result<WatchEvent<Bytes>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(event) = this.poll_initial() {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(changes) = &mut this.changes else { return Poll::Ready(None) };
        match changes.poll_next(cx) {
            Poll::Ready(Some(Ok(Event { event_type, object, .. }))) => {
                if this.of_one && event_type == EventType::Deleted {
                    this.changes = None;
                }
                Poll::Ready(Some(Ok(event(json(&this.resource, &object, 0), event_type))))
            }
            Poll::Ready(Some(Err(error))) => {
                this.changes = None;
                Poll::Ready(Some(Err(refusal(error))))
            }
            Poll::Ready(None) => {
                this.changes = None;
                Poll::Ready(None)
            }
            Poll::Pending => this.poll_bookmark(cx).map(|bookmark| Some(Ok(bookmark))),
        }
    }
}

fn event(object: Item, event_type: EventType) -> WatchEvent<Bytes> {
    match (object, event_type) {
        (Ok(json), EventType::Added) => WatchEvent::Added(json),
        (Ok(json), EventType::Modified) => WatchEvent::Modified(json),
        (Ok(json), EventType::Deleted) => WatchEvent::Deleted(json),
        (Err(object), _) => WatchEvent::Invalid { object, deleted: event_type == EventType::Deleted },
    }
}

fn refusal(error: WatchError) -> Refusal {
    match of_watch(error) {
        Some(status) => status.into(),
        None => Error::Unavailable("the watch was read too slowly; watch from the last version".to_owned()).into(),
    }
}
