//! Finds the old position of the value that an error names.
use std::ptr;

use super::{
    At, Document, Meter, Schema,
    correlate::{Before, rest_is_kept, same},
};

/// The position of a value before a write.
pub struct Origin {
    /// Its path in the old object: items of map lists may have moved.
    pub path: String,
    /// True if it is unchanged. If the path has no target, this is about the value that should contain it. The object
    /// itself and its metadata count as unchanged if [`rest_is_kept`].
    pub kept: bool,
}

/// The old position of the value at a path, such as `spec.ports[1].name`.
pub fn origin(schema: &Schema, new: &Document, old: &Document, path: &str) -> Origin {
    let (mut at, mut value, mut before) = (At::of(schema), new, Before::of(old));
    let (mut was, mut left) = (String::new(), path);
    while let Some((step, further)) = Step::first(value, left) {
        let text = &left[..left.len() - further.len()];
        (at, value, before) = match step {
            Step::Field(name, field) => {
                was.push_str(text);
                (at.member(name).unwrap_or_else(At::anything), field, before.field(name))
            }
            Step::Item(index, item) => {
                let (then, before) = item_before(at, value, before, index);
                was.push_str(&then.map_or_else(|| text.to_owned(), |then| format!("[{then}]")));
                (at.item(), item, before)
            }
        };
        left = further;
    }
    let outside = left == path || path.starts_with("metadata");
    let kept = before.value().is_some_and(|old| same(at, value, old, &Meter::default()))
        || outside && rest_is_kept(schema, new, old);
    Origin { path: was + left, kept }
}

/// The counterpart of a list item, and its old index. Items without an identity are only matched in an unchanged list.
fn item_before<'o>(at: At<'o>, list: &Document, before: Before<'o>, index: usize) -> (Option<usize>, Before<'o>) {
    let Some(Document::Array(old)) = before.value() else { return (None, Before::NOTHING) };
    let matched = before.items(at).of(&list[index]).value();
    let position = match matched {
        Some(item) => old.iter().position(|old| ptr::eq(old, item)),
        None => before.value().filter(|old| *old == list).map(|_| index),
    };
    (position, position.map_or(Before::NOTHING, |position| Before::of(&old[position])))
}

/// The first step of a path into a value, and its target.
enum Step<'v> {
    /// A field of a struct or an entry of a map.
    Field(&'v str, &'v Document),
    /// An item of a list.
    Item(usize, &'v Document),
}

impl<'v> Step<'v> {
    /// The step and the remaining path; `None` if there is no target. Map keys follow a dot or are in brackets, and may
    /// contain both: the shortest existing key wins.
    fn first<'p>(value: &'v Document, path: &'p str) -> Option<(Self, &'p str)> {
        match value {
            _ if path.is_empty() => None,
            Document::Array(list) => {
                let (index, left) = path.strip_prefix('[')?.split_once(']')?;
                let index = index.parse().ok()?;
                Some((Self::Item(index, list.get(index)?), left))
            }
            Document::Object(fields) => {
                let (name, closing) = match path.strip_prefix('[') {
                    Some(name) => (name, "]"),
                    None => (path.strip_prefix('.').unwrap_or(path), ""),
                };
                let ends: &[char] = if closing.is_empty() { &['.', '['] } else { &[']'] };
                let mut ends = name.match_indices(ends).map(|(end, _)| end).chain([name.len()]);
                ends.find_map(|end| {
                    let (key, value) = fields.get_key_value(&name[..end])?;
                    Some((Self::Field(key, value), name[end..].strip_prefix(closing)?))
                })
            }
            _ => None,
        }
    }
}
