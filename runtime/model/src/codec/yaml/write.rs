//! Documents to YAML in the format of sigs.k8s.io/yaml: keys in go-yaml's order, lists at the depth of their key,
//! quotes around text that would be read as something else, long text folded at 80 columns.
use std::fmt::Write;

use super::{
    order,
    scalar::{Scalar, is_base_60, is_timestamp, resolve},
};
use crate::{
    meta::go,
    schema::{Document, number::text_of_double},
};

/// Text breaks at the first space after this column.
const WIDTH: usize = 80;

/// Longer keys are written as `? key`.
const LONGEST_KEY: usize = 128;

/// Deeper values are written in brackets: a line for each item would mostly consist of spaces.
const DEEPEST: usize = 200;

/// The maximum number of indentation spaces in all lines together. Otherwise a small nested object could take
/// gigabytes.
const MOST_SPACES: usize = 4 << 20;

/// Values at most this deep are written in lines in any case.
const SHALLOW: usize = 20;

/// Appends a document.
pub fn encode(document: &Document, out: &mut Vec<u8>) {
    let start = out.len();
    let mut writer = Writer::default();
    match document {
        Document::Object(fields) if !fields.is_empty() => writer.map(fields, 0),
        Document::Array(items) if !items.is_empty() => writer.list(items, 0),
        other => writer.scalar(other, 2, false),
    }
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    out.reserve(writer.out.len());
    out.extend_from_slice(writer.out.as_bytes());
    debug_assert!(out.len() > start, "even nothing is written as null");
}

#[derive(Default)]
pub(super) struct Writer {
    pub(super) out: String,
    /// The start of the current line.
    line_start: usize,
    /// The number of indentation spaces so far.
    spaces: usize,
}

