//! `sort` and `sortBy`.
use std::cmp::Ordering;

use crate::{Error, Meter, Value, library::extensions::grow_list, value::List};

/// The elements of a list in the order of their keys. Elements with equal keys keep their order.
pub(super) fn sorted<'a>(list: &List<'a>, keys: &List<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    if list.len() != keys.len() {
        return Err(Error::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    grow_list(meter, 0, keys.len())?;
    let keys = keys.iter().collect::<Result<Vec<_>, _>>()?;
    let Some(first) = keys.first() else { return Ok(Value::List(list.clone())) };
    if !first.is_ordered() {
        return Err(Error::new("list elements must be comparable"));
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Error::new("list elements must have the same type"));
    }
    let mut positions: Vec<usize> = (0..keys.len()).collect();
    let longest = keys.iter().map(|key| if let Value::String(text) = key { text.len() } else { 0 }).max().unwrap_or(0);
    let comparisons = keys.len().saturating_mul(keys.len().ilog2() as usize);
    meter.spend(comparisons.saturating_mul(1 + longest / 512))?;
    // NaN is not less than other numbers, nor are they less: it stays where it is, and parts what is sorted.
    for run in positions.split_mut(|position| matches!(keys[*position], Value::Double(key) if key.is_nan())) {
        run.sort_by(|left, right| keys[*left].compare(&keys[*right]).unwrap_or(Ordering::Equal));
    }
    positions.iter().filter_map(|position| list.get(*position)).collect::<Result<_, _>>().map(Value::list)
}
