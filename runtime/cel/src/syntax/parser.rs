//! Tokens to tree, by recursive descent: for texts without syntax errors. It gives up at the first one; `recovery` finds the messages.
use super::{
    lexer::Lexer,
    token::{Token, TokenKind as K},
    tree::{Element, Entry, FieldName, Node, NodeIndex, Tree},
};

/// The text has a syntax error, or is nested too deep.
#[derive(Debug)]
pub(super) struct SyntaxError;

type Parsed<T = NodeIndex> = Result<T, SyntaxError>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    tree: Tree,
    /// How many of the rules that can nest are being parsed: expressions, relations and sums.
    depth: [usize; 3],
    limit: usize,
}

const EXPRESSION: usize = 0;
const RELATION: usize = 1;
const CALCULATION: usize = 2;

/// Parses a text; the root is with the tree.
pub(super) fn parse(text: &str, recursion: usize) -> Parsed<(Tree, NodeIndex)> {
    let mut lexer = Lexer::new(text);
    let token = next(&mut lexer)?;
    let mut parser = Parser { lexer, token, tree: Tree::default(), depth: [0; 3], limit: recursion };
    let root = parser.expression()?;
    if parser.token.kind == K::Eof { Ok((parser.tree, root)) } else { Err(SyntaxError) }
}

