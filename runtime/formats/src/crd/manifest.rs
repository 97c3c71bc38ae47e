//! Files of definitions: several documents each, lists among them.
use std::{cell::OnceCell, fmt, sync::Arc};

use serde::Serialize;

use super::{API_VERSION, Defined, Findings, Groups, Rules, define_in, roles};
use crate::{
    codec::{self, Limits, yaml},
    meta::text::in_one_line,
    schema::Document,
};

/// How large a document may be in memory: some definitions take megabytes of YAML.
const LIMITS: Limits = Limits { depth: 256, memory: 256 << 20 };

/// How many documents a file may have. All of the projects whose definitions are known together have fewer.
const MOST_DOCUMENTS: usize = 10_000;

/// The definitions of a file.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Manifest {
    /// The definitions, in the order of the file.
    pub definitions: Vec<Defined>,
    /// The documents of the definitions, in the same order.
    pub documents: Vec<Document>,
    /// The warnings.
    pub warnings: Report,
}

/// Errors or warnings about files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report(pub Vec<Entry>);

/// An error or warning about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The file, as it was named.
    pub source: String,
    /// Which of its documents, counted from 1.
    pub document: usize,
    /// The line of the file, counted from 1.
    pub line: usize,
    /// Where in the document, as a JSON pointer; empty for the document itself.
    pub pointer: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: document {}", in_one_line(&self.source), self.line, self.document)?;
        if !self.pointer.is_empty() {
            write!(f, ", {}", in_one_line(&self.pointer))?;
        }
        // That of a pattern has several lines.
        let lines: Vec<_> = self.message.split('\n').map(in_one_line).collect();
        write!(f, ": {}", lines.join("\n"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, entry)| {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            entry.fmt(f)
        })
    }
}

impl std::error::Error for Report {}

/// Reads a file of definitions. `source` is its name, for messages.
///
/// Documents that are no definitions are skipped with a warning; lists stand for their items. A group may be empty, which
/// kube-apiserver does not allow: it is the core group.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn read(source: &str, text: &[u8]) -> Result<Manifest, Report> {
    let mut reader = Reader { source, manifest: Manifest::default(), errors: Report::default() };
    match std::str::from_utf8(text) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let documents = yaml::documents(text);
            if documents.len() > MOST_DOCUMENTS {
                let at = At { document: 1, line: 1, text: "", lines: OnceCell::new() };
                let found = documents.len();
                let message = format!("found {found} documents in the file; supported: {MOST_DOCUMENTS}");
                let entry = reader.entry(&at, "", "", message);
                reader.errors.0.push(entry);
                return reader.ended();
            }
            for (index, (line, text)) in documents.into_iter().enumerate() {
                reader.document(&At { document: index + 1, line, text, lines: OnceCell::new() });
            }
        }
        Err(error) => {
            let line = text[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            let at = At { document: 1, line, text: "", lines: OnceCell::new() };
            let entry = reader.entry(&at, "", "", "invalid UTF-8".to_owned());
            reader.errors.0.push(entry);
        }
    }
    reader.ended()
}

/// Reads definitions from a value: a text is a file, and anything else is a definition or a list of them.
///
/// # Errors
/// Everything that is wrong with it.
pub fn of_value(value: &impl Serialize) -> Result<Manifest, Report> {
    let document = match codec::from_typed(value) {
        Ok(Document::String(text)) => return read("manifest", text.as_bytes()),
        Ok(document) => document,
        Err(error) => format!("no definition: {error}").into(),
    };
    let mut reader = Reader { source: "definition", manifest: Manifest::default(), errors: Report::default() };
    let at = At { document: 1, line: 1, text: "", lines: OnceCell::new() };
    reader.definition(&at, "", &document);
    reader.ended()
}

struct Reader<'s> {
    source: &'s str,
    manifest: Manifest,
    errors: Report,
}

/// A document of the file.
struct At<'t> {
    document: usize,
    line: usize,
    text: &'t str,
    /// Made when something is reported.
    lines: OnceCell<yaml::Lines<'t>>,
}

impl Reader<'_> {
    fn ended(self) -> Result<Manifest, Report> {
        if self.errors.0.is_empty() { Ok(self.manifest) } else { Err(self.errors) }
    }

    fn entry(&self, at: &At<'_>, prefix: &str, pointer: &str, message: String) -> Entry {
        let pointer = format!("{prefix}{pointer}");
        let line = at.line - 1 + at.lines.get_or_init(|| yaml::Lines::new(at.text)).of(&pointer);
        Entry { source: self.source.to_owned(), document: at.document, line, pointer, message }
    }

    fn document(&mut self, at: &At<'_>) {
        match yaml::decode(at.text.as_bytes(), &LIMITS) {
            Ok(decoded) => {
                let faults = decoded.faults.into_iter().map(|fault| self.entry(at, "", "", fault));
                let faults: Vec<_> = faults.collect();
                self.errors.0.extend(faults);
                self.definition(at, "", &decoded.document);
            }
            Err(error) => {
                // The document is no tree, so that no pointer leads to the line.
                let entry = self.entry(at, "", "", format!("yaml: {}", error.reason));
                self.errors.0.push(Entry { line: at.line - 1 + error.line, ..entry });
            }
        }
    }

    fn definition(&mut self, at: &At<'_>, prefix: &str, document: &Document) {
        let text = |name: &str| document.get(name).and_then(Document::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        match (api_version, kind) {
            (API_VERSION, "CustomResourceDefinition") => self.define(at, prefix, document),
            (API_VERSION, "CustomResourceDefinitionList") | ("v1", "List") => {
                let items = document.get("items").and_then(Document::as_array).into_iter().flatten();
                items
                    .enumerate()
                    .for_each(|(index, item)| self.definition(at, &format!("{prefix}/items/{index}"), item));
            }
            (_, "CustomResourceDefinition") => {
                let message = format!("apiVersion {api_version:?} is not supported; supported: {API_VERSION:?}");
                let entry = self.entry(at, prefix, "/apiVersion", message);
                self.errors.0.push(entry);
            }
            _ => {
                let message = format!("skipped: {kind:?} of {api_version:?} is no CustomResourceDefinition");
                let entry = self.entry(at, prefix, "", message);
                self.manifest.warnings.0.push(entry);
            }
        }
    }

    fn define(&mut self, at: &At<'_>, prefix: &str, document: &Document) {
        let warnings = match define_in(document, Groups::All, Rules::New) {
            Ok(mut defined) => {
                let warnings = std::mem::take(&mut defined.warnings);
                match roles::read(document) {
                    Ok(roles) => Arc::make_mut(&mut defined.definition.shared).roles = roles,
                    Err(why) => {
                        let entry = self.entry(at, prefix, "/metadata/annotations", why.to_string());
                        self.errors.0.push(entry);
                    }
                }
                self.manifest.definitions.push(defined);
                self.manifest.documents.push(document.clone());
                warnings
            }
            Err(Findings { errors, warnings, .. }) => {
                for fault in errors {
                    let entry = self.entry(at, prefix, &fault.pointer, fault.error.to_string());
                    self.errors.0.push(entry);
                }
                warnings
            }
        };
        for warning in warnings {
            let entry = self.entry(at, prefix, &warning.pointer, warning.text);
            self.manifest.warnings.0.push(entry);
        }
    }
}
