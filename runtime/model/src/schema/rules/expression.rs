//! An expression on values of a schema that no schema declares: what people try.
use kindsmith_cel::{Env, Error, Program, Type, Value, value::Shape};

use super::{
    compile::{dynamic_environment, environments},
    place::Place,
    types::Declared,
};
use crate::schema::{At, Document, Meter};

/// A step from a value to one inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field of an object, or an entry of a map.
    Name(String),
    /// An item of a list.
    Item(usize),
}

/// A compiled expression about the values of a place in a schema, or about documents without a schema.
#[derive(Debug)]
pub struct Expression<'s> {
    declared: Option<Declared<'s>>,
    program: Program,
    has_optional_old_self: bool,
    /// The type of its result.
    pub kind: Type,
    /// The most that it costs, as estimated from the schema; unknown without one.
    pub most: Option<u64>,
}

/// What an expression gave for a document.
#[derive(Debug)]
pub struct Tried {
    /// The result, or the reason why it is missing.
    pub value: Result<Value<'static>, Error>,
    /// What it cost.
    pub cost: u64,
}

impl<'s> Expression<'s> {
    /// Compiles an expression as a rule of a place would be. Its variables are `self` and `oldSelf`, which is an optional on demand, as
    /// in rules with `optionalOldSelf`.
    ///
    /// # Errors
    /// The errors of the expression as text, or that there are no expressions on such values.
    pub fn new(root: At<'s>, steps: &[Step], text: &str, has_optional_old_self: bool) -> Result<Self, String> {
        let mut declared = Declared::new(root, true);
        for step in steps {
            let below = match step {
                Step::Name(name) => declared.property(name).or_else(|| declared.element()),
                Step::Item(_) => declared.element(),
            };
            declared = below.ok_or_else(|| format!("the schema has no {}", shown(step)))?;
        }
        let envs = environments(declared).ok_or("expressions cannot see values without a type")?;
        Self::compile(&envs[usize::from(has_optional_old_self)], text, Some(declared), has_optional_old_self)
    }

    /// Compiles an expression about a document without a schema, whose variables are of type `dyn`.
    ///
    /// # Errors
    /// The errors of the expression as text.
    pub fn without_schema(text: &str, has_optional_old_self: bool) -> Result<Self, String> {
        Self::compile(&dynamic_environment(), text, None, has_optional_old_self)
    }

    fn compile(
        env: &Env,
        text: &str,
        declared: Option<Declared<'s>>,
        has_optional_old_self: bool,
    ) -> Result<Self, String> {
        let checked = env.compile(text).map_err(|issues| issues.to_string())?;
        let program = Program::new(&checked).map_err(|error| error.to_string())?;
        let most = declared.map(|declared| checked.estimate(&declared).max);
        Ok(Self { declared, program, has_optional_old_self, kind: checked.result_type().clone(), most })
    }

    /// Evaluates the expression for a value, with its old one if there is one, up to a cost.
    pub fn evaluate(&self, value: &Document, old: Option<&Document>, limit: Option<u64>, meter: &Meter) -> Tried {
        let place = self.declared.map(|declared| Place::new(declared.at, declared.is_object));
        let shape = place.as_ref().map_or(&kindsmith_cel::value::Dynamic as &dyn Shape, |place| place);
        let read = |document| shape.read(document);
        let old = if self.has_optional_old_self {
            Some(old.map(read).transpose().map(Value::optional))
        } else {
            old.map(read)
        };
        let variables = Values { value: read(value), old };
        let evaluation = self.program.evaluate(&variables, limit, meter);
        Tried { value: evaluation.value.and_then(Value::into_owned), cost: evaluation.cost }
    }
}

/// The variables.
struct Values<'a> {
    value: Result<Value<'a>, Error>,
    old: Option<Result<Value<'a>, Error>>,
}

impl<'a> kindsmith_cel::Variables<'a> for Values<'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        match name {
            "self" => Some(self.value.clone()),
            "oldSelf" => self.old.clone(),
            _ => None,
        }
    }
}

fn shown(step: &Step) -> String {
    match step {
        Step::Name(name) => format!("field `{name}`"),
        Step::Item(index) => format!("item {index}"),
    }
}
