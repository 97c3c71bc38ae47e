//! Texts as long as expressions may be, or as deep, which take as long as they can to be compiled.

/// What is repeated.
const PARTS: &[&str] = &[
    "[",
    "(",
    "{",
    "!",
    "-",
    "a.",
    "a[",
    "a.b(",
    "has(",
    "'",
    "\"",
    "\\",
    "1 ",
    "@",
    "?",
    "a b ",
    "b'",
    "r'",
    "//",
    "\n",
    ".",
    ",",
    "1:",
    "a.all(x, ",
    "\u{1f600}",
];

/// What is repeated with an operator in between.
const CHAINS: &[(&str, &str)] = &[
    ("1", "+"),
    ("n", "+"),
    ("text", "+"),
    ("n == 1", "&&"),
    ("n == 1", "||"),
    ("dyn(n)", "+"),
    ("dyn(n) == 1", "&&"),
    ("nothing", "+"),
    ("nothing(1)", "+"),
    ("1", "+'a'+"),
    ("ints.all(x, x > 1)", "&&"),
    ("[1]", "+"),
    ("n", "<"),
    ("n", "=="),
    ("n > 0 ? 1", ":"),
    ("tree", "."),
    ("tree.a", "+"),
    ("optional.of(1)", ".or("),
    ("ints.map(x, x)", "+"),
];

/// What is nested.
const NESTS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{1: ", "1", "}"),
    ("[?optional.of(", "1", ")]"),
    ("-(", "1", ")"),
    ("dyn(", "1", ")"),
    ("ints.all(x, ", "true", ")"),
    ("ints.map(x, ", "x", ")"),
    ("ints.filter(x, x > 0 && ints.exists(y, ", "true", "))"),
    ("[ints].map(x, ", "x", ")"),
    ("ints.transformMap(x, y, ", "1", ")"),
    ("true ? ", "1", " : 2"),
    ("[[1]].sortBy(x, ", "1", ")"),
    ("tree[", "1", "]"),
    ("(1 + ", "1", ")"),
    ("optional.of(", "1", ")"),
    ("type(", "1", ")"),
];

/// The texts.
pub(crate) fn all() -> Vec<String> {
    const LONGEST: usize = 100_000;
    let repeated = |part: &str| part.repeat(LONGEST / part.chars().count());
    let nested = |before: &str, inner: &str, after: &str, times: usize| {
        format!("{}{inner}{}", before.repeat(times), after.repeat(times))
    };
    let joined = |part: &str, separator: &str| {
        let count = LONGEST / (part.len() + separator.len());
        vec![part; count].join(separator)
    };
    let mut texts = vec![
        format!("[{}]", joined("1", ",")),
        format!("[{}]", joined("[[[[[[1]]]]]]", ",")),
        format!("[{}]", joined("dyn(1)", ",")),
        format!("[{}].all(x, x == 1)", joined("ints", ",")),
        format!("{{{}}}", joined("1: {1: 1}", ",")),
        format!("n in [{}]", joined("'a'", ",")),
        format!("'{}'.format([{}])", "%s".repeat(10_000), vec!["1"; 10_000].join(",")),
        format!("'{}'", repeated("\\u00e4")),
        format!("text.matches('{}')", repeated("(a|b)*")),
        format!("text.matches('{}')", "a{1000}".repeat(1000)),
        format!("text.matches('{}')", repeated("\\\\pL")),
        format!("duration('{}')", repeated("1h")),
        format!("quantity('{}')", repeated("9")),
        nested("optional.of(", "1", ").optMap(x, x)", 200),
        nested("optional.of(1).optMap(x, ", "x", ")", 60),
        nested("optional.of(1).optMap(x, ", "x", ").optMap(y, y)", 20),
    ];
    for part in PARTS {
        texts.push(repeated(part));
    }
    for (part, separator) in CHAINS {
        texts.push(joined(part, separator));
    }
    for (before, inner, after) in NESTS {
        for times in [12, 30, 100, 240] {
            texts.push(nested(before, inner, after, times));
        }
    }
    texts
}
