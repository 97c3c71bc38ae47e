//! The grammar of label selectors: text to tokens to requirements, with the API's error messages.
//!
//! ```text
//! selector    = [ requirement *( "," requirement ) ]
//! requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | key ( "in" | "notin" ) "(" values ")"
//! ```
use super::labels::{LabelRequirement, Operator, requirement};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Close,
    Open,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    GreaterThan,
    LessThan,
    In,
    NotIn,
    Word,
    Bad,
}

struct Parser<'t> {
    tokens: Vec<(Token, &'t str)>,
    at: usize,
}

fn tokens(text: &str) -> Vec<(Token, &str)> {
    const SPECIAL: &[u8] = b"=!(),><";
    const SPACE: &[u8] = b" \t\r\n";
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if SPACE.contains(&byte) {
            at += 1;
            continue;
        }
        let length = match byte {
            b'=' | b'!' if bytes.get(at + 1) == Some(&b'=') => 2,
            _ if SPECIAL.contains(&byte) => 1,
            // Both sets are ASCII, so a word ends on a character boundary.
            _ => bytes[at..].iter().take_while(|b| !SPECIAL.contains(b) && !SPACE.contains(b)).count(),
        };
        let literal = &text[at..at + length];
        let token = match literal {
            ")" => Token::Close,
            "(" => Token::Open,
            "," => Token::Comma,
            "!" => Token::Not,
            "=" => Token::Equals,
            "==" => Token::DoubleEquals,
            "!=" => Token::NotEquals,
            ">" => Token::GreaterThan,
            "<" => Token::LessThan,
            "in" => Token::In,
            "notin" => Token::NotIn,
            word if word.contains('\0') => Token::Bad,
            _ => Token::Word,
        };
        found.push((token, literal));
        at += length;
    }
    found.push((Token::End, ""));
    found
}

/// Parses a selector into requirements, in the given order and unchecked.
pub(super) fn parse(text: &str) -> Result<Vec<LabelRequirement>, String> {
    let mut parser = Parser { tokens: tokens(text), at: 0 };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            (Token::Word | Token::Not, _) => {}
            (Token::End, _) => return Ok(requirements),
            (_, found) => return Err(format!("found '{found}', expected: !, identifier, or 'end of string'")),
        }
        requirements.push(parser.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?);
        match parser.next() {
            (Token::End, _) => return Ok(requirements),
            (Token::Comma, _) => match parser.peek() {
                (Token::Word | Token::Not, _) => {}
                (_, found) => return Err(format!("found '{found}', expected: identifier after ','")),
            },
            (_, found) => return Err(format!("found '{found}', expected: ',' or 'end of string'")),
        }
    }
}

impl<'t> Parser<'t> {
    /// The current token. `in` and `notin` are words unless an operator is expected.
    fn peek(&self) -> (Token, &'t str) {
        let (token, text) = self.operator();
        (if matches!(token, Token::In | Token::NotIn) { Token::Word } else { token }, text)
    }

    /// The current token where an operator is expected.
    fn operator(&self) -> (Token, &'t str) {
        self.tokens.get(self.at).copied().unwrap_or((Token::End, ""))
    }

    fn next(&mut self) -> (Token, &'t str) {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let (mut token, mut key) = self.next();
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next();
        }
        if token != Token::Word {
            return Err(format!("found '{key}', expected: identifier"));
        }
        if negated || matches!(self.peek().0, Token::End | Token::Comma) {
            // The caller reports an unexpected token after `!key`.
            let operator = if negated { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(requirement((key, operator, Vec::new())));
        }
        let (token, found) = self.operator();
        self.at += 1;
        let operator = match token {
            Token::In | Token::Equals | Token::DoubleEquals => Operator::In,
            Token::NotIn | Token::NotEquals => Operator::NotIn,
            Token::GreaterThan => Operator::GreaterThan,
            Token::LessThan => Operator::LessThan,
            _ => return Err(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        let values = if matches!(token, Token::In | Token::NotIn) { self.values()? } else { vec![self.value()?] };
        Ok(requirement((key, operator, values)))
    }

    /// One value; an absent one is empty.
    fn value(&mut self) -> Result<&'t str, String> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok("");
        }
        match self.next() {
            (Token::Word, value) => Ok(value),
            (_, found) => Err(format!("found '{found}', expected: identifier")),
        }
    }

    /// `(a,b)`; a value between commas may be empty.
    fn values(&mut self) -> Result<Vec<&'t str>, String> {
        let (token, found) = self.next();
        if token != Token::Open {
            return Err(format!("found '{found}' expected: '('"));
        }
        let (token, found) = self.peek();
        if !matches!(token, Token::Word | Token::Comma | Token::Close) {
            return Err(format!("found '{found}', expected: ',', ')' or identifier"));
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                (Token::Close, _) => {
                    values.push("");
                    return Ok(values);
                }
                (Token::Comma, _) => values.push(""),
                (Token::Word, value) => {
                    values.push(value);
                    match self.next() {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => return Ok(values),
                        (_, found) => return Err(format!("found '{found}', expected: ',' or ')'")),
                    }
                }
                (_, found) => return Err(format!("found '{found}', expected: ',', or identifier")),
            }
        }
    }
}
