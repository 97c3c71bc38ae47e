//! Fields taken out of an object, or out of all else.
use super::{
    element::Element,
    item::element_of,
    set::Set,
    types::{Form, Type},
};
use crate::schema::Document;

/// Takes the fields of a set out of an object. A container with nothing left in it becomes `null`.
pub(super) fn remove(ty: Type<'_>, object: &mut Document, fields: &Set<'_>) {
    let form = ty.form(Some(object));
    let left = match (&form, &mut *object) {
        (Form::Scalar(_), _) => return,
        (Form::Map(map), Document::Object(entries)) if !map.atomic => {
            entries.retain(|name, value| {
                let Some(branch) = fields.get(&Element::Field(name)) else { return true };
                if !branch.member {
                    let ty = map.field(name).map_or(Type::Deduced, |field| field.ty);
                    remove(ty, value, &branch.below);
                }
                !branch.member
            });
            !entries.is_empty()
        }
        (Form::List(list), Document::Array(items)) if !list.atomic => {
            items.retain_mut(|item| {
                let (drop, below) = match element_of(list, item).ok().and_then(|element| fields.get(&element)) {
                    Some(branch) => (branch.member, &branch.below),
                    None => return true,
                };
                if !drop {
                    remove(list.item, item, below);
                }
                !drop
            });
            !items.is_empty()
        }
        _ => false,
    };
    if !left {
        *object = Document::Null;
    }
}

/// The part of an object that is in a set, with the keys of its items; `null` if there is none.
pub(super) fn extract(ty: Type<'_>, object: &Document, fields: &Set<'_>) -> Document {
    match (ty.form(Some(object)), object) {
        (Form::Map(map), Document::Object(entries)) if !map.atomic && !entries.is_empty() => {
            let kept = entries.iter().filter_map(|(name, value)| {
                let branch = fields.get(&Element::Field(name))?;
                let ty = map.field(name).map_or(Type::Deduced, |field| field.ty);
                let value = if branch.below.is_empty() { value.clone() } else { extract(ty, value, &branch.below) };
                Some((name.clone(), value))
            });
            Document::Object(kept.collect())
        }
        (Form::List(list), Document::Array(items)) if !list.atomic && !items.is_empty() => {
            let kept = items.iter().filter_map(|item| {
                let element = element_of(&list, item).ok()?;
                let branch = fields.get(&element)?;
                if branch.below.is_empty() && !matches!(element, Element::Key(_)) {
                    return Some(item.clone());
                }
                let mut part = extract(list.item, item, &branch.below);
                for key in list.keys {
                    if let (Some(value), Document::Object(part)) = (item.get(key), &mut part) {
                        part.insert(key.clone(), value.clone());
                    }
                }
                Some(part)
            });
            Document::Array(kept.collect())
        }
        _ => object.clone(),
    }
}
