//! The messages of syntax errors. They are those of the parser that ANTLR generates for cel-go, so it is simulated: an `automaton` of the
//! `grammar`, the `prediction` of alternatives, and its strategy to go on after an error. This runs only if the other parser has failed.
//! The tree, as far as there is one, is made as well: cel-go looks for other errors in it.
use super::{
    lexer::Lexer,
    token::Token,
    tree::{NodeIndex, Tree},
};
use crate::Issue;

mod automaton;
mod grammar;
mod prediction;
mod shape;
mod strategy;

use self::{
    automaton::{AUTOMATON, Decision, Edge, Kind, State},
    grammar::{RULES, Rule},
    prediction::{Failure, OUTERMOST, Outcome, Predictor, Query, Stack},
    shape::{Child, Shape},
};

/// The limits of cel-go's parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The deepest nesting of a rule.
    pub recursion: usize,
    /// How often it goes on after an error.
    pub attempts: usize,
    /// How many tokens it skips at once.
    pub skipped: usize,
    /// How many errors it reports.
    pub reports: usize,
}

/// A text with errors: the tree and its root, if the parser did not give up.
pub(super) struct Recovered {
    pub tree: Tree,
    pub root: Option<NodeIndex>,
    pub issues: Vec<Issue>,
}

/// Parses a text that has errors.
pub(super) fn parse(text: &str, limits: Limits) -> Recovered {
    let mut parser = Parser {
        text,
        lexer: Lexer::new(text),
        tokens: Vec::new(),
        visible: Vec::new(),
        at: 0,
        limits,
        issues: Vec::new(),
        reports: 0,
        state: 0,
        frames: Vec::new(),
        predictor: Predictor::default(),
        depths: [0; RULES],
        recovering: false,
        last_error: None,
        attempts: 0,
        tree: Tree::default(),
    };
    let root = parser.run().ok();
    Recovered { tree: parser.tree, root, issues: parser.issues }
}

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// All tokens that were needed so far.
    tokens: Vec<Token>,
    /// The indexes of the tokens that the grammar sees.
    visible: Vec<usize>,
    /// The index of the next token in `visible`.
    at: usize,
    limits: Limits,
    issues: Vec<Issue>,
    reports: usize,
    state: State,
    frames: Vec<Frame>,
    predictor: Predictor,
    /// How many invocations there are of each rule.
    depths: [usize; RULES],
    /// An error was reported, and nothing was matched since.
    recovering: bool,
    /// Where the last error was, and the states in which it was met.
    last_error: Option<(usize, Vec<State>)>,
    attempts: usize,
    tree: Tree,
}

/// The invocation of a rule.
struct Frame {
    rule: Rule,
    /// The state that called it, and where its caller goes on.
    caller: State,
    follow: State,
    stack: Stack,
    precedence: u8,
    shape: Shape,
}

impl Parser<'_> {
    fn run(&mut self) -> Outcome<NodeIndex> {
        let mut state = self.enter(Rule::Start, 0, 0, 0)?;
        loop {
            if AUTOMATON.states[state].kind != Kind::Stop {
                match self.step(state) {
                    Ok(next) => {
                        state = next;
                        continue;
                    }
                    Err(failure) => self.recover(&failure)?,
                }
            }
            match self.exit() {
                Ok(next) => state = next,
                Err(root) => return Ok(root),
            }
        }
    }

    fn enter(&mut self, rule: Rule, precedence: u8, caller: State, follow: State) -> Outcome<State> {
        let stack = match self.frames.last() {
            Some(frame) => self.predictor.stacks.push(follow, frame.stack),
            None => OUTERMOST,
        };
        let shape = Shape::new(rule, self.peek(1)?);
        self.frames.push(Frame { rule, caller, follow, stack, precedence, shape });
        self.depths[rule as usize] += 1;
        if self.depths[rule as usize] > self.limits.recursion {
            let message = format!("expression recursion limit exceeded: {}", self.limits.recursion);
            return self.abort(message);
        }
        self.state = AUTOMATON.starts[rule as usize];
        Ok(self.state)
    }

    /// Leaves a rule: where its caller goes on, or the root without a caller.
    fn exit(&mut self) -> Result<State, NodeIndex> {
        let frame = self.frames.pop().expect("the parser is in a rule");
        self.depths[frame.rule as usize] -= 1;
        self.state = frame.caller;
        let child = frame.shape.finish(&mut self.tree);
        match self.frames.last_mut() {
            Some(outer) => {
                outer.shape.push(child);
                Ok(frame.follow)
            }
            None => Err(child.node()),
        }
    }

    fn step(&mut self, state: State) -> Outcome<State> {
        let entry = &AUTOMATON.states[state];
        if entry.kind == Kind::LoopBack {
            self.sync(state)?;
            let Edge::Empty(entry) = entry.edges[0] else { return Ok(state) };
            return self.decide(entry);
        }
        if entry.decision.is_some() || entry.kind == Kind::PlusBlock {
            self.sync(state)?;
            return self.decide(state);
        }
        self.state = state;
        match entry.edges[0] {
            Edge::Empty(to) | Edge::Precedence(_, to) => Ok(to),
            Edge::Token(tokens, to) => {
                let token = self.match_token(tokens)?;
                self.shape().push(Child::Token(token));
                Ok(to)
            }
            Edge::Rule { rule, precedence, follow } => self.enter(rule, precedence, state, follow),
        }
    }

    fn shape(&mut self) -> &mut Shape {
        &mut self.frames.last_mut().expect("the parser is in a rule").shape
    }

    /// Takes an edge of a state that has several.
    fn decide(&mut self, state: State) -> Outcome<State> {
        let entry = &AUTOMATON.states[state];
        let edge = match entry.decision {
            None => 0,
            Some(decision) if decision.by_token => {
                let token = self.peek(1)?.kind;
                let alternatives = entry.edges.len() - usize::from(decision.exit);
                let fits = |edge: &usize| AUTOMATON.after_edge(entry.edges[*edge]).contains(token);
                let exit = decision.exit.then_some(alternatives);
                (0..alternatives).find(fits).or(exit).ok_or(Failure::NoAlternative(1))?
            }
            Some(decision) => self.predict(state, decision)?,
        };
        if entry.decision.is_some_and(|decision| !decision.exit) {
            let frame = self.frames.last_mut().expect("the parser is in a rule");
            frame.shape.choose(edge, &mut self.tree);
        }
        match entry.edges[edge] {
            Edge::Empty(to) => Ok(to),
            _ => Ok(state),
        }
    }

    fn predict(&mut self, state: State, decision: Decision) -> Outcome<usize> {
        let (least, callers) = self.frames.last().map_or((0, OUTERMOST), |frame| (frame.precedence, frame.stack));
        let mut predictor = std::mem::take(&mut self.predictor);
        let query = Query { state, decision, least, callers };
        let edge = predictor.edge(query, |number| self.peek(number).map(|token| token.kind));
        self.predictor = predictor;
        edge
    }
}
