//! Files as they were at a revision of git. The work tree and the index are not touched.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use kindsmith_formats::files::Limits;

use super::kinds::is_compared;

/// The files at these paths, and those in folders that are read, as they were at a revision. A path that was not there yet has
/// none.
pub(super) fn texts(revision: &str, paths: &[PathBuf], limits: &mut Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut texts = Vec::new();
    for path in paths {
        let is_folder = path.is_dir();
        let folder =
            path.ancestors().skip(usize::from(!is_folder)).find(|above| above.is_dir() || *above == Path::new(""));
        let folder = folder.filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let below = path.strip_prefix(folder).unwrap_or(path);
        let below = if below == Path::new("") { Path::new(".") } else { below };
        texts.extend(read(revision, folder, below, &["--"], limits)?);
    }
    Ok(texts)
}

/// The files of `REVISION:PATH`, as git names them: from the root of the repository, or from here if it begins with a dot.
pub(super) fn texts_of(revision: &str, path: &str, limits: &mut Limits) -> Result<Vec<(String, Vec<u8>)>, String> {
    if path.starts_with("./") || path.starts_with("../") {
        return self::texts(revision, &[PathBuf::from(path)], limits);
    }
    let below = Path::new(if path.is_empty() { "." } else { path });
    let texts = read(revision, Path::new("."), below, &["--full-tree", "--"], limits)?;
    if texts.is_empty() {
        return Err(format!("{revision}:{path}: there are no definitions at this path of the revision"));
    }
    Ok(texts)
}

fn read(
    revision: &str,
    folder: &Path,
    below: &Path,
    options: &[&str],
    limits: &mut Limits,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut texts = Vec::new();
    let commit = commit(revision, folder)?;
    let below_text = below.to_str().ok_or_else(|| format!("{}: the path is not UTF-8", below.display()))?;
    let listed = git(folder, &[&["ls-tree", "-r", "-l", "-z", &commit], options, &[below_text]].concat())?;
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = String::from_utf8_lossy(entry);
        let Some((about, path)) = entry.split_once('\t') else { continue };
        let is_named = Path::new(path) == below;
        if !is_named && !is_compared(Path::new(path)) {
            continue;
        }
        let name =
            format!("{revision}:{}", folder.join(path).strip_prefix(".").unwrap_or(&folder.join(path)).display());
        match about.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            ["120000", ..] => {
                return Err(format!("{name}: a symbolic link is not followed at a revision; name its target"));
            }
            [_, "blob", object, size] => {
                let size = size.parse().unwrap_or(u64::MAX);
                limits.take(size).map_err(|error| format!("{name}: {error}"))?;
                texts.push((name, git(folder, &["cat-file", "blob", object])?));
            }
            _ => {}
        }
    }
    Ok(texts)
}

/// The commit that a revision names.
fn commit(revision: &str, folder: &Path) -> Result<String, String> {
    // Outside of a repository, git's own message says so.
    git(folder, &["rev-parse", "--git-dir"])?;
    let named = format!("{revision}^{{commit}}");
    let found = git(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &named]).map_err(|_| {
        format!(
            "--against {revision}: there is no such file or folder, and git knows no such revision; in a shallow clone, \
             fetch it first (actions/checkout: fetch-depth: 0)"
        )
    })?;
    Ok(String::from_utf8_lossy(&found).trim().to_owned())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    let output = output.map_err(|error| format!("git: {error}; --against needs git for a revision"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}
