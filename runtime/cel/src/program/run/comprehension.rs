//! Loops over lists and maps.
use super::{Evaluated, Run, Slot};
use crate::{
    Error, Value,
    program::plan::{Body, Loop, go_type},
    value::List,
};

/// What is left of a loop.
enum Cursor<'a> {
    /// The next position of a list.
    List(List<'a>, usize),
    /// Keys of a map, with their values if the loop has a variable for them.
    Entries(std::vec::IntoIter<(Value<'a>, Option<Evaluated<'a>>)>),
}

impl<'a> Run<'a, '_> {
    /// The value of a loop. The parts are run here, without functions between, because loops may be deep.
    pub(super) fn comprehension(&mut self, own: &'a Loop) -> Evaluated<'a> {
        let range = self.value(&own.range)?;
        if let Value::Map(map) = &range {
            self.work(map.len())?;
        }
        let mut cursor = cursor(range, own.two)?;
        let (init, condition, step, result) = match &own.body {
            Body::Parts { init, condition, step, result } => (init, condition, step, result),
            Body::Quantifier { predicate, deciding } => {
                // The test costs 1 and reads the result, which is negated for `exists`; so does the step.
                let of_test = if *deciding { 3 } else { 2 };
                let mut result = Ok(!*deciding);
                while self.advance(own, &mut cursor)? {
                    self.charge(of_test)?;
                    if matches!(result, Ok(result) if result == *deciding) {
                        break;
                    }
                    self.charge(1)?;
                    let value = self.value(predicate);
                    result = quantified(result, value, *deciding)?;
                }
                self.leave(own);
                self.charge(1)?;
                return result.map(Value::Bool);
            }
        };
        self.slots[own.accumulator] = Slot::Pending(init);
        while self.advance(own, &mut cursor)? {
            if !condition.is(true) {
                let condition = self.value(condition);
                if ends(condition)? {
                    break;
                }
            }
            let value = self.value(step);
            self.keep(own, value)?;
        }
        self.leave(own);
        let result = self.value(result);
        self.slots[own.accumulator] = Slot::Empty;
        result
    }

    /// The variables of a loop have no values behind it.
    fn leave(&mut self, own: &'a Loop) {
        for slot in &own.variables[..=usize::from(own.two)] {
            self.slots[*slot] = Slot::Empty;
        }
    }

    /// Sets the variables for the next part of the range; false at the end of the range.
    fn advance(&mut self, own: &'a Loop, cursor: &mut Cursor<'a>) -> Result<bool, Error> {
        let (first, second) = match cursor {
            Cursor::List(list, index) => {
                let Some(item) = list.get(*index) else { return Ok(false) };
                if let (Ok(item), true) = (&item, list.shape().is_some()) {
                    self.take(item)?;
                }
                let position = Ok(Value::Int(i64::try_from(*index).unwrap_or(i64::MAX)));
                *index += 1;
                if own.two { (position, Some(item)) } else { (item, None) }
            }
            Cursor::Entries(entries) => {
                let Some((key, value)) = entries.next() else { return Ok(false) };
                (Ok(key), value)
            }
        };
        self.slots[own.variables[0]] = Slot::Value(first);
        if let Some(second) = second {
            self.slots[own.variables[1]] = Slot::Value(second);
        }
        self.work(own.weight)?;
        Ok(true)
    }

    /// Keeps the value of a step, even if it is an error, unless that ends the evaluation.
    fn keep(&mut self, own: &'a Loop, value: Evaluated<'a>) -> Result<(), Error> {
        match value {
            Err(error) if error.is_fatal() => Err(error),
            value => {
                self.slots[own.accumulator] = Slot::Value(value);
                Ok(())
            }
        }
    }
}

fn cursor(range: Value<'_>, two: bool) -> Result<Cursor<'_>, Error> {
    let kind = match range {
        Value::List(list) => return Ok(Cursor::List(list, 0)),
        Value::Map(map) if two => {
            let entries: Vec<_> = map.iter().map(|(key, value)| (key, Some(value))).collect();
            return Ok(Cursor::Entries(entries.into_iter()));
        }
        Value::Map(map) => {
            let keys: Vec<_> = map.keys().map(|key| (key, None)).collect();
            return Ok(Cursor::Entries(keys.into_iter()));
        }
        other => go_type(&other),
    };
    Err(Error::new(if two {
        format!("unsupported comprehension range type: {kind}")
    } else {
        format!("got '{kind}', expected iterable type")
    }))
}

/// What `all` or `exists` knows after a further element: the deciding value wins over errors, of which the first is kept.
fn quantified(before: Result<bool, Error>, value: Evaluated<'_>, deciding: bool) -> Result<Result<bool, Error>, Error> {
    Ok(match value {
        Ok(Value::Bool(value)) if value == deciding => Ok(deciding),
        Ok(Value::Bool(_)) => before,
        Err(error) if error.is_fatal() => return Err(error),
        Err(error) => before.and(Err(error)),
        Ok(_) => before.and_then(|_| Err(Error::no_such_overload())),
    })
}

/// True if a condition ends a loop. Errors and other values do not.
fn ends(condition: Evaluated<'_>) -> Result<bool, Error> {
    match condition {
        Ok(Value::Bool(condition)) => Ok(!condition),
        Err(error) if error.is_fatal() => Err(error),
        _ => Ok(false),
    }
}
