//! Hostile expressions take little time, memory and stack.
use std::{thread, time::Instant};

use super::{env, errors};

/// Runs on a stack of the size that threads have by default.
pub(super) fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no panic");
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let env = env("x: dyn");
        let nested = |depth: usize, open: &str, inner: &str, close: &str| {
            let expression = open.repeat(depth) + inner + &close.repeat(depth);
            // Either result will do.
            env.compile(&expression).is_ok()
        };
        assert!(nested(200, "[", "1", "]"));
        assert!(nested(200, "{1: ", "1", "}"));
        assert!(nested(200, "dyn(", "1", ")"));
        assert!(nested(200, "", "x", ".a"));
        nested(60, "[1].map(y, ", "1", ")");
        nested(60, "[1].all(y, true && ", "true", ")");
        nested(120, "true ? [", "x", "] : []");
        nested(200, "!(true && (", "true", "))");
    });
}

#[test]
fn types_that_double_are_refused_early() {
    on_a_small_stack(|| {
        let start = Instant::now();
        let doubling = "[1]".to_owned() + &".map(x, {x: x})".repeat(200);
        assert_eq!(errors(&env(""), &doubling), ["type complexity exceeds limit"]);
        let parameters = "[[]]".to_owned() + &".map(x, {x: x})".repeat(200);
        assert_eq!(errors(&env(""), &parameters), ["type complexity exceeds limit"]);
        assert!(start.elapsed().as_secs() < 5);
    });
}

#[test]
fn the_longest_expressions_take_little_time() {
    on_a_small_stack(|| {
        let env = env("x: dyn");
        let nested = "[".repeat(120) + &"]".repeat(120);
        let selects = "x".to_owned() + &".a".repeat(240);
        let loops = "[1].map(y, [y]).map(y, {y: y}).map(y, {y: y})";
        for part in ["1 + 'a'", "[] + [] + []", "y", loops, &nested, &selects] {
            let start = Instant::now();
            let expression = format!("[{part}{}]", format!(", {part}").repeat(90_000 / (part.len() + 2)));
            // Either result will do.
            let _ = env.compile(&expression);
            assert!(start.elapsed().as_secs() < 10, "{part}");
        }
    });
}
