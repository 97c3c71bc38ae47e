//! The states of an object, one after the other, for handlers that tell what becomes of it.
use std::{marker::PhantomData, sync::Arc};

use super::{Object, Refusal, Result, client::shown};
use crate::{
    cache::{self, Event, Watch},
    kind::registry::Served,
    meta::{
        options::ListOptions,
        selector::{FieldTerm, Fields},
    },
    verbs::{Api, Request},
};

/// The states of an object: the one that it is in, and each that it takes from then on, until it is deleted.
///
/// None is left out and none comes twice. Who reads them far too slowly gets an error instead.
pub struct States<K> {
    served: Arc<Served>,
    now: Option<Arc<cache::Object>>,
    later: Option<Watch>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Object> States<K> {
    /// Of the object that a request names.
    pub(super) async fn of(api: &Api, request: &Request) -> Result<Self> {
        let name = FieldTerm { field: "metadata.name".into(), equal: true, value: request.name.as_str().into() };
        let options = ListOptions { fields: Fields::new(vec![name]), ..ListOptions::default() };
        let watching = api.watch(&Request { name: String::new(), ..request.clone() }, &options).await?;
        let now = watching.initial.iter().next().cloned();
        if now.is_none() {
            return Err(Refusal::not_found(format!("{} {:?} has gone", request.served.kind.kind, request.name)));
        }
        Ok(Self { served: request.served.clone(), now, later: Some(watching.watch), kind: PhantomData })
    }

    /// The next state, once there is one; `None` after the object was deleted, or when the server stops.
    ///
    /// # Errors
    /// The changes came faster than this was asked for them, and some are gone; a state that has no form in this version.
    pub async fn next(&mut self) -> Result<Option<K>> {
        if let Some(now) = self.now.take() {
            return self.state(&now).map(Some);
        }
        let Some(later) = &mut self.later else { return Ok(None) };
        match later.next().await {
            Some(Ok(Event::Added(object) | Event::Modified(object))) => self.state(&object).map(Some),
            Some(Ok(Event::Deleted(_))) | None => {
                self.later = None;
                Ok(None)
            }
            Some(Err(error)) => {
                self.later = None;
                Err(Refusal::internal(error.to_string()))
            }
        }
    }

    fn state(&self, object: &Arc<cache::Object>) -> Result<K> {
        shown(&self.served, object, 0)
    }
}
