//! Merges an applied configuration into an object.
use std::collections::BTreeMap;

use serde_json::Map as Fields;

use super::{
    path_element::PathElement,
    schema::{Form, List, Map, Type},
};
use crate::schema::Document;

/// The maximum number of item pairs that [`changes`] compares to rule out duplicate items.
const MOST_PAIRS: usize = 4_096;

/// Merges a valid configuration into an object: fields in both get the configuration's values, and nothing is removed.
/// `None` if the object does not change.
///
/// # Errors
/// An item of the object without an identity.
pub(super) fn merged(ty: Type<'_>, object: &Document, config: &Document) -> Result<Option<Document>, String> {
    Merge { only_look: false }.value(ty, object, config)
}

/// True if a configuration changes an object, as far as a cheap check shows: it copies nothing and stops at the first
/// change. Lists with too many items to compare count as changed.
pub(super) fn changes(ty: Type<'_>, object: &Document, config: &Document) -> bool {
    !matches!(Merge { only_look: true }.value(ty, object, config), Ok(None))
}

/// The merged value; `None` if it does not change. The error has the path of an item without an identity and the
/// reason; in check mode it has no content.
type MergeResult = Result<Option<Document>, String>;

struct Merge {
    /// Check mode: a change is an error, so that nothing is built.
    only_look: bool,
}

impl Merge {
    fn value(&self, ty: Type<'_>, object: &Document, config: &Document) -> MergeResult {
        match ty.form(Some(config)) {
            Form::Map(map) if !map.atomic => match (non_empty_map(object), non_empty_map(config)) {
                (Some(live), Some(given)) => return self.fields(&map, live, given),
                (Some(_), None) => return Ok(None),
                // Null and empty are only distinguished if both sides have the field.
                (None, _) => {}
            },
            Form::List(list) if !list.atomic => match (non_empty_list(object), non_empty_list(config)) {
                (Some(live), Some(given)) => return self.items(&list, live, given),
                (Some(_), None) => return Ok(None),
                (None, _) => {}
            },
            Form::Map(_) | Form::List(_) | Form::Scalar(_) => {}
        }
        if object == config { Ok(None) } else { self.changed(|| config.clone()) }
    }

    fn changed(&self, new: impl FnOnce() -> Document) -> MergeResult {
        if self.only_look { Err(String::new()) } else { Ok(Some(new())) }
    }

    fn fields(&self, map: &Map<'_>, live: &Fields<String, Document>, given: &Fields<String, Document>) -> MergeResult {
        let mut new = Fields::new();
        for (name, value) in given {
            let merged = match live.get(name) {
                Some(live) => self.value(map.type_of(name), live, value).map_err(|why| below(name, &why))?,
                None => self.changed(|| value.clone())?,
            };
            new.extend(merged.map(|merged| (name.clone(), merged)));
        }
        if new.is_empty() {
            return Ok(None);
        }
        for (name, value) in live {
            if !new.contains_key(name) {
                new.insert(name.clone(), value.clone());
            }
        }
        Ok(Some(Document::Object(new)))
    }

    fn items(&self, list: &List<'_>, live: &[Document], given: &[Document]) -> MergeResult {
        let pairs = if self.only_look {
            pairs_in_order(list, live, given).ok_or_else(String::new)?
        } else {
            order(&list.elements_of(live)?, &list.elements_of(given)?)
        };
        let mut changed = pairs.len() != live.len();
        let mut new = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            changed |= pair.old != Some(index);
            new.push(match (pair.old, pair.new) {
                (Some(old), Some(new)) => self.value(list.item, &live[old], &given[new])?,
                (Some(_), None) => None,
                (None, new) => new.map(|new| given[new].clone()),
            });
        }
        if !changed && new.iter().all(Option::is_none) {
            return Ok(None);
        }
        let old = pairs.iter().map(|pair| pair.old.map(|old| &live[old]));
        let items = new.into_iter().zip(old).filter_map(|(new, old)| new.or_else(|| old.cloned()));
        Ok(Some(items.collect()))
    }
}

/// The path of an item without an identity and the reason, relative to the field's container.
fn below(name: &str, why: &str) -> String {
    let separator = if why.starts_with(['.', '[']) { "" } else { ": " };
    format!(".{name}{separator}{why}")
}

fn non_empty_map(value: &Document) -> Option<&Fields<String, Document>> {
    value.as_object().filter(|fields| !fields.is_empty())
}

fn non_empty_list(value: &Document) -> Option<&[Document]> {
    value.as_array().map(Vec::as_slice).filter(|items| !items.is_empty())
}

/// An item of a merged list: its index in the object's list, and in the configuration's.
struct Pair {
    old: Option<usize>,
    new: Option<usize>,
}

/// The items of a list whose merged items exist in the same order and without duplicates. `None` for other lists, and
/// for some that take too long to check. Creates no path elements.
fn pairs_in_order(list: &List<'_>, live: &[Document], given: &[Document]) -> Option<Vec<Pair>> {
    let mut wanted = given.iter().enumerate().peekable();
    let pair = |(index, item)| {
        let new = wanted.next_if(|(_, given)| list.is_same_item(item, given)).map(|(at, _)| at);
        Pair { old: Some(index), new }
    };
    let pairs: Vec<Pair> = live.iter().enumerate().map(pair).collect();
    let others = live.len().saturating_sub(given.len());
    if wanted.next().is_some() || others * given.len() > MOST_PAIRS {
        return None;
    }
    let is_twice = |item| given.iter().any(|given| list.is_same_item(item, given));
    let twice = live.iter().zip(&pairs).any(|(item, pair)| pair.new.is_none() && is_twice(item));
    (!twice).then_some(pairs)
}

/// The items of a merged list: applied ones in the configuration's order, and the others after the items that they
/// followed before. Items that the old list has several times are taken from the configuration if it contains them.
fn order(old: &[PathElement<'_>], new: &[PathElement<'_>]) -> Vec<Pair> {
    let mut places: BTreeMap<&PathElement<'_>, Option<usize>> = BTreeMap::new();
    for (index, element) in old.iter().enumerate() {
        places.entry(element).and_modify(|place| *place = None).or_insert(Some(index));
    }
    let named: BTreeMap<&PathElement<'_>, usize> = new.iter().zip(0..).collect();
    let mut shared = new.iter().filter(|element| places.contains_key(element)).peekable();
    let mut taken = vec![false; new.len()];
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (0, 0);
    while left < old.len() || right < new.len() {
        if let Some(element) = old.get(left) {
            let at = named.get(element).copied();
            if let (Some(next), Some(at)) = (new.get(right), at) {
                if element == next {
                    taken[at] = true;
                    pairs.push(Pair { old: places[element], new: Some(at) });
                    (left, right) = (left + 1, right + 1);
                    shared.next();
                    continue;
                }
                if shared.peek().is_some_and(|wanted| *wanted != element) {
                    left += 1;
                    continue;
                }
            }
            match at {
                None => {
                    pairs.push(Pair { old: Some(left), new: None });
                    left += 1;
                    continue;
                }
                Some(at) if taken[at] => left += 1,
                Some(_) => {}
            }
        }
        if let Some(element) = new.get(right) {
            taken[right] = true;
            pairs.push(Pair { old: places.get(element).copied().flatten(), new: Some(right) });
            right += 1;
            if shared.peek().is_some_and(|wanted| *wanted == element) {
                shared.next();
            }
        }
    }
    pairs
}
