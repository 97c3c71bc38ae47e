//! Protobuf definitions beside OpenAPI documents and manifests: the numbers of fields, which these do not say. Objects of kinds
//! all of whose fields have numbers are read and written in Protobuf, too.
//!
//! Files are in proto2 or proto3. A message is that of the schema with its name: `k8s.io.api.apps.v1.Deployment` of
//! `io.k8s.api.apps.v1.Deployment`, where documents reverse the domain, or `com.example.v1.Gear` of the same. Schemas without a
//! name have the message of the field that they are in, and kinds of manifests the message called like the kind. A field whose
//! message has the fields of the schema in its place is a part of the object, as structs are that Go embeds. A field without
//! presence, which in proto3 is one of a scalar type without `optional`, is absent if it is zero.
//!
//! The types of fields are those of the schemas, since the types of messages say less. A type that is another one on the wire,
//! and a field whose name is reserved, are errors with the line of the message.
use std::collections::HashMap;

use kindsmith_proto::{self as proto, File, Message, ResolvedType};

use super::findings::{Findings, Location};
use crate::{
    crd::{Entry, Report},
    kind::Definition,
    proto::package_name,
    schema::Schema,
};

mod number;
mod types;

/// The messages of all files.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    files: Vec<ProtoFile>,
    /// The messages by full name: the file, and the name in its package.
    names: HashMap<String, (usize, String)>,
}

#[derive(Clone, Debug)]
struct ProtoFile {
    /// Its index among the files that were read.
    document: usize,
    name: String,
    file: File,
}

/// A message, and where it is.
#[derive(Clone, Copy)]
struct MessageRef<'m> {
    source: &'m ProtoFile,
    /// Its name in the package.
    name: &'m str,
    message: &'m Message,
}

impl MessageRef<'_> {
    fn full_name(&self) -> String {
        full_name(&self.source.file, self.name)
    }
}

fn full_name(file: &File, name: &str) -> String {
    if file.package.is_empty() { name.to_owned() } else { format!("{}.{name}", file.package) }
}

/// What is wrong with a schema and its message.
#[derive(Default)]
struct Problems {
    /// By the index of the file, and its line.
    conflicts: Vec<(usize, usize, String)>,
    /// Fields without a number, by their JSON pointer.
    missing: Vec<(String, String)>,
}

impl Messages {
    /// True if there were no files of definitions.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns true for a text that is one of Protobuf definitions.
    pub(super) fn is_one(text: &[u8]) -> bool {
        proto::is_proto(&String::from_utf8_lossy(text))
    }

    /// Adds the messages of a file.
    pub(super) fn read(&mut self, (name, text): (&str, &[u8]), document: usize, findings: &mut Findings) {
        let text = String::from_utf8_lossy(text);
        match proto::parse(&text) {
            Ok(file) => {
                let index = self.files.len();
                let all = file.all().into_iter().map(|(name, _)| (full_name(&file, &name), (index, name)));
                self.names.extend(all.collect::<Vec<_>>());
                self.files.push(ProtoFile { document, name: name.to_owned(), file });
            }
            Err(proto::Error { line, message }) => findings.error_at_line(&Location::of(document), line, message),
        }
    }

