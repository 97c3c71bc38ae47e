//! The API below a path.
use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum_core::{body::Body, extract::Request, response::Response};
use http::{Uri, uri::PathAndQuery};

use super::{Service, health::is_health, response, service::ResponseFuture};

/// The path below which an API is, such as `/library`: it begins with a slash, and does not end with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPrefix(String);

impl PathPrefix {
    /// Reads a path, whose last slash may be there.
    ///
    /// # Errors
    /// What a path looks like.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let path = text.strip_suffix('/').unwrap_or(text);
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let mut segments = path.split('/').skip(1);
        let is_segment =
            |segment: &str| !segment.is_empty() && segment.chars().all(is_allowed) && !matches!(segment, "." | "..");
        if text.starts_with('/') && segments.all(is_segment) {
            return Ok(Self(path.to_owned()));
        }
        Err(format!(
            "expected a path such as /library, of letters, digits, -, ., _ and ~ between slashes, found {text:?}"
        ))
    }

    /// The path, without a slash at its end.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The URI without the prefix. Health checks may be without it. `None` outside of it.
    fn strip(&self, uri: &Uri) -> Option<Uri> {
        let path = uri.path_and_query()?.as_str();
        let rest = match path.strip_prefix(&self.0) {
            Some("") => "/".to_owned(),
            Some(rest) if rest.starts_with('/') => rest.to_owned(),
            Some(rest) if rest.starts_with('?') => format!("/{rest}"),
            _ if is_health(uri.path()) => return Some(uri.clone()),
            _ => return None,
        };
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        Uri::from_parts(parts).ok()
    }
}

impl tower_layer::Layer<Service> for PathPrefix {
    type Service = PrefixedService;

    fn layer(&self, service: Service) -> PrefixedService {
        PrefixedService { service, prefix: self.clone() }
    }
}

/// A service below a path.
#[derive(Clone)]
pub(crate) struct PrefixedService {
    service: Service,
    prefix: PathPrefix,
}

impl tower_service::Service<Request> for PrefixedService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> ResponseFuture {
        match self.prefix.strip(request.uri()) {
            Some(uri) => {
                *request.uri_mut() = uri;
                tower_service::Service::call(&mut self.service, request)
            }
            None => Box::pin(async { Ok(response::page_not_found()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_prefix_lose_it() {
        let prefix = PathPrefix::parse("/a/b/").unwrap();
        let stripped = |uri: &str| prefix.strip(&uri.parse().unwrap()).map(|uri| uri.to_string());
        for (uri, expected) in [
            ("/a/b/api?x=/a/b", Some("/api?x=/a/b")),
            ("/a/b", Some("/")),
            ("/a/b?x", Some("/?x")),
            ("https://host/a/b/api", Some("https://host/api")),
            ("/a/bc", None),
            ("/api", None),
            ("/a/b/livez", Some("/livez")),
            ("/readyz?verbose", Some("/readyz?verbose")),
        ] {
            assert_eq!(stripped(uri).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn a_prefix_is_a_plain_path() {
        for text in ["", "library", "/a//b", "/a?b", "/a b", "/..", "/a/%41", "//"] {
            assert!(PathPrefix::parse(text).is_err(), "{text}");
        }
        assert_eq!(PathPrefix::parse("/").unwrap().as_str(), "");
    }
}
