//! Schemas of which one holds, such as those of an enum's variants: what the value is in any case, and the branches that tell
//! the variants apart.
use std::collections::BTreeSet;

use serde_json::json;

use super::{
    merge::all_of,
    node::{Node, OF_USE, Rewrite},
    scalars,
};
use crate::{
    openapi::{findings::Location, validations::VALIDATING},
    schema::Document,
};

/// Keywords that describe a variant. They are not part of the joined schema, since a default or an example of one variant is
/// none of the others.
const OF_ONE: [&str; 6] = ["default", "description", "example", "examples", "externalDocs", "title"];

/// Keywords that are joined by themselves.
const JOINED: [&str; 7] = ["enum", "items", "nullable", "properties", "required", "type", "x-kubernetes-int-or-string"];

impl Rewrite<'_> {
    /// The alternatives of `anyOf` or `oneOf`.
    pub(super) fn alternatives(&mut self, keyword: &str, raw: &[Document], node: &mut Node, location: &Location<'_>) {
        let location = location.key(keyword);
        let others = raw.iter().enumerate().filter(|(_, branch)| !scalars::is_null(branch));
        let mut branches: Vec<_> =
            others.map(|(index, branch)| self.node_or_content(branch, raw.len(), &location.index(index))).collect();
        if branches.len() < raw.len() {
            node.insert("nullable".to_owned(), true.into());
        }
        if branches.len() < 2 {
            let mut only = branches.pop().unwrap_or_default();
            // A reference stays beside what only describes the value.
            if !node.keys().all(|name| OF_USE.contains(&name.as_str())) {
                only = self.content(only, &location);
            }
            only.extend(node.get("nullable").map(|nullable| ("nullable".to_owned(), nullable.clone())));
            return self.merge(node, only, &location);
        }
        // One of them is any value.
        if !node.contains_key("type") && branches.iter().any(Node::is_empty) {
            return;
        }
        let (joined, rest) = self.join(branches, &location);
        let says_values = joined.contains_key("enum") && rest.iter().all(|rest| rest.keys().eq(["enum"]));
        self.merge(node, joined, &location);
        if says_values || rest.iter().any(Node::is_empty) {
            return;
        }
        let rest: Document = rest.into_iter().map(Document::from).collect();
        if node.contains_key(keyword) {
            all_of(node, json!({keyword: rest}));
        } else {
            node.insert(keyword.to_owned(), rest);
        }
    }

    /// A branch. A reference stays one if it is the only branch beside null.
    fn node_or_content(&mut self, branch: &Document, branches: usize, location: &Location<'_>) -> Node {
        if branches <= 2 && branch.get("$ref").is_some() {
            return self.node(branch, location);
        }
        self.resolved(branch, location)
    }

    /// The keywords that all schemas share, and the rest of each: keywords that validate.
    fn join(&mut self, nodes: Vec<Node>, location: &Location<'_>) -> (Node, Vec<Node>) {
        let mut nodes: Vec<_> = nodes.into_iter().map(|node| self.content(node, location)).collect();
        for node in &mut nodes {
            node.retain(|name, _| !OF_ONE.contains(&name.as_str()));
        }
        let (mut joined, mut rest) = (Node::new(), vec![Node::new(); nodes.len()]);
        self.join_types(&nodes, &mut joined, location);
        let is_either = joined.contains_key("x-kubernetes-int-or-string");
        if nodes.iter().any(|node| node.get("nullable") == Some(&true.into())) {
            joined.insert("nullable".to_owned(), true.into());
        }
        join_required(&nodes, &mut joined, &mut rest);
        self.join_properties(&nodes, &mut joined, &mut rest, location);
        join_values(&nodes, &mut joined, &mut rest);
        self.join_items(&nodes, &mut joined, &mut rest, location);
        let names: BTreeSet<_> =
            nodes.iter().flat_map(Node::keys).filter(|name| !JOINED.contains(&name.as_str())).collect();
        for name in names {
            let first = nodes.iter().find_map(|node| node.get(name));
            let of_all = nodes.iter().all(|node| node.get(name) == first);
            let of_some = nodes.iter().all(|node| node.get(name).is_none_or(|value| Some(value) == first));
            match first {
                // Bounds of numbers and of text concern values of their type alone.
                Some(value) if of_all || is_either && of_some && name != "format" => {
                    joined.insert(name.clone(), value.clone());
                }
                _ if is_either && name == "format" => {}
                _ if VALIDATING.contains(&name.as_str()) && !is_either => {
                    for (node, rest) in nodes.iter().zip(&mut rest) {
                        rest.extend(node.get(name).map(|value| (name.clone(), value.clone())));
                    }
                }
                Some(value) if of_some => {
                    joined.insert(name.clone(), value.clone());
                }
                _ => {
                    let message = format!("the variants have different {name}; supported: the same for all");
                    self.findings.error(location, message);
                }
            }
        }
        (joined, rest)
    }

    /// The type that all have: a structural schema has one.
    fn join_types(&mut self, nodes: &[Node], joined: &mut Node, location: &Location<'_>) {
        let is_either = |node: &Node| node.get("x-kubernetes-int-or-string") == Some(&true.into());
        let mut types: BTreeSet<&str> = nodes.iter().filter_map(|node| node.get("type")?.as_str()).collect();
        if nodes.iter().any(is_either) {
            types.extend(["integer", "string"]);
        }
        let types: Vec<_> = types.into_iter().collect();
        match types[..] {
            [] => {}
            [one] => {
                joined.insert("type".to_owned(), one.into());
            }
            ["integer", "number"] => {
                joined.insert("type".to_owned(), "number".into());
            }
            ["integer", "string"] if nodes.iter().all(|node| !node.contains_key("enum")) => {
                joined.insert("x-kubernetes-int-or-string".to_owned(), true.into());
            }
            _ => {
                let mut found: Vec<_> = nodes.iter().map(scalars::named).collect();
                found.sort();
                found.dedup();
                let message = format!(
                    "found variants of several types: {}; supported: variants of one type, and integers beside any text. \
                     Variants without content are text: give them `{{}}`, or all of them a tag (`#[serde(tag = \"…\")]`)",
                    found.join(", ")
                );
                self.findings.error(location, message);
            }
        }
    }

    /// The fields of all variants. A field that several have is declared once.
    fn join_properties(&mut self, nodes: &[Node], joined: &mut Node, rest: &mut [Node], location: &Location<'_>) {
        let of = |node: &Node, name: &str| node.get("properties").and_then(|all| all.get(name)).cloned();
        let properties = nodes.iter().filter_map(|node| node.get("properties")?.as_object());
        let names: BTreeSet<_> = properties.flat_map(Node::keys).collect();
        let mut made = Node::new();
        for name in names {
            let found: Vec<_> = nodes.iter().map(|node| of(node, name)).collect();
            let given: Vec<Node> = found.iter().flatten().filter_map(|one| one.as_object().cloned()).collect();
            let in_all = given.len() == nodes.len();
            let (mut property, left) = if given.iter().all(|one| bare(one) == bare(&given[0])) {
                (given[0].clone(), vec![Node::new(); given.len()])
            } else {
                self.join(given, &location.key(name))
            };
            if !in_all {
                property.remove("default");
            }
            made.insert(name.clone(), property.into());
            let mut left = left.into_iter();
            for (rest, _) in rest.iter_mut().zip(&found).filter(|(_, found)| found.is_some()) {
                let left = left.next().unwrap_or_default();
                let required = rest.get("required").and_then(Document::as_array);
                // The variant's own fields are named, so that readers and tests see which belong to it.
                let is_said = in_all || required.is_some_and(|names| names.iter().any(|other| other == name));
                if !is_said || !left.is_empty() {
                    let properties = rest.entry("properties").or_insert_with(|| json!({}));
                    properties[name.as_str()] = left.into();
                }
            }
        }
        if !made.is_empty() {
            joined.insert("properties".to_owned(), made.into());
        }
    }

    /// The items of lists.
    fn join_items(&mut self, nodes: &[Node], joined: &mut Node, rest: &mut [Node], location: &Location<'_>) {
        let given: Vec<_> = nodes.iter().filter_map(|node| node.get("items")?.as_object().cloned()).collect();
        if given.is_empty() {
            return;
        }
        let (items, left) = if given.iter().all(|one| bare(one) == bare(&given[0])) {
            (given[0].clone(), Vec::new())
        } else {
            self.join(given, &location.key("items"))
        };
        joined.insert("items".to_owned(), items.into());
        let lists = nodes.iter().zip(rest).filter(|(node, _)| node.contains_key("items"));
        for ((_, rest), left) in lists.zip(left).filter(|(_, left)| !left.is_empty()) {
            rest.insert("items".to_owned(), left.into());
        }
    }
}

