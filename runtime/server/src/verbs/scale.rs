//! scale: reads and writes an object's number of replicas as autoscaling/v1 Scale, using the kind's paths.
use std::sync::LazyLock;

use serde_json::json;

use super::{
    Error, FieldErrorKind, Request,
    metadata::{managed_fields, set_managed_fields, text},
    stored::document_of,
    write::{NewState, Origin, Shape, Write},
};
use crate::{
    cache::Object,
    kind::{
        Kind,
        cells::labels,
        model::{Path, ScalePaths},
        policy::Compiled,
    },
    meta::{FieldError, FieldPath, GroupVersion, Preconditions, Time, go},
    patch::apply::{self, OneVersion, View, Writer, scale},
    schema::{Document, Schema, model::Type},
};

/// The schema of autoscaling/v1 Scale, for field ownership.
static SCALE: LazyLock<Schema> = LazyLock::new(|| {
    let number = || Schema { kind: Type::Integer, format: Some("int32".to_owned()), ..Schema::default() };
    let object = |name: &str, properties: Vec<(&str, Schema)>| Schema {
        kind: Type::Object,
        name: Some(name.to_owned()),
        properties: properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect(),
        ..Schema::default()
    };
    let selector = Schema { kind: Type::String, ..Schema::default() };
    let status = object("ScaleStatus", vec![("replicas", number()), ("selector", selector)]);
    object("Scale", vec![("spec", object("ScaleSpec", vec![("replicas", number())])), ("status", status)])
});
/// The group and version of Scale.
pub(super) static VERSION: LazyLock<GroupVersion> =
    LazyLock::new(|| GroupVersion { group: "autoscaling".to_owned(), version: "v1".to_owned() });
/// Stands for an absent number of replicas while a scale is changed.
const ABSENT: i64 = i32::MIN as i64;

/// Changes the scale of an object. Returns the object with the new number of replicas, and with field owners.
pub(super) fn change(
    write: &Write<'_>,
    object: &Document,
    change: impl Fn(&Document) -> Result<NewState, Error>,
) -> Result<NewState, Error> {
    let (request, kind) = (write.request, write.kind);
    let version = kind.group_version.to_string();
    let versions = request.resource.records.versions();
    let replicas_in = |version: &str| Some(&versions.find(version)?.version.scale.as_ref()?.replicas.0[..]);
    let mut live = of_document(kind, object, Some(ABSENT))?;
    let owners = managed_fields(object).unwrap_or_default();
    set_managed_fields(&mut live, there(scale::to_scale(&owners, replicas_in)));
    let (mut scale, warnings) = change(&live)?;
    if write.origin != Origin::Apply {
        // The managed fields in the client's document are ignored.
        set_managed_fields(&mut scale, managed_fields(&live));
        let manager = write.options.manager();
        with_writer(manager, |view, writer| apply::update(view, Some(&live), &mut scale, writer));
    }
    let replicas = replicas(request, &scale, object)?;
    let mut new = object.clone();
    paths(kind)?.replicas.put(&mut new, Some(replicas.into()));
    let scaled = managed_fields(&scale).unwrap_or_default();
    set_managed_fields(&mut new, there(scale::to_parent(&owners, &scaled, &version, replicas_in)));
    Ok((new, warnings))
}

/// The expected shape of a scale.
pub(super) fn shape() -> Shape<'static> {
    Shape { version: &VERSION, kind: "Scale", schema: &SCALE, policy: &Compiled, needs_type_meta: false }
}

/// The entries, if there are any.
fn there(entries: Document) -> Option<Document> {
    (!entries.is_null()).then_some(entries)
}

/// Calls a function of `patch::apply` for a write of a scale.
pub(super) fn with_writer<T>(manager: &str, then: impl FnOnce(&View<'_>, &Writer<'_>) -> T) -> T {
    let (version, now) = (VERSION.to_string(), Time::now().to_string());
    let writer = Writer { manager, api_version: &version, subresource: "scale", time: &now };
    then(&View { root: &SCALE, kind: "Scale", reset: &[], versions: &OneVersion }, &writer)
}

/// The scale of an object.
pub(super) fn of_object(kind: &Kind, object: &Object) -> Result<Document, Error> {
    of_document(kind, &document_of(object)?, None)
}

