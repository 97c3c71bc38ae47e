//! Limits, depth and odd inputs: nothing overflows the stack of a thread, and the two parsers agree on what is valid.
use super::{ALL, MACROS, errors_within, parsed};
use crate::syntax::{Options, RECOVERY, builder::Builder, parser, recovery};

/// A text of `count` repetitions on both sides of another.
fn nested(open: &str, inner: &str, close: &str, count: usize) -> String {
    open.repeat(count) + inner + &close.repeat(count)
}

fn message(text: &str) -> String {
    parsed(text, ALL).map_or_else(|issues| issues.to_string(), |_| "ok".to_owned())
}

#[test]
fn nesting_is_limited_by_rule_and_by_node() {
    const RULES: &str = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
    const NODES: &str = "ERROR: <input>:-1:0: max recursion depth exceeded";
    let chain = |operator: &str, count: usize| "a".to_owned() + &operator.repeat(count);
    for (text, expected) in [
        (nested("[", "1", "]", 249), "ok"),
        (nested("[", "1", "]", 250), RULES),
        (nested("(", "1", ")", 249), "ok"),
        (nested("(", "1", ")", 250), RULES),
        (nested("f(", "1", ")", 249), "ok"),
        (nested("1+(", "1", ")", 124), "ok"),
        (nested("1+(", "1", ")", 125), RULES),
        (nested("1==(", "1", ")", 124), "ok"),
        (nested("1==(", "1", ")", 125), RULES),
        (nested("1+1*(", "1", ")", 83), "ok"),
        (nested("1+1*(", "1", ")", 84), RULES),
        (nested("a?b:", "1", "", 249), "ok"),
        (nested("a?b:", "1", "", 250), RULES),
        (chain("+1", 250), "ok"),
        (chain("+1", 251), NODES),
        (chain(".b", 250), "ok"),
        (chain(".b", 251), NODES),
        (chain("[0]", 250), "ok"),
        (chain("[0]", 251), NODES),
        (chain(".f()", 251), NODES),
        (chain(" == 1", 251), NODES),
        (chain(" && a", 5_000), "ok"),
        ("!".repeat(5_000) + "a", "ok"),
        (nested("a.map(a, ", "1", ")", 249), "ok"),
    ] {
        assert_eq!(message(&text), expected, "{text:.40}");
    }
}

#[test]
fn the_size_is_limited() {
    let limits = crate::syntax::Limits { code_points: 2, recursion: 250 };
    let small = Options { limits, ..Options::default() };
    let size = "expression code point size exceeds limit: size: 3, limit 2";
    assert_eq!(errors_within("foo", small, RECOVERY), format!("    -1:0: {size}\n"));
    assert_eq!(errors_within("éa", small, RECOVERY), "    1:1: Syntax error: token recognition error at: 'é'\n");
}

#[test]
fn deep_trees_fit_the_stack_of_a_thread() {
    let texts = [
        nested("[", "1", "]", 249),
        nested("!(a||a||a&&!(a&&a&&[", "1", "]))", 83),
        nested("a.exists_one(a, ", "1", ")", 249),
        nested("a.map(a, a, ", "1", ")", 249),
        nested("a.optMap(a, ", "1", ")", 249),
        nested("{1:", "1", "}", 249),
        nested("M{a:", "1", "}", 249),
        nested("a?(", "1", "):a", 120),
        nested(&("!(".to_owned() + &"a||".repeat(128)), "1", ")", 249),
        nested("(", "1", "", 50_000),
        "-".repeat(100_000),
        nested("a?b:", "1", "", 249),
    ];
    let run = move || {
        for text in &texts {
            drop(parsed(text, ALL).map(|ast| (ast.clone() == ast).then_some(())));
            drop(recovery::parse(text, RECOVERY));
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no overflow");
}

/// A generator of numbers: xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

const PARTS: [&str; 52] = [
    "a",
    "b.c",
    "f",
    "in",
    "true",
    "false",
    "null",
    "1",
    "2u",
    ".5",
    "1.5",
    "\"s\"",
    "b'x'",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ".",
    ",",
    "-",
    "!",
    "?",
    ":",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    "&&",
    "||",
    "`e`",
    "-1",
    "--",
    ".?",
    "[?",
    "has(a.b)",
    "x.all(y, y)",
    "//c\n",
    "&",
    "é",
    "'\\u00e9",
    "\"\\x4",
    "M{",
    "a(",
    "1:",
    "\r\n",
    "'''",
];

/// Half of the texts are parts at random, the other half valid ones with a part changed.
fn random_text(numbers: &mut Numbers) -> String {
    const VALID: &str = "a . b ( c , -1 ) [ 0 ] + f ( [ 1 , ? a , ] ) * -- 2 == M { a : 1 , ? b : x } ? ! ( { 'k' : .5 } ) : .g . h && c in d || e";
    let mut parts: Vec<&str> = if numbers.below(2) == 0 {
        (0..numbers.below(12)).map(|_| PARTS[numbers.below(PARTS.len())]).collect()
    } else {
        let valid: Vec<_> = VALID.split(' ').collect();
        valid[..=numbers.below(valid.len())].to_vec()
    };
    for _ in 0..numbers.below(3) {
        let at = numbers.below(parts.len() + 1);
        if numbers.below(2) == 0 && at < parts.len() {
            parts.remove(at);
        } else {
            parts.insert(at, PARTS[numbers.below(PARTS.len())]);
        }
    }
    parts.join(if numbers.below(2) == 0 { " " } else { "" })
}

#[test]
fn both_parsers_agree() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut valid = 0;
    for _ in 0..1_000 {
        let text = random_text(&mut numbers);
        let recovered = recovery::parse(&text, RECOVERY);
        let Ok((tree, root)) = parser::parse(&text, 250) else {
            assert!(!recovered.issues.is_empty(), "{text:?}");
            drop(parsed(&text, ALL).map_err(|issues| issues.to_string()).expect_err(&text));
            continue;
        };
        assert!(recovered.issues.is_empty(), "{text:?}");
        valid += 1;
        let mut fast = Builder::new(&text, &tree, ALL, &MACROS);
        let mut slow = Builder::new(&text, &recovered.tree, ALL, &MACROS);
        let recovered_root = recovered.root.expect("it has no errors");
        assert_eq!(fast.build(root).unwrap(), slow.build(recovered_root).unwrap(), "{text:?}");
    }
    assert!(valid > 50, "{valid}");
}

#[test]
fn any_bytes_are_parsed_or_refused() {
    let mut numbers = Numbers(7);
    for _ in 0..1_000 {
        let bytes: Vec<_> = (0..numbers.below(40))
            .map(|_| b"\"'\\`urbxU019aeE.-+/*\n\r {}[](),:?!|&=<>\xc3\xa9"[numbers.below(40)])
            .collect();
        drop(parsed(&String::from_utf8_lossy(&bytes), ALL).map_err(|issues| issues.to_string()));
    }
}
