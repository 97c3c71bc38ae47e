//! Documents at paths of their own, which other parts of the server make: the public keys of service accounts.
use std::{collections::BTreeMap, sync::Arc};

use axum_core::{body::Body, response::Response};
use http::{HeaderValue, header};

/// Makes a document for a client that uses the server under a host name.
type Make = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Documents by their paths, each with its media type.
#[derive(Clone, Default)]
pub struct DocumentsAt(BTreeMap<&'static str, (&'static str, Make)>);

impl DocumentsAt {
    /// Adds a document of a media type.
    pub(crate) fn add(
        &mut self,
        path: &'static str,
        media_type: &'static str,
        make: impl Fn(&str) -> String + Send + Sync + 'static,
    ) {
        self.0.insert(path, (media_type, Arc::new(make)));
    }

    /// The document at a path, for an hour.
    pub(super) fn answer(&self, path: &str, host: &str) -> Option<Response> {
        let (media_type, make) = self.0.get(path)?;
        let mut answer = Response::new(Body::from(make(host)));
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
        Some(answer)
    }
}
