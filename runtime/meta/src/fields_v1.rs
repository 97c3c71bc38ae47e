//! The set of fields that a field manager owns (structured-merge-diff, `FieldsV1`).
use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::json;

/// A set of fields as JSON text. It is often the largest part of the metadata, and few programs look into it: a text is decoded and
/// dropped in a fraction of the time that a [`Value`] takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldsV1(String);

impl FieldsV1 {
    /// The JSON text; empty for `null`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The set as a document.
    pub fn value(&self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        let mut text = serde_json::Deserializer::from_str(&self.0);
        // It was decoded once, and nests a little deeper than its object may.
        text.disable_recursion_limit();
        Value::deserialize(&mut text).expect("it was written as JSON")
    }

    /// A set whose JSON text was written by this module or by [`json::encode`].
    fn of_text(text: Vec<u8>) -> Self {
        let text = String::from_utf8(text).expect("JSON is text");
        Self(if text == "null" { String::new() } else { text })
    }
}

impl From<Value> for FieldsV1 {
    fn from(set: Value) -> Self {
        let mut text = Vec::new();
        json::encode(&set, &mut text);
        Self::of_text(text)
    }
}

impl Serialize for FieldsV1 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(to)
    }
}

impl<'de> Deserialize<'de> for FieldsV1 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut text = Vec::with_capacity(256);
        Transcript(&mut text).deserialize(from)?;
        Ok(Self::of_text(text))
    }
}

/// Writes what is deserialized as JSON.
struct Transcript<'a>(&'a mut Vec<u8>);

impl Transcript<'_> {
    fn scalar(self, value: impl Into<Value>) {
        json::encode(&value.into(), self.0);
    }
}

impl<'de> DeserializeSeed<'de> for Transcript<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Transcript<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of fields")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(value);
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        json::quote(value, self.0);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let begin = self.0.len();
        while items.next_element_seed(Separated(&mut *self.0, begin))?.is_some() {}
        self.0.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.push(b'{');
        let begin = self.0.len();
        while members.next_key_seed(Name(Separated(&mut *self.0, begin)))?.is_some() {
            self.0.push(b':');
            members.next_value_seed(Transcript(&mut *self.0))?;
        }
        self.0.push(b'}');
        Ok(())
    }
}

/// An item, or the name of a member, after a comma if it is not the first: then the text is longer than at the beginning.
struct Separated<'a>(&'a mut Vec<u8>, usize);

impl<'de> DeserializeSeed<'de> for Separated<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.0.len() > self.1 {
            self.0.push(b',');
        }
        Transcript(self.0).deserialize(from)
    }
}

/// The name of a member. In other formats than JSON, it may be something else than text.
struct Name<'a>(Separated<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.deserialize(name.into_deserializer())
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{self, MapDeserializer};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_set_is_kept_as_it_is() {
        for set in [
            json!({}),
            json!({"f:spec": {".": {}, "f:ports": {"k:{\"port\":1,\"protocol\":\"\\u0000é\"}": {".": {}}}, "v:1": {}}}),
            json!([null, true, -1, 1.5, i64::MAX, "a\"\n", [[], [1, 2]], {"a": 1, "b": [{}]}]),
        ] {
            let text = set.to_string();
            let of_document: FieldsV1 = serde_json::from_value(set.clone()).unwrap();
            let of_text: FieldsV1 = serde_json::from_str(&text).unwrap();
            assert_eq!((&of_document, &of_document), (&of_text, &FieldsV1::from(set.clone())), "{text}");
            assert_eq!(of_document.value(), set);
            assert_eq!(serde_json::to_value(&of_document).unwrap(), set);
        }
    }

    #[test]
    fn a_set_may_nest_as_deep_as_its_object() {
        let deep = (0..300).fold(json!({}), |set, _| json!({"f:a": set}));
        let set: FieldsV1 = serde_json::from_value(deep.clone()).unwrap();
        assert_eq!(serde_json::to_value(&set).unwrap(), deep);
    }

    #[test]
    fn names_that_are_no_text_are_refused() {
        let numbers = MapDeserializer::<_, value::Error>::new([(1, "a")].into_iter());
        let error = FieldsV1::deserialize(numbers).expect_err("a name that is a number");
        assert!(error.to_string().contains("the name of a field"), "{error}");
    }

    #[test]
    fn null_is_no_set() {
        let none = FieldsV1::default();
        assert_eq!(serde_json::from_str::<FieldsV1>("null").unwrap(), none);
        assert_eq!((none.as_str(), none.value()), ("", Value::Null));
        assert_eq!((FieldsV1::from(Value::Null), serde_json::to_string(&none).unwrap()), (none, "null".to_owned()));
        assert!(serde_json::from_str::<FieldsV1>("{\"a\"").is_err());
    }
}