impl Writer {
    /// Returns the output so far, and starts at a new line. The indentation so far still counts towards the limit.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.out.as_bytes());
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            out.push(b'\n');
        }
        self.out.clear();
        self.line_start = 0;
    }

    /// Writes the entries of a map. The first is at the current position: after `- `, or at the start of a line.
    pub(super) fn map(&mut self, fields: &serde_json::Map<String, Document>, indent: usize) {
        for name in order::sorted(fields.keys()) {
            self.start_entry(indent);
            let inline = !self.key(name, indent);
            match &fields[name.as_str()] {
                value if self.is_too_deep(value, indent + 2) => {
                    self.out.push(' ');
                    self.flow(value);
                }
                Document::Object(inner) if !inner.is_empty() => {
                    self.start_value(indent + 2, inline);
                    self.map(inner, indent + 2);
                }
                Document::Array(items) if !items.is_empty() => {
                    // After a plain key the list has the key's own depth.
                    let depth = if inline { indent + 2 } else { indent };
                    self.start_value(depth, inline);
                    self.list(items, depth);
                }
                scalar => {
                    self.out.push(' ');
                    self.scalar(scalar, indent + 2, false);
                }
            }
        }
    }

    pub(super) fn list(&mut self, items: &[Document], indent: usize) {
        for item in items {
            self.start_entry(indent);
            self.out.push('-');
            match item {
                item if self.is_too_deep(item, indent + 2) => {
                    self.out.push(' ');
                    self.flow(item);
                }
                Document::Object(fields) if !fields.is_empty() => {
                    self.out.push(' ');
                    self.map(fields, indent + 2);
                }
                Document::Array(items) if !items.is_empty() => {
                    self.out.push(' ');
                    self.list(items, indent + 2);
                }
                scalar => {
                    self.out.push(' ');
                    self.scalar(scalar, indent + 2, false);
                }
            }
        }
    }

    /// True if a map or list would need too much indentation.
    fn is_too_deep(&self, value: &Document, indent: usize) -> bool {
        let entries = match value {
            Document::Object(fields) => fields.len(),
            Document::Array(items) => items.len(),
            _ => 0,
        };
        entries > 0 && (indent > DEEPEST || indent > SHALLOW && self.spaces + entries * indent > MOST_SPACES)
    }

    /// A value in brackets, like JSON except for escapes.
    fn flow(&mut self, value: &Document) {
        match value {
            Document::Object(fields) => {
                for (at, name) in order::sorted(fields.keys()).into_iter().enumerate() {
                    self.out.push_str(if at == 0 { "{" } else { ", " });
                    self.out.push_str(if name.len() > LONGEST_KEY { "? " } else { "" });
                    self.double_quoted(name, 0, true);
                    self.out.push_str(": ");
                    self.flow(&fields[name.as_str()]);
                }
                self.out.push_str(if fields.is_empty() { "{}" } else { "}" });
            }
            Document::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.out.push_str(if at == 0 { "[" } else { ", " });
                    self.flow(item);
                }
                self.out.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Document::String(text) => self.double_quoted(text, 0, true),
            scalar => self.scalar(scalar, 0, true),
        }
    }

    /// Writes a key and its colon; returns false if it is too long, or has too many lines, for the plain form.
    fn key(&mut self, name: &str, indent: usize) -> bool {
        let plain = name.len() <= LONGEST_KEY && !name.contains(is_break);
        if plain {
            self.text(name, indent, true);
        } else {
            self.out.push_str("? ");
            self.text(name, indent + 2, false);
            self.start_entry(indent);
        }
        self.out.push(':');
        plain
    }

    /// Moves to the start of an entry, on a new line unless already there.
    fn start_entry(&mut self, indent: usize) {
        if self.column() != indent || !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.new_line(indent);
        }
    }

    /// Moves to the start of a map or list that is the value of a key.
    fn start_value(&mut self, indent: usize, inline: bool) {
        if inline {
            self.out.push(' ');
        } else {
            self.new_line(indent);
        }
    }

    fn new_line(&mut self, indent: usize) {
        if !self.out.ends_with('\n') && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.line_start = self.out.len();
        self.spaces += indent;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn column(&self) -> usize {
        self.out[self.line_start..].chars().count()
    }

    /// A value without entries.
    fn scalar(&mut self, value: &Document, indent: usize, simple_key: bool) {
        match value {
            Document::Null => self.out.push_str("null"),
            Document::Bool(true) => self.out.push_str("true"),
            Document::Bool(false) => self.out.push_str("false"),
            Document::Number(number) => match number.as_f64() {
                Some(double) if !number.is_i64() && !number.is_u64() => self.double(double),
                _ => self.out.push_str(&number.to_string()),
            },
            Document::String(text) => self.text(text, indent, simple_key),
            Document::Array(_) => self.out.push_str("[]"),
            Document::Object(_) => self.out.push_str("{}"),
        }
    }

    /// kube-apiserver writes JSON first and reads it as YAML: a double that is a 64-bit integer is written with all its
    /// digits.
    fn double(&mut self, double: f64) {
        let json = text_of_double(double);
        match resolve(&json) {
            Scalar::Float(_) => self.out.push_str(&go::float(double)),
            _ => self.out.push_str(&json),
        }
    }

    fn text(&mut self, text: &str, indent: usize, simple_key: bool) {
        let shape = Shape::of(text);
        let reads_as_text = resolve(text) == Scalar::Text && text != "<<" && !is_timestamp(text) && !is_base_60(text);
        if text.contains('\n') {
            if shape.literal && !simple_key {
                self.literal(text, indent);
            } else {
                self.double_quoted(text, indent, simple_key);
            }
        } else if !reads_as_text {
            self.double_quoted(text, indent, simple_key);
        } else if shape.plain {
            self.folded(text, indent, simple_key, String::push);
        } else if shape.single_quoted {
            self.out.push('\'');
            self.folded(text, indent, simple_key, |out, character| {
                out.push(character);
                if character == '\'' {
                    out.push(character);
                }
            });
            self.out.push('\'');
        } else {
            self.double_quoted(text, indent, simple_key);
        }
    }

    /// Text on one line, folded at single spaces after the width.
    fn folded(&mut self, text: &str, indent: usize, simple_key: bool, write: impl Fn(&mut String, char)) {
        let short = simple_key || self.out.len() - self.line_start + text.len() <= WIDTH;
        let (mut spaces, mut column) = (false, if short { 0 } else { self.column() });
        for (at, character) in text.char_indices() {
            let single = character == ' ' && !spaces && !text[at + 1..].starts_with(' ');
            if !short && single && column > WIDTH && at > 0 && at + 1 < text.len() {
                self.new_line(indent);
                column = indent;
            } else {
                let before = self.out.len();
                write(&mut self.out, character);
                column += if character == '\'' { self.out.len() - before } else { 1 };
            }
            spaces = character == ' ';
        }
    }

    fn double_quoted(&mut self, text: &str, indent: usize, simple_key: bool) {
        self.out.push('"');
        let (mut spaces, mut column) = (false, self.column());
        for (at, character) in text.char_indices() {
            let may_break = !simple_key && !spaces && column > WIDTH && at > 0 && at + 1 < text.len();
            if character == ' ' && may_break {
                self.new_line(indent);
                column = indent;
                if text[at + 1..].starts_with(' ') {
                    self.out.push('\\');
                    column += 1;
                }
            } else {
                let before = self.out.len();
                escape(character, &mut self.out);
                column += self.out[before..].chars().count();
            }
            spaces = character == ' ';
        }
        self.out.push('"');
    }

    /// Text as a block of lines.
    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        match text.strip_suffix('\n') {
            None => self.out.push('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => self.out.push('+'),
            Some(_) => {}
        }
        self.out.push('\n');
        for line in text.split_inclusive('\n') {
            self.line_start = self.out.len();
            if line != "\n" {
                self.out.extend(std::iter::repeat_n(' ', indent));
            }
            self.out.push_str(line);
        }
        if text.ends_with('\n') {
            self.line_start = self.out.len();
        }
    }
}

