//! The sizes of values that a schema allows, as far as they decide what a rule is estimated to cost. The numbers are Kubernetes'.
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    ptr,
};

use kindsmith_cel::{Range, Sizes, Type};

use super::types::{Declared, Form};
use crate::schema::Schema;

/// The most bytes of a request: the bound where a schema has none.
const REQUEST: u64 = 3 << 20;
/// The most bytes of a text in a request, which is quoted.
const TEXT: u64 = REQUEST - 2;

impl Declared<'_> {
    /// The numbers of values of this place in one object at most.
    pub(super) fn most_values(self) -> u64 {
        REQUEST / self.least().saturating_add(1)
    }

    /// The most characters, items or entries of a value; 0 for values without a size.
    pub(super) fn most(self) -> u64 {
        let at = self.at;
        let most_length = |width: u64| at.max_length.map(|length| length.wrapping_mul(width));
        let in_request = |each: u64| (REQUEST - 2) / each;
        let element = || self.element().map_or(1, Self::least);
        match self.form() {
            Form::List => at.max_items.unwrap_or_else(|| in_request(element() + 1)),
            Form::Map => at.max_properties.unwrap_or_else(|| in_request(element() + 6)),
            Form::Scalar(Type::Timestamp) if at.format.as_deref() == Some("date") => 12,
            Form::Scalar(Type::Duration | Type::Timestamp) => 32,
            Form::Scalar(Type::Bytes) => most_length(1).unwrap_or(TEXT),
            Form::Scalar(Type::Dyn) => most_length(4).unwrap_or(TEXT),
            Form::Scalar(Type::String) => most_length(4).unwrap_or_else(|| self.longest_of_enum().unwrap_or(TEXT)),
            Form::Scalar(_) | Form::Struct | Form::Unseen => 0,
        }
    }

    fn longest_of_enum(self) -> Option<u64> {
        let values = &self.at.node().enumeration;
        let lengths = values.iter().filter_map(|value| Some(value.as_str()?.len() as u64));
        (!values.is_empty()).then(|| lengths.max().unwrap_or(0))
    }

    /// The fewest bytes of a value in a document.
    fn least(self) -> u64 {
        match self.form() {
            // The parts of a recursive type do not count.
            Form::Struct if self.at.node().definition.is_some() => 2,
            Form::Struct => self.at.node().required.iter().collect::<BTreeSet<_>>().into_iter().fold(2, |sum, name| {
                let field = self.property(name).filter(|field| field.at.default.is_none() && field.is_seen());
                field.map_or(sum, |field| field.least().saturating_add(sum).saturating_add(name.len() as u64 + 4))
            }),
            Form::Scalar(Type::Bool) => 4,
            Form::Scalar(Type::Duration) => 3,
            Form::Scalar(Type::Timestamp) if self.at.format.as_deref() == Some("date") => 12,
            Form::Scalar(Type::Timestamp) => 21,
            Form::Scalar(Type::Dyn | Type::Double | Type::Int) => 1,
            Form::Scalar(_) | Form::List | Form::Map | Form::Unseen => 2,
        }
    }
}

impl Declared<'_> {
    /// The place at a path, whose first element is the variable. A key of a map has none, and neither has what is computed.
    fn at_path(self, path: &[&str]) -> Option<Self> {
        let (_, steps) = path.split_first()?;
        steps.iter().try_fold(self, |place, step| match *step {
            "@items" | "@values" => place.element(),
            name => place.field(name),
        })
    }

    /// The argument in Rust of the bound that values at a path lack.
    pub(super) fn missing_bound(self, path: &[&str]) -> Option<&'static str> {
        let place = self.at_path(path)?;
        let at = place.at;
        match place.form() {
            Form::List => at.max_items.is_none().then_some("max_items"),
            Form::Map => at.max_properties.is_none().then_some("max_properties"),
            Form::Scalar(Type::String | Type::Bytes | Type::Dyn) => {
                (at.max_length.is_none() && place.longest_of_enum().is_none()).then_some("max_length")
            }
            _ => None,
        }
    }
}

impl Sizes for Declared<'_> {
    fn size(&self, path: &[&str], _kind: &Type) -> Option<Range> {
        // Computed values have a path of one step, for which kube-apiserver takes the size of the node itself.
        if let [around @ .., "@keys"] = path
            && !around.is_empty()
        {
            // A key is a text without bounds of its own, of which nothing is reached.
            return (self.at_path(around)?.form() == Form::Map).then_some(Range::ZERO);
        }
        Some(Range::new(0, self.at_path(path)?.most()))
    }
}

/// The sizes of values below a place, each of which is found once, however often expressions refer to it.
pub(super) struct KnownSizes<'s> {
    pub(super) root: Declared<'s>,
    /// By node.
    known: RefCell<HashMap<*const Schema, u64>>,
}

impl<'s> KnownSizes<'s> {
    pub(super) fn of(root: Declared<'s>) -> Self {
        Self { root, known: RefCell::default() }
    }
}

impl Sizes for KnownSizes<'_> {
    fn size(&self, path: &[&str], kind: &Type) -> Option<Range> {
        if path.last() == Some(&"@keys") && path.len() > 1 {
            return self.root.size(path, kind);
        }
        let place = self.root.at_path(path)?;
        let node = ptr::from_ref(place.at.node());
        let known = self.known.borrow().get(&node).copied();
        let most = known.unwrap_or_else(|| {
            let most = place.most();
            self.known.borrow_mut().insert(node, most);
            most
        });
        Some(Range::new(0, most))
    }
}
