//! Tree to nodes: literals get their values, macros are expanded, chains of logical operators are balanced. Ids are given in the order of
//! cel-go, and errors are found in its order, also in a tree with syntax errors.
use std::sync::Arc;

use super::{
    Macro, Options,
    ast::{self, Expr, ExprKind, NodeId, operators},
    literal,
    macros::{self, Expander},
    token::{Token, TokenKind as K},
    tree::{Element, Entry, FieldName, Node, NodeIndex, Tree},
};
use crate::Issue;

/// The tree is too deep; the errors found so far are kept.
#[derive(Debug)]
pub(super) struct TooDeep;

type Built<T = Expr> = Result<T, TooDeep>;

/// Makes nodes.
pub(super) struct Builder<'a> {
    source: &'a str,
    tree: &'a Tree,
    options: Options,
    macros: &'a [&'a [Macro]],
    next_id: NodeId,
    depth: usize,
    issues: Vec<Issue>,
}

/// Words that cannot name variables or functions.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "null",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// True for words that cannot name variables or functions.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a str, tree: &'a Tree, options: Options, macros: &'a [&'a [Macro]]) -> Self {
        Self { source, tree, options, macros, next_id: 1, depth: 0, issues: Vec::new() }
    }

    /// A number above all ids, and the errors.
    pub(super) fn finish(self) -> (NodeId, Vec<Issue>) {
        (self.next_id, self.issues)
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> NodeId {
        self.next_id - 1
    }

    pub(super) fn id(&mut self) -> NodeId {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Ids are given again only if they are the last.
    fn release(&mut self, id: NodeId) {
        if id + 1 == self.next_id {
            self.next_id = id;
        }
    }

    fn node(&mut self, offset: u32, kind: ExprKind) -> Expr {
        Expr { id: self.id(), offset, kind }
    }

    fn report(&mut self, offset: u32, message: impl Into<String>) -> Expr {
        self.issues.push(Issue::new(offset, message));
        self.node(offset, ExprKind::Unspecified)
    }

    /// The nodes of a part of the tree.
    pub(super) fn build(&mut self, index: NodeIndex) -> Built {
        let tree = self.tree;
        match tree.node(index) {
            Node::Missing => {
                // cel-go gives them the position before the first character.
                Ok(self.node(u32::MAX, ExprKind::Unspecified))
            }
            Node::Error { start } => {
                Ok(self.node(start.offset, ExprKind::Literal(ast::Literal::String("<<error>>".into()))))
            }
            Node::Conditional { operator, parts } => self.deeper(|builder| builder.conditional(*operator, *parts)),
            Node::Chain { first, rest } => self.chain(*first, rest),
            Node::Binary { operator, left, right } => self.deeper(|builder| builder.binary(*operator, *left, *right)),
            Node::Unary { operator, count, operand } => self.unary(*operator, *count, *operand),
            Node::Select { operand, dot, optional, field } => {
                self.deeper(|builder| builder.select(*operand, *dot, *optional, *field))
            }
            Node::MemberCall { target, name, open, args } => {
                self.deeper(|builder| builder.member_call(*target, *name, *open, args))
            }
            Node::Index { operand, open, optional, index } => {
                self.deeper(|builder| builder.index(*operand, *open, *optional, *index))
            }
            Node::Ident { dot, name } => Ok(self.ident(*dot, *name)),
            Node::Call { dot, name, open, args } => self.call(*dot, *name, *open, args),
            Node::List { open, elements } => self.list(*open, elements),
            Node::Map { open, entries } => self.map(*open, entries),
            Node::Struct { dot, names, open, fields } => self.message(*dot, names, *open, fields),
            Node::Literal { sign, token } => Ok(self.literal(*sign, *token)),
        }
    }

    /// Operators, selections, indexes and member calls count as levels; what the grammar nests otherwise is limited by the parser.
    fn deeper(&mut self, build: impl FnOnce(&mut Self) -> Built) -> Built {
        if self.depth == self.options.limits.recursion {
            return Err(TooDeep);
        }
        self.depth += 1;
        let built = build(self);
        self.depth -= 1;
        built
    }

    fn conditional(&mut self, operator: Token, parts: [NodeIndex; 3]) -> Built {
        let condition = self.build(parts[0])?;
        let id = self.id();
        let args = vec![condition, self.build(parts[1])?, self.build(parts[2])?];
        Ok(call(id, operator.offset, operators::CONDITIONAL, args))
    }

    fn binary(&mut self, operator: Token, left: NodeIndex, right: NodeIndex) -> Built {
        let left = self.build(left)?;
        let id = self.id();
        let right = self.build(right)?;
        Ok(call(id, operator.offset, binary_operator(operator.kind), vec![left, right]))
    }

    fn chain(&mut self, first: NodeIndex, rest: &[(Token, NodeIndex)]) -> Built {
        let function = if rest[0].0.kind == K::Or { operators::OR } else { operators::AND };
        let mut terms = vec![Some(self.build(first)?)];
        let mut ids = Vec::with_capacity(rest.len());
        for (operator, term) in rest {
            terms.push(Some(self.build(*term)?));
            ids.push((self.id(), operator.offset));
        }
        Ok(balance(&function.into(), &mut terms, &ids))
    }

    fn unary(&mut self, operator: Token, count: usize, operand: NodeIndex) -> Built {
        if count.is_multiple_of(2) {
            return self.build(operand);
        }
        let id = self.id();
        let function = if operator.kind == K::Not { operators::NOT } else { operators::NEGATE };
        Ok(call(id, operator.offset, function, vec![self.build(operand)?]))
    }

    fn select(&mut self, operand: NodeIndex, dot: Token, optional: bool, field: Token) -> Built {
        let operand = self.build(operand)?;
        let name = self.field_name(field).unwrap_or_else(|message| {
            self.report(field.offset, message);
            ""
        });
        let name = Arc::from(name);
        if !optional {
            let operand = Box::new(operand);
            return Ok(self.node(dot.offset, ExprKind::Select { operand, field: name, test_only: false }));
        }
        if !self.options.optional {
            return Ok(self.report(dot.offset, "unsupported syntax '.?'"));
        }
        let name = self.node(field.offset, ExprKind::Literal(ast::Literal::String(name)));
        let id = self.id();
        Ok(call(id, dot.offset, operators::OPTIONAL_SELECT, vec![operand, name]))
    }

    /// The name of a field, without its backticks.
    fn field_name(&self, name: Token) -> Result<&'a str, &'static str> {
        let text = name.text(self.source);
        match name.kind {
            K::Ident => return Ok(text),
            K::EscapedIdent => {}
            _ => return Err("unsupported ident kind"),
        }
        if !self.options.escaped_identifiers {
            return Err("unsupported syntax: '`'");
        }
        Ok(&text[1..text.len() - 1])
    }

    fn member_call(&mut self, target: NodeIndex, name: Token, open: Token, args: &[NodeIndex]) -> Built {
        let target = self.build(target)?;
        let id = self.id();
        let args = self.args(args)?;
        Ok(self.expand(id, open.offset, name.text(self.source), Some(target), args))
    }

    fn args(&mut self, args: &[NodeIndex]) -> Built<Vec<Expr>> {
        args.iter().map(|arg| self.build(*arg)).collect()
    }

    fn index(&mut self, operand: NodeIndex, open: Token, optional: bool, index: NodeIndex) -> Built {
        let operand = self.build(operand)?;
        let id = self.id();
        let index = self.build(index)?;
        if optional && !self.options.optional {
            return Ok(self.report(open.offset, "unsupported syntax '[?'"));
        }
        let function = if optional { operators::OPTIONAL_INDEX } else { operators::INDEX };
        Ok(call(id, open.offset, function, vec![operand, index]))
    }

    /// The name of a variable or function, with its dot; an error if it is reserved.
    fn name(&mut self, dot: Option<Token>, name: Token) -> Result<String, Expr> {
        let text = name.text(self.source);
        if is_reserved(text) {
            return Err(self.report(dot.unwrap_or(name).offset, format!("reserved identifier: {text}")));
        }
        Ok(format!("{}{text}", if dot.is_some() { "." } else { "" }))
    }

    fn ident(&mut self, dot: Option<Token>, name: Token) -> Expr {
        match self.name(dot, name) {
            Ok(text) => self.node(name.offset, ExprKind::Ident(text.into())),
            Err(reported) => reported,
        }
    }

    fn call(&mut self, dot: Option<Token>, name: Token, open: Token, args: &[NodeIndex]) -> Built {
        let name = match self.name(dot, name) {
            Ok(name) => name,
            Err(reported) => return Ok(reported),
        };
        let id = self.id();
        let args = self.args(args)?;
        Ok(self.expand(id, open.offset, &name, None, args))
    }

    /// A call, or what a macro makes of it.
    fn expand(&mut self, id: NodeId, offset: u32, name: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        let Some(expansion) = macros::find(self.macros, name, target.as_ref(), args.len()) else {
            let target = target.map(Box::new);
            return Expr { id, offset, kind: ExprKind::Call { target, function: name.into(), args } };
        };
        let expanded = (expansion.expand)(&mut Expander::new(self, offset), target, args);
        self.release(id);
        expanded.unwrap_or_else(|issue| {
            let offset = issue.offset.unwrap_or(offset);
            self.report(offset, issue.message)
        })
    }

    fn list(&mut self, open: Token, elements: &[Element]) -> Built {
        let id = self.id();
        let mut built = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.build(element.value)?;
            let optional = element.question.is_some();
            self.check_optional(element.question);
            built.push(ast::Element { value, optional });
        }
        Ok(Expr { id, offset: open.offset, kind: ExprKind::List(built) })
    }

    /// If what has a question mark is supported.
    fn check_optional(&mut self, question: Option<Token>) -> bool {
        let Some(question) = question.filter(|_| !self.options.optional) else { return true };
        self.report(question.offset, "unsupported syntax '?'");
        false
    }

    fn map(&mut self, open: Token, entries: &[Entry<Element>]) -> Built {
        let id = self.id();
        let mut built = Vec::with_capacity(entries.len());
        for Entry { key, colon, value } in entries {
            let id = self.id();
            if !self.check_optional(key.question) {
                continue;
            }
            let optional = key.question.is_some();
            let key = self.build(key.value)?;
            built.push(ast::Entry { id, offset: colon.offset, key, value: self.build(*value)?, optional });
        }
        Ok(Expr { id, offset: open.offset, kind: ExprKind::Map(built) })
    }

    fn message(&mut self, dot: Option<Token>, names: &[Token], open: Token, fields: &[Entry<FieldName>]) -> Built {
        let id = self.id();
        let names: Vec<_> = names.iter().map(|name| name.text(self.source)).collect();
        let name = format!("{}{}", if dot.is_some() { "." } else { "" }, names.join("."));
        let first = fields.first().map(|field| field.key.question.unwrap_or(field.key.name));
        let mut built = Vec::with_capacity(fields.len());
        for Entry { key, colon, value } in fields {
            let id = self.id();
            if !self.check_optional(key.question) {
                continue;
            }
            match self.field_name(key.name) {
                Ok(name) => {
                    let (name, optional) = (name.into(), key.question.is_some());
                    built.push(ast::Field { id, offset: colon.offset, name, value: self.build(*value)?, optional });
                }
                // cel-go reports it at the first of the fields.
                Err(message) => drop(self.report(first.map_or(open.offset, |first| first.offset), message)),
            }
        }
        Ok(Expr { id, offset: open.offset, kind: ExprKind::Struct { name: name.into(), fields: built } })
    }

    fn literal(&mut self, sign: Option<Token>, token: Token) -> Expr {
        let offset = sign.unwrap_or(token).offset;
        match literal::value(token, sign.is_some(), self.source) {
            Ok(value) => self.node(offset, ExprKind::Literal(value)),
            Err(message) => self.report(offset, message),
        }
    }
}

