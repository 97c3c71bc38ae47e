//! Views: the objects of one version of a kind, converted from the storage version.
//!
//! A view is computed once for each state of an object, however many readers and watchers it has, and kept within the
//! cache's budget of renderings. Evicted views are recomputed with the same result: conversions are pure functions.
//!
//! Conversions by webhook wait, so many objects are converted in one call, in a task of its own, and readers that need the same
//! views meanwhile wait for that task. Failed calls are not kept.
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::watch;

use super::record;
use crate::{
    cache::{Body, Object, Renderings},
    codec,
    kind::{Kind, convert::Answers},
    webhook::Webhooks,
};

/// The result of a call for one object.
#[derive(Clone)]
struct CallResult {
    view: Result<Arc<Object>, String>,
    /// True if the call converted other objects, too, which may be why it failed.
    among_others: bool,
}

/// A call that is running.
type Flight = watch::Receiver<Option<CallResult>>;

/// A view on its way.
enum PendingView {
    Kept(Result<Arc<Object>, String>),
    /// A call of another reader.
    Joined(Flight),
    Own(Flight),
}

impl PendingView {
    /// The view, and whether it might succeed in another call.
    async fn end(self) -> (Result<Arc<Object>, String>, bool) {
        let (mut flight, is_own) = match self {
            Self::Kept(view) => return (view, false),
            Self::Joined(flight) => (flight, false),
            Self::Own(flight) => (flight, true),
        };
        let result = flight.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        let Some(CallResult { view, among_others }) = result else {
            return (Err("the call of the conversion webhook broke off".to_owned()), false);
        };
        let is_doubtful = view.is_err() && among_others && !is_own;
        (view, is_doubtful)
    }
}

/// Calls that are running, by the addresses of their objects, which they keep alive.
#[derive(Default)]
struct RunningCalls(Mutex<HashMap<usize, Flight>>);

impl RunningCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running call for one object. It ends even if its task panics.
struct Call {
    running: Arc<RunningCalls>,
    place: usize,
    object: Arc<Object>,
    sender: watch::Sender<Option<CallResult>>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.running.lock().remove(&self.place);
    }
}

/// Converts objects to a version.
#[derive(Clone)]
pub struct View {
    kind: Arc<Kind>,
    type_meta: Arc<str>,
    renderings: Arc<Renderings>,
    /// Distinguishes the renderings of this view from others.
    number: u32,
    running: Arc<RunningCalls>,
}

impl View {
    /// The view of a version with a conversion. `number` must be unique among views with the same renderings.
    pub fn new(kind: Arc<Kind>, renderings: Arc<Renderings>, number: u32) -> Self {
        Self { type_meta: kind.type_meta().into(), kind, renderings, number, running: Arc::default() }
    }

    /// A stored object in this version, converted now if it is not kept. It has the key, revision, labels and
    /// selectable values of the stored object, and is unreadable if that is.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn of(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        // Failed conversions are kept, too, so that they happen only once.
        readable(stored, self.renderings.object(stored, self.number, || self.make(stored)))
    }

    /// The same without keeping the result, for readers of more objects than can be kept.
    ///
    /// # Errors
    /// Like [`View::of`].
    pub fn passing(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        let kept = self.renderings.find_object(stored, self.number);
        readable(stored, kept.unwrap_or_else(|| Arc::new(self.make(stored))))
    }

    /// A stored object with a body in this version that was made before the object was stored.
    pub fn with_body(&self, stored: &Arc<Object>, body: Body) -> Arc<Object> {
        self.renderings.object(stored, self.number, || stored.in_form(&self.type_meta, Ok(body)))
    }

    /// True if the views of this many bytes of objects fit and leave enough room for others.
    pub fn keeps(&self, bytes: usize) -> bool {
        self.renderings.has_room_for(bytes)
    }

    /// Stored objects in this version, converted by a webhook if they are not kept.
    pub async fn of_all(&self, webhooks: &Arc<Webhooks>, stored: &[Arc<Object>]) -> Vec<Result<Arc<Object>, String>> {
        let (mut views, mut again) = (Vec::with_capacity(stored.len()), Vec::new());
        for (at, pending) in self.begin(webhooks, stored, true).into_iter().enumerate() {
            let (view, is_doubtful) = pending.end().await;
            views.push(view);
            again.extend(is_doubtful.then_some(at));
        }
        // Another reader's call may have failed because of an object that this one does not need.
        let objects: Vec<Arc<Object>> = again.iter().map(|at| stored[*at].clone()).collect();
        for (at, pending) in again.into_iter().zip(self.begin(webhooks, &objects, false)) {
            (views[at], _) = pending.end().await;
        }
        views
    }

    /// Finds the kept views, and begins calls for the others. Joins calls of other readers only if `joins` is set.
    fn begin(&self, webhooks: &Arc<Webhooks>, stored: &[Arc<Object>], joins: bool) -> Vec<PendingView> {
        let (mut all, mut own) = (Vec::with_capacity(stored.len()), Vec::new());
        for object in stored {
            if let Some(kept) = self.renderings.find_object(object, self.number) {
                all.push(PendingView::Kept(readable(object, kept)));
                continue;
            }
            if object.unreadable().is_some() {
                all.push(PendingView::Kept(Ok(Arc::new(object.in_form(&self.type_meta, Err(String::new()))))));
                continue;
            }
            let (mut running, place) = (self.running.lock(), Arc::as_ptr(object).addr());
            if let Some(flight) = running.get(&place).filter(|flight| joins && flight.has_changed().is_ok()) {
                all.push(PendingView::Joined(flight.clone()));
                continue;
            }
            let (sender, flight) = watch::channel(None);
            running.insert(place, flight.clone());
            all.push(PendingView::Own(flight));
            own.push(Call { running: self.running.clone(), place, object: object.clone(), sender });
        }
        if !own.is_empty() {
            tokio::spawn(self.clone().call(webhooks.clone(), own));
        }
        all
    }

    /// Calls the webhook for these objects.
    async fn call(self, webhooks: Arc<Webhooks>, calls: Vec<Call>) {
        let among_others = calls.len() > 1;
        let all = |answers: &Answers| calls.iter().map(|call| self.body(&call.object, answers)).collect::<Vec<_>>();
        let bodies = webhooks.resolve(all).await;
        for (call, body) in calls.into_iter().zip(bodies) {
            let view = body.map(|body| self.with_body(&call.object, body));
            call.sender.send_replace(Some(CallResult { view, among_others }));
        }
    }

    fn make(&self, stored: &Object) -> Object {
        stored.in_form(
            &self.type_meta,
            if stored.unreadable().is_some() { Err(String::new()) } else { self.body(stored, &Answers::none()) },
        )
    }

    fn body(&self, stored: &Object, answers: &Answers) -> Result<Body, String> {
        // Conversions do not see managed fields, which stay unchanged.
        let document = self.kind.convert_from_stored(record::parse(&stored.without_managed_fields())?, answers)?;
        let mut text = Vec::with_capacity(stored.json_bytes().len());
        let places = codec::canonical(&document, &mut text);
        let managed_fields = Bytes::copy_from_slice(stored.managed_fields());
        let body = Body::new(text.into(), places.metadata_end, places.managed_at, managed_fields);
        Ok(body.expect("a canonical body says where its parts are"))
    }
}

fn readable(stored: &Object, view: Arc<Object>) -> Result<Arc<Object>, String> {
    match view.unreadable() {
        Some(reason) if stored.unreadable().is_none() => Err(reason.to_owned()),
        _ => Ok(view),
    }
}