fn next(lexer: &mut Lexer<'_>) -> Parsed<Token> {
    loop {
        let token = lexer.next().map_err(|_| SyntaxError)?;
        if !token.is_hidden() {
            return Ok(token);
        }
    }
}

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<Token> {
        Ok(std::mem::replace(&mut self.token, next(&mut self.lexer)?))
    }

    fn take(&mut self, kind: K) -> Parsed<Option<Token>> {
        if self.token.kind == kind { self.advance().map(Some) } else { Ok(None) }
    }

    fn expect(&mut self, kind: K) -> Parsed<Token> {
        self.take(kind)?.ok_or(SyntaxError)
    }

    /// Parses a rule that can nest.
    fn nested(&mut self, rule: usize, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth[rule] == self.limit {
            return Err(SyntaxError);
        }
        self.depth[rule] += 1;
        let parsed = parse(self);
        self.depth[rule] -= 1;
        parsed
    }

    fn expression(&mut self) -> Parsed {
        self.nested(EXPRESSION, |parser| {
            let condition = parser.or()?;
            let Some(operator) = parser.take(K::Question)? else { return Ok(condition) };
            let then = parser.or()?;
            parser.expect(K::Colon)?;
            let otherwise = parser.expression()?;
            Ok(parser.tree.push(Node::Conditional { operator, parts: [condition, then, otherwise] }))
        })
    }

    fn or(&mut self) -> Parsed {
        self.chain(K::Or, Self::and)
    }

    fn and(&mut self) -> Parsed {
        self.chain(K::And, |parser| parser.relation(true))
    }

    fn chain(&mut self, operator: K, term: impl Fn(&mut Self) -> Parsed) -> Parsed {
        let first = term(self)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.take(operator)? {
            rest.push((operator, term(self)?));
        }
        if rest.is_empty() { Ok(first) } else { Ok(self.tree.push(Node::Chain { first, rest })) }
    }

    /// A calculation, or relations of calculations; on the right side of an operator only the former.
    fn relation(&mut self, operators: bool) -> Parsed {
        self.nested(RELATION, |parser| {
            let mut left = parser.calculation(1)?;
            while operators && (K::Equals..=K::Greater).contains(&parser.token.kind) {
                let operator = parser.advance()?;
                let right = parser.relation(false)?;
                left = parser.tree.push(Node::Binary { operator, left, right });
            }
            Ok(left)
        })
    }

    /// Operands and operators of at least a precedence.
    fn calculation(&mut self, least: u8) -> Parsed {
        self.nested(CALCULATION, |parser| {
            let mut left = parser.unary()?;
            loop {
                let precedence = match parser.token.kind {
                    K::Plus | K::Minus => 1,
                    K::Star | K::Slash | K::Percent => 2,
                    _ => return Ok(left),
                };
                if precedence < least {
                    return Ok(left);
                }
                let operator = parser.advance()?;
                let right = parser.calculation(precedence + 1)?;
                left = parser.tree.push(Node::Binary { operator, left, right });
            }
        })
    }

    fn unary(&mut self) -> Parsed {
        if !matches!(self.token.kind, K::Not | K::Minus) {
            return self.member(None);
        }
        let operator = self.advance()?;
        if operator.kind == K::Minus && matches!(self.token.kind, K::Int | K::Float) {
            return self.member(Some(operator));
        }
        let mut count = 1;
        while self.take(operator.kind)?.is_some() {
            count += 1;
        }
        // A sign may come between `!` and a number.
        let sign = if operator.kind == K::Not { self.take(K::Minus)? } else { None };
        let operand = self.member(sign)?;
        Ok(self.tree.push(Node::Unary { operator, count, operand }))
    }

    /// An operand with its selections, calls and indexes. Where there is a sign, it is a number.
    fn member(&mut self, sign: Option<Token>) -> Parsed {
        // A name with dots, as long as it is nothing else: then a brace makes it the name of a message.
        let mut is_name = sign.is_none() && matches!(self.token.kind, K::Ident | K::Dot);
        let mut member = self.primary(sign)?;
        is_name &= matches!(self.tree.node(member), Node::Ident { .. });
        loop {
            member = match self.token.kind {
                K::Dot => self.selection(member, &mut is_name)?,
                K::LeftBracket => {
                    is_name = false;
                    let open = self.advance()?;
                    let optional = self.take(K::Question)?.is_some();
                    let index = self.expression()?;
                    self.expect(K::RightBracket)?;
                    self.tree.push(Node::Index { operand: member, open, optional, index })
                }
                K::LeftBrace if is_name => {
                    is_name = false;
                    self.message(member)?
                }
                _ => return Ok(member),
            }
        }
    }

    fn selection(&mut self, operand: NodeIndex, is_name: &mut bool) -> Parsed {
        let dot = self.advance()?;
        let optional = self.take(K::Question)?.is_some();
        let field = self.advance()?;
        if !matches!(field.kind, K::Ident | K::EscapedIdent) {
            return Err(SyntaxError);
        }
        *is_name &= !optional && field.kind == K::Ident;
        if !optional && field.kind == K::Ident && self.token.kind == K::LeftParen {
            *is_name = false;
            let open = self.advance()?;
            let args = self.arguments()?;
            return Ok(self.tree.push(Node::MemberCall { target: operand, name: field, open, args }));
        }
        Ok(self.tree.push(Node::Select { operand, dot, optional, field }))
    }

    fn arguments(&mut self) -> Parsed<Vec<NodeIndex>> {
        let mut arguments = Vec::new();
        if self.token.kind != K::RightParen {
            arguments.push(self.expression()?);
            while self.take(K::Comma)?.is_some() {
                arguments.push(self.expression()?);
            }
        }
        self.expect(K::RightParen)?;
        Ok(arguments)
    }

    fn primary(&mut self, sign: Option<Token>) -> Parsed {
        let token = self.advance()?;
        match token.kind {
            K::Int | K::Float => Ok(self.tree.push(Node::Literal { sign, token })),
            _ if sign.is_some() => Err(SyntaxError),
            K::Uint | K::String | K::Bytes | K::True | K::False | K::Null => {
                Ok(self.tree.push(Node::Literal { sign, token }))
            }
            K::Dot => {
                let name = self.expect(K::Ident)?;
                self.name(Some(token), name)
            }
            K::Ident => self.name(None, token),
            K::LeftParen => {
                let inner = self.expression()?;
                self.expect(K::RightParen)?;
                Ok(inner)
            }
            K::LeftBracket => {
                let elements = self.list(K::RightBracket, Self::element)?;
                Ok(self.tree.push(Node::List { open: token, elements }))
            }
            K::LeftBrace => {
                let entries = self.list(K::RightBrace, |parser| {
                    let key = parser.element()?;
                    parser.entry(key)
                })?;
                Ok(self.tree.push(Node::Map { open: token, entries }))
            }
            _ => Err(SyntaxError),
        }
    }

    fn name(&mut self, dot: Option<Token>, name: Token) -> Parsed {
        let Some(open) = self.take(K::LeftParen)? else { return Ok(self.tree.push(Node::Ident { dot, name })) };
        let args = self.arguments()?;
        Ok(self.tree.push(Node::Call { dot, name, open, args }))
    }

    /// Elements up to a closing token. A comma may follow the last, or stand alone.
    fn list<T>(&mut self, close: K, element: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        while !matches!(self.token.kind, K::Comma) && self.token.kind != close {
            elements.push(element(self)?);
            if self.token.kind == close {
                break;
            }
            self.expect(K::Comma)?;
            if self.token.kind == K::Comma {
                return Err(SyntaxError);
            }
        }
        if elements.is_empty() {
            self.take(K::Comma)?;
        }
        self.expect(close)?;
        Ok(elements)
    }

    fn element(&mut self) -> Parsed<Element> {
        let question = self.take(K::Question)?;
        Ok(Element { question, value: self.expression()? })
    }

    fn entry<T>(&mut self, key: T) -> Parsed<Entry<T>> {
        let colon = self.expect(K::Colon)?;
        Ok(Entry { key, colon, value: self.expression()? })
    }

    /// A message, whose name was parsed as an identifier with selections.
    fn message(&mut self, mut name: NodeIndex) -> Parsed {
        let mut names = Vec::new();
        let dot = loop {
            match *self.tree.node(name) {
                Node::Select { operand, field, .. } => {
                    names.push(field);
                    name = operand;
                }
                Node::Ident { dot, name } => {
                    names.push(name);
                    break dot;
                }
                _ => return Err(SyntaxError),
            }
        };
        names.reverse();
        let open = self.advance()?;
        let fields = self.list(K::RightBrace, |parser| {
            let question = parser.take(K::Question)?;
            let name = parser.advance()?;
            if !matches!(name.kind, K::Ident | K::EscapedIdent) {
                return Err(SyntaxError);
            }
            parser.entry(FieldName { question, name })
        })?;
        Ok(self.tree.push(Node::Struct { dot, names, open, fields }))
    }
}
