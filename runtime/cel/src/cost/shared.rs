//! Costs that many functions share.
//!
//! In each the first argument is the receiver, if there is one.
use super::{
    Call, CallCost, Cost, Range,
    range::{PATTERN, TRAVERSAL, scaled},
};
use crate::{Error, Type, Value};

/// The first argument is read: `size × 0.1`. Nothing is known of the result.
pub(crate) const READ: Cost = Cost { estimate: |call| CallCost::of(read(call, 0)), charge: |args, _| charged(args, 0) };

/// The first argument is read twice: `size × 0.2`.
pub(crate) const READ_TWICE: Cost = Cost {
    estimate: |call| CallCost::of(call.size(0).scaled(2.0 * TRAVERSAL)),
    charge: |args, _| scaled(size(args, 0), 2.0 * TRAVERSAL),
};

/// The first argument is read, and the result has its size.
pub(crate) const TRANSFORM: Cost =
    Cost { estimate: |call| CallCost::of(read(call, 0)).with_size(call.size(0)), charge: READ.charge };

/// As [`READ`] when it runs, but estimated by the size of the *second* argument: `startsWith`, `endsWith`.
pub(crate) const AFFIX: Cost = Cost { estimate: |call| CallCost::of(read(call, 1)), charge: READ.charge };

/// A text is searched for another: `(size × 0.1) × (size × 0.1)`.
pub(crate) const SEARCH: Cost = Cost {
    estimate: |call| CallCost::of(read(call, 0).times(read(call, 1))),
    charge: |args, _| charged(args, 0).saturating_mul(charged(args, 1)),
};

/// A text is matched with a regular expression: `((size + 1) × 0.1) × (size × 0.25)`.
pub(crate) const MATCH: Cost = Cost { estimate: |call| CallCost::of(matched(call)), charge: charge_match };

/// As [`MATCH`], and the result is at most as long as the text: `find`, `findAll`.
pub(crate) const FIND: Cost = Cost {
    estimate: |call| CallCost::of(matched(call)).with_size(Range::new(0, call.size(0).max)),
    charge: charge_match,
};

/// Two texts are put together, or bytes.
pub(crate) const CONCATENATE: Cost = Cost {
    estimate: |call| {
        let size = call.size(0).plus(call.size(1));
        CallCost::of(size.scaled(TRAVERSAL)).with_size(size)
    },
    charge: |args, _| scaled(size(args, 0).saturating_add(size(args, 1)), TRAVERSAL),
};

/// Two lists are put together, at a cost of 1.
pub(crate) const JOIN_LISTS: Cost = Cost {
    estimate: |call| CallCost::of(Range::ONE).with_size(call.size(0).plus(call.size(1))),
    charge: Cost::ONE.charge,
};

/// A list, the second argument, is searched.
pub(crate) const MEMBER: Cost =
    Cost { estimate: |call| CallCost::of(call.size(1).scaled(1.0)), charge: |args, _| size(args, 1) };

/// Two values are compared: the smaller size × 0.1. Also for the order of texts and bytes, and for `!=`.
pub(crate) const COMPARE: Cost = Cost { estimate: |call| CallCost::of(compared(call)), charge: charge_compare };

/// `==`. Kubernetes' own types have fixed costs.
pub(crate) const EQUALS: Cost = Cost {
    estimate: |call| CallCost::of(own_equality(call).unwrap_or_else(|| compared(call))),
    charge: |args, result| match args.first() {
        Some(Value::Opaque(_)) => 1,
        _ => charge_compare(args, result),
    },
};

/// `list.isSorted()`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, and the latter two of texts.
pub(crate) const TRAVERSE: Cost = Cost { estimate: |call| CallCost::of(traversed(call)), charge: charge_traversal };

/// What reading an argument costs.
pub(crate) fn read(call: &Call<'_>, argument: usize) -> Range {
    call.size(argument).scaled(TRAVERSAL)
}

