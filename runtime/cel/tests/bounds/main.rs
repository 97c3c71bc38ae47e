//! Hostile expressions: whatever a stranger's rule does with a stranger's object, it takes no more than its budget. Real work is
//! reported to the meter, in proportion to the time that it takes; memory stays within bounds, and a limit of steps or cost ends it.
//!
//! The program counts allocations, which those of other tests would add to, so that it has this test alone. With
//! `KINDSMITH_FUZZ_SECONDS` in the environment the budgets are those of Kubernetes, which takes up to a minute.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod hostile;
mod texts;

use std::{
    cell::Cell,
    fs,
    time::{Duration, Instant},
};

use kindsmith_cel::{
    Env, Error, Meter, Program, Range, Sizes, Type, Value, Variables,
    value::{Dynamic, Json, Shape},
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What one evaluation may cost in Kubernetes, and the steps of a request. In CI there is time for less.
const FULL: (u64, usize) = (1_000_000, 50_000_000);
const IN_CI: (u64, usize) = (100_000, 1_000_000);
/// The time that anything may take, and further time for each step.
const ANYTHING: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 50 });
const STEP: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 1_000 } else { 40 });
/// The time in which any text is compiled.
const COMPILING: Duration = Duration::from_millis(if cfg!(debug_assertions) { 10_000 } else { 500 });
/// The stack of a thread that serves requests.
const STACK: usize = 2 << 20;
/// The memory that anything may take: what a program counts, with the room that lists have to grow.
const MEMORY: usize = Program::MEMORY * 2;

/// A meter that ends an evaluation after so many steps.
struct Budget(Cell<usize>);

impl Meter for Budget {
    fn step(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// The variables of expressions.
struct Objects(Vec<(&'static str, Json)>);

impl Objects {
    fn new() -> Self {
        let text = |part: &str, bytes: usize| Json::from(part.repeat(bytes / part.len()));
        let strings: Vec<Json> = (0..10_000).map(|index| format!("{index:0100}").into()).collect();
        let tree = |leaf: &str| {
            let row: Json = (0..100).map(|index| format!("{index}{leaf}")).collect();
            let rows: Json = (0..300).map(|index| (format!("row{index}"), row.clone())).collect();
            rows
        };
        Self(vec![
            ("text", text("a", 1 << 20)),
            ("same", text("a", 1 << 20)),
            ("wide", text("ä", 1 << 20)),
            ("n", 1.into()),
            ("ints", (0..10_000).collect()),
            ("texts", strings.into()),
            ("tree", tree("a")),
            ("twin", tree("a")),
            ("pattern", "(a{1,50}){1,20}b".into()),
            ("map", (0..10_000).map(|index| (format!("key{index}"), Json::from(index))).collect()),
        ])
    }
}

impl<'a> Variables<'a> for &'a Objects {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, json)| Dynamic.read(json))
    }
}

/// The CPU time of this thread, if the system reports it.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn env() -> Env {
    let text = |env: Env, name: &str| env.variable(name, Type::String);
    let env = ["text", "same", "wide", "pattern"].into_iter().fold(Env::kubernetes_latest(), text);
    env.variable("n", Type::Int)
        .variable("ints", Type::list(Type::Int))
        .variable("texts", Type::list(Type::String))
        .variable("tree", Type::Dyn)
        .variable("twin", Type::Dyn)
        .variable("map", Type::map(Type::String, Type::Int))
}

/// Compiles a text, and estimates what it costs.
fn compile(env: &Env, text: &str) -> String {
    match env.compile(text) {
        Err(issues) => issues.to_string(),
        Ok(checked) => {
            let estimate = checked.estimate(&Unknown);
            let program = Program::new(&checked).map_or_else(|error| error.to_string(), |_| String::new());
            format!("{estimate:?} {program}")
        }
    }
}

/// Nothing is known of sizes.
struct Unknown;

impl Sizes for Unknown {
    fn size(&self, _path: &[&str], _kind: &Type) -> Option<Range> {
        None
    }
}

/// Allocations of two tests at the same time cannot be distinguished.
#[test]
fn hostile_texts_and_expressions_stay_within_their_budgets() {
    let compiling = std::thread::Builder::new().stack_size(STACK).spawn(compile_hostile_texts).unwrap();
    let wrong = compiling.join().expect("no panic") + &evaluate_hostile_expressions();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Compiles the texts. Returns what takes too long, or too much memory.
fn compile_hostile_texts() -> String {
    let env = env();
    let mut wrong = String::new();
    for text in texts::all() {
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let (start, busy) = (Instant::now(), processor_time());
        let answer = compile(&env, &text);
        let took = elapsed(start, busy);
        let memory = ALLOCATED.peak_usage().saturating_sub(before);
        let (shown, answer): (String, String) = (text.chars().take(50).collect(), answer.chars().take(60).collect());
        let line = format!("{took:.1?}, {} MiB: {} of {shown}: {answer:?}\n", memory >> 20, text.len());
        print!("{line}");
        if took > COMPILING || memory > MEMORY {
            wrong += &line;
        }
    }
    wrong
}

fn elapsed(start: Instant, busy: Option<Duration>) -> Duration {
    let busy = processor_time().zip(busy).map(|(now, before)| now.saturating_sub(before));
    busy.unwrap_or_else(|| start.elapsed())
}

/// Evaluates the expressions. Returns what takes too long for its steps, or too much memory.
fn evaluate_hostile_expressions() -> String {
    let (env, objects) = (env(), Objects::new());
    let (most, all) = if std::env::var_os("KINDSMITH_FUZZ_SECONDS").is_some() { FULL } else { IN_CI };
    let mut wrong = String::new();
    for expression in hostile::EXPRESSIONS {
        let program = Program::compile(&env, expression).unwrap_or_else(|issues| panic!("{issues}"));
        let (before, budget) = (ALLOCATED.current_usage(), Budget(Cell::new(all)));
        ALLOCATED.reset_peak_usage();
        let (start, busy) = (Instant::now(), processor_time());
        let evaluation = program.evaluate(&&objects, Some(most), &budget);
        let took = elapsed(start, busy);
        let memory = ALLOCATED.peak_usage().saturating_sub(before);
        let steps = all - budget.0.get();
        let answer: String = match &evaluation.value {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        };
        let answer: String = answer.chars().take(50).collect();
        let line = format!(
            "{took:.1?} for {steps} steps and a cost of {}, {} MiB: {expression}: {answer}\n",
            evaluation.cost,
            memory >> 20
        );
        print!("{line}");
        // What is done at once, or fails for another reason, tests nothing.
        let is_hostile = match &evaluation.value {
            Ok(value) => matches!(value, Value::Bool(true)),
            Err(error) => error.is_fatal(),
        };
        if took > ANYTHING + STEP * u32::try_from(steps).unwrap() || memory > MEMORY || !is_hostile {
            wrong += &line;
        }
    }
    wrong
}
