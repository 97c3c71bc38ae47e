//! The grammar as an automaton, as ANTLR builds it: states with edges; where a state has more than one, it is a decision.
use std::{ops::BitOr, sync::LazyLock};

use super::{
    super::token::TokenKind,
    grammar::{GRAMMAR, Part, RULES, Rule},
};

pub(super) type State = usize;

/// A set of kinds of tokens, which may have "the end of the rule" as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens(pub u64);

impl Tokens {
    const END: u64 = 1 << 63;

    pub(super) fn of(kinds: &[TokenKind]) -> Self {
        Self(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u8))
    }

    pub(super) fn contains(self, kind: TokenKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// The rule may end here.
    pub(super) fn may_end(self) -> bool {
        self.0 & Self::END != 0
    }

    pub(super) fn without_end(self) -> Self {
        Self(self.0 & !Self::END)
    }

    fn kinds(self) -> impl Iterator<Item = TokenKind> {
        TokenKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    pub(super) fn first(self) -> TokenKind {
        self.kinds().next().unwrap_or(TokenKind::Eof)
    }

    /// As messages list them.
    pub(super) fn names(self) -> String {
        let names: Vec<_> = self.kinds().map(TokenKind::name).collect();
        if names.len() == 1 { names[0].to_owned() } else { format!("{{{}}}", names.join(", ")) }
    }
}

impl BitOr for Tokens {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// How the parser behaves at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Before a choice or an option.
    Block,
    /// Before a loop that is taken at least once.
    PlusBlock,
    /// Before a loop that may be left out.
    LoopEntry,
    /// After a round of such a loop.
    LoopBack,
    /// After a round of a loop that is taken at least once.
    PlusLoopBack,
    /// The end of a rule.
    Stop,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    Empty(State),
    /// Only where operators of this precedence are allowed.
    Precedence(u8, State),
    Token(Tokens, State),
    Rule {
        rule: Rule,
        precedence: u8,
        follow: State,
    },
}

/// How the parser chooses between the edges of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    /// One token is enough, so that nothing is predicted.
    pub by_token: bool,
    /// The last edge leaves the option or the loop.
    pub exit: bool,
    /// It is the loop of the binary operators or suffixes of a rule.
    pub precedence: bool,
}

#[derive(Debug)]
pub(super) struct StateEntry {
    pub kind: Kind,
    pub rule: Rule,
    pub edges: Vec<Edge>,
    pub decision: Option<Decision>,
    /// What can come next within the rule.
    pub next: Tokens,
}

/// A place where a rule is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub follow: State,
    /// The rule has precedences and is called with the lowest.
    pub lowest: bool,
}

#[derive(Debug)]
pub(super) struct Automaton {
    pub states: Vec<StateEntry>,
    pub starts: [State; RULES],
    pub calls: [Vec<Call>; RULES],
}

pub(super) static AUTOMATON: LazyLock<Automaton> = LazyLock::new(Automaton::new);

impl Automaton {
    fn new() -> Self {
        let mut automaton = Self { states: Vec::new(), starts: [0; RULES], calls: std::array::from_fn(|_| Vec::new()) };
        for (rule, parts) in &GRAMMAR {
            automaton.starts[*rule as usize] = automaton.state(*rule, Kind::Plain);
            let end = automaton.sequence(*rule, parts, automaton.starts[*rule as usize]);
            let stop = automaton.state(*rule, Kind::Stop);
            automaton.edge(end, Edge::Empty(stop));
        }
        automaton.find_next();
        automaton.find_decisions();
        automaton
    }

    /// What can come next after an edge of a decision.
    pub(super) fn after_edge(&self, edge: Edge) -> Tokens {
        match edge {
            Edge::Empty(to) | Edge::Precedence(_, to) => self.states[to].next,
            Edge::Token(tokens, _) => tokens,
            Edge::Rule { rule, .. } => self.states[self.starts[rule as usize]].next,
        }
    }

    fn state(&mut self, rule: Rule, kind: Kind) -> State {
        self.states.push(StateEntry { kind, rule, edges: Vec::new(), decision: None, next: Tokens::default() });
        self.states.len() - 1
    }

    fn edge(&mut self, from: State, edge: Edge) {
        self.states[from].edges.push(edge);
    }

    fn decision(&mut self, rule: Rule, kind: Kind, exit: bool, precedence: bool) -> State {
        let state = self.state(rule, kind);
        self.states[state].decision = Some(Decision { by_token: false, exit, precedence });
        state
    }

    /// Adds parts after a state; the result is the state after them.
    fn sequence(&mut self, rule: Rule, parts: &[Part], from: State) -> State {
        parts.iter().fold(from, |from, part| self.part(rule, part, from))
    }

