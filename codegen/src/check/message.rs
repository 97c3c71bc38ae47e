//! The messages of Protobuf definitions on both sides. The numbers of fields are published there, and nowhere else.
use kindsmith_proto::{Field, File, Message};

/// Protobuf definitions, by the names of their files.
#[derive(Default)]
pub(crate) struct Messages(Vec<(String, File)>);

/// A message that may be there on one side only.
pub(crate) struct MessageChange<'m> {
    /// The file that defines it.
    pub file: &'m str,
    /// The name with the package.
    pub name: String,
    pub old: Option<Side<'m>>,
    pub new: Option<Side<'m>>,
}

/// A message in its file.
#[derive(Clone, Copy)]
pub(crate) struct Side<'m> {
    source: &'m str,
    file: &'m File,
    pub message: &'m Message,
}

impl Messages {
    /// Adds a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(crate) fn read(&mut self, name: &str, text: &str) -> Result<(), String> {
        let file = kindsmith_proto::parse(text).map_err(|error| format!("{name}:{error}"))?;
        self.0.push((name.to_owned(), file));
        Ok(())
    }

    /// True if there are no definitions.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All messages with their full names.
    fn all(&self) -> Vec<(String, Side<'_>)> {
        let mut all = Vec::new();
        for (source, file) in &self.0 {
            for (name, message) in file.all() {
                let full = if file.package.is_empty() { name } else { format!("{}.{name}", file.package) };
                all.push((full, Side { source, file, message }));
            }
        }
        all
    }
}

/// The messages of both sides, by name.
pub(super) fn changes<'m>(old: &'m Messages, new: &'m Messages) -> Vec<MessageChange<'m>> {
    let (old, new) = (old.all(), new.all());
    let of =
        |all: &[(String, Side<'m>)], name: &str| all.iter().find(|(other, _)| other == name).map(|(_, side)| *side);
    let changed = new.iter().map(|(name, side)| MessageChange {
        file: side.source,
        name: name.clone(),
        old: of(&old, name),
        new: Some(*side),
    });
    let removed = old.iter().filter(|(name, _)| of(&new, name).is_none());
    let removed = removed.map(|(name, side)| MessageChange {
        file: side.source,
        name: name.clone(),
        old: Some(*side),
        new: None,
    });
    changed.chain(removed).collect()
}

impl MessageChange<'_> {
    /// The message on both sides.
    pub(super) fn both(&self) -> Option<(&Message, &Message)> {
        Some((self.old?.message, self.new?.message))
    }

    /// The fields of the same name and number.
    pub(super) fn fields(&self) -> Vec<(&Field, &Field)> {
        let Some((old, new)) = self.both() else { return Vec::new() };
        let same = |field: &&Field, other: &&Field| field.name == other.name && field.number == other.number;
        let pairs =
            new.fields.iter().filter_map(|field| Some((old.fields.iter().find(|old| same(old, &field))?, field)));
        pairs.collect()
    }

    /// True if both fields are the same on the wire.
    pub(super) fn is_same_wire(&self, before: &Field, now: &Field) -> bool {
        let (Some(old), Some(new)) = (&self.old, &self.new) else { return true };
        let inner = |file: &File| match self.name.strip_prefix(&format!("{}.", file.package)) {
            Some(name) => name.to_owned(),
            None => self.name.clone(),
        };
        let was = old.file.resolve(&before.kind, &inner(old.file));
        let is = new.file.resolve(&now.kind, &inner(new.file));
        before.declared() == now.declared() || kindsmith_proto::same_wire((before, &was), (now, &is))
    }
}
