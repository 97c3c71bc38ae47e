//! Expressions that are nearly all well-typed, evaluated in two ways.
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use kindsmith_cel::{Checked, Error, Failure, Meter, Program, Unmetered, Value, syntax::ast::Ast};

use crate::{
    engine::Target,
    estimate,
    expression::Maker,
    random::Random,
    setup::{Bindings, Documents, SETUPS, Setup},
    slow::{self, Slow},
};

/// Expressions that cost more are not evaluated in full.
const LIMIT: u64 = 20_000;
/// The most work for a unit of cost, and for an expression that costs nothing, beside its nodes. A step is some ten nanoseconds, a unit about a microsecond.
const STEPS: u64 = 100;
const FREE: u64 = 20_000;

/// How many expressions had a value.
pub(crate) static EVALUATED: AtomicUsize = AtomicUsize::new(0);

/// Expressions by a seed for the environment and the documents, in a line of its own.
pub(crate) struct Expressions;

impl Target for Expressions {
    const WORDS: &'static [&'static str] = crate::texts::WORDS;
    const LONGEST: usize = 8 << 10;
    // Each is evaluated four times, checked and unchecked, for at most `LIMIT` microseconds, and slowly, too.
    const PATIENCE: Duration = Duration::from_millis(500);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let seed = random.number() % 1000;
        let text = Maker::new(&SETUPS[seed as usize % 3], random).any();
        format!("{seed}\n{text}").into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let input = String::from_utf8_lossy(input);
        let Some((seed, text)) = input.split_once('\n') else { return "no seed".to_owned() };
        let Ok(seed) = seed.parse::<u64>() else { return "no seed".to_owned() };
        attempt(seed, text)
    }
}

/// Evaluates an expression checked and unchecked.
pub(crate) fn attempt(seed: u64, text: &str) -> String {
    let setup = &SETUPS[usize::try_from(seed % 3).unwrap()];
    let documents = Documents::new(seed / 3);
    if let Ok(ast) = setup.env.parse(text) {
        unchecked(setup, &documents, &ast, text);
    }
    match setup.env.compile(text) {
        Err(issues) => issues.iter().next().map(|issue| issue.message.clone()).unwrap_or_default(),
        Ok(checked) => evaluated(setup, &documents, &checked, text),
    }
}

/// Counts the work of an evaluation.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) Cell<u64>);

impl Meter for Steps {
    fn step(&self, steps: usize) -> bool {
        self.0.set(self.0.get().saturating_add(steps as u64));
        true
    }
}

/// True if an expression has regular expressions, whose work is the time that they take.
fn timed(text: &str) -> bool {
    ["matches", "find", "regex."].iter().any(|name| text.contains(name))
}

fn unchecked(setup: &Setup, documents: &Documents, ast: &Ast, text: &str) {
    let program = Program::unchecked(&setup.env, ast);
    compare(setup, documents, None, ast, program, text);
}

fn evaluated(setup: &Setup, documents: &Documents, checked: &Checked, text: &str) -> String {
    let program = Program::new(checked);
    match compare(setup, documents, Some(checked), checked.ast(), program, text) {
        None => "too expensive".to_owned(),
        Some((Ok(value), cost)) => {
            EVALUATED.fetch_add(1, Relaxed);
            estimate::check(checked, documents, cost, text);
            format!("{} {value}", checked.result_type())
        }
        Some((Err(error), _)) => error.message.into_owned(),
    }
}

/// Evaluates in both ways, and returns the value and the cost.
fn compare(
    setup: &Setup,
    documents: &Documents,
    checked: Option<&Checked>,
    ast: &Ast,
    program: Result<Program, Error>,
    text: &str,
) -> Option<(Result<Value<'static>, Error>, u64)> {
    let variables = documents.variables();
    let slow =
        Slow { names: &setup.names, settings: setup.settings, checked, variables: &variables, cost: Cell::new(0) };
    let program = match (program, slow.compile(&ast.root)) {
        (Ok(program), Ok(())) => program,
        (Err(fast), Err(slow)) => {
            assert_eq!(fast, slow, "the errors of {text}");
            return Some((Err(fast), 0));
        }
        (fast, slow) => panic!("programs differ: {:?}, {:?}: {text}", fast.err(), slow.err()),
    };
    let steps = Steps::default();
    let fast = program.evaluate(&Bindings(&variables), Some(LIMIT), &steps);
    assert!(
        timed(text) || steps.0.get() <= FREE + program.nodes() as u64 + STEPS * fast.cost.min(LIMIT),
        "{} steps for {}: {text}",
        steps.0.get(),
        fast.cost
    );
    if matches!(&fast.value, Err(error) if error.is_fatal()) {
        return None;
    }
    let value = slow.evaluate(&ast.root);
    assert!(same_results(&value, &fast.value), "{:?}, but slowly {value:?}: {text}", fast.value);
    assert_eq!(fast.cost, slow.cost.get(), "the cost of {text}");
    limited(&program, &variables, fast.cost, text);
    let value = fast.value.and_then(Value::into_owned);
    Some((value, fast.cost))
}

/// A limit at the cost is enough, one below it is not.
fn limited(program: &Program, variables: &slow::Variables<'_>, cost: u64, text: &str) {
    let stopped = |limit| {
        let evaluation = program.evaluate(&Bindings(variables), Some(limit), &Unmetered);
        matches!(evaluation.value, Err(error) if error.failure == Failure::Cost)
    };
    assert!(!stopped(cost), "a limit of {cost} stops {text}");
    assert!(cost == 0 || stopped(cost - 1), "a limit of {cost} - 1 does not stop {text}");
}

fn same_results(left: &Result<Value<'_>, Error>, right: &Result<Value<'_>, Error>) -> bool {
    match (left, right) {
        (Ok(left), Ok(right)) => same(left, right),
        (Err(left), Err(right)) => {
            // Which names were tried is a matter of plans.
            let missing = |error: &Error| error.message.starts_with("no such attribute(s): ");
            left == right || (missing(left) && missing(right))
        }
        _ => false,
    }
}

/// True if two values are of one type and equal, with their parts. `NaN` is the same as itself.
fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
        (Value::Timestamp(_), Value::Timestamp(_)) => left.to_string() == right.to_string(),
        // A computed quantity equals nothing from the right, and thus not itself.
        (Value::Opaque(_), Value::Opaque(_)) => {
            left.type_name() == right.type_name() && left.to_string() == right.to_string()
        }
        (Value::Optional(Some(left)), Value::Optional(Some(right))) => same(left, right),
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| same_results(&left, &right))
        }
        (Value::Map(left), Value::Map(right)) => {
            let pairs = || left.iter().zip(right.iter());
            left.len() == right.len()
                && pairs().all(|(left, right)| same(&left.0, &right.0) && same_results(&left.1, &right.1))
        }
        _ => left.type_name() == right.type_name() && left.equals(right, &Unmetered) == Ok(true),
    }
}
