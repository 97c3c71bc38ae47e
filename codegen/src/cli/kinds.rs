//! Where the commands take kinds from: files and folders, or a program that declares them in Rust.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{self, Stdio},
};

use clap::Args;
use kindsmith::kind::crd::Report;
use kindsmith_codegen::Kinds;
use serde_json::Value;

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
    /// The kinds.
    #[expect(dead_code, reason = "the first command that uses it removes this line")]
    pub(super) fn kinds(&self) -> Result<Kinds, String> {
        if !self.paths.is_empty() {
            return Kinds::of_files(files(&self.paths)?).map_err(|error| error.to_string());
        }
        let exported = ask(self.program.as_deref())?;
        let definitions = &exported["definitions"];
        let text = |definition: &Value| {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            (format!("the program's {name}"), definition.to_string().into_bytes())
        };
        let texts: Vec<_> = definitions.as_array().into_iter().flatten().map(text).collect();
        Kinds::of_texts(&texts).map_err(|error| error.to_string())
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
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            folder(path, &mut found).map_err(|error| format!("{}: {error}", path.display()))?;
            if found.len() == before {
                return Err(format!("{}: no file in it ends in .yaml, .yml or .json", path.display()));
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn folder(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            self::folder(&path, found)?;
        } else if is_read(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// True for the files of a folder that are read.
pub(super) fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known))
}

/// Runs the program, and returns what it wrote.
pub(super) fn ask(program: Option<&Path>) -> Result<Value, String> {
    let file = env::temp_dir().join(format!("kindsmith-export-{}.json", process::id()));
    let (mut command, name) = if let Some(program) = program {
        (process::Command::new(program), program.display().to_string())
    } else {
        let mut command = process::Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["run", "--quiet"]);
        (command, "cargo run".to_owned())
    };
    // What it prints is not what is exported.
    let ended = command.env("KINDSMITH_EXPORT", &file).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let ended = ended.map_err(|error| format!("{name}: {error}"))?;
    let written = fs::read(&file);
    // A file in the temporary folder that stays is no error.
    let _ = fs::remove_file(&file);
    let Ok(written) = written else {
        let way_out = "the program has to call `serve` or `build` of kindsmith's builder, and no other arguments can be given to it";
        return Err(format!("{name} ended ({ended}) without exporting its kinds; {way_out}"));
    };
    serde_json::from_slice(&written).map_err(|error| format!("{name} wrote something else than its kinds: {error}"))
}
