//! Event: something that happened to an object, told for people.
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    ApiType, Resource,
    kind::hook::Context,
    meta::{FieldError, FieldErrorKind, FieldPath, MicroTime, ObjectMeta, ObjectReference, Time, validate},
};

/// Something that happened to an object. Events may be lost and may repeat: nothing should be decided by them.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", shortname = "ev", builtin, update_without_version, create_on_update, validate = Event::check)]
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
#[resource(column("Last Seen", with = Event::last_seen, description = "How long ago it last happened"))]
#[resource(column("Type", path = kind, description = "Normal or Warning"))]
#[resource(column("Reason", path = reason, description = "Why, for machines"))]
#[resource(column("Object", with = Event::object, description = "What it happened to"))]
#[resource(column("Subobject", path = involved_object.field_path, priority = 1, description = "Which part of the object"))]
#[resource(column("Source", with = Event::told_by, priority = 1, description = "Who tells it"))]
#[resource(column("Message", with = Event::text, description = "What happened, for people"))]
#[resource(column("First Seen", with = Event::first_seen, priority = 1, description = "How long ago it first happened"))]
#[resource(column("Count", with = Event::times, priority = 1, description = "How often it happened"))]
#[resource(column("Name", path = metadata.name, priority = 1, format = "name", description = "The event's name"))]
pub struct Event {
    /// Metadata of the object.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// What it happened to.
    #[serde(default)]
    #[api(proto = 2)]
    pub involved_object: ObjectReference,
    /// Why, for machines, CamelCase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub reason: String,
    /// What happened, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub message: String,
    /// Who tells it.
    #[serde(default)]
    #[api(proto = 5)]
    pub source: EventSource,
    /// When it first happened.
    #[api(proto = 6, proto_zero)]
    pub first_timestamp: Option<Time>,
    /// When it last happened.
    #[api(proto = 7, proto_zero)]
    pub last_timestamp: Option<Time>,
    /// How often it happened.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[api(proto = 8)]
    pub count: i32,
    /// `Normal` or `Warning`.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    #[api(proto = 9)]
    pub kind: String,
    /// When it was first seen, exactly.
    #[api(proto = 10, proto_zero)]
    pub event_time: Option<MicroTime>,
    /// The repetitions, where there are some.
    #[api(proto = 11)]
    pub series: Option<EventSeries>,
    /// What was done, or failed, for machines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 12)]
    pub action: String,
    /// Another object that has to do with it.
    #[api(proto = 13)]
    pub related: Option<ObjectReference>,
    /// The controller that tells it, such as `example.com/gardener`.
    #[serde(default)]
    #[api(proto = 14)]
    pub reporting_component: String,
    /// Which instance of the controller.
    #[serde(default)]
    #[api(proto = 15)]
    pub reporting_instance: String,
}

/// Who tells an event.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct EventSource {
    /// The program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub component: String,
    /// The machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub host: String,
}

/// Repetitions of an event.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct EventSeries {
    /// How often it happened until `lastObservedTime`.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[api(proto = 1)]
    pub count: i32,
    /// When it last happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 2, proto_zero)]
    pub last_observed_time: Option<MicroTime>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// How long ago, as command lines show it.
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

    fn first_seen(&self) -> String {
        ago(self.first())
    }

    fn last_seen(&self) -> String {
        match &self.series {
            Some(series) => ago(coarse(series.last_observed_time)),
            None => ago(self.last_timestamp.or(self.first())),
        }
    }

    fn times(&self) -> i64 {
        self.series.as_ref().map_or(self.count.max(1), |series| series.count).into()
    }

    fn object(&self) -> String {
        let kind = self.involved_object.kind.to_lowercase();
        match self.involved_object.name.as_str() {
            "" => kind,
            name => format!("{kind}/{name}"),
        }
    }

    fn told_by(&self) -> String {
        let or = |text: &String, other: &String| if text.is_empty() { other.clone() } else { text.clone() };
        let program = or(&self.source.component, &self.reporting_component);
        let place = or(&self.source.host, &self.reporting_instance);
        if place.is_empty() { program } else { format!("{program}, {place}") }
    }

    fn text(&self) -> String {
        self.message.trim().to_owned()
    }

    /// An event lies in the namespace of its object. Events with `eventTime` are told in full.
    fn check(&self, _context: &Context<'_, Self>) -> Vec<FieldError> {
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
            errors.extend(wrong.map(|why| invalid("reportingComponent", component, &why)));
        }
        for (path, text, limit) in [
            ("reportingComponent", component, usize::MAX),
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
