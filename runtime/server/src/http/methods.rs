//! The methods of a path, derived from the endpoints of its kind. Routing uses these checks, so that `Allow` lists
//! exactly the methods that routing accepts.

use axum_core::response::{IntoResponse, Response};
use http::{HeaderValue, Method, StatusCode, header::ALLOW};

use super::{path::ResourcePath, request_info::RequestInfo, status, status::StatusError};
use crate::{
    kind::{
        Kind,
        endpoint::{Answer, Endpoint, Operation, Verb},
        model::Scope,
    },
    registry::ResourceEntry,
    verbs::Error,
};

/// All possible methods.
const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// kubectl lists these before it sends an object that cannot be patched, such as one of a virtual kind, and gives up
/// without a list. The list is empty, and discovery does not contain it.
const CUSTOM_KINDS: (&str, &str, &str) = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");

/// True if a request lists definitions of kinds, which are not served.
pub(super) fn lists_custom_kinds(path: &ResourcePath, verb: Option<Verb>) -> bool {
    let resource = (path.group.as_str(), path.version.as_str(), path.resource.as_str());
    resource == CUSTOM_KINDS && verb == Some(Verb::List)
}

/// The value of `Allow` for a path: its methods.
pub(super) fn allow(info: &RequestInfo) -> HeaderValue {
    let mut names: Vec<&str> = METHODS.iter().filter(|method| serves(info, method)).map(Method::as_str).collect();
    if !names.is_empty() {
        names.push(Method::OPTIONS.as_str());
    }
    HeaderValue::from_str(&names.join(", ")).expect("names of methods are a header value")
}

/// The answer to OPTIONS on a resource; `None` if the path has no methods.
pub(super) fn options(info: &RequestInfo) -> Option<Response> {
    let allow = allow(info);
    (!allow.is_empty()).then(|| (StatusCode::NO_CONTENT, [(ALLOW, allow)]).into_response())
}

fn serves(info: &RequestInfo, method: &Method) -> bool {
    // Discovery, health and similar paths are read-only.
    let Some(path) = info.resource.as_ref() else { return matches!(*method, Method::GET | Method::HEAD) };
    let verb = info.verb_of(method);
    match &info.served {
        Some(served) => operation(served, path, method, verb).is_ok(),
        None => lists_custom_kinds(path, verb),
    }
}

/// Subresources of other servers that stream or connect, as kube-apiserver knows them.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// True if a request is a watch or a subresource that streams or connects, which have no time limit.
pub(super) fn is_long_running(info: &RequestInfo) -> bool {
    let Some(path) = info.resource.as_ref() else { return false };
    if info.remote.is_some() {
        let watches = info.verb == Some(Verb::Watch);
        return watches || info.upgrades || LONG_RUNNING.contains(&path.subresource.as_str());
    }
    if path.subresource.is_empty() {
        return info.verb == Some(Verb::Watch);
    }
    let Some(served) = &info.served else { return false };
    let found = operation(served, path, &info.method, info.verb);
    found.is_ok_and(|(_, operation)| operation.connects || matches!(operation.answer, Answer::Text))
}

/// The operation of a kind for a path, a method, and its verb. Fails with 404 for a path that names nothing; 405.
pub(super) fn operation<'s>(
    served: &'s ResourceEntry,
    path: &ResourcePath,
    method: &Method,
    verb: Option<Verb>,
) -> Result<(&'s Endpoint, &'s Operation), StatusError> {
    let kind = &*served.kind;
    check_scope(kind, path, verb)?;
    let endpoint = served.endpoint(&path.subresource);
    if path.excess && !endpoint.is_some_and(|endpoint| endpoint.takes_paths) {
        return Err(status::no_such_resource().into());
    }
    let Some(endpoint) = endpoint else {
        return Err(if kind.policy().has_routes() {
            status::no_such_resource().into()
        } else {
            Error::NotFound(kind.group_resource(), path.name.clone()).into()
        });
    };
    let found = verb.filter(|verb| fits(path, *verb)).and_then(|verb| endpoint.operation(verb));
    // A connection needs a GET or a POST.
    let found = found.filter(|operation| !operation.connects || *method != Method::HEAD);
    found.map(|operation| (endpoint, operation)).ok_or_else(|| status::method_not_allowed().into())
}

/// True if the verb applies to the path, a collection or an object.
fn fits(path: &ResourcePath, verb: Verb) -> bool {
    let named = !path.name.is_empty();
    match verb {
        Verb::Watch => true,
        // The old paths below `watch/` are only for watches.
        _ if path.watch => false,
        Verb::List | Verb::DeleteCollection => !named,
        Verb::Create => !named || !path.subresource.is_empty(),
        Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => named,
    }
}

/// Checks that a path and a verb match the scope of a kind. Fails with 404 for a path that names nothing; 405 for a
/// verb that needs a namespace.
fn check_scope(kind: &Kind, path: &ResourcePath, verb: Option<Verb>) -> Result<(), StatusError> {
    let fits = match kind.shared.scope {
        Scope::Namespaced => path.scoped || path.name.is_empty(),
        Scope::Cluster => !path.scoped,
    };
    if !fits {
        return Err(status::no_such_resource().into());
    }
    let across = kind.shared.scope == Scope::Namespaced && !path.scoped;
    if across && !matches!(verb, Some(Verb::List | Verb::Watch)) {
        return Err(status::method_not_allowed().into());
    }
    Ok(())
}
