//! Typed documents: validation against the schema, and field sets.
use std::fmt::Write as _;

use super::{
    field_set::{FieldSet, Node},
    path_element::PathElement,
    schema::{Form, List, Map, Scalar, Type},
};
use crate::{
    meta::{field::MOST_ERRORS, go},
    schema::Document,
};

/// The field set of a configuration.
///
/// # Errors
/// All violations of the schema, as one text.
pub(super) fn checked_field_set_of<'a>(ty: Type<'a>, config: &'a Document) -> Result<FieldSet<'a>, String> {
    let mut walker = FieldSetWalker { strict: true, faults: Vec::new() };
    let set = walker.value(ty, config).children;
    match &walker.faults[..] {
        [] => Ok(set),
        [fault] => Err(fault.to_string()),
        faults => {
            let mut text = "errors:".to_owned();
            for fault in faults {
                // There may be one for each item of a list.
                write!(text, "\n  {fault}").expect("text takes all that is written");
            }
            Err(text)
        }
    }
}

/// The field set of an object, even if it is invalid. Items that share a path element count once, as a whole.
pub(super) fn field_set_of<'a>(ty: Type<'a>, object: &'a Document) -> FieldSet<'a> {
    FieldSetWalker { strict: false, faults: Vec::new() }.value(ty, object).children
}

/// Adapts a set to a schema in which values have become atomic: an owner of a part then owns all of it. Returns whether
/// the set changed.
pub(super) fn reconcile(ty: Type<'_>, set: &mut FieldSet<'_>) -> bool {
    let mut changed = false;
    let mut within = |ty: Type<'_>, node: &mut Node<'_>| {
        if node.children.is_empty() {
            return;
        }
        let atomic = match ty.form(None) {
            Form::Map(map) => map.atomic && !map.is_deduced(),
            Form::List(list) => list.atomic,
            Form::Scalar(_) => false,
        };
        if atomic {
            *node = Node::LEAF;
        }
        changed |= atomic || reconcile(ty, &mut node.children);
    };
    match ty.form(None) {
        Form::Map(map) if !map.is_deduced() => set.change_each(|element, node| {
            let name = if let PathElement::Field(name) = element { name } else { "" };
            if let Some(field) = map.field(name) {
                within(field.ty, node);
            }
        }),
        Form::List(list) => set.change_each(|_, node| within(list.item, node)),
        _ => {}
    }
    changed
}

/// Adds the declared fields that a set implies: an owner of a field's content also owns the field.
pub(super) fn add_declared_fields(ty: Type<'_>, set: &mut FieldSet<'_>) {
    let (map, list) = (ty.as_map(), ty.as_list());
    set.change_each(|element, node| {
        if node.children.is_empty() {
            return;
        }
        let inner = match element {
            PathElement::Field(name) => map.and_then(|map| map.field(name)).map(|field| (field.ty, field.named)),
            PathElement::Key(_) => list.map(|list| (list.item, false)),
            PathElement::Value(_) | PathElement::Index(_) => None,
        };
        if let Some((ty, named)) = inner {
            node.member |= named;
            add_declared_fields(ty, &mut node.children);
        }
    });
}

/// A violation of a document's type: its path, and the reason.
struct Fault {
    path: String,
    why: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", self.path, self.why)
    }
}

struct FieldSetWalker {
    /// Collects violations, even inside atomic values.
    strict: bool,
    faults: Vec<Fault>,
}

impl FieldSetWalker {
    fn value<'a>(&mut self, ty: Type<'a>, value: &'a Document) -> Node<'a> {
        match ty.form(Some(value)) {
            Form::Scalar(scalar) => {
                self.scalar(scalar, value);
                Node::LEAF
            }
            Form::Map(map) => self.map(&map, value),
            Form::List(list) => self.list(&list, value),
        }
    }