    fn part(&mut self, rule: Rule, part: &Part, from: State) -> State {
        match part {
            Part::Token(_) | Part::OneOf(_) | Part::Rule(_) | Part::Operand(..) | Part::Precedence(_) => {
                let to = self.state(rule, Kind::Plain);
                self.simple(part, from, to);
                to
            }
            Part::Optional(parts) => {
                let block = self.decision(rule, Kind::Block, true, false);
                self.edge(from, Edge::Empty(block));
                let end = self.alternatives(rule, &[parts], block);
                self.edge(block, Edge::Empty(end));
                end
            }
            Part::Choice(alternatives) => {
                let block = self.decision(rule, Kind::Block, false, false);
                self.edge(from, Edge::Empty(block));
                self.alternatives(rule, alternatives, block)
            }
            Part::Star(alternatives) => {
                let precedence = matches!(alternatives[0][0], Part::Precedence(_));
                let entry = self.decision(rule, Kind::LoopEntry, true, precedence);
                self.edge(from, Edge::Empty(entry));
                let block = match alternatives.len() {
                    1 => self.state(rule, Kind::Plain),
                    _ => self.decision(rule, Kind::Block, false, false),
                };
                self.edge(entry, Edge::Empty(block));
                let round = self.alternatives(rule, alternatives, block);
                let back = self.state(rule, Kind::LoopBack);
                self.edge(round, Edge::Empty(back));
                self.edge(back, Edge::Empty(entry));
                let end = self.state(rule, Kind::Plain);
                self.edge(entry, Edge::Empty(end));
                end
            }
            Part::Plus(parts) => {
                let block = self.state(rule, Kind::PlusBlock);
                self.edge(from, Edge::Empty(block));
                let round = self.alternatives(rule, &[parts], block);
                let back = self.decision(rule, Kind::PlusLoopBack, true, false);
                self.edge(round, Edge::Empty(back));
                self.edge(back, Edge::Empty(block));
                let end = self.state(rule, Kind::Plain);
                self.edge(back, Edge::Empty(end));
                end
            }
        }
    }

    /// Adds a part that is one edge; if it is not, adds nothing.
    fn simple(&mut self, part: &Part, from: State, to: State) -> bool {
        match part {
            Part::Token(kind) => self.edge(from, Edge::Token(Tokens::of(&[*kind]), to)),
            Part::OneOf(kinds) => self.edge(from, Edge::Token(Tokens::of(kinds), to)),
            Part::Rule(called) => self.call((*called, 0), from, to),
            Part::Operand(called, precedence) => self.call((*called, *precedence), from, to),
            Part::Precedence(precedence) => self.edge(from, Edge::Precedence(*precedence, to)),
            _ => return false,
        }
        true
    }

    fn call(&mut self, (called, precedence): (Rule, u8), from: State, follow: State) {
        self.edge(from, Edge::Rule { rule: called, precedence, follow });
        let nests = matches!(called, Rule::Relation | Rule::Calculation | Rule::Member);
        self.calls[called as usize].push(Call { follow, lowest: nests && precedence == 0 });
    }

    /// The alternatives of a block. Their last parts lead to the same state: what is called there by several has the same callers.
    fn alternatives(&mut self, rule: Rule, alternatives: &[&[Part]], block: State) -> State {
        let end = self.state(rule, Kind::Plain);
        for parts in alternatives {
            let start = self.state(rule, Kind::Plain);
            self.edge(block, Edge::Empty(start));
            let (last, parts) = parts.split_last().expect("alternatives have parts");
            let from = self.sequence(rule, parts, start);
            if !self.simple(last, from, end) {
                let last = self.part(rule, last, from);
                self.edge(last, Edge::Empty(end));
            }
        }
        end
    }

    /// No rule is empty, so that what comes first in a rule does not depend on its caller.
    fn find_next(&mut self) {
        for state in 0..self.states.len() {
            self.states[state].next = self.next(state);
        }
    }

    fn next(&self, state: State) -> Tokens {
        let entry = &self.states[state];
        if entry.kind == Kind::Stop {
            return Tokens(Tokens::END);
        }
        entry.edges.iter().fold(Tokens::default(), |found, edge| {
            found
                | match *edge {
                    Edge::Empty(to) | Edge::Precedence(_, to) => self.next(to),
                    Edge::Token(tokens, _) => tokens,
                    Edge::Rule { rule, .. } => self.next(self.starts[rule as usize]),
                }
        })
    }

    /// A decision is made by one token if its alternatives begin with different ones, whatever comes after the rule.
    fn find_decisions(&mut self) {
        for state in 0..self.states.len() {
            let Some(decision) = self.states[state].decision else { continue };
            let mut seen = Tokens::default();
            let by_token = self.states[state].edges.iter().all(|edge| {
                let Edge::Empty(to) = *edge else { return false };
                let mut next = self.states[to].next;
                if next.may_end() {
                    next = next.without_end() | self.after(self.states[state].rule, &mut [false; RULES]);
                }
                let disjoint = seen.0 & next.0 == 0;
                seen = seen | next;
                disjoint && !self.has_precedence(to)
            });
            self.states[state].decision = Some(Decision { by_token, ..decision });
        }
    }

    /// The tokens that can come after a rule, wherever it is called.
    fn after(&self, rule: Rule, seen: &mut [bool; RULES]) -> Tokens {
        if std::mem::replace(&mut seen[rule as usize], true) {
            return Tokens::default();
        }
        self.calls[rule as usize].iter().fold(Tokens::default(), |found, call| {
            let StateEntry { next, rule, .. } = self.states[call.follow];
            let outer = if next.may_end() { self.after(rule, seen) } else { Tokens::default() };
            found | next.without_end() | outer
        })
    }

    fn has_precedence(&self, state: State) -> bool {
        self.states[state].edges.iter().any(|edge| match *edge {
            Edge::Precedence(..) => true,
            Edge::Empty(to) => self.has_precedence(to),
            _ => false,
        })
    }
}
