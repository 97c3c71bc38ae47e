//! A rule: one sort of change, whom it breaks, and how it is found.
use std::fmt;

use kindsmith::{
    kind::{Definition, model::Version},
    schema::{Meter, Type, validate},
};
use kindsmith_codegen::ResourceDeclaration;
use kindsmith_model::schema::At;

use super::message::MessageChange;

/// How bad a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Level {
    /// It breaks nothing.
    Compatible,
    /// It may break something that the definitions do not show.
    Warning,
    /// It breaks something.
    Breaking,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compatible => "compatible",
            Self::Warning => "warning",
            Self::Breaking => "breaking",
        })
    }
}

/// What a change breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// Clients that read or write JSON, YAML or CBOR, and manifests.
    Json,
    /// Clients that read or write Protobuf.
    Protobuf,
    /// Objects that are stored already.
    Stored,
    /// Managers of fields: server-side apply, and other patches that merge.
    Appliers,
    /// Controllers and others that watch.
    Watchers,
    /// People and scripts that use kubectl.
    Kubectl,
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON clients",
            Self::Protobuf => "Protobuf clients",
            Self::Stored => "stored objects",
            Self::Appliers => "appliers",
            Self::Watchers => "watchers",
            Self::Kubectl => "users of kubectl",
        })
    }
}

/// A sort of change.
pub(crate) struct Rule {
    /// Its name, such as `field-removed`.
    pub name: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What it breaks.
    pub breaks: &'static [Party],
    /// What changed, as a sentence.
    pub about: &'static str,
    /// What breaks for whom, as part of a sentence.
    pub harm: &'static str,
    /// What to do instead; empty if nothing breaks.
    pub instead: &'static str,
    /// The text that the rule follows, and its section.
    pub source: &'static str,
    /// Finds it.
    pub check: Check,
}

/// The texts that rules follow.
pub(super) mod source {
    pub(crate) const COMPATIBILITY: &str = "Kubernetes, Changing the API (api_changes.md), \"On compatibility\"";
    pub(crate) const GOTCHAS: &str =
        "Kubernetes, Changing the API (api_changes.md), \"Backward compatibility gotchas\"";
    pub(crate) const VERSIONS: &str = "Kubernetes, Changing the API (api_changes.md), \"Multiple API versions\"";
    pub(crate) const DEPRECATION: &str = "Kubernetes Deprecation Policy, \"Deprecating parts of the API\"";
    pub(crate) const STATUS: &str = "API conventions, \"Typical status properties\"";
    pub(crate) const SPEC_AND_STATUS: &str = "API conventions, \"Spec and Status\"";
    pub(crate) const DEFAULTING: &str = "API conventions, \"Defaulting\"";
    pub(crate) const OPTIONAL: &str = "API conventions, \"Optional vs. Required\"";
    pub(crate) const UNIONS: &str = "API conventions, \"Unions\"";
    pub(crate) const PATCH: &str = "API conventions, \"PATCH operations\"";
    pub(crate) const VERBS: &str = "API conventions, \"Verbs on Resources\"";
    pub(crate) const CONCURRENCY: &str = "API conventions, \"Concurrency Control and Consistency\"";
    pub(crate) const TYPES: &str = "API conventions, \"Primitive types\"";
    pub(crate) const CONSTANTS: &str = "API conventions, \"Constants\"";
    pub(crate) const VALIDATION: &str = "API conventions, \"Validation\"";
    pub(crate) const METADATA: &str = "API conventions, \"Metadata\"";
    pub(crate) const KINDS: &str = "API conventions, \"Types (Kinds)\"";
    pub(crate) const SELECTING: &str = "API conventions, \"Selecting Fields\"";
    pub(crate) const TABLES: &str = "Kubernetes API concepts, \"Receiving resources as Tables\"";
    pub(crate) const URIS: &str = "Kubernetes API concepts, \"Resource URIs\"";
    pub(crate) const DELETION: &str = "Kubernetes API concepts, \"Resource deletion\"";
    pub(crate) const FIELDS: &str = "Kubernetes API concepts, \"Field validation\"";
    pub(crate) const TOPOLOGY: &str = "Kubernetes, Server-Side Apply, \"Compatibility across topology changes\"";
    pub(crate) const PROTOBUF: &str = "Protocol Buffers, Language Guide, \"Updating A Message Type\"";
    pub(crate) const CUSTOM: &str = "Kubernetes, Versions in CustomResourceDefinitions";
}

