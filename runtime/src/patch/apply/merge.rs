//! The apply of a configuration.
use super::{
    ApplyError, Conflict, View, Writer,
    compare::{Change, EMPTY, compare},
    last_applied,
    mention::checked,
    mix::mix,
    owner::{Identity, Operation},
    owners::Owners,
    prune::prune,
    set::Set,
    types::Type,
    update::{reset_of, strip, track},
};
use crate::schema::Document;

/// The owner of all that was there before anyone applied.
const BEFORE: &str = "before-first-apply";

/// What is applied.
struct Apply<'a> {
    view: &'a View<'a>,
    ty: Type<'a>,
    live: &'a Document,
    config: &'a Document,
    writer: &'a Writer<'a>,
    force: bool,
}

/// As [`super::merge`].
pub(super) fn merge(
    view: &View<'_>,
    live: Option<&Document>,
    config: &Document,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Document, ApplyError> {
    check_type(view, config, writer)?;
    let ty = Type::root(view.root);
    let apply = Apply { view, ty, live: live.unwrap_or(&EMPTY), config, writer, force };
    let mut named = checked(ty, config).map_err(|why| {
        ApplyError::Untyped(format!("failed to create typed patch object ({}): {why}", apply.names()))
    })?;
    named.subtract_whole(&reset_of(view));
    let mut owners = apply.owners_before()?;
    let who = Identity::of(writer, Operation::Apply);
    let last = match owners.get_mut(&who) {
        Some(owner) => owner.set(ty).map_err(|why| undecodable(&why))?.clone(),
        None => Set::default(),
    };

    let mut new = live.unwrap_or(config).clone();
    let mut changed = live.is_none() || mix(ty, &mut new, config).map_err(|why| apply.unmergeable(&why))?;
    if !named.contains(&last) {
        let owned = apply.owned(&mut owners, &who, &named)?;
        prune(ty, &mut new, last.clone(), owned);
        changed = new != *apply.live;
    }
    if changed {
        apply.take(&mut owners, &new)?;
    }
    strip(&mut named);
    let stands = owners.get_mut(&who).is_some_and(|owner| owner.api_version == writer.api_version) && named == last;
    if changed || !stands {
        owners.set(writer, Operation::Apply, named, changed);
        let entries = owners.write();
        super::put(&mut new, entries);
    }
    if writer.manager == last_applied::MANAGER {
        last_applied::renew(&mut new, config);
    }
    Ok(new)
}

pub(super) fn check_type(view: &View<'_>, config: &Document, writer: &Writer<'_>) -> Result<(), ApplyError> {
    let [version, kind] = ["apiVersion", "kind"].map(|name| config[name].as_str().unwrap_or_default());
    if version != writer.api_version || kind != view.kind {
        return Err(ApplyError::BadRequest(format!("invalid object type: {}", type_of(version, kind))));
    }
    if config["metadata"]["managedFields"].is_array() {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    Ok(())
}

/// A kind with its group and version, as Go prints it.
fn type_of(api_version: &str, kind: &str) -> String {
    match api_version.split_once('/') {
        None => format!("/{api_version}, Kind={kind}"),
        Some((_, version)) if version.contains('/') => "/, Kind=".to_owned(),
        Some(_) => format!("{api_version}, Kind={kind}"),
    }
}

fn undecodable(why: &str) -> ApplyError {
    ApplyError::Untyped(format!("failed to decode managed fields: {why}"))
}

impl<'a> Apply<'a> {
    /// Whose configuration it is, as messages name it.
    fn names(&self) -> String {
        let text = |name: &str| self.config["metadata"][name].as_str().unwrap_or_default();
        format!("{}/{}; {}", text("namespace"), text("name"), type_of(self.writer.api_version, self.view.kind))
    }

    fn unmergeable(&self, why: &str) -> ApplyError {
        ApplyError::Untyped(format!("failed to create typed live object ({}): {why}", self.names()))
    }

    /// The owners before the apply. Of an object without owners, one owns all that is there.
    fn owners_before(&self) -> Result<Owners<'a>, ApplyError> {
        let owners = Owners::of(self.live).map_err(|why| undecodable(&why))?;
        if !owners.is_empty() {
            return Ok(owners);
        }
        let before = Writer { manager: BEFORE, ..*self.writer };
        let tracked = track(self.view, owners, &EMPTY, self.live, &before);
        tracked.map_err(|why| ApplyError::Untyped(format!("failed to create manager for existing fields: {why}")))
    }

    /// What all owners own, with what is applied now in place of what the applier owned.
    fn owned(&self, owners: &mut Owners<'a>, who: &Identity<'_>, named: &Set<'a>) -> Result<Set<'a>, ApplyError> {
        let mut all = named.clone();
        for owner in owners.iter_mut().filter(|owner| owner.who != *who) {
            all.add(owner.set(self.ty).map_err(|why| undecodable(&why))?.clone());
        }
        Ok(all)
    }

    /// Takes from the others what the apply changes, if it may.
    fn take(&self, owners: &mut Owners<'_>, new: &Document) -> Result<(), ApplyError> {
        let mut change = compare(self.ty, self.live, new)
            .ok_or_else(|| self.unmergeable("a list has an item that cannot be told from others"))?;
        change.without(&reset_of(self.view));
        let Change { mut added, modified, removed } = change;
        added.add(modified);
        let who = Identity::of(self.writer, Operation::Apply);
        let mut conflicts = Vec::new();
        for owner in owners.iter_mut().filter(|owner| owner.who != who) {
            let lost = owner.set(self.ty).map_err(|why| undecodable(&why))?.intersection(&added);
            if !lost.is_empty() {
                conflicts.push((owner.who, lost));
            }
        }
        if !self.force && !conflicts.is_empty() {
            self.refuse(conflicts)?;
        }
        for owner in owners.iter_mut().filter(|owner| owner.who != who) {
            owner.lose(&added);
            owner.lose(&removed);
        }
        owners.drop_empty();
        Ok(())
    }

    /// Refuses conflicts. Who applied from the client's side before may take what it left there.
    fn refuse(&self, mut conflicts: Vec<(Identity<'_>, Set<'_>)>) -> Result<(), ApplyError> {
        if self.writer.manager == last_applied::MANAGER
            && let Some(applied) = last_applied::read(self.live, self.writer.api_version)
            && let Some(allowed) = last_applied::untouched(self.ty, &applied, self.live)
        {
            for (_, lost) in &mut conflicts {
                lost.subtract(&allowed);
            }
            conflicts.retain(|(_, lost)| !lost.is_empty());
            if conflicts.is_empty() {
                return Ok(());
            }
        }
        conflicts.sort_by_cached_key(|(who, _)| who.sort_key());
        let mut told = Vec::new();
        for (who, lost) in &conflicts {
            lost.each(&mut |path| {
                let mut field = String::new();
                for element in path {
                    element.print(&mut field);
                }
                told.push(Conflict { manager: who.print(), field });
            });
        }
        Err(ApplyError::Conflicts(told))
    }
}
