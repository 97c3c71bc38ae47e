//! The matched parts of a rule, and the node that it makes of them.
use super::{
    super::{
        token::{Token, TokenKind as K},
        tree::{Element, Entry, FieldName, Node, NodeIndex, Tree},
    },
    grammar::Rule,
};

/// The matched parts of a rule.
#[derive(Debug)]
pub(super) struct Shape {
    rule: Rule,
    /// The token at which it began.
    start: Token,
    /// The alternative that was chosen.
    alternative: Option<usize>,
    children: Vec<Child>,
}

/// A token, or what another rule has made.
#[derive(Debug)]
pub(super) enum Child {
    Token(Token),
    Node(NodeIndex),
    Arguments(Vec<NodeIndex>),
    Element(Element),
    Elements(Vec<Element>),
    Entries(Vec<Entry<Element>>),
    Field(FieldName),
    Fields(Vec<Entry<FieldName>>),
    Name(Token),
}

/// The index of no node.
const MISSING: NodeIndex = NodeIndex::MAX;

impl Child {
    pub(super) fn node(&self) -> NodeIndex {
        if let Self::Node(node) = self { *node } else { MISSING }
    }
}

impl Shape {
    pub(super) fn new(rule: Rule, start: Token) -> Self {
        Self { rule, start, alternative: None, children: Vec::new() }
    }

    pub(super) fn push(&mut self, child: Child) {
        self.children.push(child);
    }

    /// An alternative was chosen; of a member it is the next suffix.
    pub(super) fn choose(&mut self, alternative: usize, tree: &mut Tree) {
        if self.rule == Rule::Member {
            let member = self.member(tree);
            self.children = vec![Child::Node(member)];
        }
        self.alternative = Some(alternative);
    }

    pub(super) fn finish(mut self, tree: &mut Tree) -> Child {
        let node = match self.rule {
            Rule::Start => self.node(0),
            Rule::Expression => match self.token(K::Question) {
                Some(operator) => {
                    tree.push(Node::Conditional { operator, parts: [self.node(0), self.node(1), self.node(2)] })
                }
                None => self.node(0),
            },
            Rule::Or | Rule::And => self.chain(tree),
            Rule::Relation | Rule::Calculation => self.binary(tree),
            Rule::Unary => self.unary(tree),
            Rule::Member => self.member(tree),
            Rule::Primary => self.primary(tree),
            Rule::Literal => self.literal(tree),
            Rule::Arguments => return Child::Arguments(self.nodes().collect()),
            Rule::Name => {
                let broken = Token { kind: K::Eof, ..self.start };
                return Child::Name(self.tokens().next().unwrap_or(broken));
            }
            Rule::Element => return Child::Element(Element { question: self.token(K::Question), value: self.node(0) }),
            Rule::Field => {
                let name = self.name();
                return Child::Field(FieldName { question: self.token(K::Question), name });
            }
            Rule::Elements => {
                let elements = self.children.into_iter();
                return Child::Elements(elements.filter_map(element).collect());
            }
            Rule::Entries => return Child::Entries(entries(self.children, element)),
            Rule::Fields => {
                return Child::Fields(entries(self.children, |child| match child {
                    Child::Field(field) => Some(field),
                    _ => None,
                }));
            }
        };
        self.children.clear();
        Child::Node(node)
    }

    fn tokens(&self) -> impl Iterator<Item = Token> {
        self.children.iter().filter_map(|child| if let Child::Token(token) = child { Some(*token) } else { None })
    }

    fn token(&self, kind: K) -> Option<Token> {
        self.tokens().find(|token| token.kind == kind)
    }

    fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.children.iter().filter_map(|child| if let Child::Node(node) = child { Some(*node) } else { None })
    }

    fn node(&self, number: usize) -> NodeIndex {
        self.nodes().nth(number).unwrap_or(MISSING)
    }

    /// The name of a field; the end of the text stands for one with an error.
    fn name(&self) -> Token {
        let name =
            self.children.iter().find_map(|child| if let Child::Name(name) = child { Some(*name) } else { None });
        name.unwrap_or(Token { kind: K::Eof, ..self.start })
    }

    /// The result of another rule.
    fn take<T>(&mut self, list: fn(Child) -> Option<Vec<T>>) -> Vec<T> {
        self.children.drain(..).find_map(list).unwrap_or_default()
    }

    fn arguments(&mut self) -> Vec<NodeIndex> {
        self.take(|child| if let Child::Arguments(arguments) = child { Some(arguments) } else { None })
    }

    fn chain(&self, tree: &mut Tree) -> NodeIndex {
        let rest: Vec<_> = self.tokens().zip(self.nodes().skip(1)).collect();
        let first = self.node(0);
        if rest.is_empty() { first } else { tree.push(Node::Chain { first, rest }) }
    }

    fn binary(&self, tree: &mut Tree) -> NodeIndex {
        self.tokens()
            .zip(self.nodes().skip(1))
            .fold(self.node(0), |left, (operator, right)| tree.push(Node::Binary { operator, left, right }))
    }

    fn unary(&self, tree: &mut Tree) -> NodeIndex {
        match (self.alternative, self.tokens().next()) {
            (None, _) => tree.push(Node::Error { start: self.start }),
            (Some(_), Some(operator)) => {
                tree.push(Node::Unary { operator, count: self.tokens().count(), operand: self.node(0) })
            }
            (Some(_), None) => self.node(0),
        }
    }

    /// A member with its last suffix.
    fn member(&mut self, tree: &mut Tree) -> NodeIndex {
        let operand = self.node(0);
        let node = match self.alternative {
            None => return operand,
            Some(0) => self.token(K::Dot).map(|dot| {
                let optional = self.token(K::Question).is_some();
                Node::Select { operand, dot, optional, field: self.name() }
            }),
            Some(1) => self.token(K::Ident).zip(self.token(K::LeftParen)).map(|(name, open)| Node::MemberCall {
                target: operand,
                name,
                open,
                args: self.arguments(),
            }),
            Some(_) => self.token(K::LeftBracket).map(|open| {
                let optional = self.token(K::Question).is_some();
                Node::Index { operand, open, optional, index: self.node(1) }
            }),
        };
        node.map_or(MISSING, |node| tree.push(node))
    }

    fn primary(&mut self, tree: &mut Tree) -> NodeIndex {
        let dot = self.tokens().next().filter(|token| token.kind == K::Dot);
        let node = match self.alternative {
            None => None,
            Some(0) => self.token(K::Ident).map(|name| Node::Ident { dot, name }),
            Some(1) => self.token(K::Ident).zip(self.token(K::LeftParen)).map(|(name, open)| Node::Call {
                dot,
                name,
                open,
                args: self.arguments(),
            }),
            Some(3) => self.token(K::LeftBracket).map(|open| {
                let elements =
                    self.take(|child| if let Child::Elements(elements) = child { Some(elements) } else { None });
                Node::List { open, elements }
            }),
            Some(4) => self.token(K::LeftBrace).map(|open| {
                let entries = self.take(|child| if let Child::Entries(entries) = child { Some(entries) } else { None });
                Node::Map { open, entries }
            }),
            Some(5) => self.token(K::LeftBrace).map(|open| {
                let names = self.tokens().filter(|token| token.kind == K::Ident).collect();
                let fields = self.take(|child| if let Child::Fields(fields) = child { Some(fields) } else { None });
                Node::Struct { dot, names, open, fields }
            }),
            Some(_) => return self.node(0),
        };
        node.map_or(MISSING, |node| tree.push(node))
    }

    fn literal(&self, tree: &mut Tree) -> NodeIndex {
        let mut tokens = self.tokens();
        let (first, second) = (tokens.next(), tokens.next());
        let Some(token) = second.or(first) else { return MISSING };
        tree.push(Node::Literal { sign: second.and(first), token })
    }
}

fn element(child: Child) -> Option<Element> {
    if let Child::Element(element) = child { Some(element) } else { None }
}

/// The entries that have key, colon and value.
fn entries<T>(children: Vec<Child>, key: impl Fn(Child) -> Option<T>) -> Vec<Entry<T>> {
    let mut entries = Vec::new();
    let (mut next_key, mut next_colon) = (None, None);
    for child in children {
        match child {
            Child::Token(token) => next_colon = (token.kind == K::Colon).then_some(token),
            Child::Node(value) => {
                if let Some((key, colon)) = next_key.take().zip(next_colon.take()) {
                    entries.push(Entry { key, colon, value });
                }
            }
            other => next_key = key(other),
        }
    }
    entries
}
