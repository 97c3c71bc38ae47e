//! Runs plans: values, costs and the meter.
use super::{
    Variables,
    plan::{Block, Comparison, Node},
};
use crate::{
    Error, Failure, Meter, Value,
    value::{Octets, Text},
};

mod attribute;
mod call;
mod collection;
mod comprehension;

/// Texts from so many bytes on are long.
const LONG: usize = 1024;
/// The bytes of a text that are read in a step.
const TEXT: usize = 64;

/// An evaluation.
pub(super) struct Run<'a, 'r> {
    variables: &'r dyn Variables<'a>,
    pub(super) meter: &'r dyn Meter,
    limit: u64,
    pub(super) cost: u64,
    slots: Vec<Slot<'a>>,
    /// Work that the meter does not know of yet.
    work: usize,
    presence_tests_cost: bool,
    bad_presence_tests_fail: bool,
}

/// The variable of a loop.
#[derive(Debug)]
enum Slot<'a> {
    /// It has no value here.
    Empty,
    /// It is evaluated when it is first read.
    Pending(&'a Node),
    /// Its value.
    Value(Result<Value<'a>, Error>),
}

type Evaluated<'a> = Result<Value<'a>, Error>;

impl<'a, 'r> Run<'a, 'r> {
    pub(super) fn new(variables: &'r dyn Variables<'a>, meter: &'r dyn Meter) -> Self {
        Self {
            variables,
            meter,
            limit: u64::MAX,
            cost: 0,
            slots: Vec::new(),
            work: 0,
            presence_tests_cost: true,
            bad_presence_tests_fail: false,
        }
    }

    /// With the settings of an environment, the number of slots, and a limit of cost.
    pub(super) fn with(mut self, settings: &crate::Settings, slots: usize, limit: Option<u64>) -> Self {
        self.presence_tests_cost = settings.presence_tests_cost;
        self.bad_presence_tests_fail = settings.bad_presence_tests_fail;
        self.limit = limit.unwrap_or(u64::MAX);
        self.slots.resize_with(slots, || Slot::Empty);
        self
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, node: &'a Node) -> Evaluated<'a> {
        match node {
            Node::Constant(value) => Ok(borrowed(value)),
            Node::Failure(error) => Err((**error).clone()),
            Node::Attribute(attribute) => self.attribute(attribute),
            Node::Choice(choice) => self.choice(choice),
            Node::Has(attribute) => self.has(attribute),
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::Equals(comparison) => self.equality(comparison),
            Node::In(comparison) => self.containment(comparison),
            Node::Member(membership) => self.membership(membership),
            Node::NotStrictlyFalse(operand) => self.not_strictly_false(operand),
            Node::OptionalOr(operands, value) => self.optional_or(operands, *value),
            Node::Call(call) => self.call(call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Loop(own) => self.comprehension(own),
            Node::Block(block) => self.block(block),
            Node::Accumulation(accumulation) => self.accumulate(accumulation),
        }
    }

    /// Adds to the cost.
    fn charge(&mut self, cost: u64) -> Result<(), Error> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit {
            let message = "operation cancelled: actual cost limit exceeded".into();
            return Err(Error { message, failure: Failure::Cost });
        }
        Ok(())
    }

    /// Reports work, many small pieces at once.
    fn work(&mut self, steps: usize) -> Result<(), Error> {
        self.work = self.work.saturating_add(steps);
        if self.work >= 256 {
            return self.meter.spend(std::mem::take(&mut self.work));
        }
        Ok(())
    }

    /// Reports the reading of long texts. Costs count their characters each time.
    fn read(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        let bytes = values.iter().map(text_bytes).sum::<usize>();
        if bytes < LONG { Ok(()) } else { self.work(bytes / TEXT) }
    }

    /// Reports the work that is left.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        self.meter.spend(std::mem::take(&mut self.work))
    }

    /// `&&`, or `||` whose deciding value is true: it goes on over errors until it is decided.
    fn logic(&mut self, terms: &'a [Node], deciding: bool) -> Evaluated<'a> {
        let mut failure = None;
        for term in terms {
            match self.value(term) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Err(error) if error.is_fatal() => return Err(error),
                _ if failure.is_some() => {}
                Err(error) => failure = Some(error),
                Ok(_) => failure = Some(Error::no_such_overload()),
            }
        }
        failure.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn not_strictly_false(&mut self, operand: &'a Node) -> Evaluated<'a> {
        let value = self.value(operand);
        if let Err(error) = &value
            && error.is_fatal()
        {
            return value;
        }
        self.charge(1)?;
        Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false)))))
    }

    /// The values of two operands. Both are evaluated before the first error ends a call.
    fn operands(&mut self, operands: &'a [Node; 2]) -> Result<[Evaluated<'a>; 2], Error> {
        let left = self.value(&operands[0]);
        if let Err(error) = &left
            && error.is_fatal()
        {
            return Err(error.clone());
        }
        let right = self.value(&operands[1]);
        match right {
            Err(error) if error.is_fatal() => Err(error),
            right => Ok([left, right]),
        }
    }

    fn equality(&mut self, own: &'a Comparison) -> Evaluated<'a> {
        let equal = |left: &Value<'a>, right: &Value<'a>, meter: &dyn Meter| match left.equals(right, meter) {
            Err(error) if own.negated && !error.is_fatal() => Ok(Value::Bool(true)),
            equal => equal.map(|equal| Value::Bool(equal != own.negated)),
        };
        self.compare(own, equal)
    }

    fn containment(&mut self, own: &'a Comparison) -> Evaluated<'a> {
        self.compare(own, |value, collection, meter| match collection {
            Value::List(list) => list.contains(value, meter).map(Value::Bool),
            Value::Map(map) => map.get(value).transpose().map(|found| Value::Bool(found.is_some())),
            _ => Err(Error::no_such_overload()),
        })
    }

    fn compare(
        &mut self,
        own: &'a Comparison,
        operator: impl FnOnce(&Value<'a>, &Value<'a>, &dyn Meter) -> Evaluated<'a>,
    ) -> Evaluated<'a> {
        let [left, right] = self.operands(&own.operands)?;
        let result = match (&left, &right) {
            (Ok(left), Ok(right)) => operator(left, right, self.meter),
            (Err(error), _) | (_, Err(error)) => Err(error.clone()),
        };
        if let Err(error) = &result
            && error.is_fatal()
        {
            return result;
        }
        let operands = [left.unwrap_or(Value::Null), right.unwrap_or(Value::Null)];
        self.read(&operands)?;
        self.charge((own.charge)(&operands, result.as_ref()))?;
        result
    }

    fn membership(&mut self, own: &'a super::plan::Membership) -> Evaluated<'a> {
        let value = self.value(&own.value)?;
        Ok(Value::Bool(own.set.has_exactly(&value)))
    }

    fn optional_or(&mut self, [left, right]: &'a [Node; 2], unwrap: bool) -> Evaluated<'a> {
        match self.value(left)? {
            Value::Optional(Some(value)) if unwrap => Ok((*value).clone()),
            Value::Optional(None) => self.value(right),
            other => Ok(other),
        }
    }

    fn block(&mut self, own: &'a Block) -> Evaluated<'a> {
        for (index, value) in own.values.iter().enumerate() {
            self.slots[own.first + index] = Slot::Pending(value);
        }
        let result = self.value(&own.result);
        for index in 0..own.values.len() {
            self.slots[own.first + index] = Slot::Empty;
        }
        result
    }
}

/// The bytes of a text, or of an optional one.
fn text_bytes(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Optional(Some(value)) => text_bytes(value),
        _ => 0,
    }
}

/// A constant that borrows from the program.
fn borrowed<'a>(value: &'a Value<'static>) -> Value<'a> {
    match value {
        Value::String(text) => Value::String(Text::Borrowed(text)),
        Value::Bytes(bytes) => Value::Bytes(Octets::Borrowed(bytes)),
        value => value.clone(),
    }
}
