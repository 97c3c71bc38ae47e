//! FieldsV1, the form in which sets of fields are stored: objects whose members are elements, and `.` for the path itself.
use serde_json::Map;

use super::{
    element::{Element, ElementError},
    set::{Branch, Set},
};
use crate::{codec, schema::Document};

/// Reads a set. Elements of an unknown kind are left out.
///
/// # Errors
/// What is no object, and members that are no elements.
pub(super) fn read(fields: &Document) -> Result<Set<'_>, String> {
    branch(fields).map(|branch| branch.below)
}

fn branch(fields: &Document) -> Result<Branch<'_>, String> {
    let members = match fields {
        Document::Object(members) => members,
        // As good as an object without members.
        Document::Null => return Ok(Branch::LEAF),
        _ => return Err("fieldsV1 is made of objects".to_owned()),
    };
    let mut found = Branch::default();
    let mut below = Vec::with_capacity(members.len());
    for (name, inner) in members {
        if name == "." {
            found.member = true;
            continue;
        }
        match Element::parse(name) {
            Ok(element) => below.push((element, branch(inner)?)),
            Err(ElementError::Unknown) => {}
            Err(ElementError::Malformed(why)) => return Err(why),
        }
    }
    found.below = Set::of(below);
    // A path with nothing below it is in the set, whether it says so or not.
    found.member |= found.below.is_empty();
    Ok(found)
}

/// Writes a set as JSON text, as the document of [`write`] is written.
pub(super) fn render(set: &Set<'_>, out: &mut Vec<u8>) {
    render_branch(false, set, out);
}

fn render_branch(member: bool, set: &Set<'_>, out: &mut Vec<u8>) {
    let mut separator = b'{';
    if member && !set.is_empty() {
        out.extend_from_slice(br#"{".":{}"#);
        separator = b',';
    }
    let mut put = |name: &str, branch: &Branch<'_>| {
        out.push(separator);
        separator = b',';
        codec::quote(name, out);
        out.push(b':');
        render_branch(branch.member, &branch.below, out);
    };
    // Members are sorted as text. Only fields stand in that order in a set, too.
    let mut others: Vec<(String, &Branch<'_>)> = Vec::new();
    for (element, branch) in set.iter() {
        match element {
            Element::Field(_) => put(&element.serialize(), branch),
            _ => others.push((element.serialize(), branch)),
        }
    }
    others.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    for (name, branch) in &others {
        put(name, branch);
    }
    if separator == b'{' {
        out.push(b'{');
    }
    out.push(b'}');
}

/// Writes a set.
pub(super) fn write(set: &Set<'_>) -> Document {
    Document::Object(members(set))
}

fn members(set: &Set<'_>) -> Map<String, Document> {
    let member = |(element, branch): (&Element<'_>, &Branch<'_>)| {
        let mut inner = members(&branch.below);
        if branch.member && !inner.is_empty() {
            inner.insert(".".to_owned(), Document::Object(Map::new()));
        }
        (element.serialize(), Document::Object(inner))
    };
    set.iter().map(member).collect()
}