    fn map<'a>(&mut self, map: &Map<'a>, value: &'a Document) -> Node<'a> {
        let mut node = Node { member: map.atomic, children: FieldSet::default() };
        let Document::Object(fields) = value else {
            self.expect("map", value);
            return node;
        };
        if map.atomic && !self.strict {
            return node;
        }
        for (name, value) in fields {
            let (element, before) = (PathElement::Field(name), self.faults.len());
            let Some(field) = map.field(name) else {
                self.fault("field not declared in schema".to_owned());
                self.prefix(before, &element);
                // kube-apiserver checks this map no further.
                break;
            };
            let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
            let mut inner = self.value(field.ty, value);
            inner.member |= !field.named || empty;
            self.prefix(before, &element);
            if !map.atomic {
                node.children.attach(element, inner);
            }
        }
        node
    }

    fn list<'a>(&mut self, list: &List<'a>, value: &'a Document) -> Node<'a> {
        let mut node = Node { member: list.atomic, children: FieldSet::default() };
        let Document::Array(items) = value else {
            self.expect("list", value);
            return node;
        };
        if list.atomic {
            if self.strict {
                self.inside(list, items);
            }
            return node;
        }
        let mut found: Vec<(PathElement<'a>, usize)> = Vec::with_capacity(items.len());
        let mut unidentified = None;
        for (index, item) in items.iter().enumerate() {
            match list.element_of(item) {
                Ok(element) => found.push((element, index)),
                Err(_) if !self.strict => {}
                Err(why) => {
                    unidentified = Some(format!("element {index}: {why}"));
                    break;
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Violations are reported in the order of the items.
        let mut faults: Vec<(usize, Fault)> = Vec::new();
        for same in found.chunk_by(|(a, _), (b, _)| a == b) {
            let mut inner = Node::LEAF;
            let looked_at = if self.strict || same.len() == 1 { same } else { &[] };
            for (nth, (element, index)) in looked_at.iter().enumerate() {
                let before = self.faults.len();
                if nth > 0 {
                    let mut key = String::new();
                    element.print(&mut key);
                    self.fault(format!("duplicate entries for key {key}"));
                }
                let within = self.faults.len();
                inner.children = self.value(list.item, &items[*index]).children;
                self.prefix(within, element);
                faults.extend(self.faults.drain(before..).map(|fault| (*index, fault)));
            }
            if same.len() > 1 {
                inner.children = FieldSet::default();
            }
            node.children.attach(same[0].0.clone(), inner);
        }
        faults.sort_by_key(|(index, _)| *index);
        self.faults.extend(faults.into_iter().map(|(_, fault)| fault));
        self.faults.extend(unidentified.map(|why| Fault { path: String::new(), why }));
        node
    }

    /// Checks the content of an atomic list.
    fn inside(&mut self, list: &List<'_>, items: &[Document]) {
        for (index, item) in (0..).zip(items) {
            let before = self.faults.len();
            self.value(list.item, item);
            self.prefix(before, &PathElement::Index(index));
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Document) {
        let why = match (scalar, value) {
            (_, Document::Null)
            | (Scalar::Number, Document::Number(_))
            | (Scalar::Text, Document::String(_))
            | (Scalar::Boolean, Document::Bool(_))
            | (Scalar::Any, Document::Number(_) | Document::String(_) | Document::Bool(_)) => return,
            _ if !self.strict => return,
            (Scalar::Number, _) => format!("expected numeric (int or float), got {}", go::type_name(value)),
            (Scalar::Text, _) => {
                format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::syntax(value))
            }
            (Scalar::Boolean, _) => format!("expected boolean, got &{{{}}}", go::plain(value)),
            (Scalar::Any, _) => format!("expected any scalar, got &{{{}}}", go::plain(value)),
        };
        self.fault(why);
    }

    /// A value other than the expected map or list must be null.
    fn expect(&mut self, expected: &str, value: &Document) {
        if self.strict && !value.is_null() {
            self.fault(format!("expected {expected}, got &{{{}}}", go::plain(value)));
        }
    }

    fn fault(&mut self, why: String) {
        if self.strict && self.faults.len() < MOST_ERRORS {
            self.faults.push(Fault { path: String::new(), why });
        }
    }

    /// Prefixes the violations found since with an element.
    fn prefix(&mut self, since: usize, element: &PathElement<'_>) {
        for fault in &mut self.faults[since..] {
            let mut path = String::new();
            element.print(&mut path);
            path.push_str(&fault.path);
            fault.path = path;
        }
    }
}