/// The scale of an object. Fails with [`Error::Internal`] if the object has no desired number and there is no
/// substitute, [`Error::MethodNotAllowed`] if its kind has no scale.
pub(super) fn of_document(kind: &Kind, object: &Document, absent: Option<i64>) -> Result<Document, Error> {
    let paths = paths(kind)?;
    let Some(replicas) = paths.replicas.of(object).and_then(Document::as_i64).or(absent) else {
        let message = format!("the spec replicas field {:?} does not exist", format!(".{}", paths.replicas));
        return Err(Error::Internal(message));
    };
    let observed = paths.status_replicas.of(object).and_then(Document::as_i64).unwrap_or(0);
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {},
        "spec": if replicas == 0 { json!({}) } else { json!({ "replicas": replicas }) },
        "status": { "replicas": observed },
    });
    for member in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(member) {
            scale["metadata"][member] = value.clone();
        }
    }
    if let Some(selector) = paths.selector.as_ref().and_then(|path| path.of(object)) {
        scale["status"]["selector"] = labels(selector).into();
    }
    Ok(scale)
}

pub(super) fn paths(kind: &Kind) -> Result<&ScalePaths, Error> {
    kind.version.scale.as_ref().ok_or(Error::MethodNotAllowed)
}

/// The requested number of replicas. The scale's resourceVersion is a precondition.
pub(super) fn replicas(request: &Request, scale: &Document, object: &Document) -> Result<i64, Error> {
    let kind = &*request.resource.kind;
    // Version zero means no version.
    let given = Some(text(scale, "resourceVersion")).filter(|given| !given.is_empty()).map(str::to_owned);
    let expected = Preconditions { uid: None, resource_version: given };
    expected.check(Some(&object["metadata"])).map_err(|_| request.modified())?;
    let replicas = scale.get("spec").and_then(|spec| spec.get("replicas")).and_then(Document::as_i64).unwrap_or(0);
    if replicas == ABSENT {
        let message = format!("the spec replicas field {:?} cannot be empty", format!(".{}", paths(kind)?.replicas));
        return Err(Error::BadRequest(message));
    }
    if replicas < 0 {
        let path = FieldPath::new(format!(".{}", paths(kind)?.replicas));
        let error =
            FieldError::new(&path, FieldErrorKind::Invalid(replicas.into()), "should be a non-negative integer");
        return Err(Error::Invalid(kind.group_kind(), request.name.clone(), vec![error]));
    }
    Ok(replicas)
}

/// The errors of the fields in a custom resource that its scale is read from: numbers of replicas that no Scale can have, and values of
/// other types. A write of the status is not about the desired number.
pub(super) fn field_errors(paths: &ScalePaths, object: &Document, is_status: bool) -> Vec<FieldError> {
    let desired = (!is_status).then_some(&paths.replicas);
    let numbers = desired.into_iter().chain([&paths.status_replicas]).filter_map(|path| replicas_error(path, object));
    let selector = paths.selector.as_ref().and_then(|path| selector_error(path, object));
    numbers.chain(selector).collect()
}

fn replicas_error(path: &Path, object: &Document) -> Option<FieldError> {
    let (given, detail) = match nested(path, object) {
        Ok(None) => return None,
        Ok(Some(value)) => match value.as_i64().filter(|_| !value.is_f64()) {
            Some(number) if number < 0 => (number, "should be a non-negative integer".to_owned()),
            Some(number) if number > i32::MAX.into() => {
                (number, format!("should be less than or equal to {}", i32::MAX))
            }
            Some(_) => return None,
            None => (0, mistyped(&path.to_string(), value, "int64")),
        },
        Err(detail) => (0, detail),
    };
    Some(invalid(path, given.into(), detail))
}

fn selector_error(path: &Path, object: &Document) -> Option<FieldError> {
    let detail = match nested(path, object) {
        Ok(None | Some(Document::String(_))) => return None,
        Ok(Some(value)) => mistyped(&path.to_string(), value, "string"),
        Err(detail) => detail,
    };
    Some(invalid(path, "".into(), detail))
}

fn invalid(path: &Path, given: Document, detail: String) -> FieldError {
    FieldError::new(&FieldPath::new(format!(".{path}")), FieldErrorKind::Invalid(given), detail)
}

/// The value at a path, which may be null; `None` if it or something above it is absent. Fails at a value above it that has no fields.
fn nested<'d>(path: &Path, object: &'d Document) -> Result<Option<&'d Document>, String> {
    let mut value = object;
    for (index, name) in path.0.iter().enumerate() {
        value = match value {
            Document::Null => return Ok(None),
            Document::Object(fields) => match fields.get(name) {
                Some(field) => field,
                None => return Ok(None),
            },
            other => return Err(mistyped(&path.0[..=index].join("."), other, "map[string]interface{}")),
        };
    }
    Ok(Some(value))
}

/// The error of kube-apiserver for a value of another type at or above a path.
fn mistyped(path: &str, value: &Document, expected: &str) -> String {
    format!(".{path} accessor error: {} is of the type {}, expected {expected}", go::plain(value), go::type_name(value))
}