    /// The message of a full name.
    fn get(&self, name: &str) -> Option<MessageRef<'_>> {
        let (index, name) = self.names.get(name)?;
        let source = &self.files[*index];
        Some(MessageRef { source, name, message: source.file.message(name)? })
    }

    /// The message of the schema with this name.
    fn of_schema(&self, name: &str) -> Option<MessageRef<'_>> {
        if self.names.is_empty() {
            return None;
        }
        let name = name.replace('-', "_");
        let steps: Vec<&str> = name.split('.').collect();
        (0..steps.len()).find_map(|reversed| {
            let domain = steps[..reversed].iter().rev();
            self.get(&domain.chain(&steps[reversed..]).copied().collect::<Vec<_>>().join("."))
        })
    }

    /// The message of a kind: in the package of its group and version, in a file that is named after them, or in the only
    /// package whose name ends in the version and has the first part of the group in it.
    fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<MessageRef<'_>> {
        let candidates = self.files.iter().filter_map(|source| {
            let message = source.file.messages.iter().find(|message| message.name == kind)?;
            Some(MessageRef { source, name: &message.name, message })
        });
        let candidates: Vec<_> = candidates.collect();
        let find =
            |is_it: &dyn Fn(&MessageRef<'_>) -> bool| candidates.iter().find(|message_ref| is_it(message_ref)).copied();
        let package = package_name(group, version);
        let path = format!("{group}/{version}.proto");
        let (first, _) = group.split_once('.').unwrap_or((group, ""));
        find(&|message_ref| message_ref.source.file.package == package)
            .or_else(|| find(&|message_ref| message_ref.source.name.replace('\\', "/").ends_with(&path)))
            .or_else(|| {
                let is_near = |message_ref: &&MessageRef<'_>| {
                    let mut steps = message_ref.source.file.package.rsplit('.');
                    steps.next() == Some(version) && steps.any(|step| step.replace('_', "-") == first)
                };
                let mut near = candidates.iter().filter(is_near);
                near.next().filter(|_| near.next().is_none()).copied()
            })
    }

    /// The message that the type of a field refers to, in its file or in another one.
    fn resolve(&self, kind: &str, around: MessageRef<'_>) -> Option<MessageRef<'_>> {
        let file = &around.source.file;
        let name = match file.resolve(kind, around.name) {
            ResolvedType::Message(name) => return self.get(&full_name(file, &name)),
            ResolvedType::Scalar | ResolvedType::Enum => return None,
            ResolvedType::Elsewhere(name) => name,
        };
        let mut package = file.package.as_str();
        loop {
            let full = if package.is_empty() { name.clone() } else { format!("{package}.{name}") };
            if let Some(found) = self.get(&full) {
                return Some(found);
            }
            if package.is_empty() {
                return None;
            }
            package = package.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
    }

    /// Numbers the fields of the schema with this name.
    pub(super) fn number(&self, name: &str, schema: &mut Schema, location: &Location<'_>, findings: &mut Findings) {
        let Some(message_ref) = self.of_schema(name) else { return };
        let mut problems = Problems::default();
        self.number_fields(message_ref, schema, "", &mut problems);
        for (document, line, message) in problems.conflicts {
            findings.error_at_line(&Location::of(document), line, message);
        }
        for (pointer, message) in problems.missing {
            findings.warning(&Location::known(location.document, &format!("{location}{pointer}")), message);
        }
    }

    /// Numbers the fields of a resource from a manifest, and returns warnings: of fields without a number.
    ///
    /// # Errors
    /// Types that differ from those of messages, and names that these reserve, with the files' lines.
    pub(super) fn apply(&self, definition: &mut Definition) -> Result<Report, Report> {
        let (mut conflicts, mut warnings) = (Vec::new(), Vec::new());
        let (group, kind) = (definition.shared.group.clone(), definition.shared.names.kind.clone());
        for version in &mut definition.versions {
            let Some(message_ref) = self.of_kind(&group, &version.name, &kind) else { continue };
            let mut problems = Problems::default();
            let version = std::sync::Arc::make_mut(version);
            let schema = std::sync::Arc::make_mut(&mut version.schema);
            self.number_fields(message_ref, schema, "", &mut problems);
            conflicts.extend(problems.conflicts.into_iter().map(|(document, line, message)| {
                let source = self.files.iter().find(|source| source.document == document).unwrap_or(message_ref.source);
                entry(source, line, message)
            }));
            let missing = problems.missing.into_iter();
            warnings.extend(missing.map(|(pointer, message)| {
                entry(message_ref.source, message_ref.message.line, format!("{pointer}: {message}"))
            }));
        }
        if conflicts.is_empty() { Ok(Report(warnings)) } else { Err(Report(conflicts)) }
    }
}

fn entry(source: &ProtoFile, line: usize, message: String) -> Entry {
    Entry { source: source.name.clone(), document: 1, line, pointer: String::new(), message }
}
