//! Field sets: trees keyed by path elements, their operations, and their stored form `fieldsV1`.
use std::cmp::Ordering;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Map;

use super::path_element::{ParseError, PathElement};
use crate::schema::Document;

/// A set of paths. The nodes are sorted by path element, and each contains a member.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FieldSet<'a> {
    nodes: Vec<(PathElement<'a>, Node<'a>)>,
}

/// The part of a set at one path and below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node<'a> {
    /// True if the path itself is in the set.
    pub(super) member: bool,
    /// The part below it.
    pub(super) children: FieldSet<'a>,
}

impl<'a> Node<'a> {
    /// A path in the set, with nothing below it.
    pub(super) const LEAF: Self = Self { member: true, children: FieldSet { nodes: Vec::new() } };

    /// True if it is empty.
    pub(super) fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    fn into_document(self) -> Document {
        let mut fields = self.children.into_fields();
        if self.member && !fields.is_empty() {
            fields.insert(".".to_owned(), Map::new().into());
        }
        fields.into()
    }

    fn add(&mut self, other: Node<'a>) {
        self.member |= other.member;
        self.children.add(other.children);
    }
}

impl<'a> FieldSet<'a> {
    /// Builds a set from nodes in any order; joins those with the same element.
    fn of(mut nodes: Vec<(PathElement<'a>, Node<'a>)>) -> Self {
        nodes.retain(|(_, node)| !node.is_empty());
        nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
        nodes.dedup_by(|(later, from), (earlier, into)| {
            let equal = later == earlier;
            if equal {
                into.add(std::mem::take(from));
            }
            equal
        });
        Self { nodes }
    }

