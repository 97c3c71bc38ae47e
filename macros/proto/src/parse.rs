//! The reader of `.proto` files.
use std::{collections::BTreeMap, fmt};

use crate::{
    model::{Field, File, LARGEST, Label, Message, Other, Reservation, Span, Syntax},
    token::{Token, Tokens},
};

/// A syntax error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The text that was found there, and the expected one.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for Error {}

/// True for a text that begins as files of definitions do.
pub fn is_proto(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    match (tokens.next().map(|token| token.text), tokens.next().map(|token| token.text)) {
        (Some("syntax" | "edition"), Some("=")) => true,
        (Some("package" | "import"), Some(next)) => next != ":",
        _ => false,
    }
}

/// Reads a file.
///
/// # Errors
/// The first statement that is not understood.
pub fn parse(text: &str) -> Result<File, Error> {
    let file = parse_draft(text)?;
    let all = file.all();
    let unnumbered = all.iter().flat_map(|(_, message)| &message.fields).find(|field| field.number == 0);
    match unnumbered {
        Some(field) => error(field.line, format!("{}: found the number \"0\"; expected 1 to {LARGEST}", field.name)),
        None => Ok(file),
    }
}

/// Reads a file in which fields may have the number 0, which stands for none yet.
///
/// # Errors
/// The first statement that is not understood.
pub fn parse_draft(text: &str) -> Result<File, Error> {
    let mut parser = Parser { tokens: Tokens::new(text), file: File::default() };
    parser.file()?;
    Ok(parser.file)
}

/// How deep messages may be inside of each other. Reading them is recursive.
const DEEPEST: usize = 64;

struct Parser<'t> {
    tokens: Tokens<'t>,
    file: File,
}

fn error<T>(line: usize, message: impl Into<String>) -> Result<T, Error> {
    Err(Error { line, message: message.into() })
}

/// True for a name: letters, digits and underscores.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Result<Token<'t>, Error> {
        let line = self.tokens.line();
        self.tokens.next().ok_or_else(|| Error { line, message: "the file ends within a definition".to_owned() })
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        match self.next()? {
            found if found.text == sign => Ok(()),
            found => error(found.line, format!("expected {sign:?}, found {:?}", found.text)),
        }
    }

    fn name(&mut self) -> Result<Token<'t>, Error> {
        let found = self.next()?;
        if is_name(found.text) {
            Ok(found)
        } else {
            error(found.line, format!("expected a name, found {:?}", found.text))
        }
    }

    fn file(&mut self) -> Result<(), Error> {
        loop {
            let Some(mut first) = self.tokens.next() else {
                self.file.others.extend(std::mem::take(&mut self.tokens.last).iter().map(|line| Other::comment(line)));
                return Ok(());
            };
            if ["syntax", "package", "import"].contains(&first.text) {
                self.file.about.append(&mut first.comments);
            }
            match first.text {
                "syntax" => {
                    self.expect("=")?;
                    self.file.syntax = match unquoted(self.next()?.text) {
                        "proto2" => Syntax::Proto2,
                        "proto3" => Syntax::Proto3,
                        other => {
                            return error(first.line, format!("found the syntax {other:?}; supported: proto2, proto3"));
                        }
                    };
                    self.expect(";")?;
                }
                "edition" => return error(first.line, "found an edition; supported: the syntax proto2 or proto3"),
                "package" => {
                    let package = self.next()?;
                    if !package.text.split('.').all(is_name) {
                        return error(package.line, format!("expected a package, found {:?}", package.text));
                    }
                    package.text.clone_into(&mut self.file.package);
                    self.expect(";")?;
                }
                "import" => {
                    let next = self.next()?.text;
                    let import = match next {
                        "public" | "weak" => format!("{next} {}", unquoted(self.next()?.text)),
                        path => unquoted(path).to_owned(),
                    };
                    // It is written again, in quotes.
                    if import.contains(|c: char| c.is_control() || "\"'\\".contains(c)) {
                        return error(
                            first.line,
                            format!("found the import {import:?}; supported: paths without quotes"),
                        );
                    }
                    self.file.imports.push(import);
                    self.expect(";")?;
                }
                "message" => {
                    let message = self.message(first.comments, 1)?;
                    self.file.messages.push(message);
                }
                ";" => {}
                "option" | "enum" | "service" | "extend" => {
                    let other = self.other(&first)?;
                    self.file.others.push(other);
                }
                found => return error(first.line, format!("found {found:?}; expected a definition, such as message")),
            }
        }
    }

    /// A statement that is kept, after its first word.
    fn other(&mut self, first: &Token<'t>) -> Result<Other, Error> {
        let (mut depth, mut words) = (0usize, Vec::new());
        let to = loop {
            let token = self.next()?;
            words.push(token.text);
            match token.text {
                ";" if depth == 0 => break token.to,
                "{" => depth += 1,
                "}" if depth <= 1 => break token.to,
                "}" => depth -= 1,
                _ => {}
            }
        };
        let mut text: String =
            first.comments.iter().map(|line| format!("// {line}").trim_end().to_owned() + "\n").collect();
        text += self.tokens.text(first.from, to);
        for line in self.tokens.comment_beside() {
            text.extend([" // ", &line]);
        }
        let defines = (first.text == "enum").then(|| words[0].to_owned());
        let takes = if first.text == "extensions" { spans(&words, first.line)?.0 } else { Vec::new() };
        Ok(Other { text, defines, takes })
    }

    /// A message, after the word.
    fn message(&mut self, about: Vec<String>, depth: usize) -> Result<Message, Error> {
        let name = self.name()?;
        if depth > DEEPEST {
            return error(name.line, format!("messages are nested more than {DEEPEST} deep"));
        }
        self.expect("{")?;
        let mut message = Message { about, line: name.line, name: name.text.to_owned(), ..Message::default() };
        message.about.extend(self.tokens.comment_beside());
        loop {
            let first = self.next()?;
            match first.text {
                "}" => {
                    message.others.extend(first.comments.iter().map(|line| Other::comment(line)));
                    break;
                }
                ";" => {}
                "message" => {
                    let inner = self.message(first.comments, depth + 1)?;
                    message.messages.push(inner);
                }
                "oneof" => self.oneof(&mut message)?,
                "reserved" => self.reserved(&mut message)?,
                "option" | "extensions" | "enum" | "extend" => message.others.push(self.other(&first)?),
                _ => self.field(first, None, &mut message)?,
            }
        }
        check_unique(&message)?;
        Ok(message)
    }

    fn oneof(&mut self, message: &mut Message) -> Result<(), Error> {
        let name = self.name()?.text;
        self.expect("{")?;
        loop {
            let first = self.next()?;
            match first.text {
                "}" => return Ok(()),
                ";" => {}
                "option" => return error(first.line, "found an option of a oneof; supported: its fields alone"),
                _ => self.field(first, Some(name), message)?,
            }
        }
    }

    /// `reserved 2, 4 to 6;` or `reserved "name";`, after the word.
    fn reserved(&mut self, message: &mut Message) -> Result<(), Error> {
        let line = self.tokens.line();
        let mut words = Vec::new();
        loop {
            let token = self.next()?;
            if token.text == ";" {
                break;
            }
            words.push(token.text);
        }
        let (numbers, names) = spans(&words, line)?;
        message.reserved.extend(numbers.into_iter().map(|span| Reservation::Numbers(span, line)));
        message.reserved.extend(names.into_iter().map(|name| Reservation::Name(name, line)));
        Ok(())
    }

    /// A field, after its first word.
    fn field(&mut self, first: Token<'t>, oneof: Option<&str>, message: &mut Message) -> Result<(), Error> {
        let mut field = Field { about: first.comments, oneof: oneof.map(str::to_owned), ..Field::default() };
        let kind;
        (field.label, kind) = match first.text {
            "optional" => (Label::Optional, self.next()?),
            "required" => (Label::Required, self.next()?),
            "repeated" => (Label::Repeated, self.next()?),
            "map" => {
                self.expect("<")?;
                let key = self.next()?.text.to_owned();
                self.expect(",")?;
                let value = self.next()?;
                self.expect(">")?;
                (Label::Map(key), value)
            }
            text => (Label::Plain, Token { comments: Vec::new(), text, ..first }),
        };
        if kind.text == "group" {
            return error(kind.line, "found a group; supported: fields of other types");
        }
        if !kind.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.') {
            return error(kind.line, format!("expected the type of a field, found {:?}", kind.text));
        }
        kind.text.clone_into(&mut field.kind);
        let name = self.name()?;
        (field.line, field.name) = (name.line, name.text.to_owned());
        self.expect("=")?;
        let number = self.next()?;
        let Some(value) = integer(number.text).filter(|number| *number <= LARGEST) else {
            let message = format!("{}: found the number {:?}; expected 1 to {LARGEST}", field.name, number.text);
            return error(number.line, message);
        };
        field.number = value;
        let after = self.next()?;
        if after.text == "[" {
            let to = loop {
                let token = self.next()?;
                match token.text {
                    "]" => break token.from,
                    ";" => return error(token.line, format!("{}: the options do not end", field.name)),
                    _ => {}
                }
            };
            self.tokens.text(after.to, to).trim().clone_into(&mut field.options);
            self.expect(";")?;
        } else if after.text != ";" {
            return error(after.line, format!("expected \";\", found {:?}", after.text));
        }
        field.about.extend(self.tokens.comment_beside());
        message.fields.push(field);
        Ok(())
    }
}

