//! Heavy requests, with a large body, a large stored object, or more work than their size promises, are processed off the
//! threads that serve connections: as one unit from decoding to commit, and only a few at a time. They do not delay others, and
//! decoded documents take memory for only a few requests.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;

use super::{
    Backend,
    call::Call,
    offload::{self, LARGE, Objects},
    status::{self, StatusError},
};
use crate::{
    registry::ResourceEntry,
    schema::Meter,
    verbs::{Request, Verbs},
};

/// The processing of a request.
pub(super) type Work<'w, T> = Pin<Box<dyn Future<Output = Result<T, StatusError>> + Send + 'w>>;

/// Processes a body and this many stored bytes: at once if they are few, otherwise when a slot is free. Work that has
/// started there continues if the request is cancelled. A large body and large stored objects keep their shares of the budgets
/// until then. The work must not wait for a slot itself, nor for code that might, except for hooks and admission, for which
/// the slot is released.
///
/// # Errors
/// Those of the work; 429 if there is no room for the stored objects in time.
pub(super) async fn run<T: Send + 'static>(
    backend: &Backend,
    request: &Request,
    stored: usize,
    body: Bytes,
    work: impl for<'w> FnOnce(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
) -> Result<T, StatusError> {
    if body.len() + stored <= LARGE {
        return work(&backend.api, request, body).await;
    }
    in_slot(backend, request.clone(), stored, body, work).await
}

/// The same when a slot is free.
async fn in_slot<T: Send + 'static>(
    backend: &Backend,
    request: Request,
    stored: usize,
    body: Bytes,
    work: impl for<'w> FnOnce(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
) -> Result<T, StatusError> {
    let api = backend.api.clone();
    // Boxed to keep the state of a light request small.
    let work = Box::pin(offload::write(stored, Objects::of(&request.resource), move |slot| async move {
        let request = Request { meter: request.meter.heavy().into(), slot: Some(slot), ..request };
        let _room = body.clone();
        work(&api, &request, body).await
    }));
    work.await.ok_or_else(status::too_many_requests)?
}

impl Call<'_> {
    /// Processes a body and this many stored bytes like [`run`].
    ///
    /// # Errors
    /// Those of the work.
    pub(super) async fn heavy<T: Send + 'static>(
        &self,
        stored: usize,
        body: Bytes,
        work: impl for<'w> FnOnce(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
    ) -> Result<T, StatusError> {
        run(self.backend(), &self.request, stored, body, work).await
    }

    /// The same for work that the schema may multiply. If it takes long, as its meter shows, it ends and is done again where
    /// heavy requests are processed, with its hooks and admission: it has stored nothing, since a commit checks the meter.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) async fn metered<T: Send + 'static>(
        &self,
        stored: usize,
        body: Bytes,
        work: impl for<'w> Fn(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
    ) -> Result<T, StatusError> {
        let is_small = body.len() + stored <= LARGE;
        if is_small {
            let done = work(&self.backend().api, &self.request, body.clone()).await;
            if done.is_ok() || self.request.meter.goes_on() {
                return done;
            }
        }
        let stored = if is_small { stored + Meter::BYTES } else { stored };
        in_slot(self.backend(), self.request.clone(), stored, body, work).await
    }

    /// Writes: like [`Call::metered`], with the stored object of the request. If the resource is replaced meanwhile, which refuses
    /// writes, the work is done again on the new one. The time limit of the request ends it.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) async fn write<T: Send + 'static>(
        &mut self,
        body: Bytes,
        work: impl for<'w> Fn(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Clone + Send + 'static,
    ) -> Result<T, StatusError> {
        loop {
            match self.metered(stored(&self.request), body.clone(), work.clone()).await {
                Err(error) if self.follows(&error).await => {}
                done => return done,
            }
        }
    }

    /// Goes on with the resource that has replaced the one of a refused write. Returns false if none has, or if it does not have the
    /// operation.
    pub(super) async fn follows(&mut self, error: &StatusError) -> bool {
        if error.0.code != 503 {
            return false;
        }
        let (now, info) = (self.backend().api.registry.successor(&self.request.resource).await, &self.exchange.info);
        let has_operation = |now: &Arc<ResourceEntry>| {
            let endpoint = now.endpoint(&self.request.subresource);
            info.verb.is_some_and(|verb| endpoint.is_some_and(|endpoint| endpoint.operation(verb).is_some()))
        };
        let Some(now) = now.filter(has_operation) else { return false };
        self.exchange.warnings.take();
        self.kind = now.kind.clone();
        self.request.resource = now;
        true
    }
}

/// The size of the requested object as stored; zero if it does not exist.
pub(super) fn stored(request: &Request) -> usize {
    request.resource.objects.snapshot().get(&request.key()).map_or(0, |object| object.json_bytes().len())
}
