//! What a write did to an object: the fields it added, changed and removed.
use std::sync::LazyLock;

use serde_json::Map as Fields;

use super::{
    element::Element,
    item::element_of,
    mention::everything,
    set::{Branch, Set},
    types::{Field, Form, List, Map, Type},
};
use crate::schema::Document;

/// An object without anything in it.
pub(super) static EMPTY: LazyLock<Document> = LazyLock::new(|| Document::Object(Fields::new()));

/// The difference between two objects.
#[derive(Debug, Default)]
pub(super) struct Change<'a> {
    /// Fields that are only in the newer.
    pub(super) added: Set<'a>,
    /// Fields that are in both with other values.
    pub(super) modified: Set<'a>,
    /// Fields that are only in the older.
    pub(super) removed: Set<'a>,
}

impl Change<'_> {
    /// Leaves fields out, with everything below them.
    pub(super) fn without(&mut self, fields: &Set<'_>) {
        self.added.subtract_whole(fields);
        self.modified.subtract_whole(fields);
        self.removed.subtract_whole(fields);
    }
}

/// The difference between two objects of a type. `None` where a list has an item that cannot be told from others.
pub(super) fn compare<'a>(ty: Type<'a>, old: &'a Document, new: &'a Document) -> Option<Change<'a>> {
    if old.as_object().is_some_and(Fields::is_empty) {
        let added = everything(ty, new)?;
        return Some(Change { added, ..Change::default() });
    }
    let mut walk = Walk { whole: true };
    let delta = walk.value(ty, Some(old), Some(new));
    let change = Change { added: delta.added.below, modified: delta.modified.below, removed: delta.removed.below };
    walk.whole.then_some(change)
}

/// The difference at one path and below.
#[derive(Default)]
struct Delta<'a> {
    added: Branch<'a>,
    modified: Branch<'a>,
    removed: Branch<'a>,
}

struct Walk {
    /// Every item so far could be told from others.
    whole: bool,
}

impl<'a> Delta<'a> {
    fn attach(&mut self, element: &Element<'a>, inner: Delta<'a>) {
        for (outer, inner) in
            [(&mut self.added, inner.added), (&mut self.modified, inner.modified), (&mut self.removed, inner.removed)]
        {
            if !inner.is_empty() {
                outer.below.attach(element.clone(), inner);
            }
        }
    }

    /// A value that is owned whole.
    fn leaf(&mut self, old: Option<&Document>, new: Option<&Document>) {
        match (old, new) {
            (None, _) => self.added.member = true,
            (_, None) => self.removed.member = true,
            (Some(old), Some(new)) => self.modified.member |= old != new,
        }
    }
}

impl Walk {
    fn value<'a>(&mut self, ty: Type<'a>, old: Option<&'a Document>, new: Option<&'a Document>) -> Delta<'a> {
        let mut delta = Delta::default();
        match (old, new) {
            (Some(old), Some(new)) if ty.tells_apart(old, new) => {
                self.form(&ty.form(Some(old)), Some(old), Some(new), &mut delta);
                self.form(&ty.form(Some(new)), Some(old), Some(new), &mut delta);
            }
            _ => self.form(&ty.form(new.or(old)), old, new, &mut delta),
        }
        delta.added.member |= old.is_none();
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
            Form::Scalar(_) => delta.leaf(old, new),
            Form::Map(map) => {
                let [before, after] = [old, new].map(|side| side.and_then(Document::as_object));
                let empty = [before, after].iter().all(|side| side.is_none_or(Fields::is_empty));
                if map.atomic || empty {
                    delta.leaf(old, new);
                } else {
                    self.fields(map, before, after, delta);
                }
            }
            Form::List(list) => {
                let [before, after] = [old, new].map(|side| side.and_then(Document::as_array));
                let empty = [before, after].iter().all(|side| side.is_none_or(Vec::is_empty));
                if list.atomic || empty {
                    delta.leaf(old, new);
                } else {
                    let [before, after] = [before, after].map(|side| side.map_or(&[][..], Vec::as_slice));
                    self.items(list, before, after, delta);
                }
            }
        }
    }

    fn fields<'a>(
        &mut self,
        map: &Map<'a>,
        old: Option<&'a Fields<String, Document>>,
        new: Option<&'a Fields<String, Document>>,
        delta: &mut Delta<'a>,
    ) {
        let nobodys = map.is_metadata();
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
            // What is the same is left out before any element is made of it: most of an object does not change.
            if before == after || nobodys && name == "managedFields" {
                continue;
            }
            let field = map.field(name).unwrap_or(Field::UNDECLARED);
            let inner = if field.implied {
                self.value(field.ty, before.or(Some(&EMPTY)), after.or(Some(&EMPTY)))
            } else {
                self.value(field.ty, before, after)
            };
            delta.attach(&Element::Field(name), inner);
        }
    }

    fn items<'a>(&mut self, list: &List<'a>, old: &'a [Document], new: &'a [Document], delta: &mut Delta<'a>) {
        let (old, new) = (self.sorted(list, old), self.sorted(list, new));
        let same = |(a, _): &(Element<'a>, &Document), (b, _): &(Element<'a>, &Document)| a == b;
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
            let inner = self.alike(list.item, before, after);
            delta.attach(element, inner);
        }
    }

    /// The items of one element. Usually there is one; several are owned as one value.
    fn alike<'a>(
        &mut self,
        ty: Type<'a>,
        old: &[(Element<'a>, &'a Document)],
        new: &[(Element<'a>, &'a Document)],
    ) -> Delta<'a> {
        let first = |items: &[(Element<'a>, &'a Document)]| items.first().map(|(_, item)| *item);
        match (old.len(), new.len()) {
            (1, 1) if first(old) == first(new) => Delta::default(),
            (0 | 1, 0 | 1) => self.value(ty, first(old), first(new)),
            (0 | 1, _) => {
                let mut delta = match first(old) {
                    Some(item) => self.value(ty, Some(item), None),
                    None => Delta::default(),
                };
                delta.added.member = true;
                delta
            }
            (_, 0 | 1) => {
                let mut delta = match first(new) {
                    Some(item) => self.value(ty, None, Some(item)),
                    None => Delta::default(),
                };
                delta.removed.member = true;
                delta
            }
            _ => {
                let mut delta = Delta::default();
                delta.modified.member = old.iter().map(|(_, item)| item).ne(new.iter().map(|(_, item)| item));
                delta
            }
        }
    }

    fn sorted<'a>(&mut self, list: &List<'a>, items: &'a [Document]) -> Vec<(Element<'a>, &'a Document)> {
        let mut found: Vec<_> = items.iter().filter_map(|item| Some((element_of(list, item).ok()?, item))).collect();
        self.whole &= found.len() == items.len();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }
}
