//! The difference between two objects: the fields that a write set, and the fields that it removed.
use std::sync::LazyLock;

use serde_json::Map as Fields;

use super::{
    field_set::{FieldSet, Node},
    path_element::PathElement,
    schema::{Field, Form, List, Map, Type},
};
use crate::schema::Document;

/// An object without fields.
pub(super) static EMPTY: LazyLock<Document> = LazyLock::new(|| Document::Object(Fields::new()));

/// The difference between two objects.
#[derive(Debug, Default)]
pub(super) struct Comparison<'a> {
    /// Fields that the older object lacks, or has with another value.
    pub(super) set: FieldSet<'a>,
    /// Fields that only the older object has.
    pub(super) removed: FieldSet<'a>,
    /// True if a list has an item without an identity, which no manager can own.
    pub(super) unidentified: bool,
}

impl Comparison<'_> {
    /// True if there is no difference.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }

    /// Removes fields and everything below them.
    pub(super) fn exclude(&mut self, fields: &FieldSet<'_>) {
        self.set.subtract_recursively(fields);
        self.removed.subtract_recursively(fields);
    }
}

/// Compares two objects of a type.
pub(super) fn compare<'a>(ty: Type<'a>, old: &'a Document, new: &'a Document) -> Comparison<'a> {
    let mut walker = CompareWalker { unidentified: false };
    let Delta { set, removed } = walker.value(ty, Some(old), Some(new));
    Comparison { set: set.children, removed: removed.children, unidentified: walker.unidentified }
}

/// The difference at one path and below.
#[derive(Default)]
struct Delta<'a> {
    set: Node<'a>,
    removed: Node<'a>,
}

impl<'a> Delta<'a> {
    fn attach(&mut self, element: &PathElement<'a>, inner: Delta<'a>) {
        for (outer, inner) in [(&mut self.set, inner.set), (&mut self.removed, inner.removed)] {
            if !inner.is_empty() {
                outer.children.attach(element.clone(), inner);
            }
        }
    }

    /// A value that is owned as a whole.
    fn leaf(&mut self, old: Option<&Document>, new: Option<&Document>) {
        self.set.member |= new.is_some() && old != new;
        self.removed.member |= new.is_none();
    }
}

struct CompareWalker {
    /// There was an item without an identity.
    unidentified: bool,
}

impl CompareWalker {
    fn value<'a>(&mut self, ty: Type<'a>, old: Option<&'a Document>, new: Option<&'a Document>) -> Delta<'a> {
        let mut delta = Delta::default();
        match (old, new) {
            (Some(before), Some(after)) if ty.tells_apart(before, after) => {
                self.form(&ty.form(old), old, new, &mut delta);
                self.form(&ty.form(new), old, new, &mut delta);
            }
            _ => self.form(&ty.form(new.or(old)), old, new, &mut delta),
        }
        delta.set.member |= old.is_none();
        delta.removed.member |= new.is_none();
        delta
    }

    fn form<'a>(
        &mut self,
        form: &Form<'a>,
        old: Option<&'a Document>,
        new: Option<&'a Document>,
        delta: &mut Delta<'a>,
    ) {
        match form {
            Form::Map(map) if !map.atomic => {
                let [before, after] = [old, new].map(|side| side.and_then(Document::as_object));
                if [before, after].iter().flatten().any(|fields| !fields.is_empty()) {
                    return self.fields(map, before, after, delta);
                }
            }
            Form::List(list) if !list.atomic => {
                let [before, after] =
                    [old, new].map(|side| side.and_then(Document::as_array).map_or(&[][..], Vec::as_slice));
                if !before.is_empty() || !after.is_empty() {
                    return self.items(list, before, after, delta);
                }
            }
            Form::Map(_) | Form::List(_) | Form::Scalar(_) => {}
        }
        delta.leaf(old, new);
    }

    fn fields<'a>(
        &mut self,
        map: &Map<'a>,
        old: Option<&'a Fields<String, Document>>,
        new: Option<&'a Fields<String, Document>>,
        delta: &mut Delta<'a>,
    ) {
        let is_metadata = map.is_metadata();
        let mut old = old.into_iter().flatten().peekable();
        let mut new = new.into_iter().flatten().peekable();
        loop {
            let name = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some((name, _)), None) | (None, Some((name, _))) => *name,
                (Some((before, _)), Some((after, _))) => (*before).min(*after),
            };
            let before = old.next_if(|(at, _)| *at == name).map(|(_, value)| value);
            let after = new.next_if(|(at, _)| *at == name).map(|(_, value)| value);
            // Unchanged fields are skipped before creating path elements: most of an object does not change.
            if before == after || is_metadata && name == "managedFields" {
                continue;
            }
            let field = map.field(name).unwrap_or_else(Field::undeclared);
            let implied = field.implied.then_some(&*EMPTY);
            let inner = self.value(field.ty, before.or(implied), after.or(implied));
            delta.attach(&PathElement::Field(name), inner);
        }
    }

    fn items<'a>(&mut self, list: &List<'a>, old: &'a [Document], new: &'a [Document], delta: &mut Delta<'a>) {
        let (old, new) = (self.sorted(list, old), self.sorted(list, new));
        // A whole list can be large.
        if old.is_empty() {
            delta.set.children.reserve(new.len());
        }
        let same = |(a, _): &Item<'a>, (b, _): &Item<'a>| a == b;
        let mut old = old.chunk_by(same).peekable();
        let mut new = new.chunk_by(same).peekable();
        loop {
            let element = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(items), None) | (None, Some(items)) => &items[0].0,
                (Some(before), Some(after)) => (&before[0].0).min(&after[0].0),
            };
            let before = old.next_if(|items| items[0].0 == *element).unwrap_or_default();
            let after = new.next_if(|items| items[0].0 == *element).unwrap_or_default();
            let inner = self.item(list.item, before, after);
            delta.attach(element, inner);
        }
    }

    /// The items with one path element. Usually there is one; several are owned as one value.
    fn item<'a>(&mut self, ty: Type<'a>, old: &[Item<'a>], new: &[Item<'a>]) -> Delta<'a> {
        let single = |items: &[Item<'a>]| if let [(_, item)] = items { Some(*item) } else { None };
        let mut delta = Delta::default();
        match (old, new) {
            ([(_, old)], [(_, new)]) if old == new => {}
            ([_, _, ..], [_, _, ..]) => {
                delta.set.member = old.iter().map(|(_, item)| item).ne(new.iter().map(|(_, item)| item));
            }
            _ => {
                if old.len() == 1 || new.len() == 1 {
                    delta = self.value(ty, single(old), single(new));
                }
                delta.set.member |= new.len() > 1;
                delta.removed.member |= old.len() > 1;
            }
        }
        delta
    }

    fn sorted<'a>(&mut self, list: &List<'a>, items: &'a [Document]) -> Vec<Item<'a>> {
        let mut found: Vec<_> = items.iter().filter_map(|item| Some((list.element_of(item).ok()?, item))).collect();
        self.unidentified |= found.len() != items.len();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }
}

/// An item of a list, with its path element.
type Item<'a> = (PathElement<'a>, &'a Document);
