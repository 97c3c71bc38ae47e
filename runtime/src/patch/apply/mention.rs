//! The set of what a document names, or of everything in it.
use super::{
    element::Element,
    item::element_of,
    set::{Branch, Set},
    types::{Field, Form, List, Map, Scalar, Type},
};
use crate::{
    meta::{field::MOST_ERRORS, go},
    schema::Document,
};

/// What in a document does not fit its type: where, and why.
type Fault = (String, String);

/// The set of what a configuration names.
///
/// # Errors
/// Everything in it that does not fit the schema, as one text.
pub(super) fn checked<'a>(ty: Type<'a>, config: &'a Document) -> Result<Set<'a>, String> {
    let mut walk = Walk::new(Mode::Checked);
    let set = walk.branch(ty, config).below;
    match &walk.faults[..] {
        [] => Ok(set),
        [fault] => Err(told(fault)),
        faults => {
            let lines = faults.iter().map(|fault| format!("\n  {}", told(fault)));
            Err(lines.fold("errors:".to_owned(), |text, line| text + &line))
        }
    }
}

/// The set of what an object names, whatever is wrong with it. Of items that are the same only that they are there counts.
pub(super) fn set_of<'a>(ty: Type<'a>, object: &'a Document) -> Set<'a> {
    Walk::new(Mode::Lenient).branch(ty, object).below
}

/// The set of everything in a new object, containers too: what its creator brings about. `None` where a list has an item
/// that cannot be told from others.
pub(super) fn everything<'a>(ty: Type<'a>, object: &'a Document) -> Option<Set<'a>> {
    let mut walk = Walk::new(Mode::Everything);
    let set = walk.branch(ty, object).below;
    walk.whole.then_some(set)
}

fn told((place, why): &Fault) -> String {
    if place.is_empty() { why.clone() } else { format!("{place}: {why}") }
}

/// What a walk is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Faults are wanted.
    Checked,
    /// Whatever is wrong.
    Lenient,
    /// All paths, those of containers as well.
    Everything,
}

struct Walk {
    mode: Mode,
    faults: Vec<Fault>,
    /// Every item so far could be told from others.
    whole: bool,
}

impl Walk {
    fn new(mode: Mode) -> Self {
        Self { mode, faults: Vec::new(), whole: true }
    }

    /// Faults are wanted.
    fn is_strict(&self) -> bool {
        self.mode == Mode::Checked
    }

    fn branch<'a>(&mut self, ty: Type<'a>, value: &'a Document) -> Branch<'a> {
        match ty.form(Some(value)) {
            Form::Scalar(scalar) => {
                self.scalar(scalar, value);
                Branch::LEAF
            }
            Form::Map(map) => self.map(&map, value),
            Form::List(list) => self.list(&list, value),
        }
    }

    fn map<'a>(&mut self, map: &Map<'a>, value: &'a Document) -> Branch<'a> {
        let mut branch = Branch { member: map.atomic, below: Set::default() };
        let Document::Object(fields) = value else {
            self.expect("map", value);
            return branch;
        };
        if map.atomic && !self.is_strict() {
            return branch;
        }
        for (name, value) in fields {
            let (element, before) = (Element::Field(name), self.faults.len());
            let undeclared = (self.mode == Mode::Everything).then_some(Field::UNDECLARED);
            let Some(field) = map.field(name).or(undeclared) else {
                self.fault("field not declared in schema".to_owned());
                self.prefix(before, &element);
                // The reference looks no further in this map.
                break;
            };
            if self.mode == Mode::Everything && map.is_metadata() && name == "managedFields" {
                continue;
            }
            let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
            let mut inner = self.branch(field.ty, value);
            inner.member |= match self.mode {
                Mode::Everything => !field.implied,
                Mode::Checked | Mode::Lenient => !field.named || empty,
            };
            self.prefix(before, &element);
            if !map.atomic {
                branch.below.attach(element, inner);
            }
        }
        branch
    }

    fn list<'a>(&mut self, list: &List<'a>, value: &'a Document) -> Branch<'a> {
        let mut branch = Branch { member: list.atomic, below: Set::default() };
        let Document::Array(items) = value else {
            self.expect("list", value);
            return branch;
        };
        if list.atomic {
            if self.is_strict() {
                self.inside(list, items);
            }
            return branch;
        }
        let mut found: Vec<(Element<'a>, usize)> = Vec::with_capacity(items.len());
        let mut nameless = None;
        for (index, item) in items.iter().enumerate() {
            match element_of(list, item) {
                Ok(element) => found.push((element, index)),
                Err(why) => {
                    self.whole = false;
                    nameless = Some((String::new(), format!("element {index}: {why}")));
                    if self.is_strict() {
                        break;
                    }
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Faults are told in the order of the items.
        let mut told: Vec<(usize, Fault)> = Vec::new();
        for same in found.chunk_by(|(a, _), (b, _)| a == b) {
            let mut inner = Branch::LEAF;
            let looked_at = if self.is_strict() || same.len() == 1 { same } else { &[] };
            for (nth, (element, index)) in looked_at.iter().enumerate() {
                let before = self.faults.len();
                if nth > 0 {
                    self.twice(element);
                }
                let within = self.faults.len();
                inner.below = self.branch(list.item, &items[*index]).below;
                self.prefix(within, element);
                told.extend(self.faults.drain(before..).map(|fault| (*index, fault)));
            }
            if same.len() > 1 {
                inner.below = Set::default();
            }
            branch.below.attach(same[0].0.clone(), inner);
        }
        told.sort_by_key(|(index, _)| *index);
        self.faults.extend(told.into_iter().map(|(_, fault)| fault));
        self.faults.extend(nameless.filter(|_| self.is_strict()));
        branch
    }

    fn twice(&mut self, element: &Element<'_>) {
        let mut key = String::new();
        element.print(&mut key);
        self.fault(format!("duplicate entries for key {key}"));
    }

    /// Looks for faults inside of what is owned whole.
    fn inside(&mut self, list: &List<'_>, items: &[Document]) {
        for (index, item) in (0..).zip(items) {
            let before = self.faults.len();
            self.branch(list.item, item);
            self.prefix(before, &Element::Index(index));
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Document) {
        match (scalar, value) {
            (_, Document::Null)
            | (Scalar::Number, Document::Number(_))
            | (Scalar::Text, Document::String(_))
            | (Scalar::Boolean, Document::Bool(_))
            | (Scalar::Any, Document::Number(_) | Document::String(_) | Document::Bool(_)) => {}
            (Scalar::Number, _) => {
                self.fault(format!("expected numeric (int or float), got {}", go::type_name(value)));
            }
            (Scalar::Text, _) => {
                self.fault(format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::syntax(value)));
            }
            (Scalar::Boolean, _) => self.fault(format!("expected boolean, got &{{{}}}", go::plain(value))),
            (Scalar::Any, _) => self.fault(format!("expected any scalar, got &{{{}}}", go::plain(value))),
        }
    }

    /// A value that is no map or list must be null.
    fn expect(&mut self, expected: &str, value: &Document) {
        if self.is_strict() && !value.is_null() {
            self.fault(format!("expected {expected}, got &{{{}}}", go::plain(value)));
        }
    }

    fn fault(&mut self, why: String) {
        if self.is_strict() && self.faults.len() < MOST_ERRORS {
            self.faults.push((String::new(), why));
        }
    }

    /// The faults found since lie below an element.
    fn prefix(&mut self, since: usize, element: &Element<'_>) {
        for (place, _) in &mut self.faults[since..] {
            let mut longer = String::new();
            element.print(&mut longer);
            longer.push_str(place);
            *place = longer;
        }
    }
}
