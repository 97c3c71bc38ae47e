//! The syntax tree.
use std::sync::Arc;

/// Identifies a node within its tree, from 1.
pub type NodeId = u32;

/// A parsed expression. The tree may be deeper than the limit of the parser: macros and chains of operators add levels of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    /// The root.
    pub root: Expr,
    /// All ids are below.
    pub ids: NodeId,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Identifies the node.
    pub id: NodeId,
    /// Its position in code points from the beginning of the source: of an operator its sign, of a selection the dot, of a call and what
    /// macros make the parenthesis, of an index, a list or a map its bracket.
    pub offset: u32,
    /// The kind of expression.
    pub kind: ExprKind,
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// What stands where an error was.
    Unspecified,
    /// A literal.
    Literal(Literal),
    /// A variable or the name of a type; with a leading dot if it is absolute.
    Ident(Arc<str>),
    /// `operand.field`, or `has(operand.field)`.
    Select {
        /// What has the field.
        operand: Box<Expr>,
        /// The name of the field.
        field: Arc<str>,
        /// It tests if the field is present.
        test_only: bool,
    },
    /// A call; operators have the names of [`operators`].
    Call {
        /// The receiver of a member call.
        target: Option<Box<Expr>>,
        /// The name.
        function: Arc<str>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[a, ?b]`
    List(Vec<Element>),
    /// `{a: b, ?c: d}`
    Map(Vec<Entry>),
    /// `Name{field: value}`
    Struct {
        /// The name of the type.
        name: Arc<str>,
        /// The fields.
        fields: Vec<Field>,
    },
    /// A loop, which macros make.
    Comprehension(Box<Comprehension>),
}

/// An element of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The value.
    pub value: Expr,
    /// The value is optional: there is no element if it is absent.
    pub optional: bool,
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Identifies the entry.
    pub id: NodeId,
    /// The position of its colon.
    pub offset: u32,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// The value is optional: there is no entry if it is absent.
    pub optional: bool,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Identifies the field.
    pub id: NodeId,
    /// The position of its colon.
    pub offset: u32,
    /// Its name.
    pub name: Arc<str>,
    /// The value.
    pub value: Expr,
    /// The value is optional: the field is not set if it is absent.
    pub optional: bool,
}

/// A loop over a list or the keys of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// What it loops over.
    pub range: Expr,
    /// The variable of the element, or of the index or key if there are two.
    pub variable: Arc<str>,
    /// The variable of the element or value, if there are two.
    pub second: Option<Arc<str>>,
    /// The variable of the result so far.
    pub accumulator: Arc<str>,
    /// Its first value.
    pub init: Expr,
    /// The loop ends when this is false.
    pub condition: Expr,
    /// The next value of the accumulator.
    pub step: Expr,
    /// The result.
    pub result: Expr,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `"a"`
    String(Arc<str>),
    /// `b"a"`
    Bytes(Arc<[u8]>),
}

/// The names under which operators are called.
pub mod operators {
    /// `a ? b : c`
    pub const CONDITIONAL: &str = "_?_:_";
    /// `a && b`
    pub const AND: &str = "_&&_";
    /// `a || b`
    pub const OR: &str = "_||_";
    /// `!a`
    pub const NOT: &str = "!_";
    /// `a == b`
    pub const EQUALS: &str = "_==_";
    /// `a != b`
    pub const NOT_EQUALS: &str = "_!=_";
    /// `a < b`
    pub const LESS: &str = "_<_";
    /// `a <= b`
    pub const LESS_EQUALS: &str = "_<=_";
    /// `a > b`
    pub const GREATER: &str = "_>_";
    /// `a >= b`
    pub const GREATER_EQUALS: &str = "_>=_";
    /// `a + b`
    pub const ADD: &str = "_+_";
    /// `a - b`
    pub const SUBTRACT: &str = "_-_";
    /// `a * b`
    pub const MULTIPLY: &str = "_*_";
    /// `a / b`
    pub const DIVIDE: &str = "_/_";
    /// `a % b`
    pub const MODULO: &str = "_%_";
    /// `-a`
    pub const NEGATE: &str = "-_";
    /// `a[b]`
    pub const INDEX: &str = "_[_]";
    /// `a[?b]`
    pub const OPTIONAL_INDEX: &str = "_[?_]";
    /// `a.?b`
    pub const OPTIONAL_SELECT: &str = "_?._";
    /// `a in b`
    pub const IN: &str = "@in";
    /// The test of loops: true unless the value is false.
    pub const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    /// The variable of the result of a loop.
    pub const ACCUMULATOR: &str = "@result";
    /// The variable of a loop that has none of its own (`cel.bind`).
    pub const UNUSED: &str = "#unused";
}
