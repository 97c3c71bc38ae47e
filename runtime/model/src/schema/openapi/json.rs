//! JSON as text, written member by member: documents of many megabytes need no tree of their values.
use serde::Serialize;

/// JSON text that is being written. The caller writes one value.
#[derive(Default)]
pub struct Json(Vec<u8>);

impl Json {
    /// With room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Writes a value.
    pub fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.0, value)
            .expect("strings, numbers and documents are JSON, and memory accepts all");
    }

    /// Writes a value that is JSON already.
    pub fn text(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }

    /// Writes an object. The caller writes each member once.
    pub fn object(&mut self, write: impl FnOnce(&mut Members<'_>)) {
        self.0.push(b'{');
        write(&mut Members { json: self, is_empty: true });
        self.0.push(b'}');
    }

    /// Writes a list.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.0.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            write(self, item);
        }
        self.0.push(b']');
    }

    /// The text.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The members of an object.
pub struct Members<'j> {
    json: &'j mut Json,
    is_empty: bool,
}

impl Members<'_> {
    /// True if no member was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Writes a member with this value.
    pub fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.with(name, |json| json.value(value));
    }

    /// Writes a member with this value, if there is one.
    pub fn put_some(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.put(name, &value);
        }
    }

    /// Writes a member with what is written as its value.
    pub fn with(&mut self, name: &str, write: impl FnOnce(&mut Json)) {
        if !self.is_empty {
            self.json.0.push(b',');
        }
        self.is_empty = false;
        self.json.value(name);
        self.json.0.push(b':');
        write(self.json);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_are_separated() {
        let mut json = Json::default();
        json.object(|out| {
            assert!(out.is_empty());
            out.put("a \"quoted\" name", "text");
            out.put_some("absent", None::<u8>);
            out.with("list", |json| json.list([1, 2], |json, item| json.value(&item)));
            out.with("none", |json| json.list([0; 0], |json, item| json.value(&item)));
            out.with("object", |json| json.object(|_| {}));
            out.with("text", |json| json.text(b"[null]"));
        });
        let text = String::from_utf8(json.finish()).unwrap();
        assert_eq!(text, r#"{"a \"quoted\" name":"text","list":[1,2],"none":[],"object":{},"text":[null]}"#);
    }
}
