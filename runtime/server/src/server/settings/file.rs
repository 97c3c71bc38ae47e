//! The configuration file: YAML or JSON, whose errors name the line.
use std::path::Path;

use super::{
    suggest::did_you_mean,
    table::{self, Setting},
    values::Origin,
};
use crate::{
    codec::{Limits, yaml},
    files,
    schema::Document,
};

/// The values of a file: of each setting in it, in the order of the file.
pub(super) type FileValues = Vec<(&'static Setting, Origin, Vec<String>)>;

/// Reads a file. Paths in it are relative to its folder.
///
/// # Errors
/// All errors, a line each.
pub(super) fn read(path: &Path) -> Result<FileValues, String> {
    let text =
        files::read_text(path, &files::Limits::default()).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<FileValues, String> {
    let name = path.display();
    let documents = yaml::documents(text);
    let (first, text) = match documents[..] {
        [] => return Ok(Vec::new()),
        [document] => document,
        _ => return Err(format!("{name}: it has {} documents; expected one", documents.len())),
    };
    let decoded = yaml::decode(text.as_bytes(), &Limits::OPTIONS).map_err(|error| format!("{name}: {error}"))?;
    if !decoded.faults.is_empty() {
        let faults: Vec<_> = decoded.faults.iter().map(|fault| format!("{name}: {fault}")).collect();
        return Err(faults.join("\n"));
    }
    let mut reader =
        Reader { path, lines: yaml::Lines::new(text), before: first - 1, values: Vec::new(), errors: Vec::new() };
    reader.section("", "", &decoded.document);
    if reader.errors.is_empty() {
        return Ok(reader.values);
    }
    reader.errors.sort();
    let errors = reader.errors.iter().map(|(line, message)| format!("{name}:{line}: {message}"));
    Err(errors.collect::<Vec<_>>().join("\n"))
}

struct Reader<'t> {
    path: &'t Path,
    lines: yaml::Lines<'t>,
    /// The number of lines before the document.
    before: usize,
    values: FileValues,
    /// With their lines.
    errors: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn line(&self, pointer: &str) -> usize {
        self.before + self.lines.of(pointer)
    }

    fn error(&mut self, pointer: &str, message: &str) {
        self.errors.push((self.line(pointer), message.to_owned()));
    }

    /// Reads the members of an object, whose keys all begin with a prefix.
    fn section(&mut self, prefix: &str, pointer: &str, document: &Document) {
        let Some(members) = document.as_object() else {
            let what = if prefix.is_empty() { "the configuration" } else { prefix.trim_end_matches('.') };
            self.error(pointer, &format!("{what}: expected an object, found {document}"));
            return;
        };
        for (name, value) in members {
            let (key, pointer) = (format!("{prefix}{name}"), format!("{pointer}/{name}"));
            // What is null is not set.
            if value.is_null() {
                continue;
            }
            let within = format!("{key}.");
            if let Some(setting) = table::find(&key) {
                self.setting(setting, &pointer, value);
            } else if table::all().any(|setting| setting.key.starts_with(&within)) {
                self.section(&within, &pointer, value);
            } else {
                let known: Vec<_> = table::all().map(|setting| setting.key).collect();
                self.error(&pointer, &format!("{key} is not a setting{}", did_you_mean(&key, known)));
            }
        }
    }

    fn setting(&mut self, setting: &'static Setting, pointer: &str, value: &Document) {
        let values = setting.effect.values(value).and_then(|values| {
            setting.effect.apply(&mut super::plan::Plan::new(), &values)?;
            Ok(values)
        });
        match values {
            Ok(values) => {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                let absolute = |value| folder.join(value).to_string_lossy().into_owned();
                let values = if setting.effect.is_path() { values.into_iter().map(absolute).collect() } else { values };
                let origin = Origin::File(self.line(pointer));
                self.values.push((setting, origin, values));
            }
            Err(message) => self.error(pointer, &format!("{}: {message}", setting.key)),
        }
    }
}
