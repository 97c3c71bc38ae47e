//! JSON text to documents, in one pass. Messages are worded as the reference's clients know them.
use serde_json::Map;

use super::{DecodeError, Decoded, Limits};
use crate::schema::{Document, number, place::Place};

/// Why parsing stopped, at the parser's position.
type Stop = String;

/// A parser over one text.
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// How much deeper the text may nest.
    depth_left: usize,
    limits: &'t Limits,
    faults: Vec<String>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(bytes: &'t [u8], limits: &'t Limits) -> Result<Self, DecodeError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, at: 0, depth_left: limits.depth, limits, faults: Vec::new() }),
            Err(error) => Err(place(bytes, error.valid_up_to(), "invalid UTF-8".to_owned())),
        }
    }

    /// The document, and nothing after it.
    pub(super) fn document(mut self) -> Result<Decoded, DecodeError> {
        match self.whole() {
            Ok(document) => Ok(Decoded { document, faults: self.faults }),
            Err(stop) => Err(place(self.text.as_bytes(), self.at, stop)),
        }
    }

    fn whole(&mut self) -> Result<Document, Stop> {
        let document = self.value(&Place::Root)?;
        match self.peek_token() {
            None => Ok(document),
            Some(_) => Err(self.unexpected("after top-level value")),
        }
    }

    fn value(&mut self, place: &Place<'_>) -> Result<Document, Stop> {
        match self.peek_token() {
            Some(b'{') => self.object(place),
            Some(b'[') => self.list(place),
            Some(b'"') => self.string().map(Document::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true").map(|()| Document::Bool(true)),
            Some(b'f') => self.literal("false").map(|()| Document::Bool(false)),
            Some(b'n') => self.literal("null").map(|()| Document::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn object(&mut self, place: &Place<'_>) -> Result<Document, Stop> {
        self.enter()?;
        let mut fields = Map::new();
        if self.peek_token() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.peek_token() != Some(b'"') {
                    return Err(self.unexpected("looking for beginning of object key string"));
                }
                let name = self.string()?;
                if self.peek_token() != Some(b':') {
                    return Err(self.unexpected("after object key"));
                }
                self.at += 1;
                let value = self.value(&place.field(&name))?;
                if fields.contains_key(&name) {
                    self.note_duplicate(&place.field(&name));
                }
                fields.insert(name, value);
                if !self.more(b'}', "after object key:value pair")? {
                    break;
                }
            }
        }
        self.depth_left += 1;
        Ok(Document::Object(fields))
    }

    fn list(&mut self, place: &Place<'_>) -> Result<Document, Stop> {
        self.enter()?;
        let mut items = Vec::new();
        if self.peek_token() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                items.push(self.value(&place.item(items.len()))?);
                if !self.more(b']', "after array element")? {
                    break;
                }
            }
        }
        self.depth_left += 1;
        Ok(Document::Array(items))
    }

    /// Steps over an opening bracket.
    fn enter(&mut self) -> Result<(), Stop> {
        if self.depth_left == 0 {
            return Err(format!("exceeded max depth of {}", self.limits.depth));
        }
        self.depth_left -= 1;
        self.at += 1;
        Ok(())
    }

    /// Steps over a comma (true) or the closing bracket (false).
    fn more(&mut self, close: u8, context: &str) -> Result<bool, Stop> {
        match self.peek_token() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected(context)),
        }
    }

    /// Remembers a duplicate once, however often the field is repeated.
    fn note_duplicate(&mut self, place: &Place<'_>) {
        // A bound, so that a body of nothing but duplicates does not grow into a far larger list of paths.
        if self.faults.len() < 100 {
            let fault = format!("duplicate field {:?}", place.text());
            if !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Stop> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", expected as char);
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Document, Stop> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits("in numeric literal")?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let literal = &self.text[start..self.at];
        let Some(number) = number::of_literal(literal) else {
            self.at = start;
            return Err("number out of range: it fits neither a 64-bit integer nor a double".to_owned());
        };
        Ok(Document::Number(number))
    }

    /// One digit or more.
    fn digits(&mut self, context: &str) -> Result<(), Stop> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.unexpected(context)) } else { Ok(()) }
    }

    /// Text in quotes. Text without escapes, which nearly all is, is copied once.
    fn string(&mut self) -> Result<String, Stop> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            let end = self.at + plain.unwrap_or(rest.len());
            let run = &self.text[self.at..end];
            self.at = end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    if text.is_empty() {
                        return Ok(run.to_owned());
                    }
                    text.push_str(run);
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(run);
                    self.at += 1;
                    text.push(self.escape()?);
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, Stop> {
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Stop> {
        let lone = "lone surrogate in \\u hexadecimal character escape";
        let first = self.hex4()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let paired = (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u");
        if !paired {
            return Err(lone.to_owned());
        }
        self.at += 2;
        let second = self.hex4()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone.to_owned());
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(|| lone.to_owned())
    }

    fn hex4(&mut self) -> Result<u32, Stop> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
    fn peek_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn unexpected(&self, context: &str) -> Stop {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "unexpected end of JSON input".to_owned(),
            Some('\'') => format!("invalid character '\\'' {context}"),
            Some('"') => format!("invalid character '\"' {context}"),
            Some(character) => format!("invalid character '{}' {context}", character.escape_debug()),
        }
    }
}

fn place(bytes: &[u8], at: usize, message: String) -> DecodeError {
    let before = &bytes[..at.min(bytes.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    DecodeError { line: before.split(|&byte| byte == b'\n').count(), column: 1 + before.len() - line_start, message }
}
