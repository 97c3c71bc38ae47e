//! The fields of a struct by name, as compact as a list: a server may have hundreds of thousands of schemas, most of few
//! fields, and a tree takes a node of eleven places for each of them.
use std::{iter, ops::Index, slice, sync::Arc};

use super::Schema;

/// Fields of a struct by wire name, in the order of names. A clone shares them with the original.
#[derive(Clone, Debug, Default)]
pub struct Properties(Arc<[Property]>);

type Property = (String, Arc<Schema>);

/// Among few names most are ruled out by their length, without reading them.
const FEW: usize = 16;

impl Properties {
    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The schema of a field.
    pub fn get(&self, name: &str) -> Option<&Schema> {
        Some(&self.0[self.find(name)?].1)
    }

    /// The schema of a field, to change it here and nowhere else.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Schema> {
        let at = self.find(name)?;
        Some(Arc::make_mut(&mut Arc::make_mut(&mut self.0)[at].1))
    }

    /// True if a field has this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Sets the schema of a field. To make many fields, collect them.
    pub fn insert(&mut self, name: String, schema: impl Into<Arc<Schema>>) {
        *self = self.0.iter().cloned().chain([(name, schema.into())]).collect();
    }

    /// Takes a field out.
    pub fn remove(&mut self, name: &str) -> Option<Arc<Schema>> {
        let (_, removed) = self.0[self.find(name)?].clone();
        *self = self.0.iter().filter(|(other, _)| other != name).cloned().collect();
        Some(removed)
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
        self.0.iter().map(|(_, schema)| &**schema)
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.0.len() > FEW {
            return self.0.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok();
        }
        self.0.iter().position(|(other, _)| other == name)
    }
}

/// Schemas that are shared are equal, and are not compared.
impl PartialEq for Properties {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |a: &Arc<Schema>, b: &Arc<Schema>| Arc::ptr_eq(a, b) || a == b;
        let mut pairs = self.0.iter().zip(&*other.0);
        self.len() == other.len() && pairs.all(|((a, of_a), (b, of_b))| a == b && is_same(of_a, of_b))
    }
}

/// The schema of a field that is there.
impl Index<&str> for Properties {
    type Output = Schema;

    fn index(&self, name: &str) -> &Schema {
        self.get(name).expect("a field of this name")
    }
}

/// If a name is repeated, the last schema is used.
impl<S: Into<Arc<Schema>>> FromIterator<(String, S)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, S)>>(given: I) -> Self {
        // Apart, so that the code for sorting is compiled once for all iterators.
        sorted(given.into_iter().map(|(name, schema)| (name, schema.into())).collect())
    }
}

fn sorted(mut all: Vec<Property>) -> Properties {
    all.reverse();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all.dedup_by(|(a, _), (b, _)| a == b);
    Properties(all.into())
}

impl<S: Into<Arc<Schema>>, const N: usize> From<[(String, S); N]> for Properties {
    fn from(given: [(String, S); N]) -> Self {
        given.into_iter().collect()
    }
}

/// The fields with their names.
pub(super) type Iter<'p> = iter::Map<slice::Iter<'p, Property>, fn(&Property) -> (&String, &Schema)>;

impl<'p> IntoIterator for &'p Properties {
    type Item = (&'p String, &'p Schema);
    type IntoIter = Iter<'p>;

    fn into_iter(self) -> Iter<'p> {
        self.iter()
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
        let before = found.clone();
        found.insert("b".to_owned(), named("x"));
        found.insert("aa".to_owned(), named("y"));
        assert!(found.remove("c").is_some() && found.remove("c").is_none());
        assert_eq!(said(&found), ["a3", "aay", "bx"]);
        found.get_mut("a").unwrap().description.push('!');
        assert_eq!(found.get("a").unwrap().description, "3!");
        assert!(found.contains_key("aa") && !found.contains_key("c") && found.get("d").is_none());
        assert_eq!((found.len(), found.is_empty(), found.keys().len()), (3, false, 3));
        assert_eq!(said(&before), ["a3", "b0", "c2"], "a clone is not changed with the original");
    }
}
