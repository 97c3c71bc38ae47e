//! Which edge of a decision to take: ANTLR's adaptive prediction. All alternatives are followed at once, token by token, first without
//! regard to the callers of the rule; only if that is ambiguous with them.
use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    super::token::TokenKind,
    automaton::{AUTOMATON, Decision, Edge, Kind, State},
    grammar::Rule,
};

/// The callers of a rule: the states that follow, the innermost first. Equal stacks have equal numbers.
pub(super) type Stack = u32;

/// It is not known who called the rule.
pub(super) const UNKNOWN: Stack = 0;
/// No rule called: the end of the text follows.
pub(super) const OUTERMOST: Stack = 1;

/// The stacks of a run.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// From the first after `OUTERMOST`.
    entries: Vec<(State, Stack)>,
    numbers: HashMap<(State, Stack), Stack>,
}

impl Stacks {
    pub(super) fn push(&mut self, follow: State, stack: Stack) -> Stack {
        let entries = &mut self.entries;
        *self.numbers.entry((follow, stack)).or_insert_with(|| {
            entries.push((follow, stack));
            OUTERMOST + Stack::try_from(entries.len()).expect("there are fewer stacks than numbers")
        })
    }

    /// The innermost state, and the stack without it.
    pub(super) fn pop(&self, stack: Stack) -> Option<(State, Stack)> {
        let index = stack.checked_sub(OUTERMOST + 1)?;
        self.entries.get(index as usize).copied()
    }
}

/// Where an alternative can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Config {
    state: State,
    alternative: usize,
    stack: Stack,
    /// It has left the rule of the decision, for a caller that is not known.
    outside: bool,
    /// The filter of precedences does not apply to it.
    unfiltered: bool,
}

impl Config {
    fn at(self, state: State) -> Self {
        Self { state, ..self }
    }

    fn has_stopped(&self) -> bool {
        AUTOMATON.states[self.state].kind == Kind::Stop
    }
}

/// Why a rule cannot go on.
#[derive(Debug)]
pub(super) enum Failure {
    /// The token is not expected.
    Mismatch,
    /// No alternative fits the tokens from the next one up to the one with this number.
    NoAlternative(usize),
    /// The parser gives up.
    Abort,
}

pub(super) type Outcome<T = ()> = Result<T, Failure>;

/// A decision with what it depends on.
#[derive(Clone, Copy)]
pub(super) struct Query {
    pub state: State,
    pub decision: Decision,
    /// The lowest precedence of operators that the rule may take.
    pub least: u8,
    /// The callers of the rule.
    pub callers: Stack,
}

/// Predicts, and remembers what was found without regard to callers.
#[derive(Debug, Default)]
pub(super) struct Predictor {
    pub stacks: Stacks,
    lookups: Vec<Lookup>,
    numbers: HashMap<Rc<[Config]>, usize>,
    /// The first lookup of a decision with a lowest precedence.
    starts: HashMap<(State, u8), usize>,
}

/// Where the alternatives can be after some tokens, and what the next token tells.
#[derive(Debug)]
struct Lookup {
    configs: Rc<[Config]>,
    next: HashMap<TokenKind, Next>,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    /// It is this edge.
    Edge(usize),
    /// It depends on the callers.
    Callers,
    /// No alternative goes on; one may be complete.
    Nothing(Option<usize>),
    /// Another token is needed.
    Lookup(usize),
}

impl Predictor {
    /// The number of the edge for the tokens that come next, of which `peek` gives the one with a number from 1.
    pub(super) fn edge(&mut self, query: Query, mut peek: impl FnMut(usize) -> Outcome<TokenKind>) -> Outcome<usize> {
        let mut lookup = self.start(query);
        let mut at = 1;
        loop {
            let token = peek(at)?;
            let next = match self.lookups[lookup].next.get(&token) {
                Some(next) => *next,
                None => self.look(query, lookup, token),
            };
            match next {
                Next::Edge(edge) => return Ok(edge),
                Next::Callers => return self.search(query).edge_with_callers(peek),
                Next::Nothing(complete) => return complete.ok_or(Failure::NoAlternative(at)),
                Next::Lookup(next) => lookup = next,
            }
            at += usize::from(token != TokenKind::Eof);
        }
    }

