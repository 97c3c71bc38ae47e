//! How the parser reports an error and goes on: ANTLR's default strategy, with the limits of cel-go.
use super::{
    super::token::{Token, TokenKind},
    Parser,
    automaton::{AUTOMATON, Edge, Kind, State, Tokens},
    prediction::{Failure, Outcome},
};
use crate::Issue;

impl Parser<'_> {
    /// The token with a number from 1 among the next tokens.
    pub(super) fn peek(&mut self, number: usize) -> Outcome<Token> {
        let index = self.at + number - 1;
        while self.visible.len() <= index && self.tokens.last().is_none_or(|token| token.kind != TokenKind::Eof) {
            match self.lexer.next() {
                Ok(token) => {
                    if !token.is_hidden() {
                        self.visible.push(self.tokens.len());
                    }
                    self.tokens.push(token);
                }
                Err(unknown) => {
                    let message = format!("token recognition error at: '{}'", unknown.text(self.text));
                    self.report(unknown, &message)?;
                }
            }
        }
        let last = self.visible.len().saturating_sub(1);
        Ok(self.tokens[self.visible[index.min(last)]])
    }

    fn consume(&mut self) -> Outcome {
        if self.peek(1)?.kind != TokenKind::Eof {
            self.at += 1;
            self.peek(1)?;
        }
        Ok(())
    }

    /// Takes one of some tokens; if it is another, tries to do without it, or with one that is not there.
    pub(super) fn match_token(&mut self, tokens: Tokens) -> Outcome<Token> {
        let token = self.peek(1)?;
        if !tokens.contains(token.kind) {
            return self.recover_inline();
        }
        self.has_matched();
        self.consume()?;
        Ok(token)
    }

    fn has_matched(&mut self) {
        self.recovering = false;
        self.last_error = None;
    }

    fn recover_inline(&mut self) -> Outcome<Token> {
        self.count_attempt()?;
        if self.delete_token()? {
            let token = self.peek(1)?;
            self.consume()?;
            return Ok(token);
        }
        let token = self.peek(1)?;
        let next = match AUTOMATON.states[self.state].edges[0] {
            Edge::Token(_, to) => to,
            _ => self.state,
        };
        if !self.expected(next).contains(token.kind) {
            return Err(Failure::Mismatch);
        }
        let expected = self.expected(self.state);
        if !self.recovering {
            self.recovering = true;
            let message = format!("missing {} at {}", expected.names(), self.display(token));
            self.report(token, &message)?;
        }
        Ok(Token { kind: expected.first(), end: token.start, ..token })
    }

    /// Drops a token if the one after it is expected.
    fn delete_token(&mut self) -> Outcome<bool> {
        let second = self.peek(2)?.kind;
        if !self.expected(self.state).contains(second) {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.consume()?;
        self.has_matched();
        Ok(true)
    }

    /// Looks for errors where a decision comes.
    pub(super) fn sync(&mut self, state: State) -> Outcome {
        self.state = state;
        if self.recovering {
            return Ok(());
        }
        let next = AUTOMATON.states[state].next;
        if next.may_end() || next.contains(self.peek(1)?.kind) {
            return Ok(());
        }
        if matches!(AUTOMATON.states[state].kind, Kind::LoopBack | Kind::PlusLoopBack) {
            self.report_unwanted()?;
            let until = self.expected(state) | self.follows();
            return self.skip_until(until, usize::MAX);
        }
        if self.delete_token()? { Ok(()) } else { Err(Failure::Mismatch) }
    }

    /// Reports a failure and skips tokens to one that can follow one of the rules.
    pub(super) fn recover(&mut self, failure: &Failure) -> Outcome {
        self.report_failure(failure)?;
        self.count_attempt()?;
        let mut skippable = self.limits.skipped;
        let (at, mut states) = self.last_error.take().unwrap_or_default();
        // Twice at the same place: skip a token in any case.
        if at == self.at && states.contains(&self.state) {
            self.consume()?;
            skippable -= 1;
        }
        states.push(self.state);
        self.last_error = Some((self.at, states));
        self.skip_until(self.follows(), skippable)
    }

    fn skip_until(&mut self, tokens: Tokens, most: usize) -> Outcome {
        let mut skipped = 0;
        loop {
            let kind = self.peek(1)?.kind;
            if kind == TokenKind::Eof || tokens.contains(kind) {
                return Ok(());
            }
            if skipped == most {
                let limit = self.limits.skipped;
                return self.abort(format!("error recovery token lookahead limit exceeded: {limit}"));
            }
            skipped += 1;
            self.consume()?;
        }
    }

    fn count_attempt(&mut self) -> Outcome {
        if self.attempts == self.limits.attempts {
            let token = self.peek(1)?;
            self.report(token, &format!("error recovery attempt limit exceeded: {}", self.attempts))?;
            return Err(Failure::Abort);
        }
        self.attempts += 1;
        Ok(())
    }

    /// What can come after a state; at the end of a rule, what can come in its callers.
    fn expected(&self, state: State) -> Tokens {
        let mut next = AUTOMATON.states[state].next;
        let mut expected = next.without_end();
        // The outermost rule has no caller.
        for frame in self.frames[1..].iter().rev() {
            if !next.may_end() {
                return expected;
            }
            next = AUTOMATON.states[frame.follow].next;
            expected = expected | next.without_end();
        }
        if next.may_end() { expected | Tokens::of(&[TokenKind::Eof]) } else { expected }
    }

    /// The tokens that can come after any of the rules that are being parsed.
    fn follows(&self) -> Tokens {
        self.frames[1..]
            .iter()
            .fold(Tokens::default(), |follows, frame| follows | AUTOMATON.states[frame.follow].next.without_end())
    }

    fn report_unwanted(&mut self) -> Outcome {
        if std::mem::replace(&mut self.recovering, true) {
            return Ok(());
        }
        let token = self.peek(1)?;
        let expected = self.expected(self.state).names();
        self.report(token, &format!("extraneous input {} expecting {expected}", self.display(token)))
    }

    fn report_failure(&mut self, failure: &Failure) -> Outcome {
        match failure {
            Failure::Abort => Err(Failure::Abort),
            _ if std::mem::replace(&mut self.recovering, true) => Ok(()),
            Failure::Mismatch => {
                let token = self.peek(1)?;
                let expected = self.expected(self.state).names();
                self.report(token, &format!("mismatched input {} expecting {expected}", self.display(token)))
            }
            Failure::NoAlternative(number) => {
                let (first, last) = (self.peek(1)?, self.peek(*number)?);
                let text =
                    if first.kind == TokenKind::Eof { "<EOF>".to_owned() } else { self.text_between(first, last) };
                // cel-go gives reserved words after a dot another message.
                let mut chars = text.chars();
                let message = match (chars.next(), chars.as_str()) {
                    (Some(c), word @ ("true" | "false" | "null")) if c != '\n' => {
                        format!("mismatched input '{word}' expecting IDENTIFIER")
                    }
                    _ => format!("no viable alternative at input {}", quote(&text)),
                };
                self.report(last, &message)
            }
        }
    }

    /// The texts of the tokens from one to another, hidden ones included.
    fn text_between(&self, first: Token, last: Token) -> String {
        let tokens = self.tokens.iter().filter(|token| first.start <= token.start && token.start <= last.start);
        tokens.map(|token| token.text(self.text)).collect()
    }

    fn display(&self, token: Token) -> String {
        if token.kind == TokenKind::Eof { "'<EOF>'".to_owned() } else { quote(token.text(self.text)) }
    }

    fn report(&mut self, at: Token, message: &str) -> Outcome {
        let limit = self.limits.reports;
        if self.reports == limit {
            let message = format!("Syntax error: More than {limit} syntax errors");
            self.issues.push(Issue::new(at.offset, message));
            return Err(Failure::Abort);
        }
        self.reports += 1;
        self.issues.push(Issue::new(at.offset, format!("Syntax error: {message}")));
        Ok(())
    }

    pub(super) fn abort<T>(&mut self, message: String) -> Outcome<T> {
        self.issues.push(Issue::without_offset(message));
        Err(Failure::Abort)
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}
