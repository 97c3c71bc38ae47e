//! The meaning of a request, parsed once from its method, path and query. Routing and authorization use this one value,
//! so that only what was authorized is served.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, Method, request::Parts};

use super::{
    headers,
    path::{self, ResourcePath},
    status::StatusError,
};
use crate::{
    aggregation::{Aggregation, Entry},
    auth::{Attributes, User},
    kind::endpoint::{PatchType, Verb},
    meta::{
        Status,
        options::Query,
        selector::{Fields, Labels},
    },
    registry::{Registry, ResourceEntry},
};

/// The verb of a method on a path; `watch` is the parameter of that name. `None` for a method without a meaning for
/// resources.
pub(super) fn meaning(method: &Method, path: &ResourcePath, watch: bool) -> Option<Verb> {
    Some(match method.as_str() {
        "GET" | "HEAD" if path.watch => Verb::Watch,
        "GET" | "HEAD" if !path.name.is_empty() => Verb::Get,
        "GET" | "HEAD" if watch => Verb::Watch,
        "GET" | "HEAD" => Verb::List,
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" if path.name.is_empty() => Verb::DeleteCollection,
        "DELETE" => Verb::Delete,
        _ => return None,
    })
}

/// The parsed meaning of a request.
#[derive(Debug, Default)]
pub(super) struct RequestInfo {
    /// The decoded path without trailing slashes.
    pub path: String,
    /// The path below a group and version, if it is one.
    pub resource: Option<ResourcePath>,
    /// The parameters.
    pub query: Query,
    pub method: Method,
    /// The verb on a resource; `None` if the path names none, or if the method has no meaning for it.
    pub verb: Option<Verb>,
    /// Its body is a patch that is applied.
    pub applies: bool,
    /// The parameter `pretty`.
    pub pretty: Option<bool>,
    /// The parameter `watch`.
    watch: bool,
    /// The field selector of a collection, if it can be read.
    fields: Option<Fields>,
    /// The label selector of a collection, if it can be read.
    labels: Option<Labels>,
    /// The resource at the beginning of the request. The request uses it to the end, even if it is replaced meanwhile.
    pub served: Option<Arc<ResourceEntry>>,
    /// The service whose server answers the request, if this server does not.
    pub remote: Option<Arc<Entry>>,
    /// It wants to change its connection to another protocol.
    pub upgrades: bool,
}

impl RequestInfo {
    /// Parses a request. Fails with 400 for an ambiguous path, for an unreadable query, and for one that repeats a
    /// parameter which determines the request.
    pub(super) fn read(parts: &Parts, registry: &Registry) -> Result<Self, StatusError> {
        // `OPTIONS *` is about the whole server.
        let whole = parts.method == Method::OPTIONS && parts.uri.path() == "*";
        let path = path::parse(if whole { "/" } else { parts.uri.path() });
        let path::Path { text, mut resource } = path.map_err(Status::bad_request)?;
        let query = Query::parse(parts.uri.query().unwrap_or_default())?;
        let watch = query.switch("watch")?.unwrap_or_default();
        let (mut verb, mut fields, mut labels, mut served) = (None, None, None, None);
        if let Some(resource) = &mut resource {
            resource.resolve(registry);
            verb = meaning(&parts.method, resource, watch);
            served = registry.find(&resource.group, &resource.version, &resource.resource);
            if matches!(verb, Some(Verb::List | Verb::Watch | Verb::DeleteCollection)) {
                let given = |name| query.single(name).map(|text| text.filter(|text| !text.is_empty()));
                fields = given("fieldSelector")?.and_then(|text| Fields::parse(text).ok());
                labels = given("labelSelector")?.and_then(|text| Labels::parse(text).ok());
            }
        }
        let (method, pretty) = (parts.method.clone(), query.strict_switch("pretty")?);
        let applies = verb == Some(Verb::Patch) && applies(&parts.headers);
        let (remote, upgrades) = (None, headers::upgrade_of(&parts.headers).is_some());
        Ok(Self {
            path: text,
            resource,
            query,
            method,
            verb,
            applies,
            pretty,
            watch,
            fields,
            labels,
            served,
            remote,
            upgrades,
        })
    }

    /// True if the path names a resource that is not served.
    pub(super) fn is_missing(&self) -> bool {
        self.resource.is_some() && self.served.is_none()
    }

    /// Finds the service whose server answers the request: by its group and version, also if it is about these alone.
    pub(super) fn find_remote(&mut self, aggregation: &Aggregation) {
        self.remote = if let Some(resource) = &self.resource {
            aggregation.remote(&resource.group, &resource.version)
        } else {
            let path = self.path.strip_prefix("/openapi/v3").unwrap_or(&self.path);
            let (group, version) = match path.strip_prefix("/apis/") {
                Some(rest) => rest.split_once('/').unwrap_or_default(),
                None => ("", path.strip_prefix("/api/").unwrap_or_default()),
            };
            aggregation.remote(group, version)
        };
        if self.remote.is_some() {
            self.served = None;
        }
    }

