//! Where the commands take kinds from: files and folders, or a program that declares them in Rust.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use kindsmith::kind::crd::Report;
use kindsmith_codegen::{Kinds, proto::Drafts};
use serde_json::Value;

use super::program::{ask, ask_about, ask_without_lock};
use crate::lint::allow;

/// The arguments that say where the kinds are.
#[derive(Args)]
pub(super) struct Origin {
    /// Files and folders of definitions and OpenAPI documents; without them, the program of this folder is asked.
    #[arg(value_name = "FILES-OR-FOLDERS")]
    paths: Vec<PathBuf>,
    /// A program that is built already, to ask in place of `cargo run`.
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    program: Option<PathBuf>,
}

impl Origin {
    /// The files and folders that are named.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The kinds.
    pub(super) fn kinds(&self) -> Result<Kinds, String> {
        if !self.paths.is_empty() {
            return Kinds::of_files(files(&self.paths)?).map_err(|error| error.to_string());
        }
        Kinds::of_program(&ask(self.program.as_deref())?).map_err(|error| error.to_string())
    }

    /// The Protobuf definitions, as far as they are declared. A program is built without the lock: it may have fields that are not in it yet.
    pub(super) fn messages(&self) -> Result<Drafts, String> {
        if self.is_program() {
            return Ok(Drafts::of_program(&ask_without_lock(self.program.as_deref())?));
        }
        let kinds = self.kinds()?;
        warn(&kinds.warnings);
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
        warn(&self.kinds()?.warnings);
        let files: Vec<_> = files(&self.paths)?.into_iter().map(PathBuf::into_os_string).collect();
        ask_about(&files)
    }
}

/// Prints warnings about files.
pub(super) fn warn(warnings: &Report) {
    for warning in &warnings.0 {
        eprintln!("warning: {warning}");
    }
}

/// The files that are named, and those in the folders that are named, in alphabetical order.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    files_that(paths, is_read)
}

/// The files that are named, and those in the folders that are read.
pub(super) fn files_that(paths: &[PathBuf], is_read: fn(&Path) -> bool) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            folder(path, is_read, &mut found).map_err(|error| format!("{}: {error}", path.display()))?;
            if found.len() == before {
                return Err(format!("{}: no file in it ends in .yaml, .yml or .json", path.display()));
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn folder(folder: &Path, is_read: fn(&Path) -> bool, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            self::folder(&path, is_read, found)?;
        } else if is_read(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// True for the files of a folder that are read.
pub(super) fn is_read(path: &Path) -> bool {
    let is_rules = path.file_name().is_some_and(|name| name == allow::FILE);
    path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known)) && !is_rules
}
