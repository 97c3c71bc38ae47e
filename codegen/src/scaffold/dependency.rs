//! Kindsmith as a dependency of a new crate: the folder or the git revision that this program was built from, or another one.

use std::{env, fs, path::Path};

use serde_json::Value;

/// The sources that this program was built from, if they are still there.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The value of the dependency in Cargo.toml.
///
/// `given` is a folder, or a git repository with an optional revision: `https://…#abc123`. Without it, the sources of this program
/// are named: the revision that `cargo install --git` recorded, or the folder.
///
/// # Errors
/// There are no sources of Kindsmith.
pub(crate) fn dependency(given: Option<&str>) -> Result<String, String> {
    match given {
        Some(url) if url.contains("://") => Ok(git(url)),
        Some(folder) => path(Path::new(folder))
            .ok_or_else(|| format!("{folder}: no crate kindsmith is there; name the folder of its sources")),
        None => installed().map(|url| git(&url)).or_else(|| path(Path::new(BUILT_FROM))).ok_or_else(|| {
            format!(
                "{BUILT_FROM}: the sources that this program was built from are gone; name others with --kindsmith PATH"
            )
        }),
    }
}

fn git(url: &str) -> String {
    let (url, revision) = url.split_once('#').map_or((url, None), |(url, revision)| (url, Some(revision)));
    let revision = revision.map_or_else(String::new, |revision| format!(", rev = {revision:?}"));
    format!("git = {url:?}{revision}")
}

fn path(folder: &Path) -> Option<String> {
    let is_it = |folder: &Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line == "name = \"kindsmith\"")
    };
    let found = [folder.to_owned(), folder.join("runtime")].into_iter().find(|folder| is_it(folder))?;
    Some(format!("path = {:?}", found.canonicalize().ok()?.display().to_string()))
}

/// The repository and revision from which `cargo install` built this program: it notes them beside the folder of programs.
/// Cargo's own copy of the sources, which this program was built from, may be removed at any time.
fn installed() -> Option<String> {
    let program = env::current_exe().ok()?;
    let noted = fs::read(program.parent()?.parent()?.join(".crates2.json")).ok()?;
    let noted: Value = serde_json::from_slice(&noted).ok()?;
    let packages = noted["installs"].as_object()?.keys();
    let of_this = |package: &&String| package.starts_with(concat!(env!("CARGO_PKG_NAME"), " "));
    let source = packages.filter(of_this).find_map(|package| package.split_once("(git+")?.1.strip_suffix(')'))?;
    let (url, revision) = source.split_once('#')?;
    // The branch or tag that was asked for; the revision is more exact.
    let url = url.split('?').next().unwrap_or(url);
    Some(format!("{url}#{revision}"))
}
