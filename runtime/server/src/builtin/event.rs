//! Event: a report of something that happened to an object.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    ApiType, Resource,
    kind::hook::Context,
    meta::{FieldError, FieldErrorKind, FieldPath, MicroTime, ObjectMeta, ObjectReference, Time, validate},
};

/// Event is a report of an event somewhere in the cluster. Events are informative, best-effort, supplemental data: they
/// may be lost or repeated, and their messages may change. Consumers should not rely on the timing of an event, or on
/// the continued existence of events.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", shortname = "ev", builtin, update_without_version, create_on_update, lifetime = "1h", validate = Event::check)]
#[resource(selectable(
    involved_object.kind,
    involved_object.namespace,
    involved_object.name,
    involved_object.uid,
    involved_object.api_version,
    involved_object.resource_version,
    involved_object.field_path,
    reason,
    reporting_component,
    kind,
))]
#[resource(column("Last Seen", with = Event::last_seen, description = "The time since the most recent occurrence of this event"))]
#[resource(column("Type", path = kind, description = "Type of this event (Normal, Warning)"))]
#[resource(column("Reason", path = reason, description = "A short, machine-readable reason for the event"))]
#[resource(column("Object", with = Event::object, description = "The object that this event is about"))]
#[resource(column("Subobject", path = involved_object.field_path, priority = 1, description = "The part of the object that this event is about"))]
#[resource(column("Source", with = Event::reporter, priority = 1, description = "The component that reported this event"))]
#[resource(column("Message", with = Event::text, description = "A human-readable description of the event"))]
#[resource(column("First Seen", with = Event::first_seen, priority = 1, description = "The time since this event was first recorded"))]
#[resource(column("Count", with = Event::times, priority = 1, description = "The number of times this event has occurred"))]
#[resource(column("Name", path = metadata.name, priority = 1, format = "name", description = "The name of the event"))]
pub struct Event {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The object that this event is about.
    #[serde(default)]
    #[api(proto = 2)]
    pub involved_object: ObjectReference,
    /// A short, machine-readable string that gives the reason for the transition into the object's current status.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub reason: String,
    /// A human-readable description of the status of this operation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub message: String,
    /// The component reporting this event. Should be a short machine-readable string.
    #[serde(default)]
    #[api(proto = 5)]
    pub source: EventSource,
    /// The time at which the event was first recorded.
    #[api(proto = 6, proto_zero)]
    pub first_timestamp: Option<Time>,
    /// The time at which the most recent occurrence of this event was recorded.
    #[api(proto = 7, proto_zero)]
    pub last_timestamp: Option<Time>,
    /// The number of times this event has occurred.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[api(proto = 8)]
    pub count: i32,
    /// Type of this event (Normal, Warning). New types could be added in the future.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    #[api(proto = 9)]
    pub kind: String,
    /// Time when this event was first observed.
    #[api(proto = 10, proto_zero)]
    pub event_time: Option<MicroTime>,
    /// Data about the event series this event represents, or nil if it is a singleton event.
    #[api(proto = 11)]
    pub series: Option<EventSeries>,
    /// What action was taken, or failed, regarding the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 12)]
    pub action: String,
    /// Optional secondary object for more complex actions.
    #[api(proto = 13)]
    pub related: Option<ObjectReference>,
    /// Name of the controller that emitted this event, e.g. `example.com/gardener`.
    #[serde(default)]
    #[api(proto = 14)]
    pub reporting_component: String,
    /// ID of the controller instance, e.g. `gardener-xyzf`.
    #[serde(default)]
    #[api(proto = 15)]
    pub reporting_instance: String,
}

/// EventSource identifies the component that reported an event.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct EventSource {
    /// Component from which the event is generated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub component: String,
    /// Node name on which the event is generated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub host: String,
}

/// EventSeries contains information on a series of events, i.e. something that happened repeatedly for some time.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct EventSeries {
    /// Number of occurrences in this series up to the last observed time.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[api(proto = 1)]
    pub count: i32,
    /// Time of the last occurrence observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 2, proto_zero)]
    pub last_observed_time: Option<MicroTime>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
pub(super) fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// The time since `time`, as kubectl shows it.
fn ago(time: Option<Time>) -> String {
    time.map_or_else(|| "<unknown>".to_owned(), |time| time.age(Time::now()))
}

fn coarse(time: Option<MicroTime>) -> Option<Time> {
    time.map(|time| Time::from_timestamp(time.timestamp()))
}

impl Event {
    fn first(&self) -> Option<Time> {
        self.first_timestamp.or(coarse(self.event_time))
    }

    pub(super) fn first_seen(&self) -> String {
        ago(self.first())
    }

    pub(super) fn last_seen(&self) -> String {
        match &self.series {
            Some(series) => ago(coarse(series.last_observed_time)),
            None => ago(self.last_timestamp.or(self.first())),
        }
    }

    pub(super) fn times(&self) -> i64 {
        self.series.as_ref().map_or(self.count.max(1), |series| series.count).into()
    }

    pub(super) fn object(&self) -> String {
        let kind = self.involved_object.kind.to_lowercase();
        match self.involved_object.name.as_str() {
            "" => kind,
            name => format!("{kind}/{name}"),
        }
    }

    pub(super) fn reporter(&self) -> String {
        let or = |text: &String, other: &String| if text.is_empty() { other.clone() } else { text.clone() };
        let program = or(&self.source.component, &self.reporting_component);
        let place = or(&self.source.host, &self.reporting_instance);
        if place.is_empty() { program } else { format!("{program}, {place}") }
    }

    pub(super) fn text(&self) -> String {
        self.message.trim().to_owned()
    }

    fn check(&self, _context: &Context<'_, Self>) -> Vec<FieldError> {
        self.problems("reportingComponent")
    }

    /// An event must be in the namespace of its object. Events with `eventTime` must have all new fields; `reporter` is the path
    /// of one of them.
    pub(super) fn problems(&self, reporter: &str) -> Vec<FieldError> {
        let (namespace, of) = (self.metadata.namespace.as_str(), self.involved_object.namespace.as_str());
        let invalid = |path: &str, given: &str, why: &str| {
            FieldError::new(&FieldPath::new(path), FieldErrorKind::Invalid(json!(given)), why)
        };
        let mut errors = Vec::new();
        let fits = match (of, self.event_time) {
            ("", None) => namespace == "default",
            ("", Some(_)) => matches!(namespace, "default" | "kube-system"),
            _ => of == namespace,
        };
        if !fits {
            errors.push(invalid("involvedObject.namespace", of, "does not match event.namespace"));
        }
        if self.event_time.is_none() {
            return errors;
        }
        let component = &self.reporting_component;
        if !component.is_empty() {
            let wrong = validate::qualified_name(component).into_iter();
            errors.extend(wrong.map(|why| invalid(reporter, component, &why)));
        }
        for (path, text, limit) in [
            (reporter, component, usize::MAX),
            ("reportingInstance", &self.reporting_instance, 128),
            ("action", &self.action, 128),
            ("reason", &self.reason, 128),
        ] {
            if text.is_empty() {
                errors.push(FieldError::new(&FieldPath::new(path), FieldErrorKind::Required, ""));
            } else if text.len() > limit {
                errors.push(invalid(path, "", &format!("can have at most {limit} characters")));
            }
        }
        if self.message.len() > 1024 {
            errors.push(invalid("message", "", "can have at most 1024 characters"));
        }
        errors
    }
}
