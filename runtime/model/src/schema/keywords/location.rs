//! Locations in a definition, named in both ways: as kube-apiserver's messages name them, and as JSON pointers into the document.
use crate::meta::FieldPath;

/// A location: a step from the location around it. Its names are made when something is reported of it.
#[derive(Clone, Copy)]
pub struct Location<'p> {
    around: Option<&'p Location<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    /// The path that messages give, and the pointer.
    Known(&'p str, &'p str),
    /// A field; messages and document may name it differently.
    Field(&'p str, &'p str),
    Index(usize),
    Key(&'p str),
}

impl<'p> Location<'p> {
    /// A location that messages and document name in ways that have nothing in common.
    pub const fn known(path: &'p str, pointer: &'p str) -> Self {
        Self { around: None, step: Step::Known(path, pointer) }
    }

    /// A field below this location.
    #[must_use]
    pub fn field(&'p self, name: &'p str) -> Self {
        self.named(name, name)
    }

    /// A field that messages name differently.
    #[must_use]
    pub fn named(&'p self, path: &'p str, name: &'p str) -> Self {
        Self { around: Some(self), step: Step::Field(path, name) }
    }

    /// An item of the list here.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Self {
        Self { around: Some(self), step: Step::Index(index) }
    }

    /// An entry of the map here.
    #[must_use]
    pub fn key(&'p self, key: &'p str) -> Self {
        Self { around: Some(self), step: Step::Key(key) }
    }

    /// The location as messages name it.
    pub fn path(&self) -> FieldPath {
        let around = self.around.map(Location::path).unwrap_or_default();
        match self.step {
            Step::Known(path, _) => FieldPath::new(path),
            Step::Field(path, _) => around.child(path),
            Step::Index(index) => around.index(index),
            Step::Key(key) => around.key(key),
        }
    }

    /// The location as a JSON pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = self.around.map(Location::pointer).unwrap_or_default();
        let mut add = |segment: &str| {
            pointer.push('/');
            pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        };
        match self.step {
            Step::Known(_, known) => known.clone_into(&mut pointer),
            Step::Field(_, name) => add(name),
            Step::Index(index) => add(&index.to_string()),
            Step::Key(key) => add(key),
        }
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_path_and_a_pointer() {
        let schema = Location::known("spec.validation", "/spec/versions/0/schema");
        let (properties, columns) = (schema.field("properties"), Location::known("spec", "/spec"));
        let (property, column) = (properties.key("a/b~"), columns.named("JSONPath", "jsonPath"));
        let item = property.index(2);
        assert_eq!(item.path().as_str(), "spec.validation.properties[a/b~][2]");
        assert_eq!(item.pointer(), "/spec/versions/0/schema/properties/a~1b~0/2");
        assert_eq!((column.path().as_str(), &*column.pointer()), ("spec.JSONPath", "/spec/jsonPath"));
    }
}
