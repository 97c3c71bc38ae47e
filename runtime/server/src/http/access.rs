//! Authentication and authorization of every request, before anything else is examined.

use std::sync::Arc;

use http::{HeaderMap, header::AUTHORIZATION};

use super::{PeerCertificates, exchange::Exchange, status, status::StatusError, websocket};
use crate::{
    aggregation,
    auth::{
        Attributes, Credentials, Decision, User,
        authenticate::{Headers, bearer},
        impersonate::Impersonation,
    },
    kind::endpoint::Verb,
    meta::{Status, percent},
    verbs::Request,
};

/// The requesting user: the one that a layer in the process has put into the request's extensions, or the one that the
/// authenticators identify by headers and certificates. Fails with 401.
pub(super) async fn authenticate(exchange: &Exchange) -> Result<Arc<User>, StatusError> {
    let (backend, parts) = (exchange.backend(), &exchange.parts);
    if let Some(user) = parts.extensions.get::<Arc<User>>() {
        return Ok(user.clone());
    }
    let none = PeerCertificates::default();
    let certificates = parts.extensions.get::<PeerCertificates>().unwrap_or(&none);
    let headers = &parts.headers;
    let browser = websocket::bearer(headers);
    let token = headers.header(AUTHORIZATION.as_str()).and_then(bearer).or(browser.as_deref());
    let path = &exchange.info.path;
    let credentials = Credentials { token, certificates: &certificates.0, headers, path, ..Credentials::NONE };
    let counts = &backend.metrics.counts().authentication;
    match backend.authenticator.authenticate(&credentials).await {
        Ok(Some(user)) => {
            counts.success.count();
            Ok(user)
        }
        Ok(None) => {
            counts.failure.count();
            Err(status::unauthorized().into())
        }
        Err(error) => {
            counts.error.count();
            tracing::debug!(%error, "credentials were refused");
            Err(status::unauthorized().into())
        }
    }
}

/// Removes the headers in which a front proxy names the user: code after authentication must not believe them.
pub(super) fn drop_proxy_headers(headers: &mut HeaderMap) {
    let found: Vec<_> = headers.keys().filter(|name| aggregation::names_user(name.as_str())).cloned().collect();
    for name in found {
        headers.remove(name);
    }
}

/// The attributes of a further verb on the requested object, or on a subresource of it, that the request turns out to
/// need.
fn further<'a>(request: &'a Request, verb: &'a str, subresource: &'a str, path: &'a str) -> Attributes<'a> {
    let kind = &*request.resource.kind;
    Attributes {
        group: &kind.group_version.group,
        version: &kind.group_version.version,
        resource: &kind.names().plural,
        subresource,
        namespace: &request.namespace,
        name: &request.name,
        ..Attributes::new(&request.user, verb, path)
    }
}

/// Checks that the user may create the requested object, or that subresource of it. Fails with 403.
pub(super) async fn may_create(exchange: &Exchange, request: &Request, subresource: &str) -> Result<(), StatusError> {
    let attributes = further(request, Verb::Create.as_str(), subresource, &exchange.info.path);
    match exchange.backend().authorizer.authorize(&attributes).await {
        Decision::Allow(_) => Ok(()),
        refusal => Err(status::forbidden(&attributes, &refusal).into()),
    }
}

/// Checks that the user may delete an object that cannot be read. Forced deletion needs an additional permission, because it
/// ignores finalizers. Fails with 403.
pub(super) async fn may_force_deletion(exchange: &Exchange, request: &Request) -> Result<(), StatusError> {
    const VERB: &str = "unsafe-delete-ignore-read-errors";
    let attributes = further(request, VERB, "", &exchange.info.path);
    let reason = match exchange.backend().authorizer.authorize(&attributes).await {
        Decision::Allow(_) => return Ok(()),
        Decision::NoOpinion(reason) | Decision::Deny(reason) => reason,
    };
    Err(request.forbidden(format!("not permitted to do {VERB:?}, reason: {reason}")).into())
}

/// True if the user may get a path beside the requested one.
pub(super) async fn may_get(exchange: &Exchange, user: &User, path: &str) -> bool {
    let attributes = Attributes::new(user, Verb::Get.as_str(), path);
    matches!(exchange.backend().authorizer.authorize(&attributes).await, Decision::Allow(_))
}

/// Checks that the user may make a request. Fails with 403.
pub(super) async fn authorize(exchange: &Exchange, user: &User) -> Result<(), StatusError> {
    let (backend, info) = (exchange.backend(), &exchange.info);
    let verb = info.verb_name();
    let attributes = info.attributes(user, &verb);
    let decision = backend.authorizer.authorize(&attributes).await;
    backend.metrics.counts().authorization.of(&decision).count();
    match decision {
        Decision::Allow(_) => Ok(()),
        refusal => Err(status::forbidden(&attributes, &refusal).into()),
    }
}

