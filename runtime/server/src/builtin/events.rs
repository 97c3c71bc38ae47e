//! Event of `events.k8s.io`: the events of the core group, with other names of fields and stricter rules.
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::event::{self, EventSource};
use crate::{
    ApiType, Resource,
    kind::hook::Context,
    meta::{FieldError, FieldErrorKind, FieldPath, MicroTime, ObjectMeta, ObjectReference, Time},
};

/// Event is a report of an event somewhere in the cluster. It generally denotes some state change in the system. Events are
/// informative, best-effort, supplemental data: they may be lost or repeated, and their messages may change. Consumers should
/// not rely on the timing of an event, or on the continued existence of events.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "events.k8s.io", version = "v1", storage = event::Event, builtin, validate = Event::check)]
#[resource(convert(
    renamed(
        regarding = involved_object,
        note = message,
        reporting_controller = reporting_component,
        deprecated_source = source,
        deprecated_first_timestamp = first_timestamp,
        deprecated_last_timestamp = last_timestamp,
        deprecated_count = count,
    )
))]
#[resource(selectable(
    regarding.kind,
    regarding.namespace,
    regarding.name,
    regarding.uid,
    regarding.api_version,
    regarding.resource_version,
    regarding.field_path,
    reason,
    reporting_controller,
    kind,
))]
#[resource(column("Last Seen", with = Event::last_seen, description = "The time since the most recent occurrence of this event"))]
#[resource(column("Type", path = kind, description = "Type of this event (Normal, Warning)"))]
#[resource(column("Reason", path = reason, description = "A short, machine-readable reason for the event"))]
#[resource(column("Object", with = Event::object, description = "The object that this event is about"))]
#[resource(column("Subobject", path = regarding.field_path, priority = 1, description = "The part of the object that this event is about"))]
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
    /// The time when this event was first observed. It is required.
    #[api(proto = 2, proto_zero)]
    pub event_time: Option<MicroTime>,
    /// Data about the event series this event represents, or nil if it is a singleton event.
    #[api(proto = 3)]
    pub series: Option<EventSeries>,
    /// The name of the controller that emitted this event, e.g. `example.com/gardener`. It cannot be empty for new events.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub reporting_controller: String,
    /// The ID of the controller instance, e.g. `gardener-xyzf`. It cannot be empty for new events, and has at most 128
    /// characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 5)]
    pub reporting_instance: String,
    /// What action was taken, or failed, regarding the object. It is machine-readable. It cannot be empty for new events, and has
    /// at most 128 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 6)]
    pub action: String,
    /// Why the action was taken. It is machine-readable. It cannot be empty for new events, and has at most 128 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 7)]
    pub reason: String,
    /// The object that this event is about. In most cases it is the object that the reporting controller implements.
    #[serde(default)]
    #[api(proto = 8)]
    pub regarding: ObjectReference,
    /// Optional secondary object for more complex actions.
    #[api(proto = 9)]
    pub related: Option<ObjectReference>,
    /// A human-readable description of the status of this operation, of at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 10)]
    pub note: String,
    /// Type of this event (Normal, Warning). New types could be added in the future. It is machine-readable.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    #[api(proto = 11)]
    pub kind: String,
    /// The source of an event of the core group.
    #[serde(default)]
    #[api(proto = 12)]
    pub deprecated_source: EventSource,
    /// The time of the first occurrence of an event of the core group.
    #[api(proto = 13, proto_zero)]
    pub deprecated_first_timestamp: Option<Time>,
    /// The time of the most recent occurrence of an event of the core group.
    #[api(proto = 14, proto_zero)]
    pub deprecated_last_timestamp: Option<Time>,
    /// The number of occurrences of an event of the core group.
    #[serde(default, skip_serializing_if = "event::is_zero")]
    #[api(proto = 15)]
    pub deprecated_count: i32,
}

/// EventSeries contains information on a series of events, i.e. something that happened repeatedly for some time.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct EventSeries {
    /// The number of occurrences in this series up to the last observed time.
    #[serde(default)]
    #[api(proto = 1)]
    pub count: i32,
    /// The time of the last occurrence that was observed.
    #[api(proto = 2, proto_zero)]
    pub last_observed_time: Option<MicroTime>,
}

