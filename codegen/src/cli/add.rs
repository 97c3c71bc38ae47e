//! `kindsmith add`: kinds, groups, versions, subresources and controllers in a crate that `kindsmith new` made, or in one like it.

mod controller;
mod subresource;
mod version;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use kindsmith_formats::files;

use super::{
    Outcome,
    change::{Changes, How},
    kinds::SizeLimit,
};
use crate::scaffold::{
    edits::Edits,
    field,
    kind::Kind,
    names,
    new_crate::{self, sample_path},
    project::Project,
    sample::{self, Sample},
};

pub(super) const ABOUT: &str = "Add to the crate around the current folder.

Kinds are added to the function `serve` of src/lib.rs, or of a group's module. Only lines are added to files that exist; all other \
lines stay as they are.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith add kind Order customer:String copies:i32=1
  kindsmith add version Order v2
  kindsmith add subresource Order ship carrier:String
  kindsmith add controller Order";

const EXAMPLES_OF_KIND: &str = "\
Examples:
  kindsmith add kind Order customer:String copies:i32=1 'items:Vec<String>' 'note:Option<String>'
  kindsmith add kind Order --from order.yaml
  kindsmith add kind Invoice amount:Quantity --group billing.example.com --status";

const EXAMPLES_OF_GROUP: &str = "\
Example:
  kindsmith add group billing.example.com
  kindsmith add kind Invoice amount:Quantity --group billing.example.com";

/// What to add.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a kind, with fields that are named or inferred from a sample.
    #[command(
        long_about = "Add a kind: its file in Rust with tests, a sample object, and the lines that serve it.\n\n\
            A field is NAME:TYPE, or NAME:TYPE=DEFAULT. Types are String, bool, i32, i64, Quantity, Time, MicroTime, IntOrString, \
            ByteString, RawJson, LabelSelector, ObjectReference, and Vec<…>, BTreeMap<String, …> and Option<…> of these. With --from, \
            fields and types are those of a sample object in YAML or JSON; what is in it is required, except lists, maps, and fields \
            that not all items of a list have.",
        after_help = EXAMPLES_OF_KIND
    )]
    Kind(KindArguments),
    /// Add a group: a module to which kinds can be added.
    #[command(after_help = EXAMPLES_OF_GROUP)]
    Group {
        /// The name, such as billing.example.com.
        name: String,
        #[command(flatten)]
        how: How,
    },
    /// Add a version of a kind, as a copy that is served beside it.
    #[command(long_about = version::ABOUT, after_help = version::EXAMPLES)]
    Version(version::Command),
    /// Add a subresource: an action, an answer that is computed, text, status or scale.
    #[command(long_about = subresource::ABOUT, after_help = subresource::EXAMPLES)]
    Subresource(subresource::Command),
    /// Add a controller that runs in the server's process.
    #[command(long_about = controller::ABOUT, after_help = controller::EXAMPLES)]
    Controller(controller::Command),
}

/// The arguments of a kind.
#[derive(Args)]
pub(super) struct KindArguments {
    /// The kind, such as Order.
    name: String,
    /// Fields of the desired state: NAME:TYPE, or NAME:TYPE=DEFAULT.
    #[arg(value_name = "FIELD:TYPE")]
    fields: Vec<String>,
    /// A sample object in YAML or JSON, from which the fields are inferred.
    #[arg(long, value_name = "FILE", conflicts_with = "fields")]
    from: Option<PathBuf>,
    /// The group; by default that of src/lib.rs.
    #[arg(long)]
    group: Option<String>,
    /// The version; v1 by default.
    #[arg(long)]
    version: Option<String>,
    /// The short name, for kubectl.
    #[arg(long, value_name = "NAME", default_value = "")]
    shortname: String,
    /// Objects are cluster-scoped.
    #[arg(long)]
    cluster: bool,
    /// Add a status with conditions, which controllers write.
    #[arg(long)]
    status: bool,
    #[command(flatten)]
    size: SizeLimit,
    #[command(flatten)]
    how: How,
}

