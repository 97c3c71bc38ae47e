//! Walks two sets of kinds, and asks the rules at each location.

use kindsmith::{
    kind::model::Version,
    schema::{Schema, Type},
};
use kindsmith_codegen::{Kinds, ResourceDeclaration};
use kindsmith_model::schema::At;

use super::{
    Finding, Location,
    message::{self, MessageChange, Messages},
    node,
    rule::{Change, Check, Field, Kind, Level, Note, Notes, Presence, Rule},
};

/// One side of a comparison.
pub(crate) struct Side {
    pub kinds: Kinds,
    pub messages: Messages,
}

/// What changed from one side to the other, by these rules, in the order of kinds.
pub(crate) fn compare(sides: &Change<Side>, rules: &[&'static Rule]) -> Vec<Finding> {
    let mut comparer = Comparer { rules, found: Vec::new(), passed: Vec::new(), at: Position::default() };
    let all = Change { old: &*sides.old.kinds.kinds, new: &*sides.new.kinds.kinds };
    for (old, new) in pairs(all) {
        comparer.presence(&Presence { old, new, all });
        if let (Some(old), Some(new)) = (old, new) {
            comparer.kind(old, new);
        }
    }
    for change in message::changes(&sides.old.messages, &sides.new.messages) {
        comparer.message(&change);
    }
    comparer.found
}

/// The kinds of both sides: those of the same resource, and those of the same group and kind, belong together.
fn pairs(all: Change<&[ResourceDeclaration]>) -> Vec<(Option<&ResourceDeclaration>, Option<&ResourceDeclaration>)> {
    let same_resource = |old: &ResourceDeclaration, new: &ResourceDeclaration| {
        old.definition.shared.group_resource() == new.definition.shared.group_resource()
    };
    let same_kind = |old: &ResourceDeclaration, new: &ResourceDeclaration| {
        old.definition.shared.group_kind() == new.definition.shared.group_kind()
    };
    let mut pairs = Vec::new();
    for old in all.old {
        let is_free = |new: &&ResourceDeclaration| !all.old.iter().any(|other| same_resource(other, new));
        let found = all.new.iter().find(|new| same_resource(old, new));
        let found = found.or_else(|| all.new.iter().filter(is_free).find(|new| same_kind(old, new)));
        pairs.push((Some(old), found));
    }
    for new in all.new {
        if !pairs.iter().any(|(_, other)| other.is_some_and(|other| same_resource(other, new))) {
            pairs.push((None, Some(new)));
        }
    }
    pairs
}

/// The location that the rules are asked about.
#[derive(Clone, Default)]
struct Position {
    file: String,
    subject: String,
    version: Option<String>,
    path: String,
    /// The innermost type with a name that the path is in, and the length of the path to it.
    within: Option<(String, usize)>,
    is_status: bool,
    has_status: bool,
}

struct Comparer<'r> {
    rules: &'r [&'static Rule],
    found: Vec<Finding>,
    /// Pairs of nodes around the location, of types that contain themselves.
    passed: Vec<(*const Schema, *const Schema)>,
    at: Position,
}

