//! Changed kinds merged into their published file: numbers are kept, new fields get new ones, numbers and names of removed
//! fields are reserved, and changed types are refused.
//!
//! Messages are matched along fields: that of `spec` in the file is the one whose numbers the fields of `spec` have, whatever
//! its name. So a file of another project is a lock, too, although it names its messages in its own way.
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    lock::Conflict,
    model::{Field, File, Label, Message, Reservation},
    types::{ResolvedType, is_scalar, same_wire},
};

/// The file with the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeOutcome {
    /// The file. It equals the published one if nothing changed.
    pub file: File,
    /// The new fields of published messages, as `BookSpec.author = 3`.
    pub appended: Vec<String>,
    /// The fields that were removed and reserved.
    pub removed: Vec<String>,
    /// Messages of the file that nothing refers to now. They are kept.
    pub unused: Vec<String>,
}

/// Merges a draft, whose fields have the number 0 where none is declared, into the published file.
///
/// # Errors
/// All that contradicts the published file.
pub fn merge(published: &File, draft: &File) -> Result<MergeOutcome, Vec<Conflict>> {
    let mut merge = Merge {
        published,
        draft,
        names: BTreeMap::new(),
        conflicts: Vec::new(),
        done: MergeOutcome { file: published.clone(), appended: Vec::new(), removed: Vec::new(), unused: Vec::new() },
    };
    merge.match_messages();
    merge.write();
    if merge.conflicts.is_empty() { Ok(merge.done) } else { Err(merge.conflicts) }
}

struct Merge<'a> {
    published: &'a File,
    draft: &'a File,
    /// The messages of the draft by name, each with its name in the file.
    names: BTreeMap<String, String>,
    conflicts: Vec<Conflict>,
    done: MergeOutcome,
}

/// The published field that a declared one continues. Parts of objects, such as structs that Go embeds, have no name of their
/// own in a draft.
fn continued<'m>(message: &'m Message, field: &Field) -> Option<&'m Field> {
    let is_part = field.name == format!("part{}", field.number);
    let same_number = || message.fields.iter().find(|other| other.number == field.number).filter(|_| is_part);
    message.field(field.called()).or_else(same_number)
}

impl<'a> Merge<'a> {
    /// Finds the message in the file for each of the draft: along published fields first, then by name.
    fn match_messages(&mut self) {
        let referred: BTreeSet<&str> = self
            .draft
            .messages
            .iter()
            .flat_map(|message| {
                message.fields.iter().filter(|field| field.kind != message.name).map(|field| field.kind.as_str())
            })
            .collect();
        let is_root = |message: &&Message| !referred.contains(message.name.as_str());
        let (roots, others): (Vec<_>, Vec<_>) = self.draft.messages.iter().partition(is_root);
        // Lists are roots, and their kinds are next, so that both keep their names.
        let mut by_name: VecDeque<&str> = roots.iter().map(|message| message.name.as_str()).collect();
        let items = |message: &&'a Message| message.fields.iter().find(|field| field.name == "items");
        by_name.extend(roots.iter().filter_map(items).map(|field| field.kind.as_str()));
        let mut by_field = VecDeque::new();
        for name in by_name {
            self.match_by_name(name, &mut by_field);
        }
        let mut later = VecDeque::new();
        loop {
            if let Some(message) = by_field.pop_front() {
                self.match_fields(message, &mut by_field, &mut later);
            } else if let Some(name) = later.pop_front() {
                self.match_by_name(name, &mut by_field);
            } else {
                break;
            }
        }
        for message in others {
            self.match_by_name(&message.name, &mut by_field);
        }
    }

    /// Gives a message of the draft the published one of its name, or a name that is free.
    fn match_by_name(&mut self, name: &str, queue: &mut VecDeque<&'a Message>) {
        let Some(message) = self.draft.messages.iter().find(|message| message.name == name) else { return };
        if self.names.contains_key(name) {
            return;
        }
        let is_taken = |free: &str| self.names.values().any(|taken| taken == free);
        let mut free = name.to_owned();
        let mut number = 2;
        while is_taken(&free) || number > 2 && self.published.message(&free).is_some() {
            free = format!("{name}{number}");
            number += 1;
        }
        self.names.insert(name.to_owned(), free);
        queue.push_back(message);
    }

