//! Defaults: what a rule sets in an object.
use serde_json::Map;

use super::{
    expression::{Budget, Expression, Scope},
    path::Path,
};
use crate::{
    meta::{Operation, User},
    schema::Document,
};

/// The writes that a rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// All.
    #[default]
    Always,
    /// The creation of an object.
    Create,
    /// Each later write.
    Update,
}

impl When {
    pub(super) fn is(self, operation: Operation) -> bool {
        match self {
            Self::Always => true,
            Self::Create => operation == Operation::Create,
            Self::Update => operation != Operation::Create,
        }
    }
}

/// Sets a field of each value at a place.
#[derive(Clone, Debug)]
pub struct DefaultRule {
    /// What holds the field.
    pub around: Path,
    /// The name of the field.
    pub field: String,
    /// What is set.
    pub value: Value,
    /// Whether it is; `self` is what holds the field.
    pub condition: Option<Expression>,
    /// What becomes of a field that is there.
    pub effect: Effect,
    /// The empty text, zero, false, and empty lists and objects count as absent, too.
    pub zero_is_absent: bool,
    /// Makes what holds the field, too, if that is absent.
    pub creates: bool,
    /// The writes in which it is set.
    pub on: When,
    /// The number of steps to the part that the rule is of.
    pub part: usize,
}

/// What a rule sets.
#[derive(Clone, Debug)]
pub enum Value {
    /// This value.
    Fixed(Document),
    /// What an expression gives; `self` is what holds the field.
    Computed(Expression),
    /// Nothing: the field is removed.
    Nothing,
}

/// What becomes of a field that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// It stays.
    #[default]
    Keep,
    /// It is replaced.
    Replace,
    /// It is a map that gets the entries which it lacks.
    Add,
    /// It is a map that gets all entries, in place of its own ones with the same keys.
    Merge,
}

impl DefaultRule {
    /// A rule that sets a field that is absent; `None` if the path does not end in a field.
    pub fn new(path: &Path, value: Value) -> Option<Self> {
        let (around, field) = path.split()?;
        Some(Self {
            around,
            field: field.to_owned(),
            value,
            condition: None,
            effect: Effect::default(),
            zero_is_absent: false,
            creates: false,
            on: When::default(),
            part: 0,
        })
    }

    pub(super) fn apply(&self, object: &mut Document, (old, user): (Option<&Document>, &User), budget: &Budget) {
        if self.creates {
            self.create(object);
        }
        let places = self.around.places(object);
        if !budget.spend(places.len()) {
            return;
        }
        for place in places {
            let Some(Document::Object(holder)) = place.get(object) else { continue };
            let found = holder.get(&self.field);
            let applies = match (&self.value, self.effect) {
                (Value::Nothing, _) => found.is_some(),
                (_, Effect::Keep) => found.is_none_or(|value| self.is_absent(value)),
                _ => true,
            };
            if !applies {
                continue;
            }
            let Some(value) = place.get(object) else { continue };
            let before = old.and_then(|old| place.get(old));
            let scope =
                Scope { value, object, old: before, old_object: old, place: &place, part: self.part, user, budget };
            if let Some(condition) = &self.condition
                && condition.evaluate(scope) != Some(true.into())
            {
                continue;
            }
            let value = match &self.value {
                Value::Fixed(value) => Some(value.clone()),
                Value::Computed(expression) => match expression.evaluate(scope) {
                    None => continue,
                    value => value,
                },
                Value::Nothing => None,
            };
            if let Some(Document::Object(holder)) = place.get_mut(object) {
                self.put(holder, value);
            }
        }
    }

    /// Makes what holds the field.
    fn create(&self, object: &mut Document) {
        let Some((around, name)) = self.around.split() else { return };
        for place in around.places(object) {
            if let Some(Document::Object(holder)) = place.get_mut(object) {
                let holder = holder.entry(name).or_insert(Document::Null);
                if holder.is_null() {
                    *holder = Map::new().into();
                }
            }
        }
    }

    fn put(&self, holder: &mut Map<String, Document>, value: Option<Document>) {
        let Some(value) = value else {
            holder.remove(&self.field);
            return;
        };
        let merges = matches!(self.effect, Effect::Add | Effect::Merge);
        match (merges, holder.get_mut(&self.field), value) {
            (true, Some(Document::Object(known)), Document::Object(new)) => {
                for (name, value) in new {
                    if self.effect == Effect::Merge || !known.contains_key(&name) {
                        known.insert(name, value);
                    }
                }
            }
            (_, _, value) => {
                holder.insert(self.field.clone(), value);
            }
        }
    }

    fn is_absent(&self, value: &Document) -> bool {
        value.is_null() || (self.zero_is_absent && is_zero(value))
    }
}

/// True for the empty text, zero, false, and empty lists and objects.
pub(super) fn is_zero(value: &Document) -> bool {
    match value {
        Document::Null => true,
        Document::Bool(flag) => !flag,
        Document::Number(number) => number.as_f64() == Some(0.0),
        Document::String(text) => text.is_empty(),
        Document::Array(items) => items.is_empty(),
        Document::Object(members) => members.is_empty(),
    }
}
