//! The parts of a version beside its schema: subresources, columns, selectable fields.
use super::{
    super::{Fields, Findings, Location},
    field_path,
};
use crate::{kind::jsonpath::JsonPath, meta::FieldErrorKind};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// How many fields may be selectable.
const MOST_SELECTABLE: usize = 8;

pub(super) fn subresources(subresources: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let Some(scale) = subresources.object("scale") else { return };
    let at = location.field("scale");
    for (name, below, required, detail) in [
        ("specReplicasPath", &[".spec."][..], true, "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], true, "should be a json path under .status"),
        ("labelSelectorPath", &[".spec.", ".status."], false, "should be a json path under either .spec or .status"),
    ] {
        let (path, at) = (scale.text(name), at.field(name));
        if path.is_empty() {
            if required {
                findings.required(&at, "");
            }
        } else if !path.starts_with('.') {
            findings.invalid(&at, path, "must be a simple json path starting with .");
        } else if !below.iter().any(|below| path.starts_with(below)) {
            findings.invalid(&at, path, detail);
        } else if JsonPath::parse(path).ok().and_then(|path| path.names()).is_none() {
            findings.invalid(&at, path, "must be a json path in the dot notation");
        }
    }
}

pub(super) fn columns(version: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    for (index, column) in version.objects("additionalPrinterColumns").enumerate() {
        let at = location.index(index);
        if column.text("name").is_empty() {
            findings.required(&at.field("name"), "");
        }
        let one_of = |of: &[&str]| format!("must be one of {}", of.join(","));
        let (kind, format, path) = (column.text("type"), column.text("format"), column.text("jsonPath"));
        if kind.is_empty() {
            findings.required(&at.field("type"), one_of(&TYPES));
        } else if !TYPES.contains(&kind) {
            findings.invalid(&at.field("type"), kind, one_of(&TYPES));
        }
        if !format.is_empty() && !FORMATS.contains(&format) {
            findings.invalid(&at.field("format"), format, one_of(&FORMATS));
        }
        let at = at.named("JSONPath", "jsonPath");
        if path.is_empty() {
            findings.required(&at, "");
        } else if !path.starts_with('.') {
            findings.invalid(&at, path, "must be a simple json path starting with .");
        } else if let Err(error) = JsonPath::parse(path) {
            // Kube-apiserver accepts it, and logs that it cannot show it.
            findings.warning(&at, format!("not a JSONPath: {error}: this column and those after it are not shown"));
        }
    }
}

pub(super) fn selectable(
    version: Fields<'_>,
    root: Option<Fields<'_>>,
    location: &Location<'_>,
    findings: &mut Findings,
) {
    if version.items("selectableFields").is_empty() {
        return;
    }
    let Some(root) = root else {
        return findings.invalid(location, "", "may only be set when validations.schema is included");
    };
    let mut known: Vec<Vec<String>> = Vec::new();
    for (index, field) in version.objects("selectableFields").enumerate() {
        let (item, path) = (location.index(index), field.text("jsonPath"));
        let at = item.field("jsonPath");
        if path.is_empty() {
            findings.required(&at, "");
            continue;
        }
        let (names, schema) = match field_path::resolve(path, root, false) {
            Ok(found) => found,
            Err(error) => {
                findings.invalid(&at, path, format!("is an invalid path: {error}"));
                continue;
            }
        };
        if names.first().is_some_and(|name| name == "metadata") {
            findings.invalid(&at, path, "must not point to fields in metadata");
        }
        if !["string", "boolean", "integer"].contains(&schema.text("type")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                          formats are allowed.";
            findings.invalid(&at, path, detail);
        }
        if known.contains(&names) {
            findings.error(&at, FieldErrorKind::Duplicate(path.into()), "");
        } else {
            known.push(names);
        }
    }
    if known.len() > MOST_SELECTABLE {
        let limit = MOST_SELECTABLE.try_into().unwrap_or(i64::MAX);
        findings.error(location, FieldErrorKind::TooMany { given: known.len(), limit }, "");
    }
}
