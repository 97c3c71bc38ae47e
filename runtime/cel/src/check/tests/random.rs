//! Trees that no parser makes: random ones, and deep ones.
use std::sync::Arc;

use super::{env, limits::on_a_small_stack};
use crate::{
    Checked, Env, Issues, Source,
    syntax::ast::{Ast, Comprehension, Element, Entry, Expr, ExprKind, Field, Literal, operators},
};

/// Makes nodes, and numbers (xorshift).
struct Maker {
    state: u64,
    id: u32,
    functions: Vec<Arc<str>>,
}

impl Maker {
    fn new(env: &Env, seed: u64) -> Self {
        let mut functions: Vec<_> = env.base.functions.keys().cloned().collect();
        functions.sort_unstable();
        Self { state: seed, id: 0, functions }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % limit as u64).expect("below a usize")
    }

    fn name(&mut self) -> Arc<str> {
        ["a", "b", ".a", "list", "type", "x", "test.All", "@result", "nested"][self.below(9)].into()
    }

    fn node(&mut self, kind: ExprKind) -> Expr {
        self.id += 1;
        Expr { id: self.id, offset: self.id, kind }
    }

    fn boxed(&mut self, depth: u32) -> Box<Expr> {
        Box::new(self.tree(depth))
    }

    fn literal(&mut self) -> ExprKind {
        ExprKind::Literal(match self.below(5) {
            0 => Literal::Null,
            1 => Literal::Bool(true),
            2 => Literal::Int(1),
            3 => Literal::String("a".into()),
            _ => Literal::Double(1.0),
        })
    }

    fn trees(&mut self, depth: u32) -> Vec<Expr> {
        (0..self.below(4)).map(|_| self.tree(depth)).collect()
    }

    fn tree(&mut self, depth: u32) -> Expr {
        let choice = if depth == 0 { self.below(2) } else { self.below(11) };
        let below = depth.saturating_sub(1);
        let optional = self.below(4) == 0;
        let kind = match choice {
            0 => self.literal(),
            1 => ExprKind::Ident(self.name()),
            2 => ExprKind::Select { operand: self.boxed(below), field: self.name(), test_only: optional },
            3..=5 => {
                let target = optional.then(|| self.boxed(below));
                let function = self.below(self.functions.len());
                ExprKind::Call { target, function: Arc::clone(&self.functions[function]), args: self.trees(below) }
            }
            6 => ExprKind::List(self.trees(below).into_iter().map(|value| Element { value, optional }).collect()),
            7 => ExprKind::Map(self.trees(below).into_iter().map(|key| self.entry(key, below, optional)).collect()),
            8 => ExprKind::Struct { name: self.name(), fields: self.fields(below, optional) },
            9 => ExprKind::Call { target: None, function: operators::OPTIONAL_SELECT.into(), args: self.trees(below) },
            _ => ExprKind::Comprehension(self.comprehension(below)),
        };
        self.node(kind)
    }

    fn entry(&mut self, key: Expr, depth: u32, optional: bool) -> Entry {
        self.id += 1;
        Entry { id: self.id, offset: self.id, key, value: self.tree(depth), optional }
    }

    fn fields(&mut self, depth: u32, optional: bool) -> Vec<Field> {
        self.trees(depth)
            .into_iter()
            .map(|value| Field { id: value.id, offset: value.offset, name: self.name(), value, optional })
            .collect()
    }

    fn comprehension(&mut self, depth: u32) -> Box<Comprehension> {
        let two = self.below(2) == 0;
        Box::new(Comprehension {
            range: self.tree(depth),
            variable: self.name(),
            second: two.then(|| self.name()),
            accumulator: operators::ACCUMULATOR.into(),
            init: self.tree(depth),
            condition: self.tree(depth),
            step: self.tree(depth),
            result: self.tree(depth),
        })
    }
}

fn check(env: &Env, root: Expr, ids: u32) -> Result<Checked, Issues> {
    Checked::check(env, &Source::new(&"-".repeat(100)), Ast { root, ids })
}

#[test]
fn random_trees_cause_no_panic() {
    let env = env("a: map(string, test.All); b: list(T); x: optional_type(dyn)");
    let mut types = 0;
    for seed in 1..20_000 {
        let mut maker = Maker::new(&env, seed * 0x9e37_79b9);
        let root = maker.tree(4);
        match check(&env, root, maker.id + 1) {
            Ok(checked) => types += usize::from(!checked.result_type().to_string().is_empty()),
            Err(issues) => assert!(issues.to_string().starts_with("ERROR: ")),
        }
    }
    assert!(types > 1000, "{types} without errors");
}

#[test]
fn trees_of_any_depth_do_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let env = env("x: dyn");
        for wrap in WRAPPERS {
            for (depth, fits) in [(550, true), (1500, false)] {
                let mut maker = Maker::new(&env, 1);
                let mut root = maker.node(ExprKind::Ident("x".into()));
                for _ in 0..depth {
                    let kind = wrap(&mut maker, root);
                    root = maker.node(kind);
                }
                let checked = check(&env, root, maker.id + 1);
                let too_deep = checked.is_err_and(|issues| issues.to_string().contains("max recursion depth exceeded"));
                assert_eq!(!too_deep, fits, "{depth}");
            }
        }
    });
}

/// Nodes around a node.
const WRAPPERS: [fn(&mut Maker, Expr) -> ExprKind; 7] = [
    |_, inner| ExprKind::Select { operand: Box::new(inner), field: "a".into(), test_only: false },
    |_, inner| ExprKind::Call { target: None, function: operators::NOT.into(), args: vec![inner] },
    |_, inner| ExprKind::Call { target: Some(Box::new(inner)), function: "size".into(), args: vec![] },
    |maker, inner| {
        let field = maker.node(ExprKind::Literal(Literal::String("a".into())));
        ExprKind::Call { target: None, function: operators::OPTIONAL_SELECT.into(), args: vec![inner, field] }
    },
    |_, inner| ExprKind::List(vec![Element { value: inner, optional: false }]),
    |maker, inner| {
        let key = maker.node(ExprKind::Literal(Literal::Int(1)));
        ExprKind::Map(vec![maker.entry(key, 0, false), {
            let key = maker.node(ExprKind::Literal(Literal::Int(1)));
            Entry { id: 0, offset: 0, key, value: inner, optional: false }
        }])
    },
    |maker, inner| {
        let mut comprehension = maker.comprehension(0);
        comprehension.step = inner;
        ExprKind::Comprehension(comprehension)
    },
];
