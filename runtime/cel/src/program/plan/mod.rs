//! What programs are made of. A variable with its selections and indexes is one attribute, because costs follow that form, and loop
//! variables are slots. The trees are made by the planner, and run by `run`.
use std::{cmp::Ordering, fmt, sync::Arc};

use super::Error;
use crate::{Implementation, Meter, Type, Value, value::Entries};

mod attribute;
mod call;
mod collection;
mod constant;
mod depth;
mod planner;

pub(super) use self::{
    attribute::{check_key, go_type},
    depth::{DEEPEST, depth},
    planner::Planner,
};

/// An expression. It is small, because expressions may be deep.
#[derive(Debug)]
pub(super) enum Node {
    /// A constant.
    Constant(Box<Value<'static>>),
    /// A constant that cannot be made.
    Failure(Box<Error>),
    /// A variable or the value of an expression, with selections and indexes.
    Attribute(Box<Attribute>),
    /// `a ? b : c`
    Choice(Box<Choice>),
    /// `has(a.b)`
    Has(Box<Attribute>),
    /// `a && b`
    And(Box<[Node]>),
    /// `a || b`
    Or(Box<[Node]>),
    /// `a == b`
    Equals(Box<Comparison>),
    /// `a in b`
    In(Box<Comparison>),
    /// `a in [constants]`
    Member(Box<Membership>),
    /// True unless the value is false.
    NotStrictlyFalse(Box<Node>),
    /// `a.or(b)`; `a.orValue(b)` if the flag is set.
    OptionalOr(Box<[Node; 2]>, bool),
    /// A call of a function.
    Call(Box<Call>),
    /// `[a, ?b]`
    List(Box<[Element]>),
    /// `{a: b, ?c: d}`
    Map(Box<[Entry]>),
    /// A loop.
    Loop(Box<Loop>),
    /// Values with names that are evaluated when they are first read, and an expression.
    Block(Box<Block>),
    /// What a loop adds to the list or map that it makes.
    Accumulation(Box<Accumulation>),
}

/// A value with selections and indexes.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) root: Root,
    pub(super) qualifiers: Vec<Qualifier>,
}

/// Where an attribute begins.
#[derive(Debug)]
pub(super) enum Root {
    /// A variable.
    Variable(Name),
    /// A name that was not checked: longer names first, with the number of qualifiers that are parts of the name.
    Candidates(Vec<(Vec<Name>, usize)>),
    /// An expression.
    Expression(Node),
    /// `a ? b : c`
    Choice(Box<Choice>),
}

/// `a ? b : c`
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) condition: Node,
    pub(super) left: Attribute,
    pub(super) right: Attribute,
}

/// A name that is found when the program runs.
#[derive(Clone, Debug)]
pub(super) enum Name {
    /// A variable of the evaluation.
    Global(Arc<str>),
    /// A variable of a loop.
    Slot(usize, Arc<str>),
    /// A type.
    Type(Arc<str>),
}

/// A selection or an index.
#[derive(Debug)]
pub(super) struct Qualifier {
    pub(super) key: Key,
    /// `a.?b`, `a[?b]`
    pub(super) optional: bool,
    /// It tests presence.
    pub(super) test: bool,
}

/// What is selected.
#[derive(Debug)]
pub(super) enum Key {
    Constant(Value<'static>),
    Attribute(Attribute),
    Expression(Node),
}

/// What a call costs.
pub(super) type Charge = fn(&[Value<'_>], Result<&Value<'_>, &Error>) -> u64;

/// An operator on two values that the evaluator knows.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) operands: [Node; 2],
    pub(super) negated: bool,
    pub(super) charge: Charge,
}

/// A test if a value is one of a set of constants. It is free.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) value: Node,
    pub(super) set: Entries<'static>,
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct Call {
    /// Its name.
    pub(super) function: Arc<str>,
    /// The node.
    pub(super) id: u32,
    pub(super) arguments: Box<[Node]>,
    pub(super) target: Target,
    pub(super) charge: Charge,
    /// The first argument that fails ends the call, which then costs nothing.
    pub(super) stops: bool,
    /// It compares: what is true of two whole numbers in one of these orders.
    pub(super) order: Option<[Ordering; 2]>,
}

/// What a call does.
pub(super) enum Target {
    /// One overload, with the types of its parameters if they are to be checked.
    One(Implementation, Option<Box<[Type]>>),
    /// The first overload whose parameters accept the arguments.
    First(Vec<(Implementation, Box<[Type]>)>),
    /// There is no such function.
    None,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(_, types) => f.debug_tuple("One").field(types).finish(),
            Self::First(overloads) => f.debug_list().entries(overloads.iter().map(|(_, types)| types)).finish(),
            Self::None => f.write_str("None"),
        }
    }
}

/// An element of a list.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) value: Node,
    pub(super) optional: bool,
}

/// An entry of a map.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
    pub(super) optional: bool,
}

/// A loop.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) range: Node,
    /// The slots of the element, or of index or key and value.
    pub(super) variables: [usize; 2],
    pub(super) two: bool,
    /// The slot of the result so far.
    pub(super) accumulator: usize,
    pub(super) body: Body,
    /// How much work an iteration is.
    pub(super) weight: usize,
}

/// What a loop does.
#[derive(Debug)]
pub(super) enum Body {
    /// What the parts of the loop say.
    Parts { init: Node, condition: Node, step: Node, result: Node },
    /// `all` and `exists`: the loop ends with the first element for which the predicate has the value that decides.
    Quantifier { predicate: Node, deciding: bool },
}

/// Values with names.
#[derive(Debug)]
pub(super) struct Block {
    /// The first slot.
    pub(super) first: usize,
    pub(super) values: Box<[Node]>,
    pub(super) result: Node,
}

/// An addition to the accumulator of a loop, in place.
#[derive(Debug)]
pub(super) struct Accumulation {
    pub(super) slot: usize,
    pub(super) name: Arc<str>,
    /// A list to append; or a key and a value, or a map, to insert.
    pub(super) arguments: Box<[Node]>,
    pub(super) charge: Charge,
    /// The call itself, for values that are not grown in place.
    pub(super) target: Target,
    pub(super) insert: bool,
}

impl Node {
    /// The node of a constant.
    fn constant(value: Value<'static>) -> Self {
        Self::Constant(Box::new(value))
    }

    /// True if it always has this value.
    pub(super) fn is(&self, value: bool) -> bool {
        matches!(self, Self::Constant(own) if matches!(**own, Value::Bool(own) if own == value))
    }

    /// True if the value is a constant.
    pub(super) const fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Failure(_))
    }
}

/// A meter for what is evaluated when a program is made: parts of the expression, whose length is limited.
#[derive(Debug)]
struct Planning;

impl Meter for Planning {
    fn step(&self, _steps: usize) -> bool {
        true
    }
}