/// Adds it.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    match command {
        Command::Kind(arguments) => kind(arguments),
        Command::Group { name, how } => group(&name, how),
        Command::Version(command) => version::run(command),
        Command::Subresource(command) => subresource::run(&command),
        Command::Controller(command) => controller::run(command),
    }
}

fn kind(arguments: KindArguments) -> Result<Outcome, String> {
    let KindArguments { name, fields, from, group, version, shortname, cluster, status, size, how } = arguments;
    names::check_kind(&name)?;
    let project = Project::here()?;
    let text = from
        .as_ref()
        .map(|path| files::read_text(path, &size.limits()).map_err(|error| format!("{}: {error}", path.display())));
    let text = text.transpose()?;
    let desired = if let (Some(path), Some(text)) = (&from, &text) {
        sample::read(&path.display().to_string(), text, &name)?
    } else {
        let (fields, remarks) = field::parse_all(&fields)?;
        Sample { types: vec![Kind::spec(&name, fields)], remarks, ..Sample::default() }
    };
    let group = project.named(group.as_deref().or(desired.group.as_deref()))?;
    let kind = Kind {
        name,
        group: group.name.clone(),
        version: version.or(desired.version).unwrap_or_else(|| "v1".to_owned()),
        is_cluster: cluster,
        short_name: shortname,
        has_status: status || desired.has_status,
        types: desired.types,
    };
    names::check_version(&kind.version)?;
    let module = names::module(&kind.name);
    let mut edits = Edits::new(&project);
    edits.edit(&group.file, |source| {
        if !source.modules()?.contains(&module) {
            source.add_module(&module)?;
            return source.add_kind(&format!("{module}::{}", kind.name));
        }
        let file = group.file.display();
        let is_taken =
            || format!("{file}: there is a module {module}, and nothing was written; --overwrite replaces its file");
        how.overwrite.then_some(()).ok_or_else(is_taken)
    })?;
    let (path, sample) = (group.folder.join(&module).with_extension("rs"), sample_path(&kind));
    let mut changes = Changes::new(&project.root);
    changes.create(&path, kind.source());
    let is_sample = |path: &PathBuf| path.canonicalize().ok() == project.root.join(&sample).canonicalize().ok();
    if !from.as_ref().is_some_and(is_sample) {
        let written = text.and_then(|text| sample::adapted(&text, &format!("{}/{}", kind.group, kind.version)));
        changes.create(&sample, written.unwrap_or_else(|| kind.manifest()));
    }
    changes.edit_all(edits);
    let (path, plural) = (path.display(), names::plural(&kind.name));
    let next = format!("say in {path} what the fields mean; `cargo test` tests them, `cargo run` serves {plural}");
    changes.write(how, &desired.remarks, &next)?;
    Ok(Outcome::Whole)
}

fn group(name: &str, how: How) -> Result<Outcome, String> {
    names::check_group(name)?;
    let project = Project::here()?;
    if project.groups.iter().any(|group| group.name == name) {
        return Err(format!(
            "there is a group {name} already; `kindsmith add kind NAME --group {name}` adds a kind to it"
        ));
    }
    let module = new_crate::group_module(name);
    let mut edits = Edits::new(&project);
    edits.edit(Path::new("src/lib.rs"), |source| {
        if source.modules()?.contains(&module) {
            return Err(format!(
                "src/lib.rs: there is a module {module}, the name that the group's module would have; rename it first"
            ));
        }
        source.add_module(&module)?;
        source.add_group(&module)
    })?;
    let mut changes = Changes::new(&project.root);
    changes.create(Path::new("src").join(&module).with_extension("rs"), new_crate::group_source(name));
    changes.edit_all(edits);
    changes.write(how, &[], &format!("kindsmith add kind NAME FIELD:TYPE --group {name}"))?;
    Ok(Outcome::Whole)
}
