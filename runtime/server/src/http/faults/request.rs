//! What a rule sees of a request.
use http::{HeaderMap, Method, Uri, header::USER_AGENT};

use crate::{
    http::{
        headers,
        path::{self, ResourcePath},
        request_info::meaning,
    },
    kind::endpoint::Verb,
    meta::{GroupResource, options::Query},
};

/// A request that may meet a fault.
#[derive(Clone, Debug)]
pub(super) struct FaultyRequest {
    pub method: Method,
    /// The decoded path without trailing slashes.
    pub path: String,
    pub resource: ResourcePath,
    /// The verb, if it is about a resource.
    pub verb: Option<Verb>,
    /// The parameter `continue`; empty if there is none.
    continue_token: String,
    /// The parameter `resourceVersion`; empty if there is none.
    pub resource_version: String,
    user_agent: String,
}

impl FaultyRequest {
    /// Reads a request. An invalid one, which is refused anyway, is about no resource.
    pub(super) fn read(method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let query = Query::parse(uri.query().unwrap_or_default()).unwrap_or_default();
        let parameter = |name: &str| query.single(name).ok().flatten().unwrap_or_default().to_owned();
        let (path, resource) =
            path::parse(uri.path()).map_or_else(|_| (uri.path().to_owned(), None), |path| (path.text, path.resource));
        let is_watch = query.switch("watch").ok().flatten().unwrap_or_default();
        Self {
            verb: resource.as_ref().and_then(|resource| meaning(method, resource, is_watch)),
            method: method.clone(),
            path,
            resource: resource.unwrap_or_default(),
            continue_token: parameter("continue"),
            resource_version: parameter("resourceVersion"),
            user_agent: headers::text(headers, &USER_AGENT).unwrap_or_default().to_owned(),
        }
    }

    /// True for a list that goes on, and for a list or watch of a past revision.
    pub(super) fn needs_history(&self) -> bool {
        let is_past = !matches!(self.resource_version.as_str(), "" | "0");
        matches!(self.verb, Some(Verb::List | Verb::Watch)) && (self.continues() || is_past)
    }

    /// True for a list that goes on.
    pub(super) fn continues(&self) -> bool {
        !self.continue_token.is_empty()
    }

    /// True for a list or watch of a revision that is before this one.
    pub(super) fn begins_before(&self, revision: u64) -> bool {
        self.needs_history() && self.resource_version.parse::<u64>().is_ok_and(|begins| begins < revision)
    }

    /// True if the client's name begins with this.
    pub(super) fn is_by(&self, client: &str) -> bool {
        self.user_agent.starts_with(client)
    }

    /// The group and the resource.
    pub(super) fn group_resource(&self) -> GroupResource {
        let ResourcePath { group, resource, .. } = &self.resource;
        GroupResource { group: group.clone(), resource: resource.clone() }
    }

    /// The name of the object; where a path has none, as that of a collection, empty.
    pub(super) fn name(&self) -> &str {
        &self.resource.name
    }
}
