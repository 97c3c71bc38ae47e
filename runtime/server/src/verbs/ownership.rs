//! Field ownership (`metadata.managedFields`) in the pipeline: records the owner of a write's changes, and keeps
//! entries valid after admission.
use serde_json::{Map, Value};

use super::{
    Error, Request,
    metadata::{self, MANAGED_FIELDS},
    scale,
    write::Write,
};
use crate::{
    kind::{Changes, Versions, convert::Answers},
    meta::Time,
    patch::apply::{self, View, Writer},
    schema::{Document, Meter, Schema, memory},
};

/// Calls a function of `patch::apply` with the schema and permitted changes of a request, and its manager.
pub(super) fn with_writer<T>(
    request: &Request,
    answers: &Answers,
    manager: &str,
    then: impl FnOnce(&View<'_>, &Writer<'_>) -> T,
) -> Result<T, Error> {
    if request.is_scale() {
        return Ok(scale::with_writer(manager, then));
    }
    let kind = &*request.resource.kind;
    let reset = request.changes()?.reset(&kind.version.schema);
    let reset: Vec<&[&str]> = reset.iter().map(Vec::as_slice).collect();
    let (version, now) = (kind.group_version.to_string(), Time::now().to_string());
    let writer = Writer { manager, api_version: &version, subresource: &request.subresource, time: &now };
    let (versions, changes, meter) = (request.resource.records.versions(), request.changes()?, &*request.meter);
    let others = Others { versions, changes, meter, answers };
    let view = View { root: &kind.version.schema, kind: &kind.names().kind, reset: &reset, versions: &others };
    let done = then(&view, &writer);
    // Otherwise its conversions have failed.
    request.meter.check()?;
    Ok(done)
}

/// The steps that converting an object and comparing the result take for each of its values.
const STEPS_OF_VALUE: usize = 16;

/// The other versions of the request's kind.
struct Others<'a> {
    versions: &'a Versions,
    /// The permitted changes of the request.
    changes: &'a Changes,
    /// Managers may have written in any number of versions, to each of which an object is converted.
    meter: &'a Meter,
    /// The answers of a webhook.
    answers: &'a Answers,
}

impl apply::Versions for Others<'_> {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.versions.find(api_version).map(|kind| &*kind.version.schema)
    }

    fn reset(&self, api_version: &str) -> Vec<Vec<&str>> {
        self.schema(api_version).map(|schema| self.changes.reset(schema)).unwrap_or_default()
    }

    fn convert(&self, object: Document, from: &str, to: &str) -> Result<Document, String> {
        self.meter.step(STEPS_OF_VALUE * memory::values(&object));
        self.meter.check().map_err(|exceeded| exceeded.to_string())?;
        let version = |name: &str| self.versions.find(name).ok_or_else(|| format!("there is no version {name}"));
        self.versions.convert(object, [version(from)?, version(to)?], self.answers)
    }

    fn lacks_answers(&self) -> bool {
        self.answers.are_missing()
    }
}

impl Write<'_> {
    /// Records the owner of a write's changes, unless that was done already.
    pub(super) fn own(&self, document: &mut Document, answers: &Answers) -> Result<(), Error> {
        if self.settles_owners() {
            return Ok(());
        }
        with_writer(self.request, answers, self.options.manager(), |view, writer| {
            apply::update(view, self.old, document, writer);
        })
    }
}

/// Writes the request to remove all ownership in the form that lasts until ownership is recorded: an empty list would
/// be dropped like other empty values.
pub(super) fn keep_reset(metadata: &mut Map<String, Value>) {
    if let Some(Value::Array(entries)) = metadata.get_mut(MANAGED_FIELDS)
        && entries.is_empty()
    {
        entries.push(Value::Object(Map::new()));
    }
}

/// Restores the entries if admission made them invalid. Returns the warning for the client.
pub(super) fn restore(document: &mut Document, before: Option<Value>) -> Option<String> {
    let now = document.get("metadata").and_then(|metadata| metadata.get(MANAGED_FIELDS));
    if now == before.as_ref() {
        return None;
    }
    let fault = now.and_then(fault)?;
    metadata::set_managed_fields(document, before);
    Some(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
         admission controller; please fix your requests: {fault}"
    ))
}

/// Describes why entries are invalid, if they are.
fn fault(entries: &Value) -> Option<&'static str> {
    let Some(entries) = entries.as_array() else { return Some("managedFields must be a list") };
    entries.iter().find_map(|entry| {
        let text = |member: &str| entry.get(member).and_then(Value::as_str).unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            Some("operation must be `Apply` or `Update`")
        } else if text("apiVersion").is_empty() {
            Some("apiVersion must not be empty")
        } else if text("fieldsType") != "FieldsV1" {
            Some("fieldsType must be `FieldsV1`")
        } else if !entry.get("fieldsV1").is_none_or(Value::is_object) {
            Some("fieldsV1 must be an object")
        } else {
            None
        }
    })
}
