//! Who asks, and may they: asked for every request, before anything else is looked at.

use std::sync::Arc;

use axum::http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};

use super::{
    App, PeerCertificates,
    path::{ResourcePath, Target},
    status,
    status::Refused,
};
use crate::{
    auth::{
        Attributes, Credentials, Decision, User,
        authenticate::{Headers, bearer},
    },
    meta::{options::Query, selector::Fields},
};

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// One object.
    Get,
    /// A collection.
    List,
    /// Changes of a collection.
    Watch,
    /// A new object.
    Create,
    /// An object as a whole.
    Update,
    /// A change to an object.
    Patch,
    /// The end of an object.
    Delete,
    /// The end of what a collection holds.
    DeleteCollection,
    /// A method that means nothing on resources.
    Unknown,
}

impl Verb {
    /// The verb as authorizers and discovery name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Unknown => "",
        }
    }

    /// The verb that a method means on a path.
    pub fn of(method: &Method, path: &ResourcePath, query: &Query) -> Self {
        match method.as_str() {
            "GET" | "HEAD" if path.watch => Self::Watch,
            "GET" | "HEAD" if !path.name.is_empty() => Self::Get,
            "GET" | "HEAD" if watches(query) => Self::Watch,
            "GET" | "HEAD" => Self::List,
            "POST" => Self::Create,
            "PUT" => Self::Update,
            "PATCH" => Self::Patch,
            "DELETE" if path.name.is_empty() => Self::DeleteCollection,
            "DELETE" => Self::Delete,
            _ => Self::Unknown,
        }
    }
}

/// `watch` counts unless it says `0` or `false`.
fn watches(query: &Query) -> bool {
    let given = query.iter().find(|(name, _)| name == "watch");
    given.is_some_and(|(_, value)| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// The user who asks.
///
/// # Errors
/// 401.
pub async fn authenticate(app: &App, parts: &Parts) -> Result<Arc<User>, Refused> {
    let none = PeerCertificates::default();
    let certificates = parts.extensions.get::<PeerCertificates>().unwrap_or(&none);
    let headers = RequestHeaders(&parts.headers);
    let token = headers.header(AUTHORIZATION.as_str()).and_then(bearer);
    let credentials = Credentials { token, certificates: &certificates.0, headers: &headers };
    match app.authenticator.authenticate(&credentials).await {
        Ok(Some(user)) => Ok(user),
        Ok(None) => Err(status::unauthorized().into()),
        Err(error) => {
            tracing::debug!(%error, "credentials were refused");
            Err(status::unauthorized().into())
        }
    }
}

/// Headers as authenticators see them.
struct RequestHeaders<'a>(&'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Whether the user may.
///
/// # Errors
/// 403.
pub async fn authorize(
    app: &App,
    user: &User,
    method: &Method,
    path: &str,
    target: &Target,
    query: &Query,
) -> Result<(), Refused> {
    let lower;
    let nothing = ResourcePath::default();
    let (resource, verb, pinned) = match target {
        Target::Resource(resource) => {
            let verb = Verb::of(method, resource, query);
            (resource, verb.as_str(), pinned_name(verb, resource, query))
        }
        _ => {
            lower = method.as_str().to_ascii_lowercase();
            (&nothing, lower.as_str(), None)
        }
    };
    let attributes = Attributes {
        user,
        verb,
        group: &resource.group,
        version: &resource.version,
        resource: &resource.resource,
        subresource: &resource.subresource,
        namespace: &resource.namespace,
        name: pinned.as_deref().unwrap_or(&resource.name),
        path,
    };
    match app.authorizer.authorize(&attributes).await {
        Decision::Allow => Ok(()),
        refusal => Err(status::forbidden(&attributes, &refusal).into()),
    }
}

/// The name to which a field selector pins a collection: who may see one object may list and watch that one.
fn pinned_name(verb: Verb, path: &ResourcePath, query: &Query) -> Option<String> {
    if !matches!(verb, Verb::List | Verb::Watch | Verb::DeleteCollection) || !path.name.is_empty() {
        return None;
    }
    let (_, selector) = query.iter().find(|(name, value)| name == "fieldSelector" && !value.is_empty())?;
    Fields::parse(selector).ok()?.pins("metadata.name").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::path;

    fn verb(method: &str, text: &str, query: &str) -> &'static str {
        let Target::Resource(resource) = path::parse(text) else { panic!("{text} is no resource") };
        Verb::of(&Method::from_bytes(method.as_bytes()).unwrap(), &resource, &path::query(query)).as_str()
    }

    #[test]
    fn verbs() {
        for (method, text, query, want) in [
            ("GET", "/api/v1/namespaces/x/cms/a", "", "get"),
            ("GET", "/api/v1/namespaces/x/cms/a", "watch=1", "get"),
            ("GET", "/api/v1/namespaces/x/cms", "", "list"),
            ("GET", "/api/v1/namespaces/x/cms", "watch=0", "list"),
            ("GET", "/api/v1/namespaces/x/cms", "watch=False", "list"),
            ("GET", "/api/v1/namespaces/x/cms", "watch=true", "watch"),
            ("GET", "/api/v1/namespaces/x/cms", "watch", "watch"),
            ("GET", "/api/v1/watch/namespaces/x/cms", "watch=0", "watch"),
            ("GET", "/api/v1/watch/namespaces/x/cms/a", "", "watch"),
            ("HEAD", "/api/v1/namespaces/x/cms/a", "", "get"),
            ("POST", "/api/v1/namespaces/x/cms", "", "create"),
            ("PUT", "/api/v1/namespaces/x/cms/a", "", "update"),
            ("PATCH", "/api/v1/namespaces/x/cms/a/status", "", "patch"),
            ("DELETE", "/api/v1/namespaces/x/cms/a", "", "delete"),
            ("DELETE", "/api/v1/namespaces/x/cms", "", "deletecollection"),
            ("DELETE", "/api/v1/namespaces/x", "", "delete"),
            ("OPTIONS", "/api/v1/namespaces", "", ""),
        ] {
            assert_eq!(verb(method, text, query), want, "{method} {text}?{query}");
        }
    }
}