fn integer(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// `2, 4 to 6, "name"` as numbers and names.
fn spans(words: &[&str], line: usize) -> Result<(Vec<Span>, Vec<String>), Error> {
    let (mut numbers, mut names) = (Vec::new(), Vec::new());
    let number = |text: &str| match text {
        "max" => Ok(LARGEST),
        text => integer(text).map_or_else(|| error(line, format!("expected a number, found {text:?}")), Ok),
    };
    for part in words.split(|word| [",", ";", "["].contains(word)) {
        match part {
            [] => {}
            [name] if name.starts_with(['"', '\'']) && is_name(unquoted(name)) => names.push(unquoted(name).to_owned()),
            [from, "to", to] => numbers.push(number(from)?..=number(to)?),
            [one] if one.starts_with(|c: char| c.is_ascii_digit()) => numbers.push(number(one)?..=number(one)?),
            // The options of a range of extensions.
            _ if !numbers.is_empty() => {}
            found => return error(line, format!("expected numbers or names in quotes, found {:?}", found.join(" "))),
        }
    }
    Ok((numbers, names))
}

/// A number belongs to one field, and a name, too. 0 is the number of fields that have none yet.
fn check_unique(message: &Message) -> Result<(), Error> {
    let (mut numbers, mut names) = (BTreeMap::new(), BTreeMap::new());
    for field in &message.fields {
        let Field { name, number, line, .. } = field;
        if let Some(other) = numbers.insert(*number, &field.name).filter(|_| *number > 0) {
            return error(*line, format!("{name}: the number {number} is already used by {other}"));
        }
        if names.insert(name, *line).is_some() {
            return error(*line, format!("the message has two fields called {name}"));
        }
        if let Some(reserved) = message.reserves(*number) {
            return error(*line, format!("{name}: the number {number} is reserved on line {reserved}"));
        }
        if let Some(reserved) = message.reserves_name(name) {
            return error(*line, format!("the name {name} is reserved on line {reserved}"));
        }
    }
    Ok(())
}
