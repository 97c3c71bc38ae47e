//! Documents about all kinds, rendered once per generation of the registry, and served with an ETag.

use crate::tasks;
use std::{
    fmt::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use arc_swap::ArcSwapOption;
use axum_core::{body::Body, response::Response};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY},
};
use ring::digest::{SHA256, digest};
use tokio::sync::OnceCell;

use super::{
    rendered_document::{Holder, RenderedDocument},
    response,
};

/// A value derived from the kinds, recomputed when they change, once for all concurrent requests. Computing it does not
/// block other requests.
pub(super) struct PerGeneration<T> {
    made: ArcSwapOption<(u64, T)>,
    /// Locked while the value is computed.
    making: tokio::sync::Mutex<()>,
}

impl<T> Default for PerGeneration<T> {
    fn default() -> Self {
        Self { made: ArcSwapOption::empty(), making: tokio::sync::Mutex::new(()) }
    }
}

impl<T: Send + Sync + 'static> PerGeneration<T> {
    /// The value for a generation or a later one; computed now from the one before if necessary.
    pub(super) async fn get(
        &self,
        generation: u64,
        make: impl FnOnce(Option<&T>) -> T + Send + 'static,
    ) -> Arc<(u64, T)> {
        let made = || self.made.load_full().filter(|made| made.0 >= generation);
        if let Some(made) = made() {
            return made;
        }
        let _one_at_a_time = self.making.lock().await;
        if let Some(made) = made() {
            return made;
        }
        let before = self.made.load_full();
        let make = move || make(before.as_ref().map(|before| &before.1));
        let fresh = Arc::new((generation, tasks::blocking_or_panic(make).await));
        self.made.store(Some(fresh.clone()));
        fresh
    }
}

/// A value that is made when it is requested, once for all concurrent requests, which wait without a thread. It is kept
/// until it is forgotten.
pub(super) struct OnRequest<T>(Mutex<Option<Arc<OnceCell<T>>>>);

impl<T> Default for OnRequest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Send + Sync + 'static> OnRequest<T> {
    /// The value, and true if this request had it made.
    pub(super) async fn get(&self, make: impl FnOnce() -> T + Send + 'static) -> (T, bool) {
        // The work begins only when the value is needed.
        self.get_by(async { tasks::blocking_or_panic(make).await }).await
    }

    /// The value that a future makes, and true if this request had it made.
    pub(super) async fn get_by(&self, make: impl Future<Output = T> + Send) -> (T, bool) {
        let cell = Arc::clone(self.lock().get_or_insert_default());
        let mut fresh = false;
        let made = cell.get_or_init(|| {
            fresh = true;
            make
        });
        (made.await.clone(), fresh)
    }

    /// Requests that already wait for the value still get it.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<OnceCell<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A rendered document and the hash for its ETag.
#[derive(Clone)]
pub(super) struct Document(Arc<Holder>);

impl Document {
    /// A document with these bytes.
    pub(super) fn new(body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let mut hash = String::with_capacity(64);
        for byte in digest(&SHA256, body).as_ref() {
            write!(hash, "{byte:02X}").expect("writing to a string does not fail");
        }
        Self(Arc::new(RenderedDocument::hold(body, hash)))
    }

    /// Its hash, in capitals.
    pub(super) fn hash(&self) -> &str {
        self.0.hash()
    }

    /// The document as the body of an answer.
    pub(super) fn body(&self) -> Body {
        self.0.body()
    }

    /// The answer with this document, or 304 if the client has it.
    pub(super) fn respond(&self, headers: &HeaderMap, content_type: HeaderValue, cache: &'static str) -> Response {
        not_modified(headers, self.hash(), cache)
            .unwrap_or_else(|| tagged(response::with(StatusCode::OK, content_type, self.body()), self.hash(), cache))
    }
}

/// A document that was forgotten, as long as clients read it: then it need not be rendered again.
#[derive(Default)]
pub(super) struct LastDocument(Mutex<Weak<RenderedDocument>>);

impl LastDocument {
    /// The document, rendered now if no client reads it.
    pub(super) fn get_or(&self, render: impl FnOnce() -> Document) -> Document {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().upgrade().and_then(RenderedDocument::hold_again);
        known.map_or_else(
            || {
                let document = render();
                *last() = document.0.downgrade();
                document
            },
            |holder| Document(Arc::new(holder)),
        )
    }
}