fn call(id: NodeId, offset: u32, function: &str, args: Vec<Expr>) -> Expr {
    Expr { id, offset, kind: ExprKind::Call { target: None, function: function.into(), args } }
}

/// A balanced tree of a chain of operators. The terms are taken.
fn balance(function: &Arc<str>, terms: &mut [Option<Expr>], operators: &[(NodeId, u32)]) -> Expr {
    if operators.is_empty() {
        return terms[0].take().expect("each term is taken once");
    }
    let middle = operators.len() / 2;
    let (id, offset) = operators[middle];
    let (left, right) = terms.split_at_mut(middle + 1);
    let args = vec![balance(function, left, &operators[..middle]), balance(function, right, &operators[middle + 1..])];
    Expr { id, offset, kind: ExprKind::Call { target: None, function: function.clone(), args } }
}

fn binary_operator(kind: K) -> &'static str {
    match kind {
        K::Equals => operators::EQUALS,
        K::NotEquals => operators::NOT_EQUALS,
        K::In => operators::IN,
        K::Less => operators::LESS,
        K::LessEquals => operators::LESS_EQUALS,
        K::GreaterEquals => operators::GREATER_EQUALS,
        K::Greater => operators::GREATER,
        K::Plus => operators::ADD,
        K::Minus => operators::SUBTRACT,
        K::Star => operators::MULTIPLY,
        K::Slash => operators::DIVIDE,
        _ => operators::MODULO,
    }
}