/// A schema without what only describes it.
fn bare(node: &Node) -> Node {
    node.iter()
        .filter(|(name, _)| !OF_ONE.contains(&name.as_str()))
        .map(|(name, of)| (name.clone(), of.clone()))
        .collect()
}

/// Fields that all require are required; others by their branch.
fn join_required(nodes: &[Node], joined: &mut Node, rest: &mut [Node]) {
    let of = |node: &Node| node.get("required").and_then(Document::as_array).cloned().unwrap_or_default();
    let required: Vec<_> = nodes.iter().map(of).collect();
    let in_all = |name: &Document| required.iter().all(|names| names.contains(name));
    let common: Vec<_> = required.first().into_iter().flatten().filter(|name| in_all(name)).cloned().collect();
    for (names, rest) in required.iter().zip(rest) {
        let others: Vec<_> = names.iter().filter(|name| !in_all(name)).cloned().collect();
        if !others.is_empty() {
            rest.insert("required".to_owned(), others.into());
        }
    }
    if !common.is_empty() {
        joined.insert("required".to_owned(), common.into());
    }
}

/// The allowed values: of all together, if all limit them.
fn join_values(nodes: &[Node], joined: &mut Node, rest: &mut [Node]) {
    let lists: Vec<_> = nodes.iter().map(|node| node.get("enum").and_then(Document::as_array)).collect();
    let mut values: Vec<Document> = Vec::new();
    for value in lists.iter().copied().flatten().flatten() {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let same = lists.iter().all(|list| *list == lists[0]);
    for (list, rest) in lists.iter().zip(rest).filter(|_| !same) {
        rest.extend(list.map(|list| ("enum".to_owned(), list.clone().into())));
    }
    if lists.iter().all(Option::is_some) && !values.is_empty() {
        joined.insert("enum".to_owned(), values.into());
    }
}