    /// Matches the messages of the fields of a message.
    fn match_fields(&mut self, message: &'a Message, queue: &mut VecDeque<&'a Message>, later: &mut VecDeque<&'a str>) {
        let name = self.names[&message.name].clone();
        let published = self.published.message(&name);
        for field in &message.fields {
            let Some(inner) = self.draft.messages.iter().find(|inner| inner.name == field.kind) else { continue };
            let Some(known) = published.and_then(|published| continued(published, field)) else {
                later.push_back(&inner.name);
                continue;
            };
            let ResolvedType::Message(to) = self.published.resolve(&known.kind, &name) else { continue };
            match self.names.get(&inner.name) {
                None => {
                    self.names.insert(inner.name.clone(), to);
                    queue.push_back(inner);
                }
                Some(other) if *other != to => self.conflicts.push(Conflict::new(
                    known.line,
                    format!(
                        "`{}` has the type {to}, but its type {} is the message {other} elsewhere; use a type of its own",
                        field.name, inner.name
                    ),
                )),
                Some(_) => {}
            }
        }
    }

    fn write(&mut self) {
        if self.published.package.is_empty() {
            self.done.file.package.clone_from(&self.draft.package);
        }
        if self.done.file.messages.is_empty() {
            self.done.file.about.clone_from(&self.draft.about);
        }
        let missing = self.draft.imports.iter().filter(|import| {
            !self.published.imports.iter().any(|known| known.rsplit(' ').next() == Some(import.as_str()))
        });
        self.done.file.imports.extend(missing.cloned());
        // The fields of a published message that the draft still has, by its name.
        let mut kept: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for message in &self.draft.messages {
            let Some(name) = self.names.get(&message.name).cloned() else { continue };
            match self.published.message(&name) {
                Some(published) => {
                    let kept = kept.entry(name.clone()).or_default();
                    self.update(&name, published, message, kept);
                }
                None => self.add(name, message),
            }
        }
        for (name, kept) in kept {
            self.reserve(&name, &kept);
        }
        let used: BTreeSet<&String> = self.names.values().collect();
        let unused = self.published.all().into_iter().map(|(name, _)| name);
        let is_around = |name: &String| used.iter().any(|used| used.starts_with(&format!("{name}.")));
        self.done.unused = unused.filter(|name| !used.contains(name) && !is_around(name)).collect();
    }

    /// The draft was written by the same command, so that descriptions follow it.
    fn is_ours(&self) -> bool {
        self.published.about.first() == self.draft.about.first()
    }

    /// The type of a field of the draft, with the names of the file.
    fn renamed(&self, kind: &str) -> String {
        self.names.get(kind).cloned().unwrap_or_else(|| kind.to_owned())
    }

    /// A message that the file does not have.
    fn add(&mut self, name: String, message: &Message) {
        let mut new = Message { name, about: message.about.clone(), ..Message::default() };
        let (numbered, others): (Vec<_>, Vec<_>) = message.fields.iter().partition(|field| field.number > 0);
        for field in numbered.into_iter().chain(others) {
            let number = if field.number > 0 { Some(field.number) } else { new.next_number() };
            let number = number.unwrap_or_default();
            new.fields.push(Field { number, kind: self.renamed(&field.kind), ..field.clone() });
        }
        new.fields.sort_by_key(|field| field.number);
        self.done.file.messages.push(new);
    }

