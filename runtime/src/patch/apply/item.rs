//! Which item of a list is which.
use std::borrow::Cow;

use super::{element::Element, types::List};
use crate::{meta::go, schema::Document};

/// The element of an item in a list that is owned by item. Keys that are not given count with their defaults.
///
/// # Errors
/// Why the item cannot be told from others, as the reference says it.
pub(super) fn element_of<'a>(list: &List<'a>, item: &'a Document) -> Result<Element<'a>, String> {
    if list.keys.is_empty() {
        return match item {
            Document::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
            Document::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Document::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
            scalar => Ok(Element::Value(Cow::Borrowed(scalar))),
        };
    }
    let fields = match item {
        Document::Object(fields) => fields,
        Document::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let default = |key: &str| list.item.as_map().and_then(|map| map.default_of(key));
    let given = |key: &'a String| {
        let value = fields.get(key).or_else(|| default(key))?;
        Some((Cow::Borrowed(key.as_str()), Cow::Borrowed(value)))
    };
    let mut keys: Vec<_> = list.keys.iter().filter_map(given).collect();
    if keys.is_empty() {
        return Err(without_keys(list.keys));
    }
    keys.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Element::Key(keys))
}

fn without_keys(keys: &[String]) -> String {
    let names: Vec<String> = keys.iter().map(|key| go::quoted(key)).collect();
    format!(
        "associative list with keys has an element that omits all key fields [{}] \
         (and doesn't have default values for any key fields)",
        names.join(" ")
    )
}

/// A document with an element for each item of a list, in the list's order.
///
/// # Errors
/// As [`element_of`], with the place of the item.
pub(super) fn elements_of<'a>(list: &List<'a>, items: &'a [Document]) -> Result<Vec<Element<'a>>, String> {
    let element = |(index, item)| element_of(list, item).map_err(|why| format!("element {index}: {why}"));
    items.iter().enumerate().map(element).collect()
}
