//! The work of functions is reported before it is done.
use std::cell::Cell;

use super::{Document, all, with_variables};
use crate::{Failure, Meter, Program, Unmetered};

/// A meter that ends an evaluation after so many steps.
struct Budget(Cell<usize>);

impl Meter for Budget {
    fn step(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

#[test]
fn results_that_are_too_large_end_the_evaluation() {
    let env = with_variables(all());
    let long = "cel.bind(long, lists.range(1000).map(y, 'xxxxxxxxxx').join(), ";
    for expression in [
        "lists.range(100000000000)",
        "lists.range(100000).distinct()",
        "cel.bind(r, lists.range(10000), r.map(y, r)).flatten()",
        &format!("{long} lists.range(1000).map(y, long).join(long))"),
        &format!("{long} long.replace('', long).replace('', long))"),
        &format!("{long} ('%s'.format([lists.range(1000).map(y, long)]) + '%x').format([1]))"),
        &format!("{long} regex.replace(long, 'x', long))"),
    ] {
        let program = Program::compile(&env, expression).expect("it compiles");
        let evaluation = program.evaluate(&Document, None, &Budget(Cell::new(3_000_000)));
        let error = evaluation.value.expect_err(expression);
        assert_eq!(error.failure, Failure::Interrupted, "{expression}: {error}");
    }
}

#[test]
fn values_that_have_another_one_many_times_are_not_walked_to_the_end() {
    let env = with_variables(all());
    let doubled = format!("[[1]]{}", ".map(a, [a, a])".repeat(45));
    for (expression, expected) in [
        (format!("[{doubled}, {doubled}].distinct().size() > 0"), ""),
        (format!("[?dyn({doubled})].size() > 0"), "cannot initialize optional list element from non-optional value [["),
    ] {
        let program = Program::compile(&env, &expression).expect("it compiles");
        let evaluation = program.evaluate(&Document, Some(1_000_000), &Budget(Cell::new(3_000_000)));
        let error = evaluation.value.expect_err(&expression);
        assert!(error.message.starts_with(expected) && error.message.len() < 70_000, "{error}");
        assert_eq!(error.failure == Failure::Interrupted, expected.is_empty(), "{error}");
    }
}

/// Loops whose variables are lists of each other, nested far deeper than documents.
fn nested(loops: usize, brackets: usize, test: &str) -> String {
    let nest = |value: &str| format!("{}dyn({value}){}", "[".repeat(brackets), "]".repeat(brackets));
    let test = test.replace('z', &format!("z{loops}"));
    (1..=loops).rev().fold(test, |body, index| {
        let inner = if index == 1 { nest("n") } else { nest(&format!("z{}", index - 1)) };
        format!("[{inner}].all(z{index}, {body})")
    })
}

#[test]
fn values_that_are_nested_too_deeply_do_not_overflow_the_stack() {
    let env = with_variables(all());
    for test in ["z == z", "'%s'.format([z]) != ''", "dyn(z).flatten(100000) != []", "optional.of(z) == optional.of(z)"]
    {
        for (loops, brackets, ends) in [(10, 40, false), (8, 110, true)] {
            let program = Program::compile(&env, &nested(loops, brackets, test)).expect("it compiles");
            let value = program.evaluate(&Document, None, &Unmetered).value;
            assert_eq!(value.is_err_and(|error| error.failure == Failure::Interrupted), ends, "{test}");
        }
        let issues = Program::compile(&env, &nested(30, 110, test)).expect_err("it could overflow the stack");
        assert!(issues.to_string().ends_with("max recursion depth exceeded"), "{issues}");
    }
}
