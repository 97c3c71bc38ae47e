//! The grammar as ANTLR has it: binary operators are loops with precedences, and each choice, option and loop is a decision.
use super::super::token::TokenKind as K;

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Start,
    Expression,
    Or,
    And,
    Relation,
    Calculation,
    Unary,
    Member,
    Primary,
    Arguments,
    Elements,
    Fields,
    Field,
    Entries,
    Name,
    Element,
    Literal,
}

/// How many rules there are.
pub(super) const RULES: usize = 17;

/// A part of a rule.
#[derive(Debug)]
pub(super) enum Part {
    Token(K),
    OneOf(&'static [K]),
    Rule(Rule),
    /// The right operand of a binary operator: only operators of at least this precedence belong to it.
    Operand(Rule, u8),
    /// What follows is the rest of a binary operator or a suffix of this precedence.
    Precedence(u8),
    Optional(&'static [Part]),
    Choice(&'static [&'static [Part]]),
    Star(&'static [&'static [Part]]),
    Plus(&'static [Part]),
}

use Part::{Choice, OneOf, Operand, Optional, Plus, Precedence, Star, Token as T};

/// The parts of each rule, in the order of [`Rule`].
pub(super) static GRAMMAR: [(Rule, &[Part]); RULES] = [
    (Rule::Start, &[Part::Rule(Rule::Expression), T(K::Eof)]),
    (
        Rule::Expression,
        &[
            Part::Rule(Rule::Or),
            Optional(&[T(K::Question), Part::Rule(Rule::Or), T(K::Colon), Part::Rule(Rule::Expression)]),
        ],
    ),
    (Rule::Or, &[Part::Rule(Rule::And), Star(&[&[T(K::Or), Part::Rule(Rule::And)]])]),
    (Rule::And, &[Part::Rule(Rule::Relation), Star(&[&[T(K::And), Part::Rule(Rule::Relation)]])]),
    (
        Rule::Relation,
        &[
            Part::Rule(Rule::Calculation),
            Star(&[&[
                Precedence(1),
                OneOf(&[K::Less, K::LessEquals, K::GreaterEquals, K::Greater, K::Equals, K::NotEquals, K::In]),
                Operand(Rule::Relation, 2),
            ]]),
        ],
    ),
    (
        Rule::Calculation,
        &[
            Part::Rule(Rule::Unary),
            Star(&[
                &[Precedence(2), OneOf(&[K::Star, K::Slash, K::Percent]), Operand(Rule::Calculation, 3)],
                &[Precedence(1), OneOf(&[K::Plus, K::Minus]), Operand(Rule::Calculation, 2)],
            ]),
        ],
    ),
    (
        Rule::Unary,
        &[Choice(&[
            &[Part::Rule(Rule::Member)],
            &[Plus(&[T(K::Not)]), Part::Rule(Rule::Member)],
            &[Plus(&[T(K::Minus)]), Part::Rule(Rule::Member)],
        ])],
    ),
    (
        Rule::Member,
        &[
            Part::Rule(Rule::Primary),
            Star(&[
                &[Precedence(3), T(K::Dot), Optional(&[T(K::Question)]), Part::Rule(Rule::Name)],
                &[
                    Precedence(2),
                    T(K::Dot),
                    T(K::Ident),
                    T(K::LeftParen),
                    Optional(&[Part::Rule(Rule::Arguments)]),
                    T(K::RightParen),
                ],
                &[
                    Precedence(1),
                    T(K::LeftBracket),
                    Optional(&[T(K::Question)]),
                    Part::Rule(Rule::Expression),
                    T(K::RightBracket),
                ],
            ]),
        ],
    ),
    (
        Rule::Primary,
        &[Choice(&[
            &[Optional(&[T(K::Dot)]), T(K::Ident)],
            &[
                Optional(&[T(K::Dot)]),
                T(K::Ident),
                T(K::LeftParen),
                Optional(&[Part::Rule(Rule::Arguments)]),
                T(K::RightParen),
            ],
            &[T(K::LeftParen), Part::Rule(Rule::Expression), T(K::RightParen)],
            &[T(K::LeftBracket), Optional(&[Part::Rule(Rule::Elements)]), Optional(&[T(K::Comma)]), T(K::RightBracket)],
            &[T(K::LeftBrace), Optional(&[Part::Rule(Rule::Entries)]), Optional(&[T(K::Comma)]), T(K::RightBrace)],
            &[
                Optional(&[T(K::Dot)]),
                T(K::Ident),
                Star(&[&[T(K::Dot), T(K::Ident)]]),
                T(K::LeftBrace),
                Optional(&[Part::Rule(Rule::Fields)]),
                Optional(&[T(K::Comma)]),
                T(K::RightBrace),
            ],
            &[Part::Rule(Rule::Literal)],
        ])],
    ),
    (Rule::Arguments, &[Part::Rule(Rule::Expression), Star(&[&[T(K::Comma), Part::Rule(Rule::Expression)]])]),
    (Rule::Elements, &[Part::Rule(Rule::Element), Star(&[&[T(K::Comma), Part::Rule(Rule::Element)]])]),
    (
        Rule::Fields,
        &[
            Part::Rule(Rule::Field),
            T(K::Colon),
            Part::Rule(Rule::Expression),
            Star(&[&[T(K::Comma), Part::Rule(Rule::Field), T(K::Colon), Part::Rule(Rule::Expression)]]),
        ],
    ),
    (Rule::Field, &[Optional(&[T(K::Question)]), Part::Rule(Rule::Name)]),
    (
        Rule::Entries,
        &[
            Part::Rule(Rule::Element),
            T(K::Colon),
            Part::Rule(Rule::Expression),
            Star(&[&[T(K::Comma), Part::Rule(Rule::Element), T(K::Colon), Part::Rule(Rule::Expression)]]),
        ],
    ),
    (Rule::Name, &[Choice(&[&[T(K::Ident)], &[T(K::EscapedIdent)]])]),
    (Rule::Element, &[Optional(&[T(K::Question)]), Part::Rule(Rule::Expression)]),
    (
        Rule::Literal,
        &[Choice(&[
            &[Optional(&[T(K::Minus)]), T(K::Int)],
            &[T(K::Uint)],
            &[Optional(&[T(K::Minus)]), T(K::Float)],
            &[T(K::String)],
            &[T(K::Bytes)],
            &[T(K::True)],
            &[T(K::False)],
            &[T(K::Null)],
        ])],
    ),
];
