//! Whether one pattern allows all the texts that another allows.
//!
//! Both become nondeterministic automata, which are walked side by side: a pair of sets of states is reached by the same texts. The
//! answer is exact. Patterns with word boundaries, or with too many states, have no answer.
use std::collections::{BTreeSet, HashMap, VecDeque};

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// How many states an automaton may have.
const MOST_STATES: usize = 4_000;
/// How many pairs are visited at most.
const MOST_PAIRS: usize = 20_000;

/// How the texts of two patterns relate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are the same texts.
    Same,
    /// The second pattern allows all that the first one does, and more.
    Wider,
    /// The first pattern allows this text, and the second one does not.
    Refuses(String),
}

/// Compares two patterns in the syntax of the `regex` crate; `None` if that takes too much.
pub(super) fn compare(old: &str, new: &str) -> Option<Relation> {
    let (old, new) = (Automaton::of(old)?, Automaton::of(new)?);
    if let Some(text) = difference(&old, &new)? {
        return Some(Relation::Refuses(text));
    }
    Some(if difference(&new, &old)?.is_some() { Relation::Wider } else { Relation::Same })
}

/// A range of characters.
type Range = (u32, u32);
type State = usize;

#[derive(Default)]
struct Node {
    /// Steps without a character, and the condition for each.
    free: Vec<(Option<Look>, State)>,
    /// Steps by a character.
    steps: Vec<(Range, State)>,
}

/// An automaton for texts in which a pattern matches somewhere.
struct Automaton {
    nodes: Vec<Node>,
}

const START: State = 0;
const END: State = 1;
const ANY: Range = (0, char::MAX as u32);

impl Automaton {
    fn of(pattern: &str) -> Option<Self> {
        let hir = regex_syntax::Parser::new().parse(pattern).ok()?;
        let mut automaton = Self { nodes: vec![Node::default(), Node::default()] };
        // The pattern may match anywhere in the text.
        automaton.nodes[START].steps.push((ANY, START));
        automaton.nodes[END].steps.push((ANY, END));
        automaton.add(&hir, START, END)?;
        Some(automaton)
    }

    fn node(&mut self) -> Option<State> {
        self.nodes.push(Node::default());
        (self.nodes.len() <= MOST_STATES).then(|| self.nodes.len() - 1)
    }

    fn free(&mut self, from: State, to: State) {
        self.nodes[from].free.push((None, to));
    }

    /// Adds an expression between two states.
    fn add(&mut self, hir: &Hir, from: State, to: State) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => self.free(from, to),
            HirKind::Look(look @ (Look::Start | Look::End)) => self.nodes[from].free.push((Some(*look), to)),
            HirKind::Look(_) => return None,
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                let mut at = from;
                for c in text.chars() {
                    let next = self.node()?;
                    self.nodes[at].steps.push(((c.into(), c.into()), next));
                    at = next;
                }
                self.free(at, to);
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges().iter().map(|range| (range.start().into(), range.end().into()));
                self.nodes[from].steps.extend(ranges.map(|range| (range, to)));
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter().map(|range| (range.start().into(), range.end().into()));
                self.nodes[from].steps.extend(ranges.map(|range| (range, to)));
            }
            HirKind::Capture(capture) => self.add(&capture.sub, from, to)?,
            HirKind::Concat(parts) => {
                let mut at = from;
                for part in parts {
                    let next = self.node()?;
                    self.add(part, at, next)?;
                    at = next;
                }
                self.free(at, to);
            }
            HirKind::Alternation(parts) => {
                for part in parts {
                    // A state of its own, since an expression may come back to where it begins.
                    let begin = self.node()?;
                    self.free(from, begin);
                    self.add(part, begin, to)?;
                }
            }
            HirKind::Repetition(repetition) => self.repeat(repetition, from, to)?,
        }
        Some(())
    }

    /// Adds a repetition between two states.
    fn repeat(&mut self, repetition: &Repetition, from: State, to: State) -> Option<()> {
        let mut at = self.node()?;
        self.free(from, at);
        for _ in 0..repetition.min {
            let next = self.node()?;
            self.add(&repetition.sub, at, next)?;
            at = next;
        }
        match repetition.max {
            None => {
                let (begin, end) = (self.node()?, self.node()?);
                self.free(at, begin);
                self.add(&repetition.sub, begin, end)?;
                self.free(end, begin);
                self.free(begin, to);
            }
            Some(max) => {
                for _ in repetition.min..max {
                    self.free(at, to);
                    let next = self.node()?;
                    self.add(&repetition.sub, at, next)?;
                    at = next;
                }
                self.free(at, to);
            }
        }
        Some(())
    }

    /// The states that are reached without a further character, at the start or the end of the text or within it.
    fn closed(&self, states: impl IntoIterator<Item = State>, is_start: bool, is_end: bool) -> BTreeSet<State> {
        let mut closed: BTreeSet<State> = states.into_iter().collect();
        let mut open: Vec<State> = closed.iter().copied().collect();
        while let Some(state) = open.pop() {
            for (look, to) in &self.nodes[state].free {
                let is_met = match look {
                    None => true,
                    Some(Look::Start) => is_start,
                    Some(_) => is_end,
                };
                if is_met && closed.insert(*to) {
                    open.push(*to);
                }
            }
        }
        closed
    }

    fn allows(&self, states: &BTreeSet<State>, is_start: bool) -> bool {
        self.closed(states.iter().copied(), is_start, true).contains(&END)
    }

    fn after(&self, states: &BTreeSet<State>, c: u32) -> BTreeSet<State> {
        let steps = states.iter().flat_map(|state| &self.nodes[*state].steps);
        let reached = steps.filter(|((from, to), _)| (*from..=*to).contains(&c)).map(|(_, to)| *to);
        self.closed(reached, false, false)
    }
}

