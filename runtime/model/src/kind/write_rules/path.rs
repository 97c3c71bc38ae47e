//! Paths of places: which values of an object a rule is about.
use crate::{meta::FieldPath, schema::Document};

/// A path such as `.spec.containers[*].ports[*]`: fields, `[*]` for each item of a list, `.*` for each value of a map, and `[a.b]` for an
/// entry of a map or `[0]` for an item, as errors show it. Empty for the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Key(String),
    Items,
    Values,
}

/// A step to one value.
#[derive(Clone, Debug)]
pub(super) enum Key {
    Field(String),
    /// An entry of a map.
    Entry(String),
    Index(usize),
}

/// The place of one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Place(Vec<Key>);

impl Path {
    /// Reads a path; `None` if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut steps, mut left) = (Vec::new(), text);
        while !left.is_empty() {
            if let Some(rest) = left.strip_prefix("[*]") {
                steps.push(Step::Items);
                left = rest;
            } else if let Some(rest) = left.strip_prefix('[') {
                let (key, rest) = rest.split_once(']')?;
                steps.push(Step::Key(key.to_owned()));
                left = rest;
            } else {
                let rest = left.strip_prefix('.')?;
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let name = &rest[..end];
                steps.push(match name {
                    "*" => Step::Values,
                    name if !is_name(name) => return None,
                    name => Step::Field(name.to_owned()),
                });
                left = &rest[end..];
            }
        }
        Some(Self(steps))
    }

    /// The number of its steps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for that of the object itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of what holds the field at the end, and its name. `None` if it does not end in a field.
    pub(super) fn split(&self) -> Option<(Self, &str)> {
        let (last, before) = self.0.split_last()?;
        match last {
            Step::Field(name) | Step::Key(name) => Some((Self(before.to_vec()), name)),
            Step::Items | Step::Values => None,
        }
    }

    /// The places of an object that have a value, null aside.
    pub(super) fn places(&self, object: &Document) -> Vec<Place> {
        let mut found = Vec::new();
        find(object, &self.0, &mut Place::default(), &mut found);
        found
    }

    /// Removes what is at these places.
    pub(super) fn remove(&self, object: &mut Document) {
        let Some((around, name)) = self.split() else { return };
        for place in around.places(object) {
            if let Some(members) = place.get_mut(object).and_then(Document::as_object_mut) {
                members.remove(name);
            }
        }
    }
}

/// True for the name of a field: letters, digits, `_`, `-` and `$`.
fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte);
    !name.is_empty() && name.bytes().all(known)
}

fn find(value: &Document, steps: &[Step], place: &mut Place, found: &mut Vec<Place>) {
    let Some((step, rest)) = steps.split_first() else {
        if !value.is_null() {
            found.push(place.clone());
        }
        return;
    };
    let mut below = |key: Key, value: &Document| {
        place.0.push(key);
        find(value, rest, place, found);
        place.0.pop();
    };
    match (step, value) {
        (Step::Field(name), Document::Object(members)) => {
            if let Some(value) = members.get(name) {
                below(Key::Field(name.clone()), value);
            }
        }
        (Step::Key(name), Document::Object(members)) => {
            if let Some(value) = members.get(name) {
                below(Key::Entry(name.clone()), value);
            }
        }
        (Step::Key(index), Document::Array(items)) => {
            let index = index.parse().ok();
            if let Some((index, item)) = index.and_then(|index: usize| Some((index, items.get(index)?))) {
                below(Key::Index(index), item);
            }
        }
        (Step::Items, Document::Array(items)) => {
            items.iter().enumerate().for_each(|(index, item)| below(Key::Index(index), item));
        }
        (Step::Values, Document::Object(members)) => {
            members.iter().for_each(|(name, value)| below(Key::Entry(name.clone()), value));
        }
        _ => {}
    }
}

impl Place {
    /// The place of what is so many steps from the object.
    pub(super) fn around(&self, steps: usize) -> Self {
        Self(self.0[..steps.min(self.0.len())].to_vec())
    }

    /// The name or index of what is here.
    pub(super) fn key(&self) -> Document {
        match self.0.last() {
            Some(Key::Field(name) | Key::Entry(name)) => name.as_str().into(),
            Some(Key::Index(index)) => (*index).into(),
            None => Document::Null,
        }
    }

    /// The value here.
    pub(super) fn get<'d>(&self, object: &'d Document) -> Option<&'d Document> {
        let found = self.0.iter().try_fold(object, |value, key| match key {
            Key::Field(name) | Key::Entry(name) => value.get(name),
            Key::Index(index) => value.get(index),
        });
        found.filter(|value| !value.is_null())
    }

    /// The value here, to change.
    pub(super) fn get_mut<'d>(&self, object: &'d mut Document) -> Option<&'d mut Document> {
        self.0.iter().try_fold(object, |value, key| match key {
            Key::Field(name) | Key::Entry(name) => value.get_mut(name),
            Key::Index(index) => value.get_mut(index),
        })
    }

    /// The path in errors.
    pub(super) fn field_path(&self) -> FieldPath {
        self.0.iter().fold(FieldPath::root(), |path, key| match key {
            Key::Field(name) => path.child(name),
            Key::Entry(name) => path.key(name),
            Key::Index(index) => path.index(*index),
        })
    }
}
