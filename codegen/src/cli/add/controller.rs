//! `kindsmith add controller`.

use std::path::Path;

use clap::Args;

use super::super::{
    Outcome,
    change::{Changes, How},
};
use crate::scaffold::{controller, edits::Edits, manifest, project::Project, status};

pub(super) const ABOUT: &str =
    "Add a controller of a kind with kube-rs, which runs in the server's process: a file with its reconciler and a \
test, a line in `serve`, and what it depends on in Cargo.toml.

It reports in the condition `Ready` of the status; a kind without a status gets one.";

pub(super) const EXAMPLES: &str = "\
Example:
  kindsmith add controller Order";

/// The module of a controller.
const MODULE: &str = "controller";

/// The arguments.
#[derive(Args)]
pub(in crate::cli) struct Command {
    /// The kind, such as Order.
    kind: String,
    /// The group, if several have the kind.
    #[arg(long)]
    group: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Adds it.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    let Command { kind, group, how } = command;
    let project = Project::here()?;
    let versioned_kind = project.kind(&kind, group.as_deref())?;
    let stored = &versioned_kind.stored;
    stored.check_own_file()?;
    let mut edits = Edits::new(&project);
    let has_status = edits.edit(&stored.file, |source| {
        if source.modules()?.iter().any(|module| module == MODULE) {
            return Err(source.has_module(MODULE)?);
        }
        source.check_example()?;
        source.has_conditions(&kind)
    })?;
    let mut remarks = Vec::new();
    if !has_status {
        status::add(&mut edits, &versioned_kind, &[])?;
        remarks.push(format!("{kind} has a status with conditions now, in which the controller reports"));
    }
    edits.edit(&stored.file, |source| source.add_module(MODULE))?;
    edits.edit(&stored.served_in, |source| {
        let path = format!("{}::{MODULE}::run", stored.path);
        source.add_call(&format!(".controller({:?}, {path})", stored.plural), &["controller"])
    })?;
    let file = stored.below(MODULE);
    let mut changes = Changes::new(&project.root);
    changes.create(&file, controller::source(stored));
    changes.edit_all(edits);
    depend(&project, &mut changes, &mut remarks)?;
    let next = format!("write in `reconcile` of {} what the spec asks for; `cargo test` tests it", file.display());
    changes.write(how, &remarks, &next)?;
    Ok(Outcome::Whole)
}

/// Adds what the controller depends on.
fn depend(project: &Project, changes: &mut Changes, remarks: &mut Vec<String>) -> Result<(), String> {
    let path = Path::new("Cargo.toml");
    let before = project.read(path)?;
    let mut text = manifest::with_dependencies(&before, &controller::DEPENDENCIES);
    match manifest::with_feature(&text, "kindsmith", controller::FEATURE) {
        Some(changed) => text = changed,
        None => remarks.push(format!("add the feature `{}` to kindsmith in Cargo.toml by hand", controller::FEATURE)),
    }
    if text != before {
        changes.edit(path, before, text);
    }
    Ok(())
}
