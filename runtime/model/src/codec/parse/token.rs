//! JSON tokens: strings, numbers, literals. Messages are worded as clients of kube-apiserver know them.
use crate::{
    meta::json::plain,
    schema::{Document, number},
};

/// Why parsing stopped at the cursor's position.
pub(super) type Stop = String;

/// A position in a text.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl Cursor<'_> {
    pub(super) fn literal(&mut self, word: &str) -> Result<(), Stop> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", expected as char);
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(())
    }

    pub(super) fn number(&mut self) -> Result<Document, Stop> {
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

    /// A quoted string. One without escapes, as nearly all are, is copied once.
    pub(super) fn string(&mut self) -> Result<String, Stop> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let end = self.at + plain::length(&self.text.as_bytes()[self.at..]);
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

    /// The character after a backslash.
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

    /// The next byte other than white space.
    pub(super) fn peek_token(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    pub(super) fn unexpected(&self, context: &str) -> Stop {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "unexpected end of JSON input".to_owned(),
            Some('\'') => format!("invalid character '\\'' {context}"),
            Some('"') => format!("invalid character '\"' {context}"),
            Some(character) => format!("invalid character '{}' {context}", character.escape_debug()),
        }
    }
}
