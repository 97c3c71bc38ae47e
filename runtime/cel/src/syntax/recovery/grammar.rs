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
    /// The rest of a binary operator or a suffix of this precedence follows.
    Precedence(u8),
    Optional(&'static [Part]),
    Choice(&'static [&'static [Part]]),
    Star(&'static [&'static [Part]]),
    Plus(&'static [Part]),
}

use Part::{Choice, OneOf, Operand, Optional, Plus, Precedence, Rule as R, Star, Token as T};
use Rule::{
    And, Arguments, Calculation, Element, Elements, Entries, Expression, Field, Fields, Literal, Member, Name, Or,
    Primary, Relation, Start, Unary,
};

/// The parts of each rule, in the order of [`Rule`].
pub(super) static GRAMMAR: [(Rule, &[Part]); RULES] = [
    (Start, &[R(Expression), T(K::Eof)]),
    (Expression, &[R(Or), Optional(&[T(K::Question), R(Or), T(K::Colon), R(Expression)])]),
    (Or, &[R(And), Star(&[&[T(K::Or), R(And)]])]),
    (And, &[R(Relation), Star(&[&[T(K::And), R(Relation)]])]),
    (
        Relation,
        &[
            R(Calculation),
            Star(&[&[
                Precedence(1),
                OneOf(&[K::Less, K::LessEquals, K::GreaterEquals, K::Greater, K::Equals, K::NotEquals, K::In]),
                Operand(Relation, 2),
            ]]),
        ],
    ),
    (
        Calculation,
        &[
            R(Unary),
            Star(&[
                &[Precedence(2), OneOf(&[K::Star, K::Slash, K::Percent]), Operand(Calculation, 3)],
                &[Precedence(1), OneOf(&[K::Plus, K::Minus]), Operand(Calculation, 2)],
            ]),
        ],
    ),
    (Unary, &[Choice(&[&[R(Member)], &[Plus(&[T(K::Not)]), R(Member)], &[Plus(&[T(K::Minus)]), R(Member)]])]),
    (
        Member,
        &[
            R(Primary),
            Star(&[
                &[Precedence(3), T(K::Dot), Optional(&[T(K::Question)]), R(Name)],
                &[Precedence(2), T(K::Dot), T(K::Ident), T(K::LeftParen), Optional(&[R(Arguments)]), T(K::RightParen)],
                &[Precedence(1), T(K::LeftBracket), Optional(&[T(K::Question)]), R(Expression), T(K::RightBracket)],
            ]),
        ],
    ),
    (
        Primary,
        &[Choice(&[
            &[Optional(&[T(K::Dot)]), T(K::Ident)],
            &[Optional(&[T(K::Dot)]), T(K::Ident), T(K::LeftParen), Optional(&[R(Arguments)]), T(K::RightParen)],
            &[T(K::LeftParen), R(Expression), T(K::RightParen)],
            &[T(K::LeftBracket), Optional(&[R(Elements)]), Optional(&[T(K::Comma)]), T(K::RightBracket)],
            &[T(K::LeftBrace), Optional(&[R(Entries)]), Optional(&[T(K::Comma)]), T(K::RightBrace)],
            &[
                Optional(&[T(K::Dot)]),
                T(K::Ident),
                Star(&[&[T(K::Dot), T(K::Ident)]]),
                T(K::LeftBrace),
                Optional(&[R(Fields)]),
                Optional(&[T(K::Comma)]),
                T(K::RightBrace),
            ],
            &[R(Literal)],
        ])],
    ),
    (Arguments, &[R(Expression), Star(&[&[T(K::Comma), R(Expression)]])]),
    (Elements, &[R(Element), Star(&[&[T(K::Comma), R(Element)]])]),
    (Fields, &[R(Field), T(K::Colon), R(Expression), Star(&[&[T(K::Comma), R(Field), T(K::Colon), R(Expression)]])]),
    (Field, &[Optional(&[T(K::Question)]), R(Name)]),
    (
        Entries,
        &[R(Element), T(K::Colon), R(Expression), Star(&[&[T(K::Comma), R(Element), T(K::Colon), R(Expression)]])],
    ),
    (Name, &[Choice(&[&[T(K::Ident)], &[T(K::EscapedIdent)]])]),
    (Element, &[Optional(&[T(K::Question)]), R(Expression)]),
    (
        Literal,
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
