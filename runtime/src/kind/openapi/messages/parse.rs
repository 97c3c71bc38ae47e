//! The text of Protobuf definitions: packages, messages and fields; everything else is skipped.
use super::{Field, Message};

/// The line of an error, and what is wrong there.
type Error = (usize, String);

/// The scalar types.
const SCALARS: [&str; 15] = [
    "bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64", "sfixed32", "sfixed64", "sint32",
    "sint64", "string", "uint32", "uint64",
];

/// A word, a number or a sign, with its line.
type Token<'t> = (usize, &'t str);

/// Returns true for a text that begins as files of definitions do.
pub(super) fn begins(text: &str) -> bool {
    let mut tokens = Tokens { text, line: 1 };
    match (tokens.next(), tokens.next()) {
        (Some((_, "syntax" | "edition")), Some((_, "="))) => true,
        (Some((_, "package" | "import")), Some((_, next))) => next != ":",
        _ => false,
    }
}

/// The messages of a file, by full name.
pub(super) fn file(text: &str) -> Result<Vec<(String, Message)>, Error> {
    let mut parser = Parser { tokens: Tokens { text, line: 1 }, is_proto3: false, found: Vec::new() };
    parser.file()?;
    Ok(parser.found)
}

struct Tokens<'t> {
    text: &'t str,
    line: usize,
}

impl<'t> Tokens<'t> {
    /// Skips spaces and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.text.trim_start();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                0
            };
            let skipped = self.text.len() - rest.len() + comment;
            self.take(skipped);
            if comment == 0 {
                return;
            }
        }
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.text.split_at(length);
        self.line += taken.matches('\n').count();
        self.text = rest;
        taken
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        self.skip();
        let first = self.text.chars().next()?;
        let line = self.line;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = if is_word(first) {
            self.text.find(|c| !is_word(c)).unwrap_or(self.text.len())
        } else if first == '"' || first == '\'' {
            let mut is_escaped = false;
            let end = self.text[1..].find(|c| {
                let ends = c == first && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            end.map_or(self.text.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        Some((line, self.take(length)))
    }
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    is_proto3: bool,
    found: Vec<(String, Message)>,
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Result<Token<'t>, Error> {
        let line = self.tokens.line;
        self.tokens.next().ok_or_else(|| (line, "the file ends within a definition".to_owned()))
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        match self.next()? {
            (_, found) if found == sign => Ok(()),
            (line, found) => Err((line, format!("expected {sign:?}, found {found:?}"))),
        }
    }

    /// Skips to the end of a statement: a semicolon, or a block.
    fn skip_statement(&mut self) -> Result<(), Error> {
        let mut depth = 0usize;
        loop {
            match self.next()?.1 {
                ";" if depth == 0 => return Ok(()),
                "{" => depth += 1,
                "}" if depth <= 1 => return Ok(()),
                "}" => depth -= 1,
                _ => {}
            }
        }
    }

    fn file(&mut self) -> Result<(), Error> {
        let mut package = String::new();
        while let Some((line, word)) = self.tokens.next() {
            match word {
                "syntax" => {
                    self.expect("=")?;
                    let syntax = self.next()?.1.trim_matches(['"', '\'']);
                    if !["proto2", "proto3"].contains(&syntax) {
                        return Err((line, format!("found the syntax {syntax:?}; supported: proto2, proto3")));
                    }
                    self.is_proto3 = syntax == "proto3";
                    self.expect(";")?;
                }
                "edition" => return Err((line, "found an edition; supported: the syntax proto2 or proto3".to_owned())),
                "package" => {
                    self.next()?.1.clone_into(&mut package);
                    self.expect(";")?;
                }
                "message" => self.message(&package)?,
                ";" => {}
                "import" | "option" | "enum" | "service" | "extend" => self.skip_statement()?,
                found => return Err((line, format!("found {found:?}; expected a definition, such as message"))),
            }
        }
        Ok(())
    }

    /// A message, after the word.
    fn message(&mut self, around: &str) -> Result<(), Error> {
        let name = self.next()?.1;
        let name = if around.is_empty() { name.to_owned() } else { format!("{around}.{name}") };
        self.expect("{")?;
        let mut message = Message { scope: name.clone(), ..Message::default() };
        loop {
            match self.next()? {
                (_, "}") => break,
                (_, ";") => {}
                (_, "message") => self.message(&name)?,
                (_, "oneof") => {
                    self.next()?;
                    self.expect("{")?;
                    loop {
                        match self.next()? {
                            (_, "}") => break,
                            (_, "option") => self.skip_statement()?,
                            (_, kind) => self.field(kind, false, &mut message)?,
                        }
                    }
                }
                (_, "option" | "reserved" | "extensions" | "enum" | "extend") => self.skip_statement()?,
                (_, "optional" | "required" | "repeated") => {
                    let kind = self.next()?.1;
                    self.field(kind, false, &mut message)?;
                }
                (_, kind) => {
                    let zero_is_absent = self.is_proto3 && SCALARS.contains(&kind);
                    self.field(kind, zero_is_absent, &mut message)?;
                }
            }
        }
        self.found.push((name, message));
        Ok(())
    }

    /// A field, after its type or the word `map`.
    fn field(&mut self, kind: &str, zero_is_absent: bool, message: &mut Message) -> Result<(), Error> {
        if kind == "map" {
            while self.next()?.1 != ">" {}
        }
        let (line, name) = self.next()?;
        self.expect("=")?;
        let number = self.next()?.1;
        let Some(number) = number.parse().ok().filter(|number| (1..1 << 29).contains(number)) else {
            return Err((line, format!("{name}: found the number {number:?}; expected 1 to 536870911")));
        };
        let mut name = name.to_owned();
        loop {
            match self.next()? {
                (_, ";") => break,
                (_, "json_name") => {
                    self.expect("=")?;
                    self.next()?.1.trim_matches(['"', '\'']).clone_into(&mut name);
                }
                _ => {}
            }
        }
        if message.fields.values().any(|other| other.number == number) {
            return Err((line, format!("{name}: another field of the message has the number {number}")));
        }
        message.fields.insert(name, Field { number, kind: kind.to_owned(), zero_is_absent });
        Ok(())
    }
}