    /// A message that the file has.
    fn update(&mut self, name: &str, published: &Message, message: &Message, kept: &mut BTreeSet<String>) {
        let is_ours = self.is_ours();
        let Some(done) = self.done.file.message_mut(name) else { return };
        if is_ours && !message.about.is_empty() {
            done.about.clone_from(&message.about);
        }
        let mut done = done.clone();
        let (numbered, others): (Vec<_>, Vec<_>) = message.fields.iter().partition(|field| field.number > 0);
        for field in numbered.into_iter().chain(others) {
            if let Some(known) = continued(published, field) {
                kept.insert(known.name.clone());
                self.conflicts.extend(self.contradiction(name, known, field));
                let known = done.fields.iter_mut().find(|other| other.name == known.name);
                if let Some(known) = known.filter(|_| is_ours && !field.about.is_empty()) {
                    known.about.clone_from(&field.about);
                }
                continue;
            }
            if let Some(other) = published.fields.iter().find(|other| other.name == field.name) {
                let (name, now, before) = (&field.name, field.called(), other.called());
                let message =
                    format!("`{name}` is called {before:?} in JSON, not {now:?}; give this field another name");
                self.conflicts.push(Conflict::new(other.line, message));
                continue;
            }
            let declared = Some(field.number).filter(|number| *number > 0);
            // Another message of the draft, which is the same message of the file, has the field, too.
            if let Some(added) = done.fields.iter().find(|other| other.name == field.name) {
                let (one, other) =
                    (added.declared(), Field { kind: self.renamed(&field.kind), ..field.clone() }.declared());
                if one != other {
                    let message = format!("`{}` would have two types in {name}: `{one}` and `{other}`", field.name);
                    self.conflicts.push(Conflict::new(published.line, message));
                }
                continue;
            }
            if let Err(conflict) = done.number_of(&field.name, declared) {
                self.conflicts.push(conflict);
            } else if let Some(number) = declared.or_else(|| done.next_number()) {
                self.done.appended.push(format!("{name}.{} = {number}", field.name));
                done.fields.push(Field { number, kind: self.renamed(&field.kind), ..field.clone() });
            } else {
                let message = format!("{name} has no free number for `{}`", field.name);
                self.conflicts.push(Conflict::new(published.line, message));
            }
        }
        if let Some(place) = self.done.file.message_mut(name) {
            *place = done;
        }
    }

    /// What contradicts a published field.
    fn contradiction(&self, around: &str, published: &Field, field: &Field) -> Option<Conflict> {
        if field.number > 0 && field.number != published.number {
            return self.published.message(around)?.number_of(&field.name, Some(field.number)).err();
        }
        let at = self.published.resolve(&published.kind, around);
        let to = self.draft.resolve(&field.kind, "");
        // The numbers of a message of another file cannot be kept here.
        let is_unknown =
            matches!((&at, &to), (ResolvedType::Elsewhere(_), ResolvedType::Message(name)) if !self.is_numbered(name));
        if is_unknown {
            let message = format!(
                "`{}` has the type {}, which another file defines, so that its numbers are unknown here",
                field.name, published.kind
            );
            return Some(Conflict::new(published.line, message));
        }
        (!same_wire((published, &at), (field, &to))).then(|| changed_type(published, &field.name, &field.declared()))
    }

    fn is_numbered(&self, name: &str) -> bool {
        self.draft.message(name).is_some_and(|message| message.fields.iter().all(|field| field.number > 0))
    }

    /// Reserves the numbers and names of the fields of a published message that the draft does not have.
    fn reserve(&mut self, name: &str, kept: &BTreeSet<String>) {
        let Some(published) = self.published.message(name) else { return };
        let Some(done) = self.done.file.message_mut(name) else { return };
        for field in published.fields.iter().filter(|field| !kept.contains(&field.name)) {
            done.fields.retain(|other| other.name != field.name);
            done.reserved.push(Reservation::Numbers(field.number..=field.number, 0));
            done.reserved.push(Reservation::Name(field.name.clone(), 0));
            self.done.removed.push(format!("{name}.{} = {}", field.name, field.number));
        }
    }
}

/// The conflict of a field whose type differs from the published one.
pub fn changed_type(published: &Field, name: &str, declared: &str) -> Conflict {
    let is_plain =
        matches!(published.label, Label::Plain | Label::Optional | Label::Required) && is_scalar(&published.kind);
    let was = if is_plain { published.kind.clone() } else { published.declared() };
    let way_out = "a published type never changes: keep it, or add a field with another name and remove this one";
    Conflict::new(published.line, format!("`{name}` has the type `{was}`, not `{declared}`; {way_out}"))
}
