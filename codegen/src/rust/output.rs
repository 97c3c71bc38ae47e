//! The generated code, and warnings about it.
use std::{fmt, path::PathBuf};

use kindsmith::kind::crd::Report;

use kindsmith_meta::text::in_one_line;

/// Generated code.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GeneratedCode {
    /// The files, with paths below the folder for them.
    pub files: Vec<File>,
    /// The parts of documents that the code does not express.
    pub warnings: Vec<Warning>,
    /// Warnings about the documents themselves.
    pub report: Report,
    /// The paths of the kinds below the module of the generated files, such as `library::v1::Book`.
    pub kinds: Vec<String>,
}

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its path below the folder for generated files.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// A part of a document that the generated code does not express, or expresses in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The file of the document; empty if several files say the same.
    pub source: String,
    /// The kind.
    pub kind: String,
    /// The place in the schema of the kind, as a JSON pointer.
    pub pointer: String,
    /// The value found, the supported values, and the consequence.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.source.is_empty() {
            write!(f, "{}: ", in_one_line(&self.source))?;
        }
        let Self { kind, pointer, message, .. } = self;
        write!(f, "{kind}, schema{}: {}", in_one_line(pointer), in_one_line(message))
    }
}

/// Why nothing is generated.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    Io(PathBuf, std::io::Error),
    /// Documents are wrong.
    Documents(Report),
    /// The input or an option is wrong.
    Invalid(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Documents(report) => report.fmt(f),
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
