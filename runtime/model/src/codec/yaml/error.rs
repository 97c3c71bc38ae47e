//! Errors for invalid YAML, with go-yaml's wording if it has one, because users search for it.
use std::{fmt, ops::Range};

use granit_parser::{ErrorKind, ScanError, Span};

/// Why a text is not YAML, or contains something that JSON does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line of the text that it is on, counted from 1; 1 if it is about the whole document.
    pub line: usize,
    /// What is wrong, without the line.
    pub reason: String,
    /// The text that go-yaml prints before the reason, with its own line number.
    prefix: String,
    /// For a line of a quoted scalar that is not indented: from the end of what was read to the line.
    pub(super) unindented: Option<Range<usize>>,
}

impl Error {
    /// An error about the document.
    pub(super) fn new(message: &str) -> Self {
        Self { line: 1, reason: message.to_owned(), prefix: "yaml: ".to_owned(), unindented: None }
    }

    /// An error on a line, counted from 1.
    pub(super) fn on_line(line: usize, message: &str) -> Self {
        Self { line, prefix: format!("yaml: line {line}: "), ..Self::new(message) }
    }

    pub(super) fn at(span: &Span, message: &str) -> Self {
        Self::on_line(span.start.line(), message)
    }

    /// An error of the parsed document.
    pub(super) fn of_json(message: String) -> Self {
        Self { reason: message, prefix: String::new(), ..Self::new("") }
    }

    /// The parser's error, after an event that ended at an offset.
    pub(super) fn of_scan(error: &ScanError, ended: usize, depth: usize) -> Self {
        let info = error.info();
        let (message, within) = message(&info);
        let message = if info == "recursion limit exceeded" {
            format!("exceeded max depth of {depth}")
        } else {
            message.to_owned()
        };
        // go-yaml counts lines from 0 here, and does not print line 0.
        let line = error.marker().line();
        let printed = match (line, within) {
            (line, Within::NextLine) => Self::on_line(line + 1, &message),
            (..=1, _) => Self::new(&message),
            (line, Within::Tokens) => Self::on_line(line, &message),
            (line, Within::Nodes) => Self::on_line(line - 1, &message),
        };
        let unindented = match error.kind() {
            ErrorKind::InvalidQuotedScalarIndent => error.marker().byte_offset().map(|stop| ended..stop),
            _ => None,
        };
        Self { line: line.max(1), unindented, ..printed }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, self.reason)
    }
}

impl std::error::Error for Error {}

/// The part of go-yaml that reports the error.
enum Within {
    Tokens,
    Nodes,
    /// Like `Tokens`, where our parser reports the previous line.
    NextLine,
}

/// go-yaml's wording for the parser's error. The part before a comma is context, which go-yaml does not print.
fn message(info: &str) -> (&str, Within) {
    let problem = info.split_once(", ").filter(|(context, _)| context.starts_with("while ")).map_or(info, |(_, p)| p);
    let begins = |start: &str| problem.starts_with(start);
    match problem {
        "misplaced bracket" | "unclosed bracket '['" | "unclosed bracket '{'" => {
            ("did not find expected node content", Within::Nodes)
        }
        "mismatched bracket '[' closed by '}'" | "expected ',' or ']'" | "illegal placement of ':' indicator" => {
            ("did not find expected ',' or ']'", Within::Nodes)
        }
        "mismatched bracket '{' closed by ']'" => ("did not find expected ',' or '}'", Within::Nodes),
        "the handle wasn't declared" => ("found undefined tag handle", Within::Nodes),
        "found a tab" => ("found a tab character that violates indentation", Within::NextLine),
        "unclosed quote" => ("found unexpected end of stream", Within::Tokens),
        "simple key expected ':'" | "simple key is no longer valid" => {
            ("could not find expected ':'", Within::NextLine)
        }
        _ if begins("invalid trailing content after ") => ("did not find expected key", Within::Nodes),
        _ if begins("unexpected EOF while parsing a block") => ("did not find expected key", Within::Nodes),
        _ if begins("unexpected character: ") || begins("tabs disallowed") || begins("tab cannot be used") => {
            ("found character that cannot start any token", Within::Tokens)
        }
        "did not find expected node content"
        | "did not find expected key"
        | "did not find expected ',' or '}'"
        | "did not find expected '-' indicator"
        | "did not find expected <document start>" => (problem, Within::Nodes),
        _ => (problem, Within::Tokens),
    }
}
