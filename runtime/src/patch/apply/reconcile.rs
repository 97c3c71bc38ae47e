//! Sets in step with the schema: what became owned whole, and which named fields a set implies.
use super::{
    element::Element,
    set::{Branch, Set},
    types::{Form, Type},
};

/// Brings a set in line with a schema in which values have come to be owned whole: who owned a part of one owns it all.
/// Says whether anything was to be done.
pub(super) fn reconcile(ty: Type<'_>, set: &mut Set<'_>) -> bool {
    let mut changed = false;
    match ty.form(None) {
        Form::Map(map) if !map.is_deduced() => set.each_branch(|element, branch| {
            let field = if let Element::Field(name) = element { map.field(name) } else { map.field("") };
            changed |= field.is_some_and(|field| reconcile_branch(field.ty, branch));
        }),
        Form::List(list) => set.each_branch(|_, branch| changed |= reconcile_branch(list.item, branch)),
        _ => {}
    }
    changed
}

fn reconcile_branch(ty: Type<'_>, branch: &mut Branch<'_>) -> bool {
    if branch.below.is_empty() {
        return false;
    }
    let atomic = match ty.form(None) {
        Form::Map(map) => !map.is_deduced() && map.atomic,
        Form::List(list) => list.atomic,
        Form::Scalar(_) => false,
    };
    if atomic {
        *branch = Branch::LEAF;
        return true;
    }
    reconcile(ty, &mut branch.below)
}

/// Adds the named fields that a set implies: whoever owns something in a declared field owns the field.
pub(super) fn with_named_fields(ty: Type<'_>, set: &mut Set<'_>) {
    let (map, list) = (ty.as_map(), ty.as_list());
    set.each_branch(|element, branch| {
        if branch.below.is_empty() {
            return;
        }
        let inner = match element {
            Element::Field(name) => {
                let Some(field) = map.and_then(|map| map.field(name)) else { return };
                branch.member |= field.named;
                field.ty
            }
            Element::Key(_) => match list {
                Some(list) => list.item,
                None => return,
            },
            _ => return,
        };
        with_named_fields(inner, &mut branch.below);
    });
}
