//! Operations of one request.
use hyper::Method;

use super::{
    Position,
    objects::{
        CREATED, DEFINED, READ, WRITTEN, WRITTEN_OBJECTS, config_map, config_maps, defined, defined_object, name,
    },
};
use crate::client::Request;

/// Spreads successive numbers over all others.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CBOR: &str = "application/cbor";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
/// YAML, of which JSON is a part.
pub(super) const APPLY: &str = "application/apply-patch+yaml";

fn index(position: &Position, below: u64) -> u64 {
    (position.number.wrapping_mul(SPREAD) >> 16) % below.max(1)
}

fn any(namespace: &str, number: u64) -> String {
    format!("{}/{}", config_maps(namespace), name(usize::try_from(number).unwrap_or(0)))
}

pub(super) fn get(position: &Position) -> Request {
    Request::get(any(READ, index(position, position.objects)))
}

pub(super) fn get_any(position: &Position) -> Request {
    Request::get(any(READ, index(position, position.objects)) + "?resourceVersion=0")
}

pub(super) fn get_protobuf(position: &Position) -> Request {
    Request { accept: PROTOBUF, ..get(position) }
}

pub(super) fn get_cbor(position: &Position) -> Request {
    Request { accept: CBOR, ..get(position) }
}

pub(super) fn list_500(_: &Position) -> Request {
    Request::get(config_maps(READ) + "?limit=500")
}

pub(super) fn list_all(_: &Position) -> Request {
    Request::get(config_maps(READ))
}

pub(super) fn list_pretty(_: &Position) -> Request {
    Request::get(config_maps(READ) + "?pretty=1")
}

pub(super) fn list_yaml(position: &Position) -> Request {
    Request { accept: "application/yaml", ..list_all(position) }
}

pub(super) fn list_cbor(position: &Position) -> Request {
    Request { accept: CBOR, ..list_all(position) }
}

pub(super) fn list_protobuf(position: &Position) -> Request {
    Request { accept: PROTOBUF, ..list_all(position) }
}

pub(super) fn list_table(position: &Position) -> Request {
    Request { accept: "application/json;as=Table;g=meta.k8s.io;v=v1", ..list_all(position) }
}

pub(super) fn list_metadata(position: &Position) -> Request {
    Request { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", ..list_all(position) }
}

pub(super) fn list_gzip(position: &Position) -> Request {
    Request { gzip: true, ..list_all(position) }
}

pub(super) fn list_label(position: &Position) -> Request {
    Request::get(format!("{}?labelSelector=part%3D{}", config_maps(READ), position.number % 10))
}

pub(super) fn list_label_none(_: &Position) -> Request {
    Request::get(config_maps(READ) + "?labelSelector=part%3Dnone")
}

pub(super) fn list_field(position: &Position) -> Request {
    let number = usize::try_from(index(position, position.objects)).unwrap_or(0);
    Request::get(format!("{}?fieldSelector=metadata.name%3D{}", config_maps(READ), name(number)))
}

pub(super) fn create(position: &Position) -> Request {
    let body = config_map(&format!("{}-{}", position.run, position.number), position.number % 10, "0");
    Request::write(Method::POST, config_maps(CREATED), "application/json", body)
}

fn create_defined(plural: &str, position: &Position) -> Request {
    let body = defined_object(plural, &fresh(position));
    Request::write(Method::POST, defined(plural), "application/json", body)
}

pub(super) fn create_plain(position: &Position) -> Request {
    create_defined(DEFINED[0], position)
}

pub(super) fn create_ruled(position: &Position) -> Request {
    create_defined(DEFINED[1], position)
}

/// The number of the object that an operation changes. Successive operations change different objects.
fn written(position: &Position) -> u64 {
    position.number % WRITTEN_OBJECTS as u64
}

/// A value that the object does not have yet.
fn fresh(position: &Position) -> String {
    format!("{}-{}", position.run, position.number)
}

/// The whole object of a number.
fn whole(number: u64, data: &str) -> String {
    config_map(&name(usize::try_from(number).unwrap_or(0)), number % 10, data)
}

pub(super) fn update(position: &Position) -> Request {
    let number = written(position);
    Request::write(Method::PUT, any(WRITTEN, number), "application/json", whole(number, &fresh(position)))
}

fn patch(position: &Position, content_type: &'static str, body: String) -> Request {
    Request::write(Method::PATCH, any(WRITTEN, written(position)), content_type, body)
}

pub(super) fn patch_json(position: &Position) -> Request {
    let body = format!(r#"[{{"op":"replace","path":"/data/n","value":"{}"}}]"#, fresh(position));
    patch(position, JSON_PATCH, body)
}

pub(super) fn patch_merge(position: &Position) -> Request {
    patch(position, MERGE_PATCH, format!(r#"{{"data":{{"n":"{}"}}}}"#, fresh(position)))
}

pub(super) fn patch_strategic(position: &Position) -> Request {
    patch(position, STRATEGIC_PATCH, format!(r#"{{"data":{{"n":"{}"}}}}"#, fresh(position)))
}

fn applied(number: u64, data: &str) -> Request {
    let path = any(WRITTEN, number) + "?fieldManager=load&force=true";
    Request::write(Method::PATCH, path, APPLY, whole(number, data))
}

pub(super) fn apply(position: &Position) -> Request {
    applied(written(position), &fresh(position))
}

/// On few objects: the first apply of each changes it, all later ones do not.
pub(super) fn apply_same(position: &Position) -> Request {
    applied(position.number % 16, "same")
}
