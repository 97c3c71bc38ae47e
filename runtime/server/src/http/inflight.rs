//! Limits concurrent requests: short reads, short writes, and long-running requests (watches, connections, streamed
//! texts), each with a separate limit. Health checks are never refused. A request above the limit is refused at once. A
//! slot is held until the answer is complete in memory and short, or was sent or dropped.
//!
//! Short requests whose objects a webhook has to convert may wait for it for long. They have slots of their own, a quarter as
//! many as the others, and each resource has at most half of them.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{Method, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use tokio::sync::watch;

use super::{
    Limits, methods,
    metrics::{self, Measure},
    request_info::RequestInfo,
    status,
    status::StatusError,
};
use crate::{meta::GroupResource, registry::ResourceEntry};

/// The running requests.
pub(super) struct InFlight {
    reading: Arc<Class>,
    writing: Arc<Class>,
    long_running: Arc<Class>,
    converted: Arc<Class>,
    resources: Arc<Resources>,
    /// Has one receiver per slot.
    slots: watch::Sender<()>,
}

/// The requests of one class.
struct Class {
    running: Arc<AtomicUsize>,
    most: AtomicUsize,
}

/// The requests of the converted class, by resource.
struct Resources {
    running: Mutex<HashMap<GroupResource, usize>>,
    /// The maximum number for one resource.
    most: AtomicUsize,
}

/// The slot of a request among those for its resource.
struct ResourceSlot {
    resources: Arc<Resources>,
    resource: GroupResource,
}

impl Resources {
    fn running(&self) -> MutexGuard<'_, HashMap<GroupResource, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot for a request; `None` if there are too many.
    fn enter(self: &Arc<Self>, resource: GroupResource) -> Option<ResourceSlot> {
        let mut all = self.running();
        let count = all.entry(resource.clone()).or_default();
        if *count >= self.most.load(Ordering::Relaxed) {
            return None;
        }
        *count += 1;
        drop(all);
        Some(ResourceSlot { resources: self.clone(), resource })
    }
}

impl Drop for ResourceSlot {
    fn drop(&mut self) {
        let mut all = self.resources.running();
        if let Some(count) = all.get_mut(&self.resource) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.resource);
            }
        }
    }
}

/// A request's slot in its class, released when its last holder is dropped: the request, its answer, or the resulting
/// connection.
pub(super) struct Slot {
    class: Arc<Class>,
    /// If a webhook converts its objects.
    _resource_slot: Option<ResourceSlot>,
    /// The measure of the request, if the connection holds the slot: the request ends with the connection. Boxed, because
    /// few requests make one.
    measure: OnceLock<Box<Measure>>,
    /// Marks a running request while it exists.
    _running: watch::Receiver<()>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.class.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl InFlight {
    /// Creates the classes with the configured limits and the counters of running requests.
    pub(super) fn new(limits: &Limits, counts: &metrics::InFlight) -> Self {
        let class = |running: &Arc<AtomicUsize>, most| {
            Arc::new(Class { running: running.clone(), most: AtomicUsize::new(most) })
        };
        let converted = converted(limits);
        Self {
            reading: class(&counts.reading, limits.reads_in_flight),
            writing: class(&counts.writing, limits.writes_in_flight),
            long_running: class(&counts.long_running, limits.long_running),
            converted: class(&counts.converted, converted),
            resources: Arc::new(Resources { running: Mutex::default(), most: AtomicUsize::new(converted.div_ceil(2)) }),
            slots: watch::Sender::new(()),
        }
    }

    /// Takes other limits, for requests that begin from now on.
    #[cfg(feature = "settings")]
    pub(super) fn set(&self, limits: &Limits) {
        let converted = converted(limits);
        for (most, limit) in [
            (&self.reading.most, limits.reads_in_flight),
            (&self.writing.most, limits.writes_in_flight),
            (&self.long_running.most, limits.long_running),
            (&self.converted.most, converted),
            (&self.resources.most, converted.div_ceil(2)),
        ] {
            most.store(limit, Ordering::Relaxed);
        }
    }

    /// Waits until no slot is in use.
    pub(super) async fn idle(&self) {
        self.slots.closed().await;
    }

    /// A slot for a request; `None` if it needs none. Fails with 429.
    pub(super) fn enter(&self, info: &RequestInfo) -> Result<Option<Arc<Slot>>, StatusError> {
        let reads = matches!(info.method, Method::GET | Method::HEAD);
        let class = match (&info.resource, &info.served) {
            (Some(_), _) if methods::is_long_running(info) => &self.long_running,
            (None, _) if super::health::is_health(&info.path) => return Ok(None),
            (_, Some(served)) if served.may_wait(reads) => return self.enter_converted(served).map(Some),
            _ if reads => &self.reading,
            _ => &self.writing,
        };
        self.take(class, None).map(Some).ok_or_else(|| status::too_many_requests().into())
    }

    /// A slot for a request whose objects a webhook converts.
    fn enter_converted(&self, served: &ResourceEntry) -> Result<Arc<Slot>, StatusError> {
        let resource_slot = self.resources.enter(served.kind.group_resource());
        let slot = resource_slot.and_then(|resource_slot| self.take(&self.converted, Some(resource_slot)));
        slot.ok_or_else(|| status::too_many_conversions(&served.kind.group_resource()).into())
    }

    fn take(&self, class: &Arc<Class>, resource_slot: Option<ResourceSlot>) -> Option<Arc<Slot>> {
        let running = class.running.fetch_add(1, Ordering::AcqRel);
        let (class, receiver) = (class.clone(), self.slots.subscribe());
        let most = class.most.load(Ordering::Relaxed);
        let slot = Slot { class, _resource_slot: resource_slot, measure: OnceLock::new(), _running: receiver };
        (running < most).then(|| Arc::new(slot))
    }
}

/// The maximum number of requests whose objects a webhook converts.
fn converted(limits: &Limits) -> usize {
    (limits.reads_in_flight + limits.writes_in_flight).div_ceil(4)
}

/// Longer answers keep the slot until they are sent. The connection, which has limits of its own, handles the rest of
/// shorter ones.
const SHORT: u64 = 64 << 10;

/// The answer, with the slot for as long as necessary. The measure ends when the answer was sent.
pub(super) fn with_slot(answer: Response, slot: Option<Arc<Slot>>, mut measure: Measure) -> Response {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS
        && let Some(slot) = slot
    {
        measure.goes_on();
        // A request makes one connection, so that the cell is empty.
        let _ = slot.measure.set(Box::new(measure));
        return answer;
    }
    match answer.body().size_hint().exact() {
        Some(length) if length <= SHORT => {
            measure.sent(length);
            answer
        }
        _ => {
            measure.goes_on();
            answer.map(|body| Body::new(InFlightBody { body, request: Some((slot, measure)) }))
        }
    }
}

/// A body with the slot of its request, and its measure.
struct InFlightBody {
    body: Body,
    request: Option<(Option<Arc<Slot>>, Measure)>,
}

impl http_body::Body for InFlightBody {
    type Data = Bytes;
    type Error = axum_core::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum_core::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match (&frame, &mut self.request) {
            (Some(Ok(frame)), Some((_, measure))) => {
                measure.sent(frame.data_ref().map_or(0, |data| data.len() as u64));
            }
            (Some(Ok(_)), None) => {}
            _ => self.request = None,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
