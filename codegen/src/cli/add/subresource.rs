//! `kindsmith add subresource`.

use clap::Args;

use super::super::{
    Outcome,
    change::{Changes, How},
};
use crate::scaffold::{
    declarations::VersionedKind,
    edit::SourceFile,
    edits::Edits,
    field, names,
    project::Project,
    status,
    subresource::{Handler, Subresource, check_name},
};

pub(super) const ABOUT: &str = "Add a subresource to a kind.

An action is a POST, with the fields of its request; --get answers with an object that is computed, --text with text. Each gets a file \
with its handler and a test, and a line in `serve`.

`status` is what controllers write and other clients cannot: a type with conditions and with the fields that are named. `scale` is \
what `kubectl scale` and autoscalers use, over fields of the kind. Both are added to each version.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith add subresource Order ship carrier:String
  kindsmith add subresource Order summary --get
  kindsmith add subresource Order log --text
  kindsmith add subresource Order status copies:Option<i32>
  kindsmith add subresource Order scale --replicas spec.copies --observed status.copies";

/// The arguments.
#[derive(Args)]
pub(in crate::cli) struct Command {
    /// The kind, such as Order.
    kind: String,
    /// The name, such as ship, or one of status and scale.
    name: String,
    /// Fields of the request, or of the status: NAME:TYPE.
    #[arg(value_name = "FIELD:TYPE")]
    fields: Vec<String>,
    /// Answer POST: an action. This is the default.
    #[arg(long, group = "handler")]
    post: bool,
    /// Answer GET with an object that is computed.
    #[arg(long, group = "handler")]
    get: bool,
    /// Answer GET with text.
    #[arg(long, group = "handler")]
    text: bool,
    /// Of scale: the field with the number that is asked for [default: spec.replicas].
    #[arg(long, value_name = "PATH")]
    replicas: Option<String>,
    /// Of scale: the field with the number that was observed [default: status.replicas].
    #[arg(long, value_name = "PATH")]
    observed: Option<String>,
    /// Of scale: the field with the label selector.
    #[arg(long, value_name = "PATH")]
    selector: Option<String>,
    /// The group, if several have the kind.
    #[arg(long)]
    group: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Adds it.
pub(super) fn run(command: &Command) -> Result<Outcome, String> {
    let project = Project::here()?;
    let versioned_kind = project.kind(&command.kind, command.group.as_deref())?;
    let (is_scale, has_handler) = (command.name == "scale", command.post || command.get || command.text);
    let of_scale = [&command.replicas, &command.observed, &command.selector];
    if !is_scale && of_scale.iter().any(|path| path.is_some()) {
        return Err(format!("--replicas, --observed and --selector are for `scale`, not for `{}`", command.name));
    }
    if has_handler && (is_scale || command.name == "status") {
        return Err(format!("`{}` is answered by the server itself; leave --post, --get and --text out", command.name));
    }
    match &*command.name {
        "status" => add_status(command, &project, &versioned_kind),
        "scale" => scale(command, &project, &versioned_kind),
        _ => handler(command, &project, &versioned_kind),
    }
}

fn handler(command: &Command, project: &Project, versioned_kind: &VersionedKind) -> Result<Outcome, String> {
    let Command { name, kind, .. } = command;
    check_name(name)?;
    let parent = &versioned_kind.stored;
    parent.check_own_file()?;
    let handler = match (command.get, command.text) {
        (true, _) => Handler::Get,
        (_, true) => Handler::Text,
        _ => Handler::Post,
    };
    if handler != Handler::Post && !command.fields.is_empty() {
        return Err("fields are those of the request of an action; leave them, or --get and --text, out".to_owned());
    }
    let (fields, remarks) = field::parse_all(&command.fields)?;
    let subresource = Subresource { parent, name, handler, fields: &fields };
    let module = subresource.module();
    let mut edits = Edits::new(project);
    edits.edit(&parent.file, |source| {
        if source.modules()?.contains(&module) {
            return Err(source.has_module(&module)?);
        }
        source.check_example()?;
        source.add_module(&module)
    })?;
    edits.edit(&parent.served_in, |source| {
        let function = source.import("kindsmith::handlers", handler.function())?;
        let path = format!("{}::{module}::{module}", parent.path);
        source.add_call(&format!(".subresource({name:?}, {function}({path}))"), &["subresource"])
    })?;
    let file = parent.below(&module);
    let mut changes = Changes::new(&project.root);
    changes.create(&file, subresource.source());
    changes.edit_all(edits);
    let next = format!(
        "write in {} what {name} does; `cargo test` tests it, and it is at {}/NAME/{name}",
        file.display(),
        parent.objects()
    );
    let mut remarks = remarks;
    if !versioned_kind.others.is_empty() {
        remarks.push(format!(
            "{name} is served in every version of {kind}; its handler gets the object in {}",
            parent.version
        ));
    }
    changes.write(command.how, &remarks, &next)?;
    Ok(Outcome::Whole)
}

fn add_status(command: &Command, project: &Project, versioned_kind: &VersionedKind) -> Result<Outcome, String> {
    let (fields, remarks) = field::parse_all(&command.fields)?;
    let mut edits = Edits::new(project);
    status::add(&mut edits, versioned_kind, &fields)?;
    let mut changes = Changes::new(&project.root);
    changes.edit_all(edits);
    let kind = &command.kind;
    let next =
        format!("`kindsmith add controller {kind}` adds a controller, which writes the status; `cargo test` tests it");
    changes.write(command.how, &remarks, &next)?;
    Ok(Outcome::Whole)
}

fn scale(command: &Command, project: &Project, versioned_kind: &VersionedKind) -> Result<Outcome, String> {
    if !command.fields.is_empty() {
        return Err("`scale` has no fields of its own; --replicas and --observed name those of the kind".to_owned());
    }
    let path = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
    let (replicas, observed) = (path(&command.replicas, "spec.replicas"), path(&command.observed, "status.replicas"));
    let mut edits = Edits::new(project);
    for version in versioned_kind.versions() {
        edits.edit(&version.file, |source| {
            let add = |source: &mut SourceFile<'_>| {
                source.check_free_argument(&version.name, "scale")?;
                let replicas_at = source.field(&version.name, &replicas, "--replicas")?;
                let observed_at = source.field(&version.name, &observed, "--observed")?;
                let mut argument = format!("scale(replicas = {replicas_at}, status = {observed_at}");
                if let Some(selector) = &command.selector {
                    argument.extend([", selector = ", &*source.field(&version.name, selector, "--selector")?]);
                }
                source.add_argument(&version.name, &(argument + ")"))
            };
            add(source)?;
            let wire: Vec<String> = replicas.split('.').map(names::camel).collect();
            if source.example()?.is_some() {
                let names = source.in_tests(&names::constant(&version.name), &version.objects())?;
                source.add_test(&status::scale_test(version, &names, &wire))?;
            }
            Ok(())
        })?;
    }
    let mut changes = Changes::new(&project.root);
    changes.edit_all(edits);
    let plural = &versioned_kind.stored.plural;
    let next = format!("`cargo test` tests it; `kubectl scale {plural} NAME --replicas=3` scales");
    changes.write(command.how, &[], &next)?;
    Ok(Outcome::Whole)
}
