//! The allowed values of a schema, of which there may be many.
use std::{
    fmt,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    ops::Deref,
    sync::Arc,
};

use serde::{Serialize, Serializer};
use serde_json::Number;

use super::Document;
use crate::meta::go;

/// Among so few, a search compares each of them.
const FEW: usize = 16;

/// The length in bytes up to which errors list allowed values.
const LISTED: usize = 1 << 10;

/// Allowed values, in declaration order; empty for any. A clone shares them with the original.
#[derive(Clone, Default)]
pub struct Enumeration {
    values: Arc<[Document]>,
    /// The hashes of many values, sorted, each with the value's position.
    index: Arc<[(u64, usize)]>,
}

impl Enumeration {
    /// True if a value is allowed. `null` is not, even where it is listed, and a number with a fraction is compared without it to
    /// whole numbers, both as in kube-apiserver.
    pub(super) fn allows(&self, value: &Document) -> bool {
        if self.values.is_empty() {
            return true;
        }
        match value {
            Document::Null => false,
            Document::Number(number) => self.lists(value) || whole(number).is_some_and(|whole| self.lists(&whole)),
            _ => self.lists(value),
        }
    }

    fn lists(&self, value: &Document) -> bool {
        if self.index.is_empty() {
            return self.values.contains(value);
        }
        let hash = hash_of(value);
        let first = self.index.partition_point(|(other, _)| *other < hash);
        let same = self.index[first..].iter().take_while(|(other, _)| *other == hash);
        same.into_iter().any(|(_, position)| self.values[*position] == *value)
    }

    /// True if values are found by their hashes.
    pub(super) fn is_indexed(&self) -> bool {
        !self.index.is_empty()
    }

    /// The values as errors list them: strings quoted, and of many the first ones.
    pub(super) fn listed(&self) -> Vec<String> {
        let mut listed = Vec::new();
        let mut left = LISTED;
        for value in &*self.values {
            let text = match value {
                Document::String(text) => go::quoted(text),
                other => format!("\"{other}\""),
            };
            if text.len() > left {
                listed.push(format!("and {} more", self.values.len() - listed.len()));
                break;
            }
            left -= text.len();
            listed.push(text);
        }
        listed
    }
}

/// The whole number before the fraction of a number, if it has one.
fn whole(number: &Number) -> Option<Document> {
    let double = number.as_f64().filter(|double| double.fract() != 0.0)?;
    super::number::of_double(double.trunc()).map(Document::Number)
}

fn hash_of(value: &Document) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

impl From<Vec<Document>> for Enumeration {
    fn from(values: Vec<Document>) -> Self {
        let mut index = Vec::new();
        if values.len() > FEW {
            index.extend(values.iter().enumerate().map(|(position, value)| (hash_of(value), position)));
            index.sort_unstable();
        }
        Self { values: values.into(), index: index.into() }
    }
}

impl FromIterator<Document> for Enumeration {
    fn from_iter<I: IntoIterator<Item = Document>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl Deref for Enumeration {
    type Target = [Document];

    fn deref(&self) -> &[Document] {
        &self.values
    }
}

impl Serialize for Enumeration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.as_ref().serialize(serializer)
    }
}

impl PartialEq for Enumeration {
    /// The index follows from the values.
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl fmt::Debug for Enumeration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_values_are_found_like_few() {
        for count in [3, FEW, FEW + 1, 5_000] {
            let values: Enumeration = (0..count)
                .map(|number| if number % 2 == 0 { json!(number) } else { json!(number.to_string()) })
                .collect();
            assert!(values.iter().all(|value| values.allows(value)), "{count}");
            assert!(
                !values.allows(&json!(1)) && !values.allows(&json!("0")) && !values.allows(&json!(null)),
                "{count}"
            );
        }
        assert!(Enumeration::default().allows(&json!("any")));
    }

    #[test]
    fn errors_list_the_first_of_many_values() {
        assert_eq!(Enumeration::from(vec![json!("a"), json!(1)]).listed(), ["\"a\"", "\"1\""]);
        let listed = (0..100_000).map(|number| json!(format!("value-{number}"))).collect::<Enumeration>().listed();
        assert!(listed.concat().len() < 2 * LISTED);
        assert_eq!(listed.last().unwrap(), &format!("and {} more", 100_000 - (listed.len() - 1)));
        assert_eq!(Enumeration::from(vec![json!("x".repeat(LISTED))]).listed(), ["and 1 more"]);
    }
}
