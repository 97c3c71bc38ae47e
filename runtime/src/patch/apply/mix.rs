//! A configuration mixed into an object: what both name is the configuration's, nothing goes away.
use std::collections::BTreeMap;

use serde_json::Map as Fields;

use super::{
    element::Element,
    item::elements_of,
    types::{Form, List, Map, Type},
};
use crate::schema::Document;

/// Mixes a configuration, which fits its type, into an object. Says whether the object is another one by it.
///
/// # Errors
/// An item of the object that cannot be told from others.
pub(super) fn mix(ty: Type<'_>, object: &mut Document, config: &Document) -> Result<bool, String> {
    match ty.form(Some(config)) {
        Form::Scalar(_) => Ok(replace(object, config)),
        Form::Map(map) => mix_map(&map, object, config),
        Form::List(list) => mix_list(&list, object, config),
    }
}

fn replace(object: &mut Document, config: &Document) -> bool {
    let changed = object != config;
    if changed {
        object.clone_from(config);
    }
    changed
}

fn mix_map(map: &Map<'_>, object: &mut Document, config: &Document) -> Result<bool, String> {
    let given = config.as_object().filter(|fields| !fields.is_empty());
    let empty = object.as_object().is_none_or(Fields::is_empty);
    let Some(given) = given.filter(|_| !map.atomic && !empty) else {
        // Owned whole, or nothing in one of them: null and empty are told apart only where both are.
        let kept = !map.atomic && given.is_none() && !empty;
        return Ok(!kept && replace(object, config));
    };
    let Document::Object(fields) = object else { return Ok(false) };
    let mut changed = false;
    for (name, value) in given {
        let ty = map.field(name).map_or(Type::Deduced, |field| field.ty);
        if let Some(at) = fields.get_mut(name) {
            let below = mix(ty, at, value);
            changed |=
                below.map_err(|why| format!(".{name}{}{why}", if why.starts_with(['.', '[']) { "" } else { ": " }))?;
        } else {
            fields.insert(name.clone(), value.clone());
            changed = true;
        }
    }
    Ok(changed)
}

fn mix_list(list: &List<'_>, object: &mut Document, config: &Document) -> Result<bool, String> {
    let given = config.as_array().filter(|items| !items.is_empty());
    let empty = object.as_array().is_none_or(Vec::is_empty);
    let Some(given) = given.filter(|_| !list.atomic && !empty) else {
        let kept = !list.atomic && given.is_none() && !empty;
        return Ok(!kept && replace(object, config));
    };
    let Document::Array(items) = object else { return Ok(false) };
    let steps = order(&elements_of(list, items)?, &elements_of(list, given)?);
    let mut changed = steps.len() != items.len();
    let mut old: Vec<Option<Document>> = std::mem::take(items).into_iter().map(Some).collect();
    for (index, step) in steps.into_iter().enumerate() {
        changed |= step.old != Some(index);
        let mut item = match (step.old.and_then(|at| old[at].take()), step.new) {
            (Some(item), _) => item,
            (None, Some(at)) => given[at].clone(),
            (None, None) => continue,
        };
        if let Some(at) = step.new {
            changed |= mix(list.item, &mut item, &given[at])?;
        }
        items.push(item);
    }
    Ok(changed)
}

/// An item of a list that is mixed: where it is in the old list, and in the configuration's.
struct Step {
    old: Option<usize>,
    new: Option<usize>,
}

/// The order of the items of two lists: that of the configuration for those it names, and the others stay behind the items
/// that they were behind. Items that the old list has more than once are taken from the configuration, if it names them.
fn order(old: &[Element<'_>], new: &[Element<'_>]) -> Vec<Step> {
    let mut places: BTreeMap<&Element<'_>, Option<usize>> = BTreeMap::new();
    for (index, element) in old.iter().enumerate() {
        places.entry(element).and_modify(|place| *place = None).or_insert(Some(index));
    }
    let named: BTreeMap<&Element<'_>, usize> = new.iter().zip(0..).collect();
    let mut shared = new.iter().filter(|element| places.contains_key(element)).peekable();
    let mut taken = vec![false; new.len()];
    let mut steps = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (0, 0);
    while left < old.len() || right < new.len() {
        if let Some(element) = old.get(left) {
            let at = named.get(element).copied();
            if let (Some(next), Some(at)) = (new.get(right), at) {
                if element == next {
                    taken[at] = true;
                    steps.push(Step { old: places[element], new: Some(at) });
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
                    steps.push(Step { old: Some(left), new: None });
                    left += 1;
                    continue;
                }
                Some(at) if taken[at] => left += 1,
                Some(_) => {}
            }
        }
        if let Some(element) = new.get(right) {
            taken[right] = true;
            steps.push(Step { old: places.get(element).copied().flatten(), new: Some(right) });
            right += 1;
            if shared.peek().is_some_and(|wanted| *wanted == element) {
                shared.next();
            }
        }
    }
    steps
}