/// What reading an argument costs when it runs.
pub(crate) fn charged(args: &[Value<'_>], argument: usize) -> u64 {
    scaled(size(args, argument), TRAVERSAL)
}

/// The size of an argument.
pub(crate) fn size(args: &[Value<'_>], argument: usize) -> u64 {
    args.get(argument).map_or(0, Value::size)
}

fn matched(call: &Call<'_>) -> Range {
    call.size(0).plus(Range::ONE).scaled(TRAVERSAL).times(call.size(1).scaled(PATTERN))
}

fn charge_match(args: &[Value<'_>], _result: Result<&Value<'_>, &Error>) -> u64 {
    let text = scaled(size(args, 0).saturating_add(1), TRAVERSAL);
    text.saturating_mul(scaled(size(args, 1), PATTERN))
}

fn compared(call: &Call<'_>) -> Range {
    let most = call.size(0).max.min(call.size(1).max);
    Range::new(most.min(1), most).scaled(TRAVERSAL)
}

fn charge_compare(args: &[Value<'_>], _result: Result<&Value<'_>, &Error>) -> u64 {
    scaled(size(args, 0).min(size(args, 1)), TRAVERSAL)
}

/// What `==` of two values of the same type of Kubernetes costs.
fn own_equality(call: &Call<'_>) -> Option<Range> {
    if call.kind(0) != call.kind(1) {
        return None;
    }
    let (Type::Opaque(name, _) | Type::Struct(name)) = call.kind(0) else { return None };
    match &**name {
        "net.IP"
        | "net.CIDR"
        | "kubernetes.Quantity"
        | "kubernetes.Semver"
        | "kubernetes.authorization.Authorizer"
        | "kubernetes.authorization.PathCheck"
        | "kubernetes.authorization.GroupCheck"
        | "kubernetes.authorization.ResourceCheck"
        | "kubernetes.authorization.Decision" => Some(Range::ONE),
        "kubernetes.NamedFormat" => Some(Range::new(1, 64).scaled(TRAVERSAL)),
        // The size of the right side alone counts, as in cel-go.
        "kubernetes.URL" => Some(Range::new(1, call.known_size(1).map_or(1, |size| size.max)).scaled(TRAVERSAL)),
        _ => None,
    }
}

fn traversed(call: &Call<'_>) -> Range {
    match call.kind(0) {
        Type::List(element) => {
            let each = match **element {
                Type::String | Type::Bytes => Range::ONE.plus(call.element_size(0).scaled(TRAVERSAL)),
                _ => Range::ONE,
            };
            call.size(0).times(each)
        }
        _ => read(call, 0),
    }
}

fn charge_traversal(args: &[Value<'_>], _result: Result<&Value<'_>, &Error>) -> u64 {
    args.first().map_or(0, |value| traversal(value, 0, &mut { MOST_VISITS }))
}

/// So many parts are visited: a value of a few parts may have another one many times in it.
const MOST_VISITS: u32 = 2 << 20;

/// What visiting all parts of a value costs. Texts are counted in bytes and rounded down, each for itself.
fn traversal(value: &Value<'_>, depth: usize, visits: &mut u32) -> u64 {
    let Some(left) = visits.checked_sub(1) else { return u64::MAX };
    *visits = left;
    if depth > Value::DEEPEST {
        return 1;
    }
    let mut cost = 0_u64;
    let mut add = |part: Result<Value<'_>, Error>| {
        cost = cost.saturating_add(part.map_or(1, |part| traversal(&part, depth + 1, visits)));
        cost < u64::MAX
    };
    match value {
        Value::String(text) => return floor(text.len()),
        Value::Bytes(bytes) => return floor(bytes.len()),
        Value::List(list) => _ = list.iter().all(&mut add),
        Value::Map(map) => _ = map.iter().all(|(key, value)| add(Ok(key)) && add(value)),
        _ => return 1,
    }
    cost
}

/// A tenth, rounded down as cel-go rounds it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "cel-go calculates in doubles"
)]
fn floor(bytes: usize) -> u64 {
    (bytes as f64 * TRAVERSAL) as u64
}
