//! `cargo run --release --manifest-path runtime/cel/benches/beside/Cargo.toml`: this crate beside the crate `cel`, on expressions that both
//! evaluate. Each time is the median of rounds that take turns. This crate also checks types, and counts costs and real work.
use std::{hint::black_box, time::Instant};

use cel::Context;
use kindsmith_cel::{
    Env, Program, Type, Unmetered,
    value::{Dynamic, Shape},
};
use serde_json::{Value, json};

const ROUNDS: usize = 31;

const EXPRESSIONS: [&str; 14] = [
    "self.min <= self.max",
    "self.name == 'widget' && self.max > 3",
    "has(self.name) && size(self.name) < 64",
    "self.name.startsWith('wid') || self.name.contains('get')",
    "self.phase in ['Pending', 'Running', 'Done']",
    "self.labels['tier'] == 'front'",
    "(self.min > 3 ? self.min : self.max) == 5",
    "self.ports.all(p, p.port > 0 && p.port < 65536)",
    "self.ports.exists(p, p.name == 'port-99')",
    "self.ports.filter(p, p.port > 8050).size() == 49",
    "self.ports.map(p, p.port)[3] == 8003",
    "self.tags.all(t, self.tags.exists_one(u, u == t))",
    "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
    "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
];

/// An object with lists of a hundred and of ten items.
fn object() -> Value {
    let ports: Value = (0..100).map(|n| json!({"name": format!("port-{n}"), "port": 8000 + n})).collect();
    let tags: Value = (0..10).map(|n| json!(format!("tag-{n}"))).collect();
    json!({"min": 1, "max": 5, "name": "widget", "phase": "Running", "labels": {"tier": "front"}, "ports": ports, "tags": tags})
}

/// The nanoseconds of a call: the median of rounds of each, which take turns.
fn beside<const N: usize>(mut calls: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            call();
            let count = (200_000 / begin.elapsed().as_nanos().max(20)).clamp(1, 5_000) as u32;
            let begin = Instant::now();
            (0..count).for_each(|_| call());
            times.push(begin.elapsed().as_secs_f64() * 1e9 / f64::from(count));
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

fn main() {
    let object = object();
    let env = Env::kubernetes_latest().variable("self", Type::Dyn);
    let mut context = Context::default();
    context.add_variable("self", object.clone()).expect("a value");
    println!("{:<58} {:>24} {:>7} {:>26} {:>7}", "nanoseconds", "evaluate: ours, cel", "ratio", "compile: ours, cel", "ratio");
    for text in EXPRESSIONS {
        let ours = Program::compile(&env, text).unwrap_or_else(|error| panic!("{error}"));
        let theirs = cel::Program::compile(text).unwrap_or_else(|error| panic!("{error}"));
        let evaluate = || ours.evaluate(&[("self", Dynamic.read(&object).expect("a value"))], None, &Unmetered).value.expect("a value");
        assert!(matches!(evaluate(), kindsmith_cel::Value::Bool(true)), "{text}");
        assert_eq!(theirs.execute(&context), Ok(cel::Value::Bool(true)), "{text}");
        let [our_run, their_run, our_compile, their_compile] = beside([
            &mut || drop(black_box(evaluate())),
            &mut || drop(black_box(theirs.execute(&context))),
            &mut || drop(black_box(Program::compile(&env, text))),
            &mut || drop(black_box(cel::Program::compile(text))),
        ]);
        println!(
            "{text:<58} {our_run:>12.0} {their_run:>11.0} {:>7.2} {our_compile:>14.0} {their_compile:>11.0} {:>7.2}",
            our_run / their_run,
            our_compile / their_compile,
        );
    }
}
