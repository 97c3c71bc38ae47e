//! `APIService` (`apiregistration.k8s.io`): which server serves a version of a group. The kind and what it must be; the module
//! `aggregation` sends requests on to these servers.
mod check;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{
    ApiType, ObjectMeta, Resource,
    kind::hook::Context,
    meta::{ByteString, FieldError, Time},
};

/// The group of the kind.
pub(crate) const GROUP: &str = "apiregistration.k8s.io";
/// The type of the only condition.
pub(crate) const AVAILABLE: &str = "Available";
/// The port of a service that names none.
const HTTPS: i32 = 443;

/// APIService represents a server for a particular GroupVersion. Name must be "version.group".
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "apiregistration.k8s.io", version = "v1", cluster, status, builtin, names = path_segment)]
#[resource(category = "api-extensions", default = APIService::fill_in, validate = APIService::check)]
#[resource(column("Service", with = APIService::service, description = "The reference to the service that hosts this API endpoint."))]
#[resource(column("Available", with = APIService::available, description = "Whether this service is available."))]
#[api(proto_zeros)]
pub struct APIService {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Contains information for locating and communicating with a server.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: APIServiceSpec,
    /// Contains derived information about an API server.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: APIServiceStatus,
}

/// APIServiceSpec contains information for locating and communicating with a server. Only https is supported, though you are able
/// to disable certificate verification.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct APIServiceSpec {
    /// A reference to the service for this API server. If it is not set, the group and version are served by this server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[api(proto = 1)]
    pub service: Option<ServiceReference>,
    /// The API group name this server hosts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub group: String,
    /// The API version this server hosts. For example, "v1".
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub version: String,
    /// Disables TLS certificate verification when communicating with this server. This is strongly discouraged. Use `caBundle`
    /// instead.
    #[serde(default, rename = "insecureSkipTLSVerify", skip_serializing_if = "std::ops::Not::not")]
    #[api(proto = 4)]
    pub insecure_skip_tls_verify: bool,
    /// A PEM encoded CA bundle which will be used to validate an API server's serving certificate. If it is not set, the trust
    /// roots of the system are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[api(proto = 5)]
    pub ca_bundle: Option<ByteString>,
    /// The priority this group should have at least. A higher priority means that the group is preferred by clients over lower
    /// priority ones. Other versions of this group might specify even higher values, such that the whole group gets a higher
    /// priority. Groups of the same priority are sorted by the names of their objects.
    #[api(proto = 7, default = 0, required)]
    pub group_priority_minimum: i32,
    /// Controls the ordering of this API version inside of its group, the highest first. Must be greater than zero. Versions of
    /// the same priority are sorted by their names: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, v11alpha2, foo1, foo10.
    #[api(proto = 8, default = 0, required)]
    pub version_priority: i32,
}

/// ServiceReference holds a reference to Service.legacy.k8s.io.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct ServiceReference {
    /// The namespace of the service.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub namespace: String,
    /// The name of the service.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub name: String,
    /// The port of the service: a valid port number (1-65535, inclusive). Defaults to 443.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[api(proto = 3)]
    pub port: Option<i32>,
}

/// APIServiceStatus contains derived information about an API server.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct APIServiceStatus {
    /// Current service state of the APIService.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 1, list = map(key = kind), merge(key = kind))]
    pub conditions: Vec<APIServiceCondition>,
}

/// APIServiceCondition describes the state of an APIService at a particular point.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct APIServiceCondition {
    /// The type of the condition.
    #[serde(rename = "type")]
    #[api(proto = 1)]
    pub kind: String,
    /// The status of the condition. Can be True, False, Unknown.
    #[api(proto = 2)]
    pub status: String,
    /// Last time the condition transitioned from one status to another.
    #[api(proto = 3, proto_zero)]
    pub last_transition_time: Option<Time>,
    /// Unique, one-word, CamelCase reason for the condition's last transition.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub reason: String,
    /// Human-readable message indicating details about last transition.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 5)]
    pub message: String,
}

impl APIServiceCondition {
    /// The condition of an available or unavailable service, as of now.
    pub(crate) fn available(is_available: bool, reason: &str, message: impl Into<String>) -> Self {
        Self {
            kind: AVAILABLE.to_owned(),
            status: if is_available { "True" } else { "False" }.to_owned(),
            last_transition_time: Some(Time::now()),
            reason: reason.to_owned(),
            message: message.into(),
        }
    }

    /// The condition of a group and version that this server serves itself.
    pub(crate) fn local() -> Self {
        Self::available(true, "Local", "Local APIServices are always available")
    }
}

impl APIServiceStatus {
    /// The condition of availability.
    pub(crate) fn availability(&self) -> Option<&APIServiceCondition> {
        self.conditions.iter().find(|condition| condition.kind == AVAILABLE)
    }

    /// True if the service is available.
    pub(crate) fn is_available(&self) -> bool {
        self.availability().is_some_and(|condition| condition.status == "True")
    }

    /// Sets the condition of availability. Its time changes only with its status.
    pub(crate) fn set_availability(&mut self, new: APIServiceCondition) {
        let Some(condition) = self.conditions.iter_mut().find(|condition| condition.kind == AVAILABLE) else {
            self.conditions.push(new);
            return;
        };
        let is_same = condition.status == new.status;
        let last_transition_time = if is_same { condition.last_transition_time } else { new.last_transition_time };
        *condition = APIServiceCondition { last_transition_time, ..new };
    }
}

impl APIService {
    /// Sets the default port, and the condition of a new local service.
    fn fill_in(&mut self, context: &Context<'_, Self>) {
        if let Some(service) = &mut self.spec.service {
            service.port.get_or_insert(HTTPS);
        }
        if context.old().is_none() {
            self.status = APIServiceStatus::default();
            if self.spec.service.is_none() {
                self.status.set_availability(APIServiceCondition::local());
            }
        }
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        if context.subresource == "status" { check::status(&self.status) } else { check::service(self) }
    }

    /// The cell of the service.
    fn service(&self) -> String {
        self.spec
            .service
            .as_ref()
            .map_or_else(|| "Local".to_owned(), |service| format!("{}/{}", service.namespace, service.name))
    }

    /// The cell of the condition.
    fn available(&self) -> String {
        match self.status.availability() {
            None => "Unknown".to_owned(),
            Some(condition) if condition.status == "True" || condition.reason.is_empty() => condition.status.clone(),
            Some(condition) => format!("{} ({})", condition.status, condition.reason),
        }
    }
}
