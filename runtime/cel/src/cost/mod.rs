//! The estimated cost of a checked expression.
use crate::{Checked, Type, syntax::ast::Literal};

/// A range of costs or sizes. Arithmetic saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// Knows the sizes that values of documents may have.
pub trait Sizes {
    /// The size of the value at a path: the variable, then names of fields, `@items`, `@keys`, `@values`, `@indices`.
    fn size(&self, path: &[&str], kind: &Type) -> Option<Range>;
}

/// A call whose cost is estimated: what is known of its arguments, the receiver first.
pub struct Call<'e> {
    // the author of `cost` chooses; functions read it by the methods below
    _private: std::marker::PhantomData<&'e ()>,
}

impl Call<'_> {
    /// The number of arguments.
    pub fn len(&self) -> usize {
        todo!()
    }

    /// The size that an argument may have.
    pub fn size(&self, _argument: usize) -> Range {
        todo!()
    }

    /// The size that an argument may have if anything is known of it.
    pub fn known_size(&self, _argument: usize) -> Option<Range> {
        todo!()
    }

    /// The size that elements of an argument may have.
    pub fn element_size(&self, _argument: usize) -> Range {
        todo!()
    }

    /// The type of an argument.
    pub fn kind(&self, _argument: usize) -> &Type {
        todo!()
    }

    /// An argument that is a literal.
    pub fn literal(&self, _argument: usize) -> Option<&Literal> {
        todo!()
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

impl Checked {
    /// The estimated cost of the expression.
    pub fn estimate(&self, _sizes: &dyn Sizes) -> Range {
        todo!()
    }
}
