//! Loops over lists and maps.
use super::{Evaluated, Run, Slot};
use crate::{
    Error, Value,
    program::plan::{Loop, Node, go_type},
};

impl<'a> Run<'a, '_> {
    pub(super) fn comprehension(&mut self, own: &'a Loop) -> Evaluated<'a> {
        let range = self.value(&own.range)?;
        self.slots[own.accumulator] = Slot::Pending(&own.init);
        self.iterate(own, &range)?;
        let result = self.value(&own.result);
        self.slots[own.accumulator] = Slot::Empty;
        result
    }

    fn iterate(&mut self, own: &'a Loop, range: &Value<'a>) -> Result<(), Error> {
        match range {
            Value::List(list) => {
                for (index, item) in list.iter().enumerate() {
                    let first = Ok(Value::Int(i64::try_from(index).unwrap_or(i64::MAX)));
                    let (first, second) = if own.two { (first, Some(item)) } else { (item, None) };
                    if !self.iteration(own, first, second)? {
                        break;
                    }
                }
            }
            Value::Map(map) if own.two => {
                for (key, value) in map.iter() {
                    if !self.iteration(own, Ok(key), Some(value))? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for key in map.keys() {
                    if !self.iteration(own, Ok(key), None)? {
                        break;
                    }
                }
            }
            other if own.two => {
                return Err(Error::new(format!("unsupported comprehension range type: {}", go_type(other))));
            }
            other => return Err(Error::new(format!("got '{}', expected iterable type", go_type(other)))),
        }
        for slot in &own.variables[..=usize::from(own.two)] {
            self.slots[*slot] = Slot::Empty;
        }
        Ok(())
    }

    /// Runs the body once; false if the loop ends before it.
    fn iteration(&mut self, own: &'a Loop, first: Evaluated<'a>, second: Option<Evaluated<'a>>) -> Result<bool, Error> {
        self.work(own.weight)?;
        self.slots[own.variables[0]] = Slot::Value(first);
        if let Some(second) = second {
            self.slots[own.variables[1]] = Slot::Value(second);
        }
        if !matches!(own.condition, Node::Constant(Value::Bool(true))) {
            match self.value(&own.condition) {
                Ok(Value::Bool(false)) => return Ok(false),
                Err(error) if error.is_fatal() => return Err(error),
                _ => {}
            }
        }
        let value = self.value(&own.step);
        if let Err(error) = &value
            && error.is_fatal()
        {
            return Err(error.clone());
        }
        self.slots[own.accumulator] = Slot::Value(value);
        Ok(true)
    }
}
