//! Where the commands take kinds from: files and folders, or a program that declares them in Rust.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use kindsmith::kind::crd::Report;
use kindsmith_codegen::{Kinds, proto::Drafts};
use kindsmith_formats::files::{self, Limits, Listing};
use kindsmith_meta::Quantity;
use serde_json::Value;

use super::{
    program::{ask, ask_about, ask_without_lock},
    terminal,
};
use crate::lint::allow;

/// The argument that says how large files may be.
#[derive(Args, Clone, Copy)]
pub(super) struct SizeLimit {
    /// The size up to which a file is read; all files together may be sixteen times as large.
    #[arg(long, value_name = "SIZE", default_value = "16Mi", value_parser = size)]
    max_file_size: u64,
}

/// A size in bytes, such as `16Mi`.
fn size(text: &str) -> Result<u64, String> {
    let bytes = text.parse::<Quantity>().ok().and_then(|size| u64::try_from(size.whole()).ok());
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| "expected a number of bytes, such as 16Mi".to_owned())
}

impl fmt::Display for SizeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max_file_size {
            whole if whole.is_multiple_of(1 << 20) => write!(f, "{}Mi", whole >> 20),
            bytes => write!(f, "{bytes}"),
        }
    }
}

impl SizeLimit {
    /// The size in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.max_file_size
    }

    /// The limits for files that are read together.
    pub(super) fn limits(self) -> Limits {
        Limits::of_file(self.bytes())
    }
}

/// The arguments that say where the kinds are.
#[derive(Args)]
pub(super) struct Origin {
    /// Files and folders of definitions and OpenAPI documents; without them, the program of this folder is asked.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    paths: Vec<PathBuf>,
    /// A program that is built already, to ask in place of `cargo run`.
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    program: Option<PathBuf>,
    /// Print all that is found, and all warnings about the files; otherwise the first few of a kind and a count, and of `check` what
    /// is breaking or a warning.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    size: SizeLimit,
}

impl Origin {
    /// The files and folders that are named.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// How much of them is read.
    pub(super) fn limits(&self) -> Limits {
        self.size.limits()
    }

    /// All that is found is printed.
    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// Prints warnings about the files.
    pub(super) fn warn(&self, warnings: &Report) {
        warn(warnings, self.all);
    }

    /// The kinds.
    pub(super) fn kinds(&self) -> Result<Kinds, String> {
        if !self.paths.is_empty() {
            let kinds = Kinds::of_files_up_to(files(&self.paths)?, self.size.bytes());
            return kinds.map_err(|error| error.to_string());
        }
        Kinds::of_program(&ask(self.program.as_deref())?).map_err(|error| error.to_string())
    }

    /// The Protobuf definitions, as far as they are declared. A program is built without the lock: it may have fields that are not in it yet.
    pub(super) fn messages(&self) -> Result<Drafts, String> {
        if self.is_program() {
            return Ok(Drafts::of_program(&ask_without_lock(self.program.as_deref())?));
        }
        let kinds = self.kinds()?;
        self.warn(&kinds.warnings);
        Ok(Drafts::of_kinds(&kinds))
    }

    /// True if a program is asked.
    pub(super) fn is_program(&self) -> bool {
        self.paths.is_empty()
    }

    /// What the program exports, or a server of the files: definitions and OpenAPI documents.
    pub(super) fn exported(&self) -> Result<Value, String> {
        if self.paths.is_empty() {
            return ask(self.program.as_deref());
        }
        // A server would report the same errors in its log.
        self.warn(&self.kinds()?.warnings);
        let files: Vec<_> = files(&self.paths)?.into_iter().map(PathBuf::into_os_string).collect();
        ask_about(&files, self.size)
    }
}

/// How findings are printed.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// Lines for people.
    Text,
    /// One JSON document.
    Json,
    /// Annotations of GitHub Actions.
    Github,
}

/// The lowest level of findings that fails a command, beside errors.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum DenyLevel {
    /// Warnings.
    Warnings,
}

/// Prints warnings about files: all, or of those of the same kind the first few.
pub(super) fn warn(warnings: &Report, all: bool) {
    terminal::warn(&warnings.0, |warning| &warning.message, all);
}

/// The files that are named, and those in the folders that are named, in alphabetical order.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    files_that(paths, is_read)
}

/// The files that are named, and those in the folders that are read.
pub(super) fn files_that(paths: &[PathBuf], is_read: fn(&Path) -> bool) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let mut listing: Listing = files::list(path, false, &is_read);
        if listing.files.is_empty() && listing.problems.is_empty() {
            problems.push(format!("{}: no file in it ends in .yaml, .yml or .json", path.display()));
        }
        found.append(&mut listing.files);
        problems.extend(listing.problems.into_iter().map(|(path, problem)| format!("{}: {problem}", path.display())));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems.join("\n")) }
}

/// True for the files of a folder that are read.
pub(super) fn is_read(path: &Path) -> bool {
    let is_rules = path.file_name().is_some_and(|name| name == allow::FILE);
    path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known)) && !is_rules
}

/// True for the files of a folder that `check` compares.
pub(super) fn is_compared(path: &Path) -> bool {
    is_read(path) || is_proto(path)
}

/// True for Protobuf definitions.
pub(super) fn is_proto(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "proto")
}
