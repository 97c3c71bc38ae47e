//! `kindsmith new`: a crate that serves a kind.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    Outcome,
    change::{Changes, How},
};
use crate::scaffold::{
    dependency, field,
    kind::Kind,
    names,
    new_crate::{self, check_name, sample_path},
};

pub(super) const ABOUT: &str = "Make a crate that serves a kind: sources, tests, a sample object and a README.

The crate depends on the sources of Kindsmith that this command was built from, a folder or a git revision, or on those that \
--kindsmith names.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith new shop
  kindsmith new shop --group shop.example.com --kind Order customer:String 'items:Vec<String>'
  cd shop && cargo test && cargo run";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// The folder, which becomes the crate's name.
    name: PathBuf,
    /// The fields of the first kind: NAME:TYPE, or NAME:TYPE=DEFAULT.
    #[arg(value_name = "FIELD:TYPE", default_values = ["title:String", "copies:i32=1"])]
    fields: Vec<String>,
    /// The first kind.
    #[arg(long, default_value = "Item")]
    kind: String,
    /// The group of the kinds; by default the crate's name below example.com.
    #[arg(long)]
    group: Option<String>,
    /// The folder of Kindsmith's sources, or a git repository with an optional revision: URL#REVISION.
    #[arg(long, value_name = "PATH")]
    kindsmith: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Makes the crate.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    let Command { name: folder, fields, kind, group, kindsmith, how } = command;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    check_name(name)?;
    names::check_kind(&kind)?;
    let group = group.unwrap_or_else(|| format!("{}.example.com", name.replace('_', "-")));
    names::check_group(&group)?;
    let (fields, remarks) = field::parse_all(&fields)?;
    let kind = Kind {
        types: vec![Kind::spec(&kind, fields)],
        name: kind,
        group,
        version: "v1".to_owned(),
        is_cluster: false,
        short_name: String::new(),
        has_status: false,
    };
    if !how.overwrite && folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        let folder = folder.display();
        return Err(format!("{folder} exists and is not empty, and nothing was written; choose another name"));
    }
    let dependency = dependency::dependency(kindsmith.as_deref())?;
    let mut changes = Changes::new(&folder);
    for (path, text) in new_crate::files(name, &dependency, &kind) {
        changes.create(path, text);
    }
    changes.create(Path::new("src").join(names::module(&kind.name)).with_extension("rs"), kind.source());
    changes.create(sample_path(&kind), kind.manifest());
    changes.write(how, &remarks, &format!("cd {} && cargo test && cargo run", folder.display()))?;
    Ok(Outcome::Whole)
}
