//! Which methods a path serves. Owns the checks that routing makes, so that `Allow` names exactly the methods that routing
//! lets through.

use axum::{
    body::Body,
    http::{HeaderValue, Method, StatusCode, header::ALLOW},
    response::Response,
};

use super::{
    App,
    asked::{Asked, Verb},
    path::ResourcePath,
    status,
    status::Refused,
};
use crate::{
    handlers::{Endpoint, Mounted},
    kind::{
        Kind,
        model::{Scope, Style},
        subresource,
    },
    verbs::{Error, Part},
};

/// The methods that something may serve.
const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// What kubectl lists before it sends an object that cannot be patched, such as one of a virtual kind: it gives up where it
/// gets no list. There are none here, and discovery does not name them.
const CUSTOM_KINDS: (&str, &str, &str) = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");

/// Whether a request lists definitions of kinds, which are not served.
pub fn lists_custom_kinds(path: &ResourcePath, verb: Verb) -> bool {
    let asked = (path.group.as_str(), path.version.as_str(), path.resource.as_str());
    asked == CUSTOM_KINDS && verb == Verb::List
}

/// The value of `Allow` for a path: the methods that it serves.
pub fn allow(app: &App, asked: &Asked) -> HeaderValue {
    let mut names: Vec<&str> = METHODS.iter().filter(|method| serves(app, asked, method)).map(Method::as_str).collect();
    if !names.is_empty() {
        names.push(Method::OPTIONS.as_str());
    }
    HeaderValue::from_str(&names.join(", ")).expect("names of methods are a header value")
}

/// The answer to OPTIONS on a resource; `None` where the path serves nothing.
pub fn options(app: &App, asked: &Asked) -> Option<Response> {
    let allow = allow(app, asked);
    (!allow.is_empty()).then(|| {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        answer.headers_mut().insert(ALLOW, allow);
        answer
    })
}

fn serves(app: &App, asked: &Asked, method: &Method) -> bool {
    // Discovery, health and the like are read.
    let Some(path) = asked.resource() else { return matches!(*method, Method::GET | Method::HEAD) };
    let verb = asked.verb_of(method);
    let Some(served) = app.api.registry.find(&path.group, &path.version, &path.resource) else {
        return lists_custom_kinds(path, verb);
    };
    let kind = &served.kind;
    check_scope(kind, path, verb).is_ok()
        && match app.handlers.subresource(kind, &path.subresource) {
            Some(mounted) => of_subresource(mounted, method).is_some(),
            None => part(kind, path).is_ok_and(|part| check(kind, path, part, verb).is_ok()),
        }
}

/// Whether a request is a watch, or about a subresource that streams or connects: these last as long as they need.
pub fn is_long_running(app: &App, asked: &Asked) -> bool {
    let Some(path) = asked.resource() else { return false };
    if path.subresource.is_empty() {
        return asked.verb == Verb::Watch;
    }
    let Some(served) = app.api.registry.find(&path.group, &path.version, &path.resource) else { return false };
    let mounted = app.handlers.subresource(&served.kind, &path.subresource);
    mounted.is_some_and(|mounted| !matches!(mounted.endpoint, Endpoint::Documents(_)))
}

/// What a method means on a subresource of a kind's own; `None` where that does not serve it.
pub fn of_subresource(mounted: &Mounted, method: &Method) -> Option<subresource::Method> {
    use subresource::Method as Own;
    // A connection needs a GET or a POST of its own.
    let has_head = matches!(mounted.endpoint, Endpoint::Documents(_) | Endpoint::Text(_));
    let method = match *method {
        Method::GET => Own::Get,
        Method::HEAD if has_head => Own::Get,
        Method::POST => Own::Post,
        Method::PUT => Own::Put,
        Method::PATCH => Own::Patch,
        _ => return None,
    };
    mounted.kinds(method).map(|_| method)
}

/// Checks that a path and a verb fit the scope of a kind.
///
/// # Errors
/// 404 for a path that names nothing; 405 for a verb that needs a namespace.
pub fn check_scope(kind: &Kind, path: &ResourcePath, verb: Verb) -> Result<(), Refused> {
    // `namespaces/x` itself is cluster-scoped although its path yields a namespace.
    let own_namespace = kind.group_version.group.is_empty() && kind.plural == "namespaces";
    let fits = match kind.scope {
        Scope::Namespaced => !path.namespace.is_empty() || path.name.is_empty(),
        Scope::Cluster => path.namespace.is_empty() || (own_namespace && path.namespace == path.name),
    };
    if !fits || path.excess {
        return Err(status::no_such_resource().into());
    }
    let across = kind.scope == Scope::Namespaced && path.namespace.is_empty();
    if across && !matches!(verb, Verb::List | Verb::Watch) {
        return Err(status::method_not_allowed().into());
    }
    Ok(())
}

/// The part of an object that a path names.
///
/// # Errors
/// 404 for a subresource that the kind does not have.
pub fn part(kind: &Kind, path: &ResourcePath) -> Result<Part, Refused> {
    match path.subresource.as_str() {
        "" => Ok(Part::Whole),
        "status" if kind.status => Ok(Part::Status),
        "scale" if kind.scale.is_some() => Ok(Part::Scale),
        "finalize" if has_finalize(kind) => Ok(Part::Finalize),
        _ if kind.style == Style::Custom => Err(Error::NotFound(kind.group_resource(), path.name.clone()).into()),
        _ => Err(status::no_such_resource().into()),
    }
}

/// Only namespaces have finalizers in their spec, which their finalize subresource changes.
pub fn has_finalize(kind: &Kind) -> bool {
    kind.group_version.group.is_empty() && kind.plural == "namespaces"
}

/// Whether a kind's collections can be deleted: not namespaces, where a slip would cost everything.
pub fn has_delete_collection(kind: &Kind) -> bool {
    !has_finalize(kind)
}

/// Checks that a verb makes sense on a part of an object.
///
/// # Errors
/// 405.
pub fn check(kind: &Kind, path: &ResourcePath, part: Part, verb: Verb) -> Result<(), Refused> {
    let named = !path.name.is_empty();
    let fits = match verb {
        Verb::Get => part != Part::Finalize,
        Verb::List => true,
        Verb::Create => !named,
        Verb::Update => named,
        Verb::Patch => named && part != Part::Finalize,
        Verb::Watch | Verb::Delete => part == Part::Whole,
        Verb::DeleteCollection => has_delete_collection(kind),
        Verb::Unknown => false,
    };
    let stored = kind.stored || verb == Verb::Create;
    // The old paths below `watch/` are for watches alone.
    let fits = fits && stored && (!path.watch || verb == Verb::Watch);
    if fits { Ok(()) } else { Err(status::method_not_allowed().into()) }
}
