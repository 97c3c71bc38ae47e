//! Published Protobuf definitions, the lock of field numbers: `<group>/<version>.proto`, merged with the kinds as they are now.
//!
//! Published numbers are kept, new fields get new ones, and numbers and names of removed fields are reserved. What contradicts
//! the published file is an error with its line. A file of another project is a lock, too, and keeps what only it says.

use std::{collections::BTreeMap, io, path::Path};

use kindsmith::kind::proto::{File, drafts};
use kindsmith_formats::files::{Folder, Limits, RelativePath};
use kindsmith_proto::{MergeOutcome, merge, parse, parse_draft};
use serde_json::Value;

use crate::{Error, Kinds};

/// The definitions of kinds before they are merged: fields without a number have the number 0.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drafts {
    /// The text of each file, by its path below the folder of the lock.
    pub files: BTreeMap<String, String>,
    /// The files that they import.
    pub imported: BTreeMap<String, String>,
    /// The kinds that are left out, with the reasons.
    pub left_out: Vec<String>,
}

impl Drafts {
    /// Those of kinds from files. The numbers of Kubernetes' own kinds are in files of their own, so that these are left out.
    pub fn of_kinds(kinds: &Kinds) -> Self {
        let (builtin, others): (Vec<_>, Vec<_>) = kinds.kinds.iter().partition(|declaration| declaration.is_builtin());
        let of_others: Vec<_> =
            others.into_iter().flat_map(|declaration| declaration.definition.kinds(declaration.policy)).collect();
        let found = drafts(&of_others);
        let texts = |files: Vec<File>| files.into_iter().map(|file| (file.path, file.text)).collect();
        let mut left_out = found.left_out;
        left_out.extend(builtin.into_iter().map(|declaration| {
            let name = declaration.definition.shared.group_resource();
            format!("{name}: a kind of Kubernetes, which publishes its numbers")
        }));
        Self { files: texts(found.files), imported: texts(found.imported), left_out }
    }

    /// The drafts that a program exported.
    pub fn of_program(exported: &Value) -> Self {
        let proto = &exported["proto"];
        let texts = |member: &str| {
            let files = proto[member].as_object().into_iter().flatten();
            files.map(|(path, text)| (path.clone(), text.as_str().unwrap_or_default().to_owned())).collect()
        };
        let left_out = proto["leftOut"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self { files: texts("files"), imported: texts("imported"), left_out: left_out.map(str::to_owned).collect() }
    }

    /// Merges the drafts with the files in a folder; without one, nothing is published yet.
    ///
    /// # Errors
    /// A file that cannot be read, or everything that contradicts the published files, a line each.
    pub fn lock(&self, folder: Option<&Path>) -> Result<Vec<LockFile>, Error> {
        let (mut lock_files, mut problems) = (Vec::new(), Vec::new());
        for (path, text) in &self.files {
            let before = folder.map_or(Ok(None), |folder| published(folder, path))?;
            let name = folder.map_or_else(|| path.clone(), |folder| folder.join(path).display().to_string());
            match merged(&name, before.as_deref(), text) {
                Ok(outcome) => lock_files.push(LockFile::of(path, before, &outcome)),
                Err(found) => problems.extend(found),
            }
        }
        if problems.is_empty() { Ok(lock_files) } else { Err(Error::Invalid(problems.join("\n"))) }
    }
}

/// The text of a file in a folder, if there are both.
fn published(folder: &Path, path: &str) -> Result<Option<String>, Error> {
    let name = RelativePath::new(path).map_err(Error::Invalid)?;
    let read = match Folder::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.and_then(|folder| folder.read(&name, &Limits::default())),
    };
    let text = read.and_then(|text| text.map(String::from_utf8).transpose().map_err(io::Error::other));
    text.map_err(|error| Error::Io(folder.join(path), error))
}

fn merged(name: &str, before: Option<&str>, draft: &str) -> Result<MergeOutcome, Vec<String>> {
    let draft = parse_draft(draft).map_err(|error| vec![format!("the draft of {name}:{error}")])?;
    let published = parse(before.unwrap_or_default()).map_err(|error| vec![format!("{name}:{error}")])?;
    merge(&published, &draft)
        .map_err(|conflicts| conflicts.into_iter().map(|conflict| conflict.of(name)).collect::<Vec<_>>())
}

/// A published file with the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// Its path below the folder.
    pub path: String,
    /// Its text until now; `None` for a new file.
    pub before: Option<String>,
    /// Its text from now on.
    pub text: String,
    /// What changed, a line each.
    pub remarks: Vec<String>,
}

impl LockFile {
    fn of(path: &str, before: Option<String>, outcome: &MergeOutcome) -> Self {
        let unchanged = before.clone().filter(|before| parse(before).as_ref() == Ok(&outcome.file));
        let text = unchanged.unwrap_or_else(|| outcome.file.to_string());
        let all = |what: &str, fields: &[String]| {
            let lines = fields.iter().map(|field| format!("{path}: {what} {field}"));
            lines.collect::<Vec<_>>()
        };
        let unused = |name: &String| format!("{path}: message {name} is kept, although no kind uses it now");
        let mut remarks = all("appended", &outcome.appended);
        remarks.extend(all("removed, and reserved,", &outcome.removed));
        remarks.extend(outcome.unused.iter().map(unused));
        Self { path: path.to_owned(), before, text, remarks }
    }
}
