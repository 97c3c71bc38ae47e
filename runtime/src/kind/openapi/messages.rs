//! Protobuf definitions beside OpenAPI documents: the numbers of fields, which documents do not say. Objects of kinds
//! all of whose fields have numbers are read and written in Protobuf, too.
//!
//! Files are in proto2 or proto3. A message is that of the schema with its name: `k8s.io.api.apps.v1.Deployment` of
//! `io.k8s.api.apps.v1.Deployment`, where documents reverse the domain, or `com.example.v1.Gear` of the same. A field whose
//! message has the fields of the schema in its place is a part of the object, as structs are that Go embeds. A field without
//! presence, which in proto3 is one of a scalar type without `optional`, is absent if it is zero.
//!
//! What is read are packages, messages and fields. The types of fields are those of the schemas, since the types of messages say
//! less; services, options and extensions are skipped.
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::findings::{Findings, Place};
use crate::schema::Schema;

mod parse;

/// How many structs may be embedded in each other; a message may contain itself.
const DEEPEST_PART: usize = 3;
/// The type of times with microseconds, which documents do not distinguish from others.
const MICRO_TIME: &str = "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime";

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub number: u32,
    /// The type, as it is written.
    pub kind: String,
    /// Its zero and its absence mean the same.
    pub zero_is_absent: bool,
}

/// A field, and the numbers of the parts around it, if it is in some.
type Found<'m> = (&'m Field, Option<Arc<[u32]>>);

/// The fields of a message by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The name of the package or message around it.
    scope: String,
    fields: BTreeMap<String, Field>,
}

/// The messages of all files, by full name.
#[derive(Debug, Default)]
pub(super) struct Messages(HashMap<String, Message>);

impl Messages {
    /// Returns true for a text that is one of Protobuf definitions.
    pub(super) fn is_one(text: &[u8]) -> bool {
        parse::begins(&String::from_utf8_lossy(text))
    }

    /// Adds the messages of a file.
    pub(super) fn read(&mut self, text: &[u8], place: &Place<'_>, findings: &mut Findings) {
        let parsed = std::str::from_utf8(text).map_err(|error| (1, error.to_string())).and_then(parse::file);
        match parsed {
            Ok(messages) => self.0.extend(messages),
            Err((line, why)) => findings.error_at_line(place, line, why),
        }
    }

    /// The message of the schema with this name.
    fn of_schema(&self, name: &str) -> Option<(String, &Message)> {
        if self.0.is_empty() {
            return None;
        }
        let name = name.replace('-', "_");
        let steps: Vec<&str> = name.split('.').collect();
        (0..steps.len()).find_map(|reversed| {
            let domain = steps[..reversed].iter().rev();
            let name = domain.chain(&steps[reversed..]).copied().collect::<Vec<_>>().join(".");
            let message = self.0.get(&name)?;
            Some((name, message))
        })
    }

    /// The message of a type as it is written inside of another: from the innermost name outwards.
    fn resolve(&self, kind: &str, scope: &str) -> Option<&Message> {
        if let Some(full) = kind.strip_prefix('.') {
            return self.0.get(full);
        }
        let mut scope = scope;
        loop {
            let name = if scope.is_empty() { kind.to_owned() } else { format!("{scope}.{kind}") };
            if let Some(message) = self.0.get(&name) {
                return Some(message);
            }
            scope = match scope.rsplit_once('.') {
                Some((outer, _)) => outer,
                None if scope.is_empty() => return None,
                None => "",
            };
        }
    }

    /// Numbers the fields of the schema with this name.
    pub(super) fn number(&self, name: &str, schema: &mut Schema, place: &Place<'_>, findings: &mut Findings) {
        let Some((message_name, message)) = self.of_schema(name) else { return };
        let mut numbers = HashMap::new();
        self.collect(message, schema, &[], &mut numbers);
        let place = place.key("properties");
        let numbered = schema.properties.iter().map(|(name, property)| {
            let mut property = property.clone();
            match numbers.get(name.as_str()) {
                Some((field, parts)) => {
                    property.protobuf = Some(field.number);
                    property.protobuf_parts.clone_from(parts);
                    if field.kind.ends_with(MICRO_TIME) {
                        property.format = Some("micro-time".to_owned());
                    }
                    property.zero_is_absent |= field.zero_is_absent;
                    property.omit_empty |= field.zero_is_absent && !schema.required.contains(name);
                }
                // The types of objects are not in their messages.
                None if ["apiVersion", "kind"].contains(&name.as_str()) => property.protobuf = Some(0),
                None => {
                    let message = format!("{message_name} has no such field: its objects are not served in Protobuf");
                    findings.warning(&place.key(name), message);
                }
            }
            (name.clone(), property)
        });
        schema.properties = numbered.collect();
    }

    /// Finds the fields of a schema in its message, and in the parts of that.
    fn collect<'m>(
        &'m self,
        message: &'m Message,
        schema: &'m Schema,
        parts: &[u32],
        found: &mut HashMap<&'m str, Found<'m>>,
    ) {
        for (name, field) in &message.fields {
            // Go's names differ from those of JSON in their case, such as uID from uid.
            let is_same = |property: &&String| property.eq_ignore_ascii_case(name);
            if let Some(name) = schema.properties.keys().find(is_same) {
                found.insert(name, (field, (!parts.is_empty()).then(|| parts.into())));
            } else if parts.len() < DEEPEST_PART
                && let Some(part) = self.resolve(&field.kind, &message.scope)
            {
                self.collect(part, schema, &[parts, &[field.number]].concat(), found);
            }
        }
    }
}