type Pair = (BTreeSet<State>, BTreeSet<State>);

/// A shortest text that the first automaton allows and the second does not; the outer `None` if that takes too much.
#[expect(clippy::option_option, reason = "an unknown answer differs from that there is no such text")]
fn difference(one: &Automaton, other: &Automaton) -> Option<Option<String>> {
    let first = (one.closed([START], true, false), other.closed([START], true, false));
    if one.allows(&first.0, true) && !other.allows(&first.1, true) {
        return Some(Some(String::new()));
    }
    // How each pair is reached: from which one, and by which character.
    let mut known: HashMap<Pair, Option<(Pair, char)>> = HashMap::from([(first.clone(), None)]);
    let mut open = VecDeque::from([first]);
    while let Some(pair) = open.pop_front() {
        for c in characters(one, other, &pair) {
            let next = (one.after(&pair.0, c.into()), other.after(&pair.1, c.into()));
            if known.contains_key(&next) {
                continue;
            }
            let is_found = one.allows(&next.0, false) && !other.allows(&next.1, false);
            known.insert(next.clone(), Some((pair.clone(), c)));
            if is_found {
                return Some(Some(text(&known, next)));
            }
            if known.len() > MOST_PAIRS {
                return None;
            }
            open.push_back(next);
        }
    }
    Some(None)
}

/// One character of each set that the states do not tell apart, readable ones first.
fn characters(one: &Automaton, other: &Automaton, pair: &Pair) -> Vec<char> {
    let of = |automaton: &Automaton, states: &BTreeSet<State>| {
        let steps = states.iter().flat_map(|state| &automaton.nodes[*state].steps);
        steps.flat_map(|((from, to), _)| [*from, to + 1]).collect::<Vec<_>>()
    };
    let mut bounds = [of(one, &pair.0), of(other, &pair.1)].concat();
    bounds.sort_unstable();
    bounds.dedup();
    let ranges = bounds.windows(2).map(|bounds| (bounds[0], bounds[1] - 1));
    let readable = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('!', '~')].map(|(from, to)| (u32::from(from), u32::from(to)));
    let mut found: Vec<(usize, char)> = ranges
        .filter_map(|(from, to)| {
            let places = readable.iter().enumerate();
            let mut best = places.map(|(rank, (least, most))| (rank, from.max(*least), to.min(*most)));
            let best = best.find(|(_, least, most)| least <= most).map(|(rank, least, _)| (rank, least));
            let (rank, c) = best.unwrap_or((readable.len(), from));
            // Surrogates are no characters.
            Some((rank, char::from_u32(c).or_else(|| char::from_u32(0xE000).filter(|_| to >= 0xE000))?))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, c)| c).collect()
}

fn text(known: &HashMap<Pair, Option<(Pair, char)>>, last: Pair) -> String {
    let (mut text, mut at) = (Vec::new(), last);
    while let Some(Some((before, c))) = known.get(&at) {
        text.push(*c);
        at = before.clone();
    }
    text.into_iter().rev().collect()
}

#[cfg(test)]
mod tests;
