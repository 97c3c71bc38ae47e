//! Lists to YAML, item by item: the same bytes that [`encode`](super::encode) writes for the whole document, without
//! ever holding all of it.
use serde_json::Map;

use super::{order, write::Writer};
use crate::schema::Document;

/// Writes a document with a list member whose items are given one by one.
pub struct ListWriter {
    writer: Writer,
    /// The members after the list.
    after: Map<String, Document>,
}

impl ListWriter {
    /// Appends the members before the list, and its beginning. With `is_empty`, [`ListWriter::item`] must not be
    /// called; otherwise it must be called at least once.
    pub fn start(members: Map<String, Document>, list: &str, is_empty: bool, out: &mut Vec<u8>) -> Self {
        let list = list.to_owned();
        let before: Vec<String> = order::sorted(members.keys().chain([&list]))
            .into_iter()
            .take_while(|name| **name != list)
            .cloned()
            .collect();
        let (before, after) = members.into_iter().partition(|(name, _)| before.contains(name));
        let mut this = Self { writer: Writer::default(), after };
        this.members(&before, out);
        out.extend_from_slice(list.as_bytes());
        out.extend_from_slice(if is_empty { b": []\n" } else { b":\n" });
        this
    }

    /// Appends an item.
    pub fn item(&mut self, item: &Document, out: &mut Vec<u8>) {
        self.writer.list(std::slice::from_ref(item), 0);
        self.writer.flush(out);
    }

    /// Appends the members after the list.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        let after = std::mem::take(&mut self.after);
        self.members(&after, out);
    }

    fn members(&mut self, members: &Map<String, Document>, out: &mut Vec<u8>) {
        if !members.is_empty() {
            self.writer.map(members, 0);
            self.writer.flush(out);
        }
    }
}
