//! The fields of a struct by name, as compact as a list: a server may have hundreds of thousands of schemas, most of few
//! fields, and a tree takes a node of eleven places for each of them.
use std::{iter, mem, ops::Index, slice, vec};

use super::Schema;

/// Fields of a struct by wire name, in the order of names.
#[derive(Clone, Debug, Default)]
pub struct Properties(Vec<(String, Schema)>);

impl Properties {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The schema of a field.
    pub fn get(&self, name: &str) -> Option<&Schema> {
        self.get_key_value(name).map(|(_, schema)| schema)
    }

    /// The schema of a field, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Schema> {
        let at = self.find(name).ok()?;
        Some(&mut self.0[at].1)
    }

    /// The schema of a field, with its name.
    pub fn get_key_value(&self, name: &str) -> Option<(&String, &Schema)> {
        let (name, schema) = &self.0[self.find(name).ok()?];
        Some((name, schema))
    }

    /// Whether there is a field of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Sets the schema of a field; gives the one that it had.
    pub fn insert(&mut self, name: String, schema: Schema) -> Option<Schema> {
        match self.find(&name) {
            Ok(at) => Some(mem::replace(&mut self.0[at].1, schema)),
            Err(at) => {
                self.0.reserve_exact(1);
                self.0.insert(at, (name, schema));
                None
            }
        }
    }

    /// Takes a field out.
    pub fn remove(&mut self, name: &str) -> Option<Schema> {
        let at = self.find(name).ok()?;
        Some(self.0.remove(at).1)
    }

    /// The fields with their names.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, schema)| (name, schema))
    }

    /// The names.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &String> + ExactSizeIterator + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// The fields.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Schema> + ExactSizeIterator + Clone {
        self.0.iter().map(|(_, schema)| schema)
    }

    /// The fields, to change them.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Schema> + ExactSizeIterator {
        self.0.iter_mut().map(|(_, schema)| schema)
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(name))
    }
}

/// The schema of a field that is there.
impl Index<&str> for Properties {
    type Output = Schema;

    fn index(&self, name: &str) -> &Schema {
        self.get(name).expect("a field of this name")
    }
}

/// Of a name that is there twice, the last schema counts.
impl FromIterator<(String, Schema)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, Schema)>>(given: I) -> Self {
        let mut all: Vec<_> = given.into_iter().collect();
        all.reverse();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.dedup_by(|(a, _), (b, _)| a == b);
        all.shrink_to_fit();
        Self(all)
    }
}

impl<const N: usize> From<[(String, Schema); N]> for Properties {
    fn from(given: [(String, Schema); N]) -> Self {
        given.into_iter().collect()
    }
}

/// The fields with their names.
pub type Iter<'p> = iter::Map<slice::Iter<'p, (String, Schema)>, fn(&(String, Schema)) -> (&String, &Schema)>;

impl<'p> IntoIterator for &'p Properties {
    type Item = (&'p String, &'p Schema);
    type IntoIter = Iter<'p>;

    fn into_iter(self) -> Iter<'p> {
        self.iter()
    }
}

impl IntoIterator for Properties {
    type Item = (String, Schema);
    type IntoIter = vec::IntoIter<(String, Schema)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(description: &str) -> Schema {
        Schema { description: description.to_owned(), ..Schema::default() }
    }

    #[test]
    fn they_are_a_map_in_the_order_of_names() {
        let given =
            ["b", "a", "c", "a"].iter().enumerate().map(|(at, name)| ((*name).to_owned(), named(&at.to_string())));
        let mut found: Properties = given.collect();
        let said = |found: &Properties| {
            found.iter().map(|(name, schema)| format!("{name}{}", schema.description)).collect::<Vec<_>>()
        };
        assert_eq!(said(&found), ["a3", "b0", "c2"]);
        assert_eq!(found.insert("b".to_owned(), named("x")).map(|old| old.description), Some("0".to_owned()));
        assert!(found.insert("aa".to_owned(), named("y")).is_none());
        assert!(found.remove("c").is_some() && found.remove("c").is_none());
        assert_eq!(said(&found), ["a3", "aay", "bx"]);
        found.get_mut("a").unwrap().description.push('!');
        assert_eq!(found.get("a").unwrap().description, "3!");
        assert!(found.contains_key("aa") && !found.contains_key("c") && found.get("d").is_none());
        assert_eq!((found.len(), found.is_empty(), found.keys().len()), (3, false, 3));
    }
}