/// How a change is found, by what is compared.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Kinds that are there on one side, and all kinds together.
    Presence(fn(&Presence<'_>, &mut Notes)),
    /// A kind.
    Kind(fn(&Kind<'_>, &mut Notes)),
    /// A version of a kind.
    Version(fn(&Change<&Version>, &mut Notes)),
    /// What a version is or has now, and had not, and what to say.
    VersionSet(fn(&Version) -> bool, &'static str),
    /// What a version is or has no longer.
    VersionUnset(fn(&Version) -> bool, &'static str),
    /// A field, an item, a value of a map, or the whole object.
    Field(fn(&Field<'_>, &mut Notes)),
    /// A keyword that is set now, of values of the same type, and what to say.
    Set(fn(At<'_>) -> bool, &'static str),
    /// A keyword that is no longer set.
    Unset(fn(At<'_>) -> bool, &'static str),
    /// A keyword that allows less, outside of the status.
    Tighter(Keyword),
    /// A keyword that allows more.
    Looser(Keyword),
    /// A message of Protobuf definitions.
    Message(fn(&MessageChange<'_>, &mut Notes)),
}

impl Check {
    /// The rule for it. It says what the change breaks, but not yet how.
    const fn rule(self, level: Level, name: &'static str, breaks: &'static [Party], source: &'static str) -> Rule {
        Rule { name, level, breaks, about: "", harm: "", instead: "", source, check: self }
    }

    /// The rule for a change that breaks something.
    pub(super) const fn breaking(self, name: &'static str, breaks: &'static [Party], source: &'static str) -> Rule {
        self.rule(Level::Breaking, name, breaks, source)
    }

    /// The rule for a change that may break something.
    pub(super) const fn warning(self, name: &'static str, breaks: &'static [Party], source: &'static str) -> Rule {
        self.rule(Level::Warning, name, breaks, source)
    }

    /// The rule for a change that breaks nothing.
    pub(super) const fn compatible(self, name: &'static str, about: &'static str) -> Rule {
        self.rule(Level::Compatible, name, &[], source::COMPATIBILITY).about(about).harm("nothing breaks")
    }

    /// Notes the changes of a version.
    pub(super) fn version(&self, change: &Change<&Version>, notes: &mut Notes) {
        match self {
            Self::Version(check) => check(change, notes),
            Self::VersionSet(of, what) => notes.when(change.is_set(|version| of(version)), *what),
            Self::VersionUnset(of, what) => notes.when(change.is_unset(|version| of(version)), *what),
            _ => {}
        }
    }

    /// Notes the changes of a field.
    pub(super) fn field(&self, field: &Field<'_>, notes: &mut Notes) {
        match self {
            Self::Field(check) => check(field, notes),
            Self::Set(of, what) => notes.when(field.is_set(of), *what),
            Self::Unset(of, what) => notes.when(field.is_unset(of), *what),
            Self::Looser(keyword) => notes.some(keyword(field, Direction::Looser)),
            Self::Tighter(keyword) if !field.is_status && !field.allows_all_values() => {
                notes.some(keyword(field, Direction::Tighter));
            }
            _ => {}
        }
    }
}

impl Rule {
    /// With what changed.
    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// With what breaks for whom.
    pub(super) const fn harm(self, harm: &'static str) -> Self {
        Self { harm, ..self }
    }

    /// With what to do instead.
    pub(super) const fn instead(self, instead: &'static str) -> Self {
        Self { instead, ..self }
    }
}

/// Which way the allowed values of a field changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Some are no longer allowed.
    Tighter,
    /// More are allowed.
    Looser,
}

/// A keyword that limits values: what changed in this direction, if it did.
pub(crate) type Keyword = fn(&Field<'_>, Direction) -> Option<String>;

/// Something before and after.
#[derive(Clone, Copy)]
pub(crate) struct Change<T> {
    pub old: T,
    pub new: T,
}

impl<T> Change<T> {
    /// It is so now, and was not.
    pub(super) fn is_set(&self, of: impl Fn(&T) -> bool) -> bool {
        !of(&self.old) && of(&self.new)
    }

    /// It was so, and is no longer.
    pub(super) fn is_unset(&self, of: impl Fn(&T) -> bool) -> bool {
        of(&self.old) && !of(&self.new)
    }
}

/// Texts in quotes, with commas between.
pub(super) fn listed(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    texts.into_iter().map(|text| format!("{:?}", text.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The elements that only the first list has.
pub(super) fn only_in<'t, T: PartialEq>(first: &'t [T], second: &[T]) -> Vec<&'t T> {
    first.iter().filter(|one| !second.contains(one)).collect()
}

/// A kind that may be there on one side only, among all others.
pub(crate) struct Presence<'k> {
    pub old: Option<&'k ResourceDeclaration>,
    pub new: Option<&'k ResourceDeclaration>,
    pub all: Change<&'k [ResourceDeclaration]>,
}

/// A kind on both sides.
pub(crate) struct Kind<'k> {
    pub old: &'k Definition,
    pub new: &'k Definition,
    /// Both sides are manifests, which state the storage version and the conversion; OpenAPI documents do not.
    pub is_stated: bool,
}

/// A value on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Field<'s> {
    pub old: At<'s>,
    pub new: At<'s>,
    /// It is in the status, which only controllers write.
    pub is_status: bool,
}

impl<'s> Field<'s> {
    /// The value has the same type on both sides. A changed type is reported by itself.
    pub(super) fn has_same_type(&self) -> bool {
        self.old.kind == self.new.kind
    }

    /// The type is this one on both sides.
    pub(super) fn is_of(&self, kind: Type) -> bool {
        self.old.kind == kind && self.new.kind == kind
    }

    /// It is so now, and was not, of values of the same type.
    pub(super) fn is_set(&self, of: impl Fn(At<'s>) -> bool) -> bool {
        self.has_same_type() && !of(self.old) && of(self.new)
    }

    /// It was so, and is no longer, of values of the same type.
    pub(super) fn is_unset(&self, of: impl Fn(At<'s>) -> bool) -> bool {
        self.has_same_type() && of(self.old) && !of(self.new)
    }

    /// The old values are a closed set, and all of them are valid in the new schema.
    pub(super) fn allows_all_values(&self) -> bool {
        let old = &self.old.enumeration;
        let is_valid = |value| validate(&self.new, value, &Meter::default()).is_ok_and(|errors| errors.is_empty());
        !old.is_empty() && old.iter().all(is_valid)
    }
}

/// A change that a rule found.
pub(crate) struct Note {
    /// The version, if the rule compares kinds.
    pub version: Option<String>,
    /// The path below what the rule compares.
    pub path: String,
    /// What changed.
    pub what: String,
}

/// The changes that a rule found.
#[derive(Default)]
pub(crate) struct Notes(pub Vec<Note>);

impl Notes {
    /// A change of what the rule compares.
    pub(super) fn here(&mut self, what: impl Into<String>) {
        self.0.push(Note { version: None, path: String::new(), what: what.into() });
    }

    /// A change below it.
    pub(super) fn below(&mut self, path: impl Into<String>, what: impl Into<String>) {
        self.0.push(Note { version: None, path: path.into(), what: what.into() });
    }

    /// A change of a version of the kind.
    pub(super) fn version(&mut self, version: &str, what: impl Into<String>) {
        self.0.push(Note { version: Some(version.to_owned()), path: String::new(), what: what.into() });
    }

    /// A change of a field in a version of the kind.
    pub(super) fn field(&mut self, version: &str, path: String, what: impl Into<String>) {
        self.0.push(Note { version: Some(version.to_owned()), path, what: what.into() });
    }

    /// A change if it was made.
    pub(super) fn when(&mut self, is_found: bool, what: impl Into<String>) {
        if is_found {
            self.here(what);
        }
    }

    /// A change if the old and the new value differ.
    pub(super) fn differ<T: PartialEq + fmt::Display>(&mut self, what: &str, old: &T, new: &T) {
        self.when(old != new, format!("{what} was {old}, is {new}"));
    }

    /// A change of several names, if there are some.
    pub(super) fn names(&mut self, what: &str, names: &[impl AsRef<str>]) {
        self.when(!names.is_empty(), format!("{what} {}", listed(names)));
    }

    /// A change if there is something to say.
    pub(super) fn some(&mut self, what: Option<String>) {
        if let Some(what) = what {
            self.here(what);
        }
    }
}