    fn search(&mut self, query: Query) -> Search<'_> {
        Search { stacks: &mut self.stacks, query }
    }

    fn start(&mut self, query: Query) -> usize {
        if let Some(start) = self.starts.get(&(query.state, query.least)) {
            return *start;
        }
        let mut configs = self.search(query).start(UNKNOWN);
        if query.decision.precedence {
            let first: HashSet<_> = configs.iter().filter(|c| c.alternative == 0).map(|c| (c.state, c.stack)).collect();
            configs.retain(|c| c.alternative == 0 || c.unfiltered || !first.contains(&(c.state, c.stack)));
        }
        let start = self.add(configs);
        self.starts.insert((query.state, query.least), start);
        start
    }

    fn add(&mut self, configs: Vec<Config>) -> usize {
        let configs: Rc<[Config]> = configs.into();
        *self.numbers.entry(configs.clone()).or_insert_with(|| {
            self.lookups.push(Lookup { configs, next: HashMap::new() });
            self.lookups.len() - 1
        })
    }

    fn look(&mut self, query: Query, lookup: usize, token: TokenKind) -> Next {
        let configs = self.lookups[lookup].configs.clone();
        let reached = self.search(query).reach(&configs, token, false);
        let next = match only(&reached) {
            _ if reached.is_empty() => Next::Nothing(finished(&configs)),
            Some(edge) => Next::Edge(edge),
            None if reached.iter().all(Config::has_stopped) || is_conflict(&reached) => Next::Callers,
            None => Next::Lookup(self.add(reached)),
        };
        self.lookups[lookup].next.insert(token, next);
        next
    }
}

/// Follows the alternatives of a decision.
struct Search<'a> {
    stacks: &'a mut Stacks,
    query: Query,
}

impl Search<'_> {
    fn edge_with_callers(&mut self, mut peek: impl FnMut(usize) -> Outcome<TokenKind>) -> Outcome<usize> {
        let mut configs = self.start(self.query.callers);
        let mut at = 1;
        loop {
            let token = peek(at)?;
            let reached = self.reach(&configs, token, true);
            if reached.is_empty() {
                return finished(&configs).ok_or(Failure::NoAlternative(1));
            }
            if let Some(alternative) = only(&reached) {
                return Ok(alternative);
            }
            let mut least = subsets(&reached).into_values().filter_map(|alternatives| alternatives.into_iter().min());
            let first = least.next();
            if let Some(alternative) = first.filter(|first| least.all(|other| other == *first)) {
                return Ok(alternative);
            }
            configs = reached;
            at += usize::from(token != TokenKind::Eof);
        }
    }

    fn start(&mut self, stack: Stack) -> Vec<Config> {
        let mut closure = Closure::new(false);
        for (alternative, edge) in AUTOMATON.states[self.query.state].edges.iter().enumerate() {
            let Edge::Empty(state) = *edge else { continue };
            closure.seen.clear();
            self.close(&mut closure, Config { state, alternative, stack, outside: false, unfiltered: false }, Some(0));
        }
        closure.configs
    }

    fn reach(&mut self, configs: &[Config], token: TokenKind, with_callers: bool) -> Vec<Config> {
        let at_end = token == TokenKind::Eof;
        let (mut stopped, mut moved) = (Vec::new(), Vec::new());
        for config in configs {
            if config.has_stopped() {
                stopped.extend((with_callers || at_end).then_some(*config));
            }
            for edge in &AUTOMATON.states[config.state].edges {
                if let Edge::Token(tokens, to) = *edge
                    && tokens.contains(token)
                {
                    moved.push(config.at(to));
                }
            }
        }
        if stopped.is_empty() && !at_end && only(&moved).is_some() {
            return moved;
        }
        let mut closure = Closure::new(at_end);
        for config in moved {
            self.close(&mut closure, config, None);
        }
        let mut reached = closure.configs;
        if at_end {
            reached.retain(Config::has_stopped);
        }
        if !with_callers || !reached.iter().any(Config::has_stopped) {
            reached.extend(stopped);
        }
        reached
    }

    /// Adds what a configuration reaches without a token. The level is how many rules were entered, while precedences are compared.
    fn close(&mut self, closure: &mut Closure, from: Config, level: Option<i32>) {
        let mut pending = vec![(from, level)];
        while let Some((config, level)) = pending.pop() {
            let entry = &AUTOMATON.states[config.state];
            if entry.kind == Kind::Stop {
                self.leave(closure, config, level, &mut pending);
                continue;
            }
            for edge in entry.edges.iter().rev() {
                match *edge {
                    Edge::Precedence(precedence, _) if level == Some(0) && precedence < self.query.least => {}
                    Edge::Empty(to) | Edge::Precedence(_, to) => pending.push((config.at(to), level)),
                    Edge::Rule { rule, follow, .. } => {
                        let stack = self.stacks.push(follow, config.stack);
                        let inner = Config { stack, ..config.at(AUTOMATON.starts[rule as usize]) };
                        pending.push((inner, level.map(|level| if level >= 0 { level + 1 } else { level })));
                    }
                    Edge::Token(tokens, to) => {
                        closure.add(config);
                        if closure.at_end && tokens.contains(TokenKind::Eof) {
                            pending.push((config.at(to), level));
                        }
                    }
                }
            }
        }
    }

    /// At the end of a rule: goes on where it was called; if that is not known, wherever it is called.
    fn leave(
        &mut self,
        closure: &mut Closure,
        config: Config,
        level: Option<i32>,
        pending: &mut Vec<(Config, Option<i32>)>,
    ) {
        if let Some((state, stack)) = self.stacks.pop(config.stack) {
            pending.push((Config { state, stack, ..config }, level));
            return;
        }
        let rule = AUTOMATON.states[config.state].rule;
        if config.stack == OUTERMOST || rule == Rule::Start {
            closure.add(config);
            return;
        }
        let decided = AUTOMATON.states[self.query.state].rule;
        for call in AUTOMATON.calls[rule as usize].iter().rev() {
            if !closure.seen.insert((call.follow, config.alternative)) {
                continue;
            }
            let unfiltered = config.unfiltered || self.query.decision.precedence && call.lowest && rule == decided;
            let outer = Config { state: call.follow, outside: true, unfiltered, ..config };
            pending.push((outer, level.map(|level| level - 1)));
        }
    }
}

