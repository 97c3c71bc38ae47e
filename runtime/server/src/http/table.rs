//! Tables: columns and cells for kubectl, computed from objects by the kind's columns.

use std::{borrow::Cow, sync::Arc};

use serde::Serialize;
use serde_json::Value;

use super::{
    list,
    negotiate::{ResponseFormat, Shape},
    partial,
    status::StatusError,
};
use crate::{
    cache::Object,
    codec,
    kind::{
        CellMeter, Kind,
        model::{Cell, Column},
    },
    meta::{Status, go, options::Query, time::Time},
    schema::Document,
    verbs::List,
};

/// kube-apiserver's description of the name column.
const NAME_DESCRIPTION: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// What each row contains besides its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Include {
    /// Nothing.
    None,
    /// The metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl Include {
    /// Parses `includeObject` for a Table. Fails with 400 for an invalid value.
    pub(super) fn parse(query: &Query, format: ResponseFormat) -> Result<Self, StatusError> {
        if format.shape != Shape::Table {
            return Ok(Self::default());
        }
        let given = query.single("includeObject")?.unwrap_or_default();
        match given {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', 'None', or empty",
                go::quoted(other)
            ))
            .into()),
        }
    }
}

/// A column, with its members in kube-apiserver's order.
#[derive(Serialize)]
struct ColumnDefinition<'k> {
    name: &'k str,
    #[serde(rename = "type")]
    kind: &'k str,
    format: &'k str,
    description: Cow<'k, str>,
    priority: i32,
}

/// Creates Tables of a kind's objects.
pub(super) struct Table {
    kind: Arc<Kind>,
    meta_version: &'static str,
    include: Include,
    now: Time,
}

impl Table {
    /// Tables with ages as of now.
    pub(super) fn new(kind: Arc<Kind>, meta_version: &'static str, include: Include) -> Self {
        Self { kind, meta_version, include, now: Time::now() }
    }

    /// The Table of one object, with or without columns: a stream of Tables has them only once.
    pub(super) fn of_event(&self, object: &Object, with_columns: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(2048);
        self.open(&mut out, &format!("{{\"resourceVersion\":\"{}\"}}", object.revision()), with_columns);
        self.row(&mut out, object);
        out.extend_from_slice(b"]}");
        out
    }

    /// The beginning of a list's Table up to its first row.
    pub(super) fn head(&self, list: &List) -> Vec<u8> {
        let mut out = Vec::with_capacity(2048);
        self.open(&mut out, &list::metadata(list, false), true);
        out
    }

    fn open(&self, out: &mut Vec<u8>, metadata: &str, with_columns: bool) {
        let columns = serde_json::to_string(&with_columns.then(|| self.columns())).expect("columns are plain data");
        let version = self.meta_version;
        let start = format!("{{\"kind\":\"Table\",\"apiVersion\":\"{version}\",\"metadata\":{metadata}");
        out.extend_from_slice(format!("{start},\"columnDefinitions\":{columns},\"rows\":[").as_bytes());
    }

    fn columns(&self) -> Vec<ColumnDefinition<'_>> {
        let name = ColumnDefinition {
            name: "Name",
            kind: "string",
            format: "name",
            description: NAME_DESCRIPTION.into(),
            priority: 0,
        };
        let further = self.kind.version.columns.iter().map(|column| {
            // kube-apiserver's compiled kinds declare all columns as text, even counts and ages.
            let printed = self.kind.policy().prints_tables();
            ColumnDefinition {
                name: &column.name,
                kind: if printed { "string" } else { &column.kind },
                format: &column.format,
                description: describe(column),
                priority: column.priority,
            }
        });
        let name = (!self.kind.names_itself()).then_some(name);
        name.into_iter().chain(further).collect()
    }

    /// Appends the row of an object.
    pub(super) fn row(&self, out: &mut Vec<u8>, object: &Object) {
        // An object that cannot be decoded still has a row, so that it is visible and can be deleted.
        let document: Document = codec::from_written(object.json_bytes()).unwrap_or_default();
        out.extend_from_slice(b"{\"cells\":[");
        if !self.kind.names_itself() {
            write(out, &Value::from(object.name()));
        }
        let meter = CellMeter::of(object.json_bytes().len());
        for (at, column) in self.kind.version.columns.iter().enumerate() {
            if at > 0 || !self.kind.names_itself() {
                out.push(b',');
            }
            let start = out.len();
            write(out, &self.cell(column, &document, &meter));
            meter.text(out.len() - start);
        }
        out.extend_from_slice(b"],\"object\":");
        match self.include {
            Include::None => out.extend_from_slice(b"null"),
            Include::Metadata => partial::write(out, object, self.meta_version),
            Include::Object => out.extend_from_slice(object.json_bytes()),
        }
        out.push(b'}');
    }

    /// The cell of a column; null if the cells before it took more than the meter allows.
    fn cell(&self, column: &Column, document: &Document, meter: &CellMeter) -> Value {
        if meter.is_exhausted() && !matches!(column.cell, Cell::Computed) {
            return Value::Null;
        }
        let is_shown = |value: &&Document| column.kind == "string" || !(value.is_object() || value.is_array());
        let shown = |value: Option<&Document>| match value.filter(is_shown) {
            Some(Document::Null) if column.kind == "string" && !self.kind.policy().prints_tables() => NO_VALUE.into(),
            value => value.cloned().unwrap_or_default(),
        };
        let value = match &column.cell {
            Cell::Path(path) => shown(path.of(document)),
            Cell::JsonPath(path) => shown(path.find(document, meter).next()),
            Cell::Call(call) => call.of(document, meter),
            Cell::Computed => self.kind.compute(column, document),
        };
        match (column.kind.as_str(), value) {
            (_, Value::Null) if column.kind == "date" && self.kind.policy().prints_tables() => "<unknown>".into(),
            (_, Value::Null) => Value::Null,
            ("date", Value::String(text)) if self.kind.policy().shows_ages() => age(&text, self.now).into(),
            // Computed values are shown unchanged: `2/3` may be in a column of integers.
            (_, value) if matches!(column.cell, Cell::Call(_) | Cell::Computed) => value,
            ("string" | "date", text @ Value::String(_)) => text,
            ("string", other) => other.to_string().into(),
            ("integer", Value::Number(number)) => whole(&number),
            ("number", number @ Value::Number(_)) => number,
            ("boolean", flag @ Value::Bool(_)) => flag,
            _ => Value::Null,
        }
    }
}

/// The age of a time; that of no time, which Go says by several texts, is unknown.
fn age(text: &str, now: Time) -> String {
    match text.parse::<Time>() {
        _ if matches!(text, "" | "null" | "0001-01-01T00:00:00Z") => "<unknown>".to_owned(),
        Ok(at) => at.age(now),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// What Go's templates print for `null`.
const NO_VALUE: &str = "<no value>";

#[expect(clippy::cast_possible_truncation, reason = "kube-apiserver cuts a fraction off, too")]
fn whole(number: &serde_json::Number) -> Value {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => whole.into(),
        (None, Some(fraction)) => (fraction as i64).into(),
        (None, None) => Value::Null,
    }
}

fn describe(column: &Column) -> Cow<'_, str> {
    match &column.cell {
        Cell::Path(path) if column.description.is_empty() => {
            format!("Custom resource definition column (in JSONPath format): .{path}").into()
        }
        _ => Cow::Borrowed(&column.description),
    }
}

fn write(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(&mut *out, value).expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests;