    /// The verb of another method on this path.
    pub(super) fn verb_of(&self, method: &Method) -> Option<Verb> {
        meaning(method, self.resource.as_ref()?, self.watch)
    }

    /// The verb for authorizers.
    pub(super) fn verb_name(&self) -> Cow<'static, str> {
        match self.resource {
            Some(_) => self.verb.map_or("", Verb::as_str).into(),
            None => self.method.as_str().to_ascii_lowercase().into(),
        }
    }

    /// The attributes for authorizers, with [`RequestInfo::verb_name`].
    pub(super) fn attributes<'a>(&'a self, user: &'a User, verb: &'a str) -> Attributes<'a> {
        let of = |part: fn(&ResourcePath) -> &str| self.resource.as_ref().map_or("", part);
        // A user who may see one object may list and watch it. A deletion of a collection is one of all objects.
        let reads = matches!(self.verb, Some(Verb::List | Verb::Watch));
        let pinned = self.fields.as_ref().filter(|_| reads).and_then(|fields| fields.pins("metadata.name"));
        Attributes {
            group: of(|r| &r.group),
            version: of(|r| &r.version),
            resource: of(|r| &r.resource),
            subresource: of(|r| &r.subresource),
            namespace: of(|r| &r.namespace),
            name: Some(of(|r| &r.name)).filter(|name| !name.is_empty()).or(pinned).unwrap_or_default(),
            field_selector: self.fields.as_ref(),
            label_selector: self.labels.as_ref(),
            ..Attributes::new(user, verb, &self.path)
        }
    }
}

/// True if the media type of a patch is that of an apply.
fn applies(headers: &HeaderMap) -> bool {
    let given = headers::media_type(headers);
    [PatchType::ApplyYaml, PatchType::ApplyCbor].iter().any(|applied| applied.media_type() == given)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Request;

    use super::*;
    use crate::{
        cache::{Cache, Limits},
        storage::Memory,
    };

    fn read(method: &str, uri: &str) -> Result<RequestInfo, String> {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let registry = Registry::new(Cache::new(Arc::new(Memory::new()), Limits::default()));
        RequestInfo::read(&parts, &registry)
            .map_err(|StatusError(status)| format!("{} {}", status.code, status.message))
    }

    fn verb(method: &str, path: &str, query: &str) -> &'static str {
        read(method, &format!("{path}?{query}")).unwrap().verb.map_or("", Verb::as_str)
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

    #[test]
    fn authorizers_see_the_served_resource() {
        let user = User::default();
        let info = read("GET", "/%61pi/v1/namespaces/x/%73ecrets/?fieldSelector=metadata.name%3Da").unwrap();
        let seen = info.attributes(&user, "list");
        assert_eq!((seen.path, seen.resource), ("/api/v1/namespaces/x/secrets", "secrets"));
        assert_eq!((seen.namespace, seen.name), ("x", "a"));
        assert_eq!(seen.field_selector.map(ToString::to_string).as_deref(), Some("metadata.name=a"));
        let selected = |method: &str, query: &str| {
            let info = read(method, &format!("/api/v1/namespaces/x/cms?{query}")).unwrap();
            let seen = info.attributes(&user, "");
            [seen.field_selector.map(ToString::to_string), seen.label_selector.map(ToString::to_string)]
        };
        let both = "fieldSelector=metadata.name!%3Da&labelSelector=app+in+(a,b)";
        assert_eq!(selected("DELETE", both), [Some("metadata.name!=a".to_owned()), Some("app in (a,b)".to_owned())]);
        assert_eq!(selected("POST", both), [None, None], "a creation selects nothing");
        assert_eq!(selected("GET", "fieldSelector=&labelSelector=%2F%2F"), [None, None]);
        let info = read("GET", "/%6fpenapi/v2/").unwrap();
        assert_eq!((info.path.as_str(), info.verb_name().as_ref()), ("/openapi/v2", "get"));
        assert_eq!(info.attributes(&user, "get").path, "/openapi/v2");
        assert_eq!(read("OPTIONS", "*").unwrap().path, "/");
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        for (uri, named) in [
            ("/api/v1/namespaces/x%2fy", "%2F"),
            ("/api/v1/configmaps?labelSelector=a%3Dc%ff", "labelSelector"),
            ("/api/v1/configmaps?watch=0&watch=1", "watch"),
            ("/api/v1/configmaps?fieldSelector=metadata.name%3Da&fieldSelector=", "fieldSelector"),
            ("/healthz?exclude=%zz", "exclude"),
        ] {
            let error = read("GET", uri).expect_err(uri);
            assert!(error.starts_with("400 ") && error.contains(named), "{uri}: {error}");
        }
    }
}