    /// A set of one path.
    pub(super) fn of_path(path: &[PathElement<'a>]) -> Self {
        let mut set = Self::default();
        set.insert(path);
        set
    }

    /// True if it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The part at an element.
    pub(super) fn get(&self, element: &PathElement<'_>) -> Option<&Node<'a>> {
        let found = self.nodes.binary_search_by(|(at, _)| at.cmp(element));
        found.ok().map(|index| &self.nodes[index].1)
    }

    /// True if a path is in the set.
    pub(super) fn has(&self, path: &[PathElement<'_>]) -> bool {
        let Some((last, above)) = path.split_last() else { return false };
        let holder = above.iter().try_fold(self, |at, element| at.get(element).map(|node| &node.children));
        holder.and_then(|holder| holder.get(last)).is_some_and(|node| node.member)
    }

    /// Makes room for that many further nodes.
    pub(super) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve_exact(nodes);
    }

    /// Adds a node; an empty one is ignored. Fastest in the order of elements.
    pub(super) fn attach(&mut self, element: PathElement<'a>, node: Node<'a>) {
        if node.is_empty() {
            return;
        }
        if self.nodes.last().is_none_or(|(last, _)| *last < element) {
            self.nodes.push((element, node));
            return;
        }
        match self.nodes.binary_search_by(|(at, _)| at.cmp(&element)) {
            Ok(index) => self.nodes[index].1.add(node),
            Err(index) => self.nodes.insert(index, (element, node)),
        }
    }

    /// Adds a path.
    pub(super) fn insert(&mut self, path: &[PathElement<'a>]) {
        let Some((first, rest)) = path.split_first() else { return };
        self.attach(first.clone(), Node { member: rest.is_empty(), children: Self::of_path(rest) });
    }

    /// Adds another set.
    pub(super) fn add(&mut self, other: FieldSet<'a>) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        if other.nodes.len() == 1 {
            other.nodes.into_iter().for_each(|(element, node)| self.attach(element, node));
            return;
        }
        let both = self.nodes.len() + other.nodes.len();
        let mine = std::mem::replace(&mut self.nodes, Vec::with_capacity(both));
        let mut theirs = other.nodes.into_iter().peekable();
        for (element, mut node) in mine {
            while let Some(before) = theirs.next_if(|(at, _)| *at < element) {
                self.nodes.push(before);
            }
            if let Some((_, same)) = theirs.next_if(|(at, _)| *at == element) {
                node.add(same);
            }
            self.nodes.push((element, node));
        }
        self.nodes.extend(theirs);
    }

    /// Changes each node, and drops nodes that become empty.
    pub(super) fn change_each(&mut self, mut change: impl FnMut(&PathElement<'a>, &mut Node<'a>)) {
        self.nodes.retain_mut(|(element, node)| {
            change(element, node);
            !node.is_empty()
        });
    }

    /// The nodes at elements that are asked for in their order.
    fn in_order(&self) -> InOrder<'_, 'a> {
        InOrder { rest: &self.nodes }
    }

    /// Removes the members of another set. Members below a common path are kept unless they are in both sets.
    pub(super) fn subtract(&mut self, other: &FieldSet<'_>) {
        let mut others = other.in_order();
        self.change_each(|element, mine| {
            let Some(theirs) = others.at(element) else { return };
            mine.member &= !theirs.member;
            mine.children.subtract(&theirs.children);
        });
    }

    /// Removes the members of another set, and everything below them.
    pub(super) fn subtract_recursively(&mut self, other: &FieldSet<'_>) {
        let mut others = other.in_order();
        self.change_each(|element, mine| match others.at(element) {
            Some(theirs) if theirs.member => *mine = Node::default(),
            Some(theirs) => mine.children.subtract_recursively(&theirs.children),
            None => {}
        });
    }

    /// The members that another set lacks.
    pub(super) fn difference(&self, other: &FieldSet<'_>) -> FieldSet<'a> {
        let (mut found, mut others) = (FieldSet::default(), other.in_order());
        for (element, mine) in &self.nodes {
            let node = match others.at(element) {
                None => mine.clone(),
                Some(theirs) => {
                    Node { member: mine.member && !theirs.member, children: mine.children.difference(&theirs.children) }
                }
            };
            if !node.is_empty() {
                found.nodes.push((element.clone(), node));
            }
        }
        found
    }

    /// The intersection.
    pub(super) fn intersection(&self, other: &FieldSet<'_>) -> FieldSet<'a> {
        let (mut found, mut others) = (FieldSet::default(), other.in_order());
        for (element, mine) in &self.nodes {
            if let Some(theirs) = others.at(element) {
                let member = mine.member && theirs.member;
                let node = Node { member, children: mine.children.intersection(&theirs.children) };
                if !node.is_empty() {
                    found.nodes.push((element.clone(), node));
                }
            }
        }
        found
    }

    /// True if this is a superset of another set.
    pub(super) fn contains(&self, other: &FieldSet<'_>) -> bool {
        let mut own = self.in_order();
        other.nodes.iter().all(|(element, theirs)| {
            own.at(element)
                .is_some_and(|mine| (mine.member || !theirs.member) && mine.children.contains(&theirs.children))
        })
    }

    /// Its smallest parts that are removed together: items with their content, and other paths without content.
    pub(super) fn parts(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        for (element, node) in &self.nodes {
            let is_item = !matches!(element, PathElement::Field(_));
            let part = |node: Node<'a>| Self { nodes: vec![(element.clone(), node)] };
            if node.children.is_empty() || node.member && is_item {
                parts.push(part(node.clone()));
            } else {
                let below = node.children.parts().into_iter();
                parts.extend(below.map(|children| part(Node { member: false, children })));
            }
        }
        parts
    }

    /// The paths as messages print them, in kube-apiserver's order: for each container first its own paths, then deeper
    /// ones. They take from a room in bytes, since paths may be much longer than what they are of; without it they are only
    /// counted. Returns them, and how many more there are.
    pub(super) fn print(&self, room: &mut usize) -> (Vec<String>, usize) {
        let mut paths = Vec::new();
        self.print_below("", room, &mut paths);
        let omitted = self.count() - paths.len();
        (paths, omitted)
    }

    fn print_below(&self, above: &str, room: &mut usize, paths: &mut Vec<String>) {
        let path_of = |element: &PathElement<'_>| {
            let mut path = above.to_owned();
            element.print(&mut path);
            path
        };
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            if *room == 0 {
                return;
            }
            let path = path_of(element);
            *room = room.saturating_sub(path.len());
            paths.push(path);
        }
        for (element, node) in self.nodes.iter().filter(|(_, node)| !node.children.is_empty()) {
            if *room == 0 {
                return;
            }
            node.children.print_below(&path_of(element), room, paths);
        }
    }

    /// The number of its paths.
    fn count(&self) -> usize {
        self.nodes.iter().map(|(_, node)| usize::from(node.member) + node.children.count()).sum()
    }

    /// Parses `fieldsV1`: objects whose members are path elements, and `.` for the path itself. Drops elements of an
    /// unknown kind.
    ///
    /// # Errors
    /// Values that are not objects, and members that are not path elements.
    pub(super) fn read(fields: &'a Document) -> Result<Self, String> {
        node(fields).map(|node| node.children)
    }

    /// The members of `fieldsV1`.
    pub(super) fn into_fields(self) -> Map<String, Document> {
        self.nodes.into_iter().map(|(element, node)| (element.serialize(), node.into_document())).collect()
    }

    fn serialize_with<S: Serializer>(&self, member: bool, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        if member && !self.is_empty() {
            members.serialize_entry(".", &FieldSet::default())?;
        }
        // Fields come first, and they alone have the order of their text in a set, too.
        let (fields, others) =
            self.nodes.split_at(self.nodes.partition_point(|(element, _)| matches!(element, PathElement::Field(_))));
        fields.iter().try_for_each(|(element, node)| members.serialize_entry(&element.serialize(), node))?;
        let mut others: Vec<_> = others.iter().map(|(element, node)| (element.serialize(), node)).collect();
        others.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        others.iter().try_for_each(|(name, node)| members.serialize_entry(name, node))?;
        members.end()
    }
}

/// The nodes of a set, looked up in the order of their elements: all lookups together pass over the set once.
struct InOrder<'s, 'a> {
    rest: &'s [(PathElement<'a>, Node<'a>)],
}

impl<'s, 'a> InOrder<'s, 'a> {
    /// The part at an element, which comes after all that were looked up before.
    fn at(&mut self, element: &PathElement<'_>) -> Option<&'s Node<'a>> {
        while let [(at, node), rest @ ..] = self.rest {
            match at.cmp(element) {
                Ordering::Less => self.rest = rest,
                Ordering::Equal => {
                    self.rest = rest;
                    return Some(node);
                }
                Ordering::Greater => break,
            }
        }
        None
    }
}

/// `fieldsV1`, with the members sorted as text.
impl Serialize for FieldSet<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(false, serializer)
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.children.serialize_with(self.member, serializer)
    }
}

fn node(fields: &Document) -> Result<Node<'_>, String> {
    let members = match fields {
        Document::Object(members) => members,
        // Equivalent to an object without members.
        Document::Null => return Ok(Node::LEAF),
        _ => return Err("fieldsV1 is made of objects".to_owned()),
    };
    let mut children = Vec::with_capacity(members.len());
    for (name, inner) in members.iter().filter(|(name, _)| *name != ".") {
        match PathElement::parse(name) {
            Ok(element) => children.push((element, node(inner)?)),
            Err(ParseError::UnknownKind) => {}
            Err(ParseError::Malformed(why)) => return Err(why),
        }
    }
    let children = FieldSet::of(children);
    // A path with nothing below it is in the set, even without `.`.
    Ok(Node { member: members.contains_key(".") || children.is_empty(), children })
}