/// The answer 304 if the client has the document with this hash.
pub(super) fn not_modified(headers: &HeaderMap, hash: &str, cache: &'static str) -> Option<Response> {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',')).map(str::trim);
    let mut known = known.map(|tag| tag.strip_prefix("W/").unwrap_or(tag));
    known.any(|tag| tag == "*" || tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(hash)).then(
        || {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            tagged(answer, hash, cache)
        },
    )
}

/// An answer with the headers of a document.
fn tagged(mut answer: Response, hash: &str, cache: &'static str) -> Response {
    let etag = HeaderValue::from_str(&format!("\"{hash}\"")).expect("hexadecimal digits in quotes are a header value");
    let headers = answer.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(ETAG, etag);
    answer
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    const JSON: HeaderValue = HeaderValue::from_static("application/json");

    #[tokio::test]
    async fn remade_only_when_the_generation_changes() {
        let cached = PerGeneration::default();
        assert_eq!(cached.get(1, |_| "one").await.1, "one");
        assert_eq!(cached.get(1, |_| panic!("it is there")).await.1, "one");
        assert_eq!(cached.get(2, |before| if before == Some(&"one") { "two" } else { "three" }).await.1, "two");
    }

    #[tokio::test]
    async fn made_once_for_concurrent_requests_without_blocking_others() {
        let (cached, made) = (Arc::new(PerGeneration::default()), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let (cached, made) = (cached.clone(), made.clone());
                let make = move |_: Option<&usize>| {
                    thread::sleep(Duration::from_millis(50));
                    made.fetch_add(1, Ordering::SeqCst)
                };
                tokio::spawn(async move { cached.get(1, make).await.1 })
            })
            .collect();
        // This runtime has one thread, which is free while the documents are rendered.
        let mut turns = 0;
        while made.load(Ordering::SeqCst) == 0 {
            turns += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(turns > 1, "{turns}");
        for task in tasks {
            assert_eq!(task.await.unwrap(), 0);
        }
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn made_on_request_once_for_all_who_wait_and_again_when_forgotten() {
        let (value, made) = (Arc::new(OnRequest::default()), Arc::new(AtomicUsize::new(0)));
        let ask = || {
            let (value, made) = (value.clone(), made.clone());
            tokio::spawn(async move {
                let make = move || {
                    thread::sleep(Duration::from_millis(50));
                    made.fetch_add(1, Ordering::SeqCst)
                };
                value.get(make).await
            })
        };
        let tasks: Vec<_> = (0..64).map(|_| ask()).collect();
        // The request that had it made goes away: another one takes its place.
        tokio::task::yield_now().await;
        tasks[0].abort();
        let mut fresh = 0;
        for task in tasks.into_iter().skip(1) {
            let (found, made_it) = task.await.unwrap();
            assert!(found < 2);
            fresh += usize::from(made_it);
        }
        assert_eq!(fresh, 1);
        let before = made.load(Ordering::SeqCst);
        assert!(before <= 2, "{before}");
        assert!(!ask().await.unwrap().1);
        value.forget();
        assert!(ask().await.unwrap().1);
    }

    #[tokio::test]
    async fn a_newer_value_stays() {
        let cached = PerGeneration::default();
        assert_eq!(cached.get(2, |_| "two").await.1, "two");
        assert_eq!(cached.get(1, |_| panic!("there is a newer one")).await.1, "two");
    }

    #[test]
    fn a_client_that_has_it_gets_304() {
        let document = Document::new("{}");
        assert_eq!(document.hash().len(), 64);
        let mut headers = HeaderMap::new();
        assert_eq!(document.respond(&headers, JSON, "public").status(), 200);
        headers.insert(IF_NONE_MATCH, format!("\"other\", W/\"{}\"", document.hash()).parse().unwrap());
        let answer = document.respond(&headers, JSON, "public");
        assert_eq!(answer.status(), 304);
        assert_eq!(answer.headers()[ETAG], format!("\"{}\"", document.hash()));
        assert_eq!(answer.headers()[VARY], "Accept");
        headers.insert(IF_NONE_MATCH, "\"other\"".parse().unwrap());
        assert_eq!(document.respond(&headers, JSON, "public").status(), 200);
    }
}
