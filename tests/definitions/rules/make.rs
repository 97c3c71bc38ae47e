//! Values that a schema probably accepts, made of what a rule names.
use kindsmith::schema::{Schema, Type};
use kindsmith_tests::Random;
use serde_json::{Map, Value, json};

use super::expression::Vocabulary;

/// How deep fields that are not required nest.
const DEEPEST: usize = 6;

pub(super) struct Maker<'n> {
    pub(super) vocabulary: &'n Vocabulary,
    pub(super) random: Random,
    /// Values that the schema accepts at its places, from documents that were made at random.
    pub(super) pool: &'n [(String, Value)],
}

impl Maker<'_> {
    /// A new value for a place, which is given by the fields that lead to it.
    pub(super) fn value(&mut self, schema: &Schema, place: &str, depth: usize) -> Value {
        let branches = schema.junctors.iter().flat_map(|of| of.all_of.iter().chain(&of.any_of).chain(&of.one_of));
        let all: Vec<_> = std::iter::once(schema).chain(branches).flat_map(|of| of.enumeration.iter()).collect();
        if !all.is_empty() {
            return (*self.random.pick(&all)).clone();
        }
        match schema.kind {
            Type::Object => self.object(schema, place, depth),
            Type::Array => self.list(schema, place, depth),
            Type::Integer => self.number(schema).into(),
            Type::Number => json!(self.number(schema)),
            Type::Boolean => self.random.one_in(2).into(),
            Type::IntOrString if self.random.one_in(2) => self.number(schema).into(),
            Type::String | Type::IntOrString => self.text(schema, place),
            Type::Any => json!({"any": self.number(schema)}),
        }
    }

    fn object(&mut self, schema: &Schema, place: &str, depth: usize) -> Value {
        let mut fields = Map::new();
        if schema.embedded {
            fields.extend([("apiVersion".to_owned(), json!("a/v1")), ("kind".to_owned(), json!("A"))]);
        }
        for (name, of) in &schema.properties {
            let is_chosen = depth < DEEPEST && self.random.one_in(if self.leads(name, of) { 2 } else { 12 });
            if is_chosen || schema.required.contains(name) {
                let value = self.value(of, &format!("{place}.{name}"), depth + 1);
                fields.insert(name.clone(), value);
            }
        }
        if let Some(values) = schema.additional.as_deref() {
            for _ in 0..self.random.below(3) {
                let key = self.vocabulary.text(&mut self.random).clone();
                let value = self.value(values, &format!("{place}.*"), depth + 1);
                fields.insert(key, value);
            }
        }
        fields.into()
    }

    /// True for a field that the rule names, or that such a field is in.
    fn leads(&self, name: &str, schema: &Schema) -> bool {
        let inside = |schema: &Schema| schema.properties.iter().any(|(name, _)| self.vocabulary.fields.contains(name));
        self.vocabulary.fields.contains(name) || inside(schema) || schema.items.as_deref().is_some_and(inside)
    }

    fn list(&mut self, schema: &Schema, place: &str, depth: usize) -> Value {
        let mut items: Vec<Value> = Vec::new();
        let Some(of_items) = schema.items.as_deref() else { return json!([]) };
        let least = usize::try_from(schema.min_items.unwrap_or(0)).expect("few");
        for _ in 0..least + self.random.below(3) {
            let item = self.item(of_items, &items, place, depth);
            items.push(item);
        }
        items.into()
    }

    /// An item: a new one, one that is there already, or such a one with a change.
    fn item(&mut self, schema: &Schema, items: &[Value], place: &str, depth: usize) -> Value {
        let place = format!("{place}[]");
        match items {
            [] => self.value(schema, &place, depth + 1),
            items => match self.random.below(4) {
                0 => self.random.pick(items).clone(),
                1 => {
                    let mut item = self.random.pick(items).clone();
                    self.change(&mut item, schema, &place);
                    item
                }
                _ => self.value(schema, &place, depth + 1),
            },
        }
    }

    fn number(&mut self, schema: &Schema) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "bounds of corpora are small")]
        let bounds = [schema.minimum, schema.maximum].into_iter().flatten().map(|bound| bound as i64);
        let all: Vec<i64> = self.vocabulary.numbers.iter().copied().chain(bounds).collect();
        *self.random.pick(&all)
    }

    fn text(&mut self, schema: &Schema, place: &str) -> Value {
        let pool: Vec<&Value> = self.pool.iter().filter(|(at, _)| at == place).map(|(_, value)| value).collect();
        let is_fitting = |text: &str| {
            let length = u64::try_from(text.chars().count()).expect("a length");
            let is_long = schema.min_length.is_none_or(|least| length >= least)
                && schema.max_length.is_none_or(|most| length <= most);
            is_long && schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        for _ in 0..20 {
            if !pool.is_empty() && self.random.one_in(6) {
                return (*self.random.pick(&pool)).clone();
            }
            let text = self.vocabulary.text(&mut self.random);
            if is_fitting(text) {
                return text.clone().into();
            }
        }
        if pool.is_empty() { json!("a") } else { (*self.random.pick(&pool)).clone() }
    }

    /// Changes a value somewhere: mostly what the rule names.
    pub(super) fn change(&mut self, value: &mut Value, schema: &Schema, place: &str) {
        let goes_in = !self.random.one_in(4);
        match value {
            Value::Object(fields) if schema.kind == Type::Object && goes_in => self.change_field(fields, schema, place),
            Value::Array(items) if goes_in && schema.items.is_some() => self.change_items(items, schema, place),
            _ => *value = self.value(schema, place, 1),
        }
    }

    fn change_field(&mut self, fields: &mut Map<String, Value>, schema: &Schema, place: &str) {
        let leading: Vec<_> = schema.properties.iter().filter(|(name, of)| self.leads(name, of)).collect();
        let all: Vec<_> = schema.properties.iter().collect();
        let pool = if leading.is_empty() || self.random.one_in(8) { all } else { leading };
        let entries: Vec<String> = fields.keys().filter(|key| !schema.properties.contains_key(key)).cloned().collect();
        if let Some(values) = schema.additional.as_deref() {
            let place = format!("{place}.*");
            let is_new = entries.is_empty() || self.random.one_in(2);
            let key = self.random.pick(if is_new { &self.vocabulary.texts } else { &entries }).clone();
            match fields.get_mut(&key) {
                Some(_) if self.random.one_in(2) => drop(fields.remove(&key)),
                Some(value) => self.change(value, values, &place),
                None => drop(fields.insert(key, self.value(values, &place, 1))),
            }
        } else if !pool.is_empty() {
            let (name, of) = *self.random.pick(&pool);
            let place = format!("{place}.{name}");
            match fields.get_mut(name) {
                Some(_) if !schema.required.contains(name) && self.random.one_in(4) => drop(fields.remove(name)),
                Some(value) => self.change(value, of, &place),
                None => drop(fields.insert(name.clone(), self.value(of, &place, 1))),
            }
        }
    }

    fn change_items(&mut self, items: &mut Vec<Value>, schema: &Schema, place: &str) {
        let of_items = schema.items.as_deref().expect("asked before");
        let at = if items.is_empty() { 0 } else { self.random.below(items.len()) };
        match self.random.below(5) {
            0 if !items.is_empty() => drop(items.remove(at)),
            1 => items.insert(at, self.item(of_items, &items.clone(), place, 1)),
            2 if items.len() > 1 => {
                let other = self.random.below(items.len());
                items.swap(at, other);
            }
            _ if !items.is_empty() => self.change(&mut items[at], of_items, &format!("{place}[]")),
            _ => items.push(self.value(of_items, &format!("{place}[]"), 1)),
        }
    }
}
