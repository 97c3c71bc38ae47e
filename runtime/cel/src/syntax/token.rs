//! The tokens of the language.

/// The kinds of tokens with the names that messages give them, in the order in which messages list them.
macro_rules! kinds {
    ($($kind:ident $name:literal)*) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) enum TokenKind {
            $($kind,)*
        }

        impl TokenKind {
            pub(super) const ALL: [Self; 38] = [$(Self::$kind),*];

            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    Eof "<EOF>"
    Equals "'=='"
    NotEquals "'!='"
    In "'in'"
    Less "'<'"
    LessEquals "'<='"
    GreaterEquals "'>='"
    Greater "'>'"
    And "'&&'"
    Or "'||'"
    LeftBracket "'['"
    RightBracket "']'"
    LeftBrace "'{'"
    RightBrace "'}'"
    LeftParen "'('"
    RightParen "')'"
    Dot "'.'"
    Comma "','"
    Minus "'-'"
    Not "'!'"
    Question "'?'"
    Colon "':'"
    Plus "'+'"
    Star "'*'"
    Slash "'/'"
    Percent "'%'"
    True "'true'"
    False "'false'"
    Null "'null'"
    Whitespace "WHITESPACE"
    Comment "COMMENT"
    Float "NUM_FLOAT"
    Int "NUM_INT"
    Uint "NUM_UINT"
    String "STRING"
    Bytes "BYTES"
    Ident "IDENTIFIER"
    EscapedIdent "ESC_IDENTIFIER"
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
