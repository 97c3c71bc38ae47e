//! A file of definitions.
use std::ops::RangeInclusive;

/// The largest number of a field.
pub(crate) const LARGEST: u32 = (1 << 29) - 1;
/// Numbers that Protobuf itself reserves.
pub(crate) const OF_PROTOBUF: RangeInclusive<u32> = 19_000..=19_999;

/// The language of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Without a statement, and as Kubernetes writes files.
    #[default]
    Proto2,
    /// Fields without a label have no presence.
    Proto3,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// The comment at its head.
    pub about: Vec<String>,
    /// Its language.
    pub syntax: Syntax,
    /// The package; empty for none.
    pub package: String,
    /// The paths of imported files, each with `public ` or `weak ` before it where the file says so.
    pub imports: Vec<String>,
    /// The messages outside of other messages.
    pub messages: Vec<Message>,
    /// Statements that are only kept: options, enums, services, extensions, further comments.
    pub others: Vec<Other>,
}

/// A statement that is kept as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its text, without the space before its first line.
    pub text: String,
    /// The name that it defines, if it is an enum.
    pub defines: Option<String>,
    /// The numbers that it takes, if it declares extensions.
    pub takes: Vec<Span>,
}

impl Other {
    /// A comment that belongs to no statement.
    pub(crate) fn comment(line: &str) -> Self {
        Self { text: format!("// {line}").trim_end().to_owned(), defines: None, takes: Vec::new() }
    }
}

/// Numbers from one to another, both included.
pub type Span = RangeInclusive<u32>;

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The comment above it.
    pub about: Vec<String>,
    /// The line of its name.
    pub line: usize,
    /// The name in the package or message around it.
    pub name: String,
    /// The fields, those of a `oneof` beside each other.
    pub fields: Vec<Field>,
    /// Numbers and names that must not be used again.
    pub reserved: Vec<Reservation>,
    /// The messages inside of it.
    pub messages: Vec<Message>,
    /// Statements that are only kept.
    pub others: Vec<Other>,
}

/// A field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The comment above it or beside it.
    pub about: Vec<String>,
    /// The line of its name.
    pub line: usize,
    /// What stands before its type.
    pub label: Label,
    /// Its type as it is written; of a map, the type of values.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its number; 0 for a field that has none yet.
    pub number: u32,
    /// What stands in brackets; empty for nothing.
    pub options: String,
    /// The `oneof` that it is in.
    pub oneof: Option<String>,
}

/// The label of a field: the word before its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Label {
    /// Nothing: a field of proto3 or of a `oneof`.
    Plain,
    /// `optional`.
    #[default]
    Optional,
    /// `required`.
    Required,
    /// `repeated`.
    Repeated,
    /// A map with keys of this type.
    Map(String),
}

/// A number or name that must not be used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// Numbers, with their line.
    Numbers(Span, usize),
    /// A name, with its line.
    Name(String, usize),
}

impl File {
    /// The message of this name in the package, such as `Gear` or `Gear.Status`.
    pub fn message(&self, name: &str) -> Option<&Message> {
        let mut steps = name.split('.');
        let first = steps.next()?;
        let outer = self.messages.iter().find(|message| message.name == first);
        steps.try_fold(outer?, |around, step| around.messages.iter().find(|message| message.name == step))
    }

    /// The message of this name in the package, to change it.
    pub(crate) fn message_mut(&mut self, name: &str) -> Option<&mut Message> {
        let mut steps = name.split('.');
        let first = steps.next()?;
        let outer = self.messages.iter_mut().find(|message| message.name == first);
        steps.try_fold(outer?, |around, step| around.messages.iter_mut().find(|message| message.name == step))
    }

    /// All messages, each with its name in the package.
    pub fn all(&self) -> Vec<(String, &Message)> {
        let mut found = Vec::new();
        collect("", &self.messages, &mut found);
        found
    }
}

fn collect<'m>(around: &str, messages: &'m [Message], found: &mut Vec<(String, &'m Message)>) {
    for message in messages {
        let name = if around.is_empty() { message.name.clone() } else { format!("{around}.{}", message.name) };
        collect(&name, &message.messages, found);
        found.push((name, message));
    }
}

impl Field {
    /// The type with its label: `optional string`, `map<string, Gear>`, in proto3 `string`.
    pub fn declared(&self) -> String {
        match &self.label {
            Label::Plain => self.kind.clone(),
            Label::Optional => format!("optional {}", self.kind),
            Label::Required => format!("required {}", self.kind),
            Label::Repeated => format!("repeated {}", self.kind),
            Label::Map(key) => format!("map<{key}, {}>", self.kind),
        }
    }
}
