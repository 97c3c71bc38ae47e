//! Lists: computed ones, those of documents, and sums of both.
use std::sync::Arc;

use super::{Dynamic, Json, Shape, Value};
use crate::{Error, Meter};

/// A list.
#[derive(Clone, Debug)]
pub struct List<'a> {
    /// Its elements.
    pub items: Items<'a>,
    /// How it compares and merges.
    pub kind: ListKind<'a>,
}

/// The elements of a list.
#[derive(Clone, Debug)]
pub enum Items<'a> {
    /// Computed ones.
    Values(Arc<Vec<Value<'a>>>),
    /// Those of a document; the shape is that of an element.
    Document(&'a [Json], &'a dyn Shape),
    /// Those of a sum in which a document has a part. If the left side was of a document, its shape reads all elements.
    Sum(Arc<Vec<Element<'a>>>, Option<&'a dyn Shape>),
}

/// An element of a sum.
#[derive(Clone, Debug)]
pub enum Element<'a> {
    /// A computed one.
    Value(Value<'a>),
    /// One of a document.
    Document(&'a Json, &'a dyn Shape),
}

/// How lists compare and merge (`x-kubernetes-list-type`).
#[derive(Clone, Copy, Debug, Default)]
pub enum ListKind<'a> {
    /// By position; sums append.
    #[default]
    Atomic,
    /// As sets: without order; sums are unions.
    Set,
    /// By these keys of their elements, escaped; sums merge.
    Map(&'a [String]),
}

impl<'a> List<'a> {
    /// The most elements of a sum. The budget of an evaluation in Kubernetes allows 1 million.
    const LONGEST: usize = 2 << 20;

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match &self.items {
            Items::Values(values) => values.len(),
            Items::Document(items, _) => items.len(),
            Items::Sum(elements, _) => elements.len(),
        }
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of the elements, if the list is one of a document.
    pub fn shape(&self) -> Option<&'a dyn Shape> {
        match self.items {
            Items::Values(_) => None,
            Items::Document(_, shape) => Some(shape),
            Items::Sum(_, shape) => shape,
        }
    }

    /// True if the list is one of a document with a schema.
    pub fn is_typed(&self) -> bool {
        self.shape().is_some_and(Shape::typed)
    }

    /// The list without its schema.
    pub(crate) fn untyped(self) -> Self {
        let items = match self.items {
            Items::Document(items, _) => Items::Document(items, &Dynamic),
            Items::Sum(elements, Some(_)) => Items::Sum(elements, None),
            items => items,
        };
        Self { items, kind: ListKind::Atomic }
    }

    /// The element at a position; none if there is no such position. An element of a document may be unreadable.
    pub fn get(&self, index: usize) -> Option<Result<Value<'a>, Error>> {
        match &self.items {
            Items::Values(values) => values.get(index).cloned().map(Ok),
            Items::Document(items, shape) => items.get(index).map(|json| shape.read(json)),
            Items::Sum(elements, shape) => elements.get(index).map(|element| element.read(*shape)),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, Error>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// True if an element equals a value.
    ///
    /// # Errors
    /// No element does, and one of a document cannot be read or compared; or the meter ends the evaluation.
    pub fn contains(&self, value: &Value<'a>, meter: &dyn Meter) -> Result<bool, Error> {
        let mut failure = None;
        let keeps_errors = self.is_typed();
        for index in 0..self.len() {
            if index % 8 == 0 {
                meter.spend(8)?;
            }
            let equal = match &self.items {
                Items::Values(values) => value.equals_as_left(&values[index], meter),
                _ => self.get(index).expect("it is within the list").and_then(|item| item.equals_as_left(value, meter)),
            };
            match equal {
                Ok(true) => return Ok(true),
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) if keeps_errors => failure = failure.or(Some(error)),
                Ok(false) | Err(_) => {}
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// The sum of two lists: for sets their union, for lists with keys the merged list.
    ///
    /// # Errors
    /// The sum is too long, or the meter ends the evaluation.
    pub fn concat(&self, other: &Self, meter: &dyn Meter) -> Result<Self, Error> {
        if self.shape().is_none() {
            if self.is_empty() {
                return Ok(other.clone());
            }
            if other.is_empty() {
                return Ok(self.clone());
            }
        }
        let length = self.len().saturating_add(other.len());
        if length > Self::LONGEST {
            return Err(Error::interrupted());
        }
        // The elements are copied, and sums in loops may be kept.
        meter.spend(length.saturating_mul(8))?;
        meter.reserve(length.saturating_mul(size_of::<Element<'_>>()))?;
        if let (Items::Values(left), Items::Values(right)) = (&self.items, &other.items) {
            let values = left.iter().chain(right.iter()).cloned().collect();
            return Ok(Self { items: Items::Values(Arc::new(values)), kind: ListKind::Atomic });
        }
        super::equal::read_keys(self.kind, self, meter)?;
        super::equal::read_keys(self.kind, other, meter)?;
        let shape = self.shape();
        let mut elements: Vec<Element<'a>> = self.elements().collect();
        match self.kind {
            ListKind::Atomic => elements.extend(other.elements()),
            ListKind::Set | ListKind::Map(_) => super::equal::merge(self.kind, &mut elements, other),
        }
        Ok(Self { items: Items::Sum(Arc::new(elements), shape), kind: self.kind })
    }

    /// Appends to a computed list, in place if nothing else refers to it.
    pub(crate) fn push(&mut self, value: Value<'a>) {
        if let Items::Values(values) = &mut self.items {
            Arc::make_mut(values).push(value);
        }
    }

    /// True if no document has a part in it.
    pub(crate) const fn is_computed(&self) -> bool {
        matches!(self.items, Items::Values(_))
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'a>> + '_ {
        (0..self.len()).map(|index| match &self.items {
            Items::Values(values) => Element::Value(values[index].clone()),
            Items::Document(items, shape) => Element::Document(&items[index], *shape),
            Items::Sum(elements, _) => elements[index].clone(),
        })
    }
}

impl<'a> Element<'a> {
    /// The value of an element of a list whose elements a shape reads.
    pub(super) fn read(&self, of_list: Option<&'a dyn Shape>) -> Result<Value<'a>, Error> {
        match (self, of_list) {
            (Self::Value(value), None) => Ok(value.clone()),
            (Self::Value(value), Some(shape)) => shape.accept(value.clone()),
            (Self::Document(json, shape), None) => shape.read(json),
            (Self::Document(json, own), Some(shape)) => own.read(json).and_then(|value| shape.accept(value)),
        }
    }
}
