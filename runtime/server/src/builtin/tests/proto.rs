//! The Protobuf definitions of built-in kinds equal kube-apiserver's in the names, numbers and types of all fields.
use std::collections::BTreeMap;

use crate::{
    builtin::kinds,
    proto::{File, files},
};

/// Messages by full name, with their fields by name, each with its number and its type as written.
type Messages = BTreeMap<String, BTreeMap<String, (u32, String)>>;

/// Parses definitions; supports only the syntax that the server prints.
fn read(files: &[File]) -> Messages {
    let mut messages = Messages::new();
    for file in files {
        let (mut package, mut message) = (String::new(), String::new());
        for line in file.text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            if let Some(name) = line.strip_prefix("package ") {
                name.trim_end_matches(';').clone_into(&mut package);
            } else if let Some(name) = line.strip_prefix("message ") {
                message = format!("{package}.{}", name.trim_end_matches(" {"));
                messages.insert(message.clone(), BTreeMap::new());
            } else if let Some((declared, number)) = line.trim_end_matches(';').split_once(" = ") {
                let Some((kind, name)) = declared.rsplit_once(' ') else { continue };
                let number = number.parse().expect("a number");
                messages.get_mut(&message).expect("a message").insert(name.to_owned(), (number, kind.to_owned()));
            }
        }
    }
    messages
}

#[test]
fn fields_are_numbered_as_in_kube_apiserver() {
    let reference: Messages = serde_json::from_str(include_str!("protobuf_fields.json")).expect("recorded fields");
    let mut found = read(&files(&kinds()));
    // The message around a list in a map is named after its place. The name is not on the wire.
    for (message, name) in [
        ("authentication.v1.UserInfo", "UserInfoExtraItems"),
        ("authorization.v1.SubjectAccessReviewSpec", "SubjectAccessReviewSpecExtraItems"),
    ] {
        let (package, _) = message.rsplit_once('.').expect("a package");
        let items = found.remove(&format!("k8s.io.api.{package}.{name}")).expect("a message of items");
        assert_eq!(items, reference[&format!("k8s.io.api.{package}.ExtraValue")]);
        let fields = found.get_mut(&format!("k8s.io.api.{message}")).expect("a message");
        let (_, extra) = fields.get_mut("extra").expect("a field");
        assert_eq!(*extra, format!("map<string, {name}>"));
        "map<string, ExtraValue>".clone_into(extra);
    }
    // Each package has its own messages, except those of `meta`.
    let source = found.remove("k8s.io.api.events.v1.EventSource").expect("a message");
    assert_eq!(source, reference["k8s.io.api.core.v1.EventSource"]);
    let event = found.get_mut("k8s.io.api.events.v1.Event").expect("a message");
    let (_, of) = event.get_mut("deprecatedSource").expect("a field");
    assert_eq!(*of, "optional EventSource");
    "optional .k8s.io.api.core.v1.EventSource".clone_into(of);
    let (mut checked, mut unknown) = (0, Vec::new());
    for (name, fields) in &found {
        let Some(known) = reference.get(name) else {
            unknown.push(name.clone());
            continue;
        };
        for (field, declared) in fields {
            assert_eq!(Some(declared), known.get(field), "{name}.{field}");
            checked += 1;
        }
    }
    assert_eq!(unknown, Vec::<String>::new(), "messages that kube-apiserver does not have");
    assert!(checked > 150, "{checked}");
}
