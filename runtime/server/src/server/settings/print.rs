//! The settings as a configuration file.
use std::fmt::Write;

use super::{
    table::{self, Setting},
    values::{Origin, Values},
};
use crate::{codec::yaml, schema::Document};

/// All settings, with where each comes from. Those without a value are comments.
pub(super) fn print(values: &Values) -> String {
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    for setting in table::all() {
        let mut path: Vec<&str> = setting.key.split('.').collect();
        let name = path.pop().unwrap_or_default();
        let shared = open.iter().zip(&path).take_while(|(one, other)| one == other).count();
        for (depth, section) in path.iter().enumerate().skip(shared) {
            let is_empty = !table::all().any(|setting| {
                setting.key.starts_with(&format!("{}.", path[..=depth].join("."))) && values.get(setting.key).is_some()
            });
            let comment = if is_empty { "# " } else { "" };
            let _ = writeln!(text, "{}{comment}{section}:", "  ".repeat(depth));
        }
        open.clone_from(&path);
        write(&mut text, &"  ".repeat(path.len()), setting, name, values.get(setting.key));
    }
    text
}

fn write(text: &mut String, indent: &str, setting: &Setting, name: &str, value: Option<&(Origin, Vec<String>)>) {
    let source = value.map_or(String::new(), |(origin, _)| format!(" ({origin})"));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{indent}# {}{source}", setting.about);
    let Some((origin, values)) = value else {
        let _ = writeln!(text, "{indent}# {name}:");
        return;
    };
    let mut documents = values.iter().map(|value| setting.effect.document(value));
    let document = if setting.effect.is_list() {
        Document::Array(documents.collect())
    } else {
        documents.next().unwrap_or(Document::Null)
    };
    let mut encoded = Vec::new();
    yaml::encode(&Document::Object([(name.to_owned(), document)].into_iter().collect()), &mut encoded);
    // In a file, it would be relative to the file's folder.
    let comment = if setting.effect.is_path() && *origin == Origin::Default { "# " } else { "" };
    for line in String::from_utf8_lossy(&encoded).lines() {
        let _ = writeln!(text, "{indent}{comment}{line}");
    }
}
