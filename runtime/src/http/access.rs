//! Who asks, and may they: asked for every request, before anything else is looked at.

use std::{borrow::Cow, sync::Arc};

use axum::http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};

use super::{
    App, PeerCertificates,
    path::{self, ResourcePath, Target},
    status,
    status::Refused,
    websocket,
};
use crate::{
    auth::{
        Attributes, Credentials, Decision, User,
        authenticate::{Headers, bearer},
        impersonate::Wanted,
    },
    meta::{options::Query, selector::Fields},
    verbs::Request,
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
    let browser = websocket::bearer(&parts.headers);
    let token = headers.header(AUTHORIZATION.as_str()).and_then(bearer).or(browser.as_deref());
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

/// A further verb on the object that a request names, which the request's own verb may turn out to need.
pub fn further<'a>(request: &'a Request, verb: &'a str, path: &'a str) -> Attributes<'a> {
    let kind = &*request.served.kind;
    Attributes {
        user: &request.user,
        verb,
        group: &kind.group_version.group,
        version: &kind.group_version.version,
        resource: &kind.plural,
        subresource: "",
        namespace: &request.namespace,
        name: &request.name,
        path,
    }
}

/// Whether the user may create the object that a request names.
///
/// # Errors
/// 403.
pub async fn may_create(app: &App, request: &Request, path: &str) -> Result<(), Refused> {
    let attributes = further(request, Verb::Create.as_str(), path);
    match app.authorizer.authorize(&attributes).await {
        Decision::Allow => Ok(()),
        refusal => Err(status::forbidden(&attributes, &refusal).into()),
    }
}

/// Headers as authenticators see them.
struct RequestHeaders<'a>(&'a HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| value.to_str().ok())
    }
}

/// What a request asks for, as authorizers are told it.
pub struct Asked<'r> {
    resource: Option<&'r ResourcePath>,
    verb: Cow<'static, str>,
    /// The object that a field selector pins a collection to.
    pinned: Option<String>,
    path: &'r str,
}

impl<'r> Asked<'r> {
    /// Reads a request.
    pub fn new(method: &Method, path: &'r str, target: &'r Target, query: &Query) -> Self {
        match target {
            Target::Resource(resource) => {
                let verb = Verb::of(method, resource, query);
                let pinned = pinned_name(verb, resource, query);
                Self { resource: Some(resource), verb: verb.as_str().into(), pinned, path }
            }
            _ => Self { resource: None, verb: method.as_str().to_ascii_lowercase().into(), pinned: None, path },
        }
    }

    fn attributes<'a>(&'a self, user: &'a User) -> Attributes<'a> {
        let of = |part: fn(&ResourcePath) -> &str| self.resource.map_or("", part);
        Attributes {
            user,
            verb: &self.verb,
            group: of(|r| &r.group),
            version: of(|r| &r.version),
            resource: of(|r| &r.resource),
            subresource: of(|r| &r.subresource),
            namespace: of(|r| &r.namespace),
            name: self.pinned.as_deref().unwrap_or(of(|r| &r.name)),
            path: self.path,
        }
    }

    /// Whether the user may.
    ///
    /// # Errors
    /// 403.
    pub async fn authorize(&self, app: &App, user: &User) -> Result<(), Refused> {
        let attributes = self.attributes(user);
        match app.authorizer.authorize(&attributes).await {
            Decision::Allow => Ok(()),
            refusal => Err(status::forbidden(&attributes, &refusal).into()),
        }
    }

    /// The user as which the request is served: its sender, or whom the sender may be and asks to be. A request that
    /// asks for it and may not have it is refused, never served as its sender's own.
    ///
    /// # Errors
    /// 400 for groups and the like without a name, 403.
    pub async fn act_as(&self, app: &App, sender: Arc<User>, headers: &HeaderMap) -> Result<Arc<User>, Refused> {
        let Some(wanted) = wanted(headers)? else { return Ok(sender) };
        let attributes = self.attributes(&sender);
        let on_verb = Wanted::on_verb(&self.verb);
        if let Err((asked, refusal)) = wanted.allow(&*app.authorizer, &attributes, &on_verb).await {
            return Err(status::forbidden(&asked, &refusal).into());
        }
        let user = wanted.become_user();
        tracing::debug!(sender = sender.name, user = user.name, "acting as someone else");
        Ok(Arc::new(user))
    }
}

/// Whom a request asks to be: `Impersonate-User` and, beside it, `-Uid`, `-Group` and `-Extra-<key>`.
fn wanted(headers: &HeaderMap) -> Result<Option<Wanted>, Refused> {
    let mut wanted = Wanted::default();
    for (name, value) in headers {
        let Some(part) = name.as_str().strip_prefix("impersonate-") else { continue };
        // Whoever sends such a header means something by it: what cannot be read must not be passed over.
        let value = value.to_str().map_err(|_| status::bad_request(format!("the header {name} is not text")))?;
        match part {
            "user" if wanted.user.name.is_empty() => value.clone_into(&mut wanted.user.name),
            "uid" if wanted.user.uid.is_empty() => value.clone_into(&mut wanted.user.uid),
            "user" | "uid" => {}
            "group" => wanted.user.groups.push(value.to_owned()),
            other => wanted.extra.extend(other.strip_prefix("extra-").map(|key| {
                let key = path::decode(key).unwrap_or_else(|| key.to_owned());
                (key, value.to_owned())
            })),
        }
    }
    if wanted.user.name.is_empty() {
        // An empty name asks for nobody.
        if wanted == Wanted::default() {
            return Ok(None);
        }
        return Err(status::bad_request("requested groups or more without impersonating a user name").into());
    }
    Ok(Some(wanted))
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

    fn asks_to_be(pairs: &[(&'static str, &'static str)]) -> Result<Option<Wanted>, String> {
        let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        wanted(&headers.collect()).map_err(|Refused(status)| format!("{} {}", status.code, status.message))
    }

    #[test]
    fn headers_say_whom_a_request_wants_to_be() {
        assert_eq!(asks_to_be(&[("accept", "x"), ("impersonate-user", "")]), Ok(None));
        let found = asks_to_be(&[
            ("impersonate-user", "alice"),
            ("impersonate-group", "a"),
            ("impersonate-group", "b"),
            ("impersonate-uid", "7"),
            ("impersonate-extra-example.com%2fscope", "view"),
        ]);
        let user = User { name: "alice".into(), uid: "7".into(), groups: vec!["a".into(), "b".into()] };
        let extra = vec![("example.com/scope".to_owned(), "view".to_owned())];
        assert_eq!(found, Ok(Some(Wanted { user, extra })));
        for (name, value) in
            [("impersonate-group", "system:masters"), ("impersonate-uid", "1"), ("impersonate-user", "ä")]
        {
            let refused = asks_to_be(&[(name, value)]).expect_err("a refusal");
            assert!(refused.starts_with("400 "), "{refused}");
        }
    }

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