impl Event {
    /// The same event in the core group.
    fn core(&self) -> event::Event {
        let series = |series: &EventSeries| event::EventSeries {
            count: series.count,
            last_observed_time: series.last_observed_time,
        };
        event::Event {
            metadata: self.metadata.clone(),
            involved_object: self.regarding.clone(),
            reason: self.reason.clone(),
            message: self.note.clone(),
            source: self.deprecated_source.clone(),
            first_timestamp: self.deprecated_first_timestamp,
            last_timestamp: self.deprecated_last_timestamp,
            count: self.deprecated_count,
            kind: self.kind.clone(),
            event_time: self.event_time,
            series: self.series.as_ref().map(series),
            action: self.action.clone(),
            related: self.related.clone(),
            reporting_component: self.reporting_controller.clone(),
            reporting_instance: self.reporting_instance.clone(),
        }
    }

    fn last_seen(&self) -> String {
        self.core().last_seen()
    }

    fn object(&self) -> String {
        self.core().object()
    }

    fn reporter(&self) -> String {
        self.core().reporter()
    }

    fn text(&self) -> String {
        self.core().text()
    }

    fn first_seen(&self) -> String {
        self.core().first_seen()
    }

    fn times(&self) -> i64 {
        self.core().times()
    }

    /// The rules of the core group, with those for new events of this group, or for what may change later.
    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let core = self.core();
        let mut errors = core.problems("reportingController");
        match context.old() {
            Some(old) => self.check_change(old, &mut errors),
            None => self.check_new(&core, &mut errors),
        }
        errors
    }

    /// As in kube-apiserver, errors name the fields of the core group.
    fn check_new(&self, core: &event::Event, errors: &mut Vec<FieldError>) {
        self.check_series(errors);
        if self.event_time.is_none() {
            errors.push(FieldError::new(&FieldPath::new("eventTime"), FieldErrorKind::Required, ""));
        }
        if !["Normal", "Warning"].contains(&self.kind.as_str()) {
            errors.push(invalid("type", &json!(""), &format!("has invalid value: {}", self.kind)));
        }
        let unset = event::Event::default();
        for (path, given) in [
            ("firstTimestamp", core.first_timestamp != unset.first_timestamp),
            ("lastTimestamp", core.last_timestamp != unset.last_timestamp),
            ("count", core.count != unset.count),
            ("source", core.source != unset.source),
        ] {
            if given {
                errors.push(invalid(path, &json!(""), "needs to be unset"));
            }
        }
    }

    fn check_series(&self, errors: &mut Vec<FieldError>) {
        if let Some(series) = self.series.as_ref().filter(|series| series.count < 2) {
            errors.push(invalid("series.count", &json!(series.count), "should be at least 2"));
        }
        if self.series.as_ref().is_some_and(|series| series.last_observed_time.is_none()) {
            errors.push(FieldError::new(&FieldPath::new("series.lastObservedTime"), FieldErrorKind::Required, ""));
        }
    }

    /// Only the series may change.
    fn check_change(&self, old: &Self, errors: &mut Vec<FieldError>) {
        if self.series != old.series {
            self.check_series(errors);
        }
        for (path, changes, given) in [
            ("involvedObject", self.regarding != old.regarding, json!(self.regarding)),
            ("reason", self.reason != old.reason, json!(self.reason)),
            ("message", self.note != old.note, json!(self.note)),
            ("type", self.kind != old.kind, json!(self.kind)),
            ("action", self.action != old.action, json!(self.action)),
            ("related", self.related != old.related, json!(self.related)),
            ("eventTime", self.event_time != old.event_time, json!(self.event_time)),
            (
                "reportingController",
                self.reporting_controller != old.reporting_controller,
                json!(self.reporting_controller),
            ),
            ("reportingInstance", self.reporting_instance != old.reporting_instance, json!(self.reporting_instance)),
        ] {
            if changes {
                errors.push(invalid(path, &given, "field is immutable"));
            }
        }
    }
}

fn invalid(path: &str, given: &serde_json::Value, why: &str) -> FieldError {
    FieldError::new(&FieldPath::new(path), FieldErrorKind::Invalid(given.clone()), why)
}