impl Comparer<'_> {
    fn ask(&mut self, check: impl Fn(&Check, &mut Notes)) {
        for rule in self.rules {
            let mut notes = Notes::default();
            check(&rule.check, &mut notes);
            self.found.extend(notes.0.into_iter().map(|note| self.at.finding(rule, note)));
        }
    }

    fn presence(&mut self, presence: &Presence<'_>) {
        let Some(declaration) = presence.new.or(presence.old) else { return };
        self.at = Position {
            file: declaration.sources.first().cloned().unwrap_or_default(),
            subject: presence.old.unwrap_or(declaration).definition.shared.names.kind.clone(),
            ..Position::default()
        };
        self.ask(|check, notes| {
            if let Check::Presence(check) = check {
                check(presence, notes);
            }
        });
    }

    fn kind(&mut self, old: &ResourceDeclaration, new: &ResourceDeclaration) {
        let is_stated = [old, new].iter().all(|declaration| declaration.is_manifest);
        let kind = Kind { old: &old.definition, new: &new.definition, is_stated };
        self.ask(|check, notes| {
            if let Check::Kind(check) = check {
                check(&kind, notes);
            }
        });
        let at = self.at.clone();
        for (index, version) in new.definition.versions.iter().enumerate() {
            let before = old.definition.versions.iter().find(|other| other.name == version.name);
            if let Some(before) = before {
                self.at = Position { version: Some(version.name.clone()), ..at.clone() };
                if let Some(file) = new.sources.get(index) {
                    self.at.file.clone_from(file);
                }
                self.version(&Change { old: before, new: version });
            }
        }
    }

    fn version(&mut self, change: &Change<&Version>) {
        self.at.has_status = change.old.status && change.new.status;
        self.ask(|check, notes| check.version(change, notes));
        self.field(At::of(&change.old.schema), At::of(&change.new.schema));
        self.names(change);
        for subresource in &change.new.subresources {
            let before = change.old.subresources.iter().find(|other| other.subresource == subresource.subresource);
            let Some(before) = before else { continue };
            let mut passed: Vec<&str> = Vec::new();
            for document in subresource.documents() {
                let other = before.documents().find(|other| other.kind == document.kind);
                if let Some(other) = other.filter(|_| !passed.contains(&&*document.kind)) {
                    passed.push(&document.kind);
                    let path = format!("/{} {}", subresource.subresource, document.kind);
                    self.below(&path, |comparer| comparer.field(At::of(&other.schema), At::of(&document.schema)));
                }
            }
        }
    }

    /// Compares the rules for names of objects.
    fn names(&mut self, change: &Change<&Version>) {
        let any = Schema::of(Type::String);
        let of = |version: &Version, name: &str| {
            let metadata = version.names.as_ref().and_then(|names| names.properties.get("metadata"));
            metadata.and_then(|metadata| metadata.properties.get(name)).cloned().unwrap_or_else(|| any.clone())
        };
        for name in ["name", "generateName"] {
            let (old, new) = (of(change.old, name), of(change.new, name));
            self.below(&format!(".metadata.{name}"), |comparer| comparer.field(At::of(&old), At::of(&new)));
        }
    }

    /// Goes to a location below this one, and back.
    fn below(&mut self, path: &str, go: impl FnOnce(&mut Self)) {
        let (length, within, is_status) = (self.at.path.len(), self.at.within.clone(), self.at.is_status);
        self.at.path += path;
        self.at.is_status |= self.at.has_status && self.at.path == ".status";
        go(self);
        self.at.path.truncate(length);
        (self.at.within, self.at.is_status) = (within, is_status);
    }

    fn field(&mut self, old: At<'_>, new: At<'_>) {
        let pair = (node::identity(old), node::identity(new));
        if old == new || self.passed.contains(&pair) {
            return;
        }
        if let (Some(name), true) = (&new.name, new.name == old.name)
            && name.contains('.')
        {
            self.at.within = Some((name.clone(), self.at.path.len()));
        }
        let field = Field { old, new, is_status: self.at.is_status };
        self.ask(|check, notes| check.field(&field, notes));
        if old.kind != new.kind {
            return;
        }
        self.passed.push(pair);
        for (step, old, new) in node::common(old, new) {
            self.below(&step, |comparer| comparer.field(old, new));
        }
        self.passed.pop();
    }
}

impl Comparer<'_> {
    fn message(&mut self, change: &MessageChange<'_>) {
        self.at = Position { file: change.file.to_owned(), subject: change.name.clone(), ..Position::default() };
        self.ask(|check, notes| {
            if let Check::Message(check) = check {
                check(change, notes);
            }
        });
    }
}

impl Position {
    fn finding(&self, rule: &'static Rule, note: Note) -> Finding {
        let version = note.version.or_else(|| self.version.clone());
        // Alpha versions may change, though not what is stored or what all versions share.
        // The package of a message ends in its version.
        let mut names = self.subject.split('.').chain(version.as_deref());
        let is_alpha = names.any(|name| name.starts_with('v') && name.contains("alpha"));
        let level = if is_alpha { rule.level.min(Level::Warning) } else { rule.level };
        let path = format!("{}{}", self.path, note.path);
        let within = self.within.as_ref().map(|(name, length)| (name.clone(), path[*length..].to_owned()));
        let location = Location { file: self.file.clone(), subject: self.subject.clone(), version, path };
        Finding { rule, level, location, what: note.what, within, also: Vec::new() }
    }
}
