//! `kindsmith export proto`: the lock of field numbers, which other exports do not have: it is merged, not replaced.

use std::path::Path;

use kindsmith_codegen::proto::{Drafts, LockFile};

use super::{
    Outcome,
    change::{Changes, How},
    terminal::{print, report},
};

/// Prints the definitions, or merges them with those in a folder.
pub(super) fn run(drafts: &Drafts, out: Option<&Path>, how: How, check: bool) -> Result<Outcome, String> {
    for reason in &drafts.left_out {
        report(format_args!("warning: left out: {reason}"));
    }
    if drafts.files.is_empty() {
        return Err("there are no kinds that could be exported".to_owned());
    }
    let lock_files = drafts.lock(out).map_err(|error| error.to_string())?;
    let Some(out) = out else {
        for file in &lock_files {
            print(format_args!("{}", file.text));
        }
        return Ok(Outcome::Whole);
    };
    let changed = |file: &&LockFile| file.before.as_ref() != Some(&file.text);
    if check {
        let stale: Vec<&LockFile> = lock_files.iter().filter(changed).collect();
        for file in &stale {
            report(format_args!(
                "error: not up to date: {}; run: kindsmith export proto --out {}",
                out.join(&file.path).display(),
                out.display()
            ));
            for remark in &file.remarks {
                report(format_args!("note: {remark}"));
            }
        }
        return Ok(if stale.is_empty() { Outcome::Whole } else { Outcome::Damaged });
    }
    let mut changes = Changes::new(out);
    for file in lock_files.iter().filter(changed) {
        match &file.before {
            Some(before) => changes.edit(&file.path, before.clone(), file.text.clone()),
            None => changes.create(&file.path, file.text.clone()),
        }
    }
    // The files of the API machinery are the same everywhere; one that is there is left as it is.
    for (path, text) in drafts.imported.iter().filter(|(path, _)| !out.join(path).is_file()) {
        changes.create(path, text.clone());
    }
    let remarks: Vec<String> = lock_files.iter().flat_map(|file| file.remarks.iter().cloned()).collect();
    let next = match lock_files.iter().find(changed) {
        Some(file) => format!("commit {}: published numbers never change", out.join(&file.path).display()),
        None => "nothing: the files were up to date".to_owned(),
    };
    changes.write(how, &remarks, &next)?;
    Ok(Outcome::Whole)
}
