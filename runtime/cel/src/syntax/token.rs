//! The tokens of the language.

/// The kinds of tokens, in the order in which messages list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TokenKind {
    Eof,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Whitespace,
    Comment,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
    EscapedIdent,
}

/// A token: a range of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// Where it starts, in code points.
    pub offset: u32,
}

impl Token {
    /// Its text.
    pub(super) fn text(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }

    /// Whitespace and comments are not seen by the grammar.
    pub(super) fn is_hidden(self) -> bool {
        matches!(self.kind, TokenKind::Whitespace | TokenKind::Comment)
    }
}
