//! The costs of calls: by the sizes that their arguments may have, and by the arguments that they had.
//!
//! `range` is arithmetic, `path` is where values are found, and `shared` has costs that many functions share.
use crate::{Error, Type, Value, syntax::ast::Literal};

pub(crate) mod path;
mod range;
pub(crate) mod shared;

use self::path::{Path, Paths};
pub use self::range::Range;
pub(crate) use self::range::{LIST, MAP, PATTERN, STRUCT, TRAVERSAL, scaled};

/// Knows the sizes that values of documents may have.
pub trait Sizes {
    /// The size of the value at a path: the variable, then names of fields, `@items`, `@keys`, `@values`, `@indices`.
    /// It is asked for the results of calls, too, which have an empty path, or one that begins with `@items`.
    fn size(&self, path: &[&str], kind: &Type) -> Option<Range>;
}

/// A call whose cost is estimated: what is known of its arguments, the receiver first.
pub struct Call<'e> {
    pub(crate) arguments: &'e [Argument<'e>],
    pub(crate) sizes: &'e dyn Sizes,
    pub(crate) paths: &'e Paths<'e>,
}

/// What is known of an argument.
pub(crate) struct Argument<'e> {
    pub(crate) path: Path,
    pub(crate) kind: &'e Type,
    pub(crate) size: Option<Range>,
    pub(crate) literal: Option<&'e Literal>,
}

#[expect(clippy::len_without_is_empty, reason = "calls with a cost of their own have arguments")]
impl Call<'_> {
    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// The size that an argument may have.
    pub fn size(&self, argument: usize) -> Range {
        self.known_size(argument).unwrap_or(Range::UNKNOWN)
    }

    /// The size that an argument may have if anything is known of it.
    pub fn known_size(&self, argument: usize) -> Option<Range> {
        self.arguments.get(argument)?.size
    }

    /// The size that elements of an argument may have.
    pub fn element_size(&self, argument: usize) -> Range {
        self.element(argument).unwrap_or(Range::UNKNOWN)
    }

    fn element(&self, argument: usize) -> Option<Range> {
        let argument = self.arguments.get(argument)?;
        let Type::List(element) = argument.kind else { return None };
        let mut path = self.paths.names(argument.path).to_vec();
        if !path.is_empty() {
            path.push(path::ITEMS);
        }
        self.sizes.size(&path, element)
    }

    /// The type of an argument; `dyn` if it is missing.
    pub fn kind(&self, argument: usize) -> &Type {
        self.arguments.get(argument).map_or(&Type::Dyn, |argument| argument.kind)
    }

    /// An argument that is a literal.
    pub fn literal(&self, argument: usize) -> Option<&Literal> {
        self.arguments.get(argument)?.literal
    }
}

/// The estimated cost of a call, and the size of its result if anything is known of it.
#[derive(Clone, Copy, Debug)]
pub struct CallCost {
    /// The cost beyond that of the arguments.
    pub cost: Range,
    /// The size of the result.
    pub size: Option<Range>,
}

impl CallCost {
    /// A cost, with a result of unknown size.
    pub const fn of(cost: Range) -> Self {
        Self { cost, size: None }
    }

    /// With the size of the result.
    #[must_use]
    pub const fn with_size(self, size: Range) -> Self {
        Self { size: Some(size), ..self }
    }
}

/// What a call costs beyond its arguments.
#[derive(Clone, Copy)]
pub struct Cost {
    /// By the sizes that arguments may have.
    pub estimate: fn(&Call<'_>) -> CallCost,
    /// By the arguments and the result that it had.
    pub charge: fn(&[Value<'_>], Result<&Value<'_>, &Error>) -> u64,
}

impl Cost {
    /// Every call costs 1.
    pub const ONE: Self = Self { estimate: |_| CallCost::of(Range::ONE), charge: |_, _| 1 };
    /// Calls cost nothing.
    pub const ZERO: Self = Self { estimate: |_| CallCost::of(Range::ZERO), charge: |_, _| 0 };
}