/// The styles of a text.
struct Shape {
    plain: bool,
    single_quoted: bool,
    literal: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let special = text.chars().any(is_special);
        let breaks = text.contains('\n');
        let space_break = text.contains(" \n");
        let break_space = text.contains("\n ");
        let outer_space = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
        Self {
            plain: !(special || breaks || outer_space || has_indicator(text)),
            single_quoted: !(special || break_space || space_break),
            literal: !(text.is_empty() || special || space_break || text.ends_with(' ')),
        }
    }
}

/// True if a text contains characters that have a meaning outside quotes.
fn has_indicator(text: &str) -> bool {
    let blank_after = |at: usize| text[at + 1..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t'));
    let blank_before = |at: usize| text[..at].ends_with([' ', '\t', '\n', '\0']);
    let begins = match text.as_bytes().first() {
        Some(b'?' | b':' | b'-') => blank_after(0),
        Some(first) => b"#,[]{}&*!|>'\"%@`".contains(first),
        None => false,
    };
    begins
        || text.starts_with("---")
        || text.starts_with("...")
        || text.char_indices().skip(1).any(|(at, character)| match character {
            ':' => blank_after(at),
            '#' => blank_before(at),
            _ => false,
        })
}

/// True if a character is only written as an escape: characters that go-yaml does not consider printable, and line
/// breaks that readers treat differently.
fn is_special(character: char) -> bool {
    let printable = matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
    !printable || matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A character of text in double quotes.
fn escape(character: char, out: &mut String) {
    let short = match character {
        '"' | '\\' => character,
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ if !is_special(character) => return out.push(character),
        _ => {
            let code = u32::from(character);
            let written = match code {
                0..0x100 => write!(out, "\\x{code:02X}"),
                0x100..0x1_0000 => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return written.expect("writing to a String cannot fail");
        }
    };
    out.extend(['\\', short]);
}
