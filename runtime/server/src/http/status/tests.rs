//! Failures compared with recorded ones of kube-apiserver.
use serde_json::{Value, json};

use super::*;
use crate::{
    auth::{Attributes, Decision, User},
    cache::WatchError,
    meta::{FieldError, FieldErrorKind, FieldPath, GroupKind, Revision},
    verbs::{Error, error::Occupant},
};

fn resource(group: &str, resource: &str) -> GroupResource {
    GroupResource { group: group.to_owned(), resource: resource.to_owned() }
}

fn shown(status: impl Into<Status>) -> Value {
    serde_json::to_value(status.into()).unwrap()
}

fn failure(code: u16, reason: &str, message: &str, details: &Value) -> Value {
    let mut want = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "code": code});
    if !reason.is_empty() {
        want["reason"] = reason.into();
    }
    if !details.is_null() {
        want["details"] = details.clone();
    }
    want
}

#[test]
fn objects_that_are_missing_taken_or_changed() {
    let name = || "a".to_owned();
    assert_eq!(
        shown(Error::NotFound(resource("", "configmaps"), name())),
        failure(404, "NotFound", "configmaps \"a\" not found", &json!({"name": "a", "kind": "configmaps"}))
    );
    assert_eq!(
        shown(Error::AlreadyExists(resource("e.com", "ws"), name(), Occupant::Staying)),
        failure(
            409,
            "AlreadyExists",
            "ws.e.com \"a\" already exists",
            &json!({"name": "a", "group": "e.com", "kind": "ws"})
        )
    );
    assert_eq!(
        shown(Error::Conflict(resource("", "configmaps"), name(), "it moved".to_owned())),
        failure(
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"a\": it moved",
            &json!({"name": "a", "kind": "configmaps"})
        )
    );
    let going = shown(Error::AlreadyExists(resource("", "configmaps"), name(), Occupant::Terminating));
    assert_eq!(going["message"], "object is being deleted: configmaps \"a\" already exists");
    let taken = shown(Error::GeneratedNameTaken(resource("", "configmaps"), "g-".to_owned(), Occupant::Staying));
    assert_eq!((&taken["code"], &taken["details"]["retryAfterSeconds"]), (&json!(409), &json!(1)));
}

#[test]
fn invalid_objects_name_each_text_once_and_each_cause() {
    let kind = GroupKind { group: "e.com".to_owned(), kind: "W".to_owned() };
    let required = FieldError::new(&FieldPath::new("spec.a"), FieldErrorKind::Required, "");
    let one = shown(Error::Invalid(kind.clone(), "x".to_owned(), vec![required.clone()]));
    assert_eq!(one["message"], "W.e.com \"x\" is invalid: spec.a: Required value");
    let cause = json!({"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"});
    assert_eq!(one["details"], json!({"name": "x", "group": "e.com", "kind": "W", "causes": [cause]}));
    let other = FieldError::new(&FieldPath::new("spec.b"), FieldErrorKind::Forbidden, "no");
    let several = shown(Error::Invalid(kind, String::new(), vec![required.clone(), other, required]));
    assert_eq!(several["message"], "W.e.com \"\" is invalid: [spec.a: Required value, spec.b: Forbidden: no]");
    assert_eq!(several["details"]["causes"].as_array().unwrap().len(), 3);
    let patch = shown(Error::InapplicablePatch("/a is missing".to_owned()));
    let recorded = "the server rejected our request due to an error in our request";
    assert_eq!(patch, failure(422, "Invalid", recorded, &json!({})));
}

#[test]
fn revisions_out_of_reach() {
    let late = Error::Expired { message: "gone".to_owned(), continue_token: Some("t".to_owned()) };
    let late = shown(late);
    assert_eq!((&late["code"], &late["reason"]), (&json!(410), &json!("Expired")));
    assert_eq!(late["metadata"], json!({"continue": "t"}));
    let early = Error::TooLargeRevision { asked: Revision(99), current: Revision(4) };
    let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
    assert_eq!(
        shown(early),
        failure(
            504,
            "Timeout",
            "Timeout: Too large resource version: 99, current: 4",
            &json!({"causes": [cause], "retryAfterSeconds": 1})
        )
    );
}

#[test]
fn failures_of_the_server() {
    assert_eq!(shown(Error::Unknown("odd".to_owned())), failure(500, "", "odd", &Value::Null));
    let internal = shown(Error::Internal("disk".to_owned()));
    assert_eq!(internal["message"], "Internal error occurred: disk");
    assert_eq!(shown(Error::Unavailable("stopping".to_owned()))["code"], 503);
    let full = shown(Error::InsufficientStorage("full".to_owned()));
    assert_eq!((&full["code"], &full["details"]["retryAfterSeconds"]), (&507.into(), &1.into()), "{full}");
}

#[test]
fn who_may_not() {
    let user = User { name: "alice".to_owned(), ..User::default() };
    let attributes = Attributes {
        version: "v1",
        resource: "configmaps",
        namespace: "n",
        name: "a",
        ..Attributes::new(&user, "get", "/api/v1/namespaces/n/configmaps/a")
    };
    let no = Decision::NO_OPINION;
    assert_eq!(
        shown(forbidden(&attributes, &no)),
        failure(
            403,
            "Forbidden",
            "configmaps \"a\" is forbidden: User \"alice\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"n\"",
            &json!({"name": "a", "kind": "configmaps"})
        )
    );
    let scale =
        Attributes { group: "e.com", resource: "ws", subresource: "scale", namespace: "", name: "", ..attributes };
    let message = shown(forbidden(&scale, &Decision::Deny("no way".to_owned())))["message"].clone();
    assert_eq!(
        message,
        "ws.e.com is forbidden: User \"alice\" cannot get resource \"ws/scale\" in API group \"e.com\" at the cluster scope: no way"
    );
    let page = Attributes { resource: "", namespace: "", name: "", path: "/<x>", ..attributes };
    assert_eq!(
        shown(forbidden(&page, &no)),
        failure(403, "Forbidden", "forbidden: User \"alice\" cannot get path \"/&lt;x&gt;\"", &json!({}))
    );
    assert_eq!(shown(unauthorized()), failure(401, "Unauthorized", "Unauthorized", &Value::Null));
}

#[test]
fn the_error_at_the_end_of_a_stream() {
    let expired = of_watch(WatchError::Expired(Revision(5))).unwrap();
    assert_eq!((expired.code, expired.reason.as_str()), (410, "Expired"));
    assert_eq!(of_watch(WatchError::Lagged), None);
}