/// The configurations that others reach without a token.
struct Closure {
    configs: Vec<Config>,
    index: HashMap<(State, usize, Stack), usize>,
    /// Where rules with unknown callers went on.
    seen: HashSet<(State, usize)>,
    /// The end of the text was read: it can be read again.
    at_end: bool,
}

impl Closure {
    fn new(at_end: bool) -> Self {
        Self { configs: Vec::new(), index: HashMap::new(), seen: HashSet::new(), at_end }
    }

    fn add(&mut self, config: Config) {
        let next = self.configs.len();
        let index = *self.index.entry((config.state, config.alternative, config.stack)).or_insert(next);
        match self.configs.get_mut(index) {
            Some(same) => {
                same.outside |= config.outside;
                same.unfiltered |= config.unfiltered;
            }
            None => self.configs.push(config),
        }
    }
}

/// The alternative of all, if there is only one.
fn only(configs: &[Config]) -> Option<usize> {
    let first = configs.first()?.alternative;
    configs.iter().all(|config| config.alternative == first).then_some(first)
}

/// The first alternative that is complete.
fn finished(configs: &[Config]) -> Option<usize> {
    let complete = |config: &&Config| config.outside || config.has_stopped() && config.stack <= OUTERMOST;
    configs.iter().filter(complete).map(|config| config.alternative).min()
}

/// The alternatives that are at the same place.
fn subsets(configs: &[Config]) -> HashMap<(State, Stack), HashSet<usize>> {
    let mut subsets: HashMap<_, HashSet<_>> = HashMap::new();
    for config in configs {
        subsets.entry((config.state, config.stack)).or_default().insert(config.alternative);
    }
    subsets
}

/// More tokens will not tell the alternatives apart.
fn is_conflict(configs: &[Config]) -> bool {
    let mut by_state: HashMap<State, HashSet<usize>> = HashMap::new();
    for config in configs {
        by_state.entry(config.state).or_default().insert(config.alternative);
    }
    subsets(configs).values().any(|alternatives| alternatives.len() > 1)
        && by_state.values().all(|alternatives| alternatives.len() > 1)
}
