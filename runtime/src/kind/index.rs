//! Indexes: labels and selectable fields, picked out of a canonical body in one pass that builds no document.
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::model::Path;

/// What is picked out: labels, and a text for each selectable field (empty where it is absent).
pub type Indexed = (Vec<(Box<str>, Box<str>)>, Vec<Box<str>>);

/// Which fields to pick.
pub struct Indexes {
    names: Vec<String>,
    tree: Vec<Step>,
}

/// A field on the way to something that is picked.
struct Step {
    name: String,
    pick: Pick,
}

enum Pick {
    Labels,
    Field(usize),
    Below(Vec<Step>),
}

impl Indexes {
    /// Picks labels and the fields at these paths.
    pub fn new(selectable: &[Path]) -> Self {
        let labels = Step { name: "labels".to_owned(), pick: Pick::Labels };
        let mut tree = vec![Step { name: "metadata".to_owned(), pick: Pick::Below(vec![labels]) }];
        for (position, path) in selectable.iter().enumerate() {
            insert(&mut tree, &path.0, position);
        }
        Self { names: selectable.iter().map(Path::to_string).collect(), tree }
    }

    /// The names of the selectable fields, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Picks from a body.
    ///
    /// # Errors
    /// Why the body is not JSON of the form that bodies have.
    pub fn read(&self, body: &[u8]) -> Result<Indexed, String> {
        let mut found = (Vec::new(), vec![Box::<str>::default(); self.names.len()]);
        let mut decoder = serde_json::Deserializer::from_slice(body);
        let walk = Walk { steps: &self.tree, found: &mut found };
        walk.deserialize(&mut decoder).and_then(|()| decoder.end()).map_err(|error| error.to_string())?;
        Ok(found)
    }
}

fn insert(tree: &mut Vec<Step>, path: &[String], position: usize) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        tree.push(Step { name: name.clone(), pick: Pick::Field(position) });
        return;
    }
    let at = tree.iter().position(|step| step.name == *name && matches!(step.pick, Pick::Below(_)));
    let at = at.unwrap_or_else(|| {
        tree.push(Step { name: name.clone(), pick: Pick::Below(Vec::new()) });
        tree.len() - 1
    });
    if let Pick::Below(below) = &mut tree[at].pick {
        insert(below, rest, position);
    }
}

/// Walks an object, or skips what is no object.
struct Walk<'a> {
    steps: &'a [Step],
    found: &'a mut Indexed,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object's body")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match self.steps.iter().find(|step| step.name == name).map(|step| &step.pick) {
                Some(Pick::Below(steps)) => map.next_value_seed(Walk { steps, found: self.found })?,
                Some(Pick::Labels) => map.next_value_seed(Labels(&mut self.found.0))?,
                Some(Pick::Field(position)) => map.next_value_seed(Text(&mut self.found.1[*position]))?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

/// Takes a map of labels.
struct Labels<'a>(&'a mut Vec<(Box<str>, Box<str>)>);

impl<'de> DeserializeSeed<'de> for Labels<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Labels<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of labels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.0.push(entry);
        }
        Ok(())
    }
}

/// Takes a scalar as the text that field selectors compare.
struct Text<'a>(&'a mut Box<str>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number or a boolean")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        *self.0 = text.into();
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        *self.0 = value.to_string().into();
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        *self.0 = value.to_string().into();
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        *self.0 = value.to_string().into();
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        *self.0 = value.to_string().into();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path(text.split('.').map(str::to_owned).collect())
    }

    #[test]
    fn labels_and_fields_are_picked_and_the_rest_is_skipped() {
        let indexes = Indexes::new(&[path("spec.color"), path("spec.size"), path("status.phase"), path("type")]);
        let body = br#"{"metadata":{"annotations":{"labels":"no"},"labels":{"a":"1","\u0062":"2"},"name":"x"},
            "spec":{"color":"Red","nested":{"color":"no"},"size":7,"list":[{"color":"no"}]},"type":"t"}"#;
        let (labels, fields) = indexes.read(body).expect("a body");
        assert_eq!(labels, [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert_eq!(fields, ["Red".into(), "7".into(), "".into(), Box::<str>::from("t")]);
    }

    #[test]
    fn what_stands_where_an_object_is_looked_for_is_skipped() {
        let indexes = Indexes::new(&[path("spec.color.deep")]);
        for value in ["1", "\"x\"", "null", "[1]", "1.5", "true", "{\"color\":[{}]}"] {
            let body = format!(r#"{{"metadata":{{"name":"x"}},"spec":{value}}}"#);
            assert_eq!(indexes.read(body.as_bytes()).expect("a body").1, [Box::<str>::default()], "{value}");
        }
        assert!(indexes.read(b"{\"metadata\":").is_err());
    }
}
