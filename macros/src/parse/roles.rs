//! `roles(…)`.
use super::{
    args::Arg,
    keys::{Key, Reader},
};
use crate::{
    model::{Role, Roles},
    suggest::did_you_mean,
};

const KEYS: &[Key] = &[("read", "read = edit"), ("write", "write = admin")];

/// The names of roles, and of none.
const NAMES: [(&str, Option<Role>); 4] =
    [("view", Some(Role::View)), ("edit", Some(Role::Edit)), ("admin", Some(Role::Admin)), ("none", None)];

/// Reads which roles read and write. Who writes can read.
pub(crate) fn read(arg: &Arg, reader: &Reader<'_>) -> Roles {
    let Some(args) = reader.args(arg) else { return Roles::default() };
    let (errors, before) = (reader.errors, reader.errors.count());
    let reader = Reader { attribute: "roles", keys: &[KEYS], errors };
    let (mut roles, mut given, mut seen) = (Roles::default(), None, Vec::new());
    for arg in args {
        match reader.name(arg, &mut seen, &[]).as_deref() {
            Some("read") => roles.read = role(arg, &reader),
            Some("write") => (roles.write, given) = (role(arg, &reader), Some(arg.value_span())),
            _ => {}
        }
    }
    if args.is_empty() {
        errors.at(arg.span(), "`roles` says who reads or who writes: `roles(read = edit, write = admin)`");
    }
    if errors.count() > before {
        return Roles::default();
    }
    let Some(span) = given else {
        return Roles { write: roles.read.map(|read| read.max(Role::Edit)), ..roles };
    };
    if roles.write.is_some_and(|write| roles.read.is_none_or(|read| write < read)) {
        errors.at(span, "a role that writes objects could not read them; `read` must not be a higher role, or `none`");
    }
    roles
}

/// A role or none, by its name.
fn role(arg: &Arg, reader: &Reader<'_>) -> Option<Role> {
    let word = reader.word(arg)?;
    let known = NAMES.iter().find(|(name, _)| word == name);
    if known.is_none() {
        let names = NAMES.map(|(name, _)| name);
        let near = did_you_mean(&word.to_string(), names);
        reader.errors.at(word.span(), format!("a role is one of {}{near}", names.join(", ")));
    }
    known.and_then(|(_, role)| *role)
}
