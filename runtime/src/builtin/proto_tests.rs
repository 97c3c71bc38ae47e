//! The Protobuf definitions of built-in kinds equal kube-apiserver's in the names, numbers and types of all fields.
use std::collections::BTreeMap;

use crate::{
    builtin::kinds,
    kind::proto::{File, files},
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
    let found = read(&files(&kinds()));
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
