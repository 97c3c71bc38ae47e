//! What the parser hands to the builder of nodes: the tree of the grammar without the rules that only pass on another.
use super::token::Token;

/// A node in a [`Tree`].
pub(super) type NodeIndex = u32;

/// A parsed text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// A node. Where the text has a syntax error, nodes are missing, and lists are shorter.
#[derive(Debug)]
pub(super) enum Node {
    /// What stands where an error was.
    Missing,
    /// An operand with an error.
    Error {
        start: Token,
    },
    Conditional {
        operator: Token,
        parts: [NodeIndex; 3],
    },
    /// A chain of `&&` or `||`.
    Chain {
        first: NodeIndex,
        rest: Vec<(Token, NodeIndex)>,
    },
    Binary {
        operator: Token,
        left: NodeIndex,
        right: NodeIndex,
    },
    /// One or more `!` or `-`.
    Unary {
        operator: Token,
        count: usize,
        operand: NodeIndex,
    },
    Select {
        operand: NodeIndex,
        dot: Token,
        optional: bool,
        field: Token,
    },
    MemberCall {
        target: NodeIndex,
        name: Token,
        open: Token,
        args: Vec<NodeIndex>,
    },
    Index {
        operand: NodeIndex,
        open: Token,
        optional: bool,
        index: NodeIndex,
    },
    Ident {
        dot: Option<Token>,
        name: Token,
    },
    Call {
        dot: Option<Token>,
        name: Token,
        open: Token,
        args: Vec<NodeIndex>,
    },
    List {
        open: Token,
        elements: Vec<Element>,
    },
    Map {
        open: Token,
        entries: Vec<Entry<Element>>,
    },
    Struct {
        dot: Option<Token>,
        names: Vec<Token>,
        open: Token,
        fields: Vec<Entry<FieldName>>,
    },
    Literal {
        sign: Option<Token>,
        token: Token,
    },
}

/// An element of a list, or the key of an entry.
#[derive(Debug)]
pub(super) struct Element {
    pub question: Option<Token>,
    pub value: NodeIndex,
}

/// The name of a field; the kind of its token is `Eof` where it has an error.
#[derive(Debug)]
pub(super) struct FieldName {
    pub question: Option<Token>,
    pub name: Token,
}

/// An entry of a map or a message.
#[derive(Debug)]
pub(super) struct Entry<K> {
    pub key: K,
    pub colon: Token,
    pub value: NodeIndex,
}

impl Tree {
    pub(super) fn push(&mut self, node: Node) -> NodeIndex {
        self.nodes.push(node);
        // A source has fewer tokens than there are indexes.
        u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn node(&self, index: NodeIndex) -> &Node {
        self.nodes.get(index as usize).unwrap_or(&Node::Missing)
    }
}
