//! `kindsmith add version`.

use clap::Args;

use super::super::{
    Outcome,
    change::{Changes, How},
};
use crate::scaffold::{edits::Edits, names, project::Project, version::Plan};

pub(super) const ABOUT: &str = "Add a version of a kind: a copy of its file, which is served beside the other versions.

Objects stay stored in the version in which they are stored now, so that an older program can still read them. With --storage they are \
stored in the new version, and the declaration of the old one is changed. `#[resource(convert(…))]` declares how the versions differ. \
The tests of the copy include one that reads and writes an object in both versions.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith add version Order v2
  kindsmith add version Order v2 --storage";

/// The arguments.
#[derive(Args)]
pub(in crate::cli) struct Command {
    /// The kind, such as Order.
    kind: String,
    /// The new version, such as v2 or v2beta1.
    version: String,
    /// Store objects in the new version.
    #[arg(long)]
    storage: bool,
    /// The group, if several have the kind.
    #[arg(long)]
    group: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Adds it.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    let Command { kind, version, storage, group, how } = command;
    names::check_version(&version)?;
    let project = Project::here()?;
    let versioned_kind = project.kind(&kind, group.as_deref())?;
    let stored = &versioned_kind.stored;
    stored.check_own_file()?;
    if let Some(other) = versioned_kind.versions().find(|other| other.version == version) {
        return Err(format!("{}: {kind} has the version {version} already", other.place()));
    }
    if let Some(other) = versioned_kind.others.first().filter(|_| storage) {
        return Err(format!(
            "{}: {} says how it differs from {}, which would no longer be stored; change `storage` and `convert` there by hand, \
             or add {version} without --storage",
            other.place(),
            other.version,
            stored.version
        ));
    }
    let plan = Plan { from: stored, version: &version, is_stored: storage };
    let mut edits = Edits::new(&project);
    let (text, has_example) = edits.edit(&stored.file, |source| {
        let text = plan.file(source)?;
        if source.modules()?.contains(&version) {
            return Ok(Err(source.has_module(&version)?));
        }
        source.add_module(&version)?;
        if storage {
            plan.demote(source, &version)?;
        }
        Ok(Ok((text, source.example()?.is_some())))
    })??;
    edits.edit(&stored.served_in, |source| source.add_kind(&format!("{}::{version}::{kind}", stored.path)))?;
    let mut changes = Changes::new(&project.root);
    let file = stored.below(&version);
    changes.create(&file, text);
    changes.edit_all(edits);
    let mut remarks = vec![if storage {
        format!("objects are stored in {version} from now on; objects stored in {} are still read", stored.version)
    } else {
        format!("objects stay stored in {}; --storage stores them in the new version", stored.version)
    }];
    if !has_example {
        remarks.push(format!(
            "{}: no function `example` is in its tests, so that no test of both versions was added",
            stored.place()
        ));
    }
    let file = file.display();
    let declared = if storage { format!("in {}", stored.file.display()) } else { "there".to_owned() };
    let next = format!(
        "change fields in {file}, and say {declared} how the versions differ: `#[resource(convert(…))]`; `cargo test` reports what is missing"
    );
    changes.write(how, &remarks, &next)?;
    Ok(Outcome::Whole)
}
