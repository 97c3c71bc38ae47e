//! What an apply takes away: what its manager applied last time, does not name now, and nobody else owns.
use super::{element::Element, mention::set_of, reconcile::with_named_fields, remove::remove, set::Set, types::Type};
use crate::schema::Document;

/// Takes out of an object what was applied and is not owned any more. `owned` are the sets of all owners, with what is
/// applied now.
///
/// In three rounds, as the reference goes: without all that was applied before, with back what is owned, and of what then
/// is missing only that goes which was applied before. So a container goes with its last item, and what nobody
/// owns stays in what someone does.
pub(super) fn prune(ty: Type<'_>, object: &mut Document, mut last: Set<'_>, mut owned: Set<'_>) {
    let before = object.clone();
    with_named_fields(ty, &mut last);
    with_named_fields(ty, &mut owned);
    let all = all_of(ty, &before);
    let mut unowned = all.clone();
    unowned.subtract(&all_of(ty, &without(ty, &before, &last)));
    unowned.subtract(&owned);
    let mut gone = all.intersection(&last);
    gone.subtract(&all_of(ty, &without(ty, &before, &unowned)));
    // The object keeps what names it.
    gone.discard(&[Element::Field("metadata")]);
    remove(ty, object, &gone);
}

fn without(ty: Type<'_>, object: &Document, fields: &Set<'_>) -> Document {
    let mut left = object.clone();
    remove(ty, &mut left, fields);
    left
}

/// All fields of an object, those among them that are implied by others.
fn all_of<'a>(ty: Type<'a>, object: &'a Document) -> Set<'a> {
    let mut all = set_of(ty, object);
    with_named_fields(ty, &mut all);
    all
}