/// The user as which a request is served: its sender, or the user that the sender may impersonate. If impersonation is
/// denied, the request is refused, never served as its sender's own. Fails with 400 for groups and similar headers
/// without a user name, 403.
pub(super) async fn impersonate(exchange: &Exchange, sender: Arc<User>) -> Result<Arc<User>, StatusError> {
    let Some(impersonation) = impersonation(&exchange.parts.headers)? else { return Ok(sender) };
    let verb = exchange.info.verb_name();
    let attributes = exchange.info.attributes(&sender, &verb);
    let (authorizer, last) = (&*exchange.backend().authorizer, &exchange.site.impersonations);
    let refuse = |attributes: &Attributes<'_>, refusal: &Decision| status::forbidden(attributes, refusal);
    let user = impersonation.allow(authorizer, &attributes, last, &refuse).await?;
    tracing::debug!(sender = sender.name, user = user.name, "acting as someone else");
    Ok(Arc::new(user))
}

/// The requested impersonation: `Impersonate-User` and the headers `-Uid`, `-Group` and `-Extra-<key>`.
fn impersonation(headers: &HeaderMap) -> Result<Option<Impersonation>, StatusError> {
    const PREFIX: &str = "impersonate-";
    if !headers.keys().any(|name| name.as_str().starts_with(PREFIX)) {
        return Ok(None);
    }
    let mut impersonation = Impersonation::default();
    for (name, value) in headers {
        let Some(part) = name.as_str().strip_prefix(PREFIX) else { continue };
        // An unreadable header must not be ignored, because its sender meant something by it.
        let value = value.to_str().map_err(|_| Status::bad_request(format!("the header {name} is not text")))?;
        match part {
            "user" if impersonation.user.name.is_empty() => value.clone_into(&mut impersonation.user.name),
            "uid" if impersonation.user.uid.is_empty() => value.clone_into(&mut impersonation.user.uid),
            "user" | "uid" => {}
            "group" => impersonation.user.groups.push(value.to_owned()),
            other => {
                if let Some(key) = other.strip_prefix("extra-") {
                    let key = percent::decode(key).unwrap_or_else(|_| key.to_owned());
                    impersonation.user.extra.entry(key).or_default().push(value.to_owned());
                }
            }
        }
    }
    if impersonation.user.name.is_empty() {
        // An empty name requests no impersonation.
        if impersonation == Impersonation::default() {
            return Ok(None);
        }
        let message = format!("requested {impersonation} without impersonating a user name");
        return Err(Status::bad_request(message).into());
    }
    Ok(Some(impersonation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks_to_be(pairs: &[(&'static str, &'static str)]) -> Result<Option<Impersonation>, String> {
        let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        impersonation(&headers.collect()).map_err(|StatusError(status)| format!("{} {}", status.code, status.message))
    }

    #[test]
    fn headers_of_a_proxy_are_dropped() {
        let names = [
            "x-remote-user",
            "x_remote_user",
            "x-remote-uid",
            "x-remote-group",
            "x-remote-extra-a",
            "x-remote-addr",
            "accept",
        ];
        let mut headers: HeaderMap = names.iter().map(|name| (name.parse().unwrap(), "x".parse().unwrap())).collect();
        headers.append("x-remote-group", "y".parse().unwrap());
        drop_proxy_headers(&mut headers);
        let mut left: Vec<_> = headers.keys().map(http::HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "x-remote-addr"]);
    }

    #[test]
    fn headers_name_the_impersonated_user() {
        assert_eq!(asks_to_be(&[("accept", "x"), ("impersonate-user", "")]), Ok(None));
        let found = asks_to_be(&[
            ("impersonate-user", "alice"),
            ("impersonate-group", "a"),
            ("impersonate-group", "b"),
            ("impersonate-uid", "7"),
            ("impersonate-extra-example.com%2fscope", "view"),
        ]);
        let extra = [("example.com/scope".to_owned(), vec!["view".to_owned()])].into();
        let user = User { name: "alice".into(), uid: "7".into(), groups: vec!["a".into(), "b".into()], extra };
        assert_eq!(found, Ok(Some(Impersonation { user })));
        for (name, value) in
            [("impersonate-group", "system:masters"), ("impersonate-uid", "1"), ("impersonate-user", "ä")]
        {
            let error = asks_to_be(&[(name, value)]).expect_err("a refusal");
            assert!(error.starts_with("400 "), "{error}");
        }
    }
}
