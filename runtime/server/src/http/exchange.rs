//! The context of a request: what it asks for, and what the steps of its way have found so far.

use std::{sync::Arc, time::Instant};

use axum_core::response::Response;
use http::{
    StatusCode,
    header::{ACCEPT, ALLOW, HeaderName, HeaderValue, USER_AGENT},
    request::Parts,
};

use super::{
    Backend, Site, compress, headers,
    inflight::Slot,
    methods,
    metrics::Measure,
    negotiate::{self, Offer, ResponseFormat},
    request_info::RequestInfo,
    response,
    status::{self, StatusError},
    warnings,
};
use crate::{
    kind::Policy,
    meta::{Warnings, options::client_name},
};

/// A request on its way from its first byte to its answer.
pub(super) struct Exchange {
    /// The server.
    pub site: Arc<Site>,
    /// Method, URI and headers. The meaning of the request is in `info`; do not parse the URI again.
    pub parts: Parts,
    /// The meaning of the request; nothing until it is read.
    pub info: RequestInfo,
    /// Its place among the running requests, which a resulting connection shares.
    pub slot: Option<Arc<Slot>>,
    /// When the request is answered with 504; `None` for a long-running one.
    pub deadline: Option<Instant>,
    /// Warnings by the user's code, sent with the answer.
    pub warnings: Arc<Warnings>,
    /// The warning about a deprecated version, sent with any answer but that of a user who may not know.
    pub deprecated: Option<Arc<str>>,
    /// Counts the request when this is dropped.
    pub measure: Measure,
    audit_id: HeaderValue,
    start: Instant,
}

impl Exchange {
    /// The context of a request that was received.
    pub(super) fn new(site: Arc<Site>, parts: Parts) -> Self {
        Self {
            measure: Measure::begin(&site.backend.metrics, &parts.method),
            audit_id: response::audit_id(parts.headers.get(response::AUDIT_ID)),
            start: Instant::now(),
            info: RequestInfo::default(),
            slot: None,
            deadline: None,
            warnings: Arc::default(),
            deprecated: None,
            site,
            parts,
        }
    }

    /// What answers.
    pub(super) fn backend(&self) -> &Backend {
        &self.site.backend
    }

    /// The host and port that the client has asked.
    pub(super) fn host(&self) -> &str {
        let authority = self.parts.uri.authority().map(http::uri::Authority::as_str);
        authority.or_else(|| self.header(&http::header::HOST)).unwrap_or_default()
    }

    /// Its number for logs.
    pub(super) fn audit_id(&self) -> &HeaderValue {
        &self.audit_id
    }

    /// A header as text.
    pub(super) fn header(&self, name: &HeaderName) -> Option<&str> {
        headers::text(&self.parts.headers, name)
    }

    /// The `Accept` header.
    pub(super) fn accept(&self) -> Option<&str> {
        self.header(&ACCEPT)
    }

    /// The client's name.
    pub(super) fn client_name(&self) -> String {
        client_name(self.header(&USER_AGENT).unwrap_or_default())
    }

    /// True if the answer should be indented for a person.
    fn pretty(&self) -> bool {
        negotiate::pretty(self.info.pretty, self.header(&USER_AGENT))
    }

    /// The form of the answer: what the client accepts of an offer. Fails with 406, in the words of the policy.
    pub(super) fn negotiate(&self, offer: Offer, policy: &dyn Policy) -> Result<ResponseFormat, StatusError> {
        match negotiate::objects(self.accept(), offer) {
            Ok(format) => Ok(ResponseFormat { pretty: format.pretty | self.pretty(), ..format }),
            Err(why) => Err(status::not_acceptable(why, offer, policy).into()),
        }
    }

    /// The answer to a request that was served or refused, with its warnings and its number for logs. Called once.
    pub(super) fn finish(&mut self, served: Result<Response, StatusError>) -> Response {
        let mut answer = match served {
            // A server behind has decided on the encoding already.
            Ok(answer) if self.info.remote.is_none() && compress::is_wanted(&self.parts.headers) => {
                compress::gzip(answer)
            }
            Ok(answer) => answer,
            Err(StatusError(status)) => {
                let mut answer = response::status(&status, negotiate::plain(self.accept(), self.pretty()));
                if answer.status() == StatusCode::METHOD_NOT_ALLOWED {
                    answer.headers_mut().insert(ALLOW, methods::allow(&self.info));
                }
                answer
            }
        };
        warnings::warn(answer.headers_mut(), &self.warnings.take());
        if let Some(text) = &self.deprecated {
            warnings::warn_first(answer.headers_mut(), text);
        }
        self.log(answer.status());
        answer.headers_mut().insert(response::AUDIT_ID, self.audit_id.clone());
        answer
    }

    fn log(&self, status: StatusCode) {
        let Parts { method, uri, .. } = &self.parts;
        let (status, audit_id) = (status.as_u16(), || self.audit_id.to_str().unwrap_or_default());
        let (path, latency) = (|| uri.path_and_query().map_or("", |path| path.as_str()), || self.start.elapsed());
        tracing::debug!(%method, path = path(), status, latency = ?latency(), audit_id = audit_id(), "request");
        if status >= 500 {
            // Without the query, which may have what only debug logs should show, such as the command of an exec.
            let path = uri.path();
            tracing::warn!(%method, path, status, latency = ?latency(), audit_id = audit_id(), "a request failed");
        }
    }
}
