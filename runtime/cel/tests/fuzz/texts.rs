//! Texts that may be no expressions: rules of other projects and published cases, changed at random, and words of the language in any order.
use std::{fs, path::Path, time::Duration};

use kindsmith_cel::Source;

use crate::{engine::Target, evaluation, random::Random};

/// Words of the language.
pub(crate) const WORDS: &[&str] = &[
    "self",
    "any",
    "n",
    "s",
    "ints",
    "texts",
    "maybe",
    "old",
    "x",
    "y",
    "true",
    "false",
    "null",
    "1",
    "0",
    "2u",
    "1.5",
    "-1",
    "'a'",
    "b'a'",
    "\"\\u00e9\"",
    "r'\\'",
    "'''a\n'''",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    ":",
    "?",
    ".?",
    "[?",
    "{?",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    " in ",
    " ? ",
    " : ",
    ".all(x, ",
    ".exists(x, ",
    ".map(x, ",
    ".filter(x, ",
    ".exists_one(x, ",
    ".all(x, y, ",
    ".transformMap(x, y, ",
    ".transformList(x, y, ",
    ".sortBy(x, ",
    ".optMap(x, ",
    "has(self.name)",
    "size(",
    ".size()",
    ".matches('a')",
    ".name",
    ".items",
    ".inner",
    ".numbers",
    ".labels",
    "[0]",
    "['a']",
    "dyn(",
    "type(",
    "int(",
    "string(",
    "duration('1h')",
    "timestamp(0)",
    "quantity('1')",
    "optional.of(",
    "optional.none()",
    ".orValue(",
    ".or(",
    "cel.bind(x, ",
    "sets.contains(",
    ".format([",
    "%s",
    "//",
    "\n",
    "`a-b`",
    "as",
    "Object{",
    "google.protobuf.Duration",
    "@result",
    "__result__",
    "\\",
];

/// Texts.
pub(crate) struct Texts(Vec<String>);

impl Texts {
    pub(crate) fn new() -> Self {
        let shared = std::env::var_os("KINDSMITH_SHARED").map(std::path::PathBuf::from);
        let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
        if !shared.is_dir() {
            assert!(std::env::var_os("CI").is_none(), "{} is missing", shared.display());
            println!("NOT RUN: texts of others, which are in {}", shared.display());
        }
        let mut texts = Vec::new();
        let cases = fs::read_dir(shared.join("cel")).into_iter().flatten().flatten();
        for text in cases.filter_map(|case| fs::read_to_string(case.path()).ok()) {
            texts.extend(serde_json::from_str::<serde_json::Value>(&text).iter().flat_map(|json| all(json, "expr")));
        }
        let mut folders = vec![shared.join("corpus")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    texts.extend(rules(&fs::read_to_string(&path).expect("a text")));
                }
            }
        }
        texts.sort();
        texts.dedup();
        Self(texts)
    }
}

/// The texts of fields with a name.
fn all(json: &serde_json::Value, name: &str) -> Vec<String> {
    match json {
        serde_json::Value::Array(items) => items.iter().flat_map(|item| all(item, name)).collect(),
        serde_json::Value::Object(object) => {
            let own = object.get(name).and_then(|text| text.as_str()).map(str::to_owned);
            object.values().flat_map(|value| all(value, name)).chain(own).collect()
        }
        _ => Vec::new(),
    }
}

/// The rules of a definition, as far as lines show them: what is cut off is one more change.
fn rules(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("rule:")).map(|rule| {
        let rule = rule.trim();
        let quoted = rule.strip_prefix(['\'', '"']).and_then(|rule| rule.strip_suffix(['\'', '"']));
        quoted.unwrap_or(rule).replace("''", "'")
    })
}

impl Target for Texts {
    const WORDS: &'static [&'static str] = WORDS;
    const LONGEST: usize = 8 << 10;
    const PATIENCE: Duration = Duration::from_millis(500);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        if self.0.is_empty() || random.one_in(3) {
            let count = 1 + random.below(40);
            return (0..count).map(|_| *random.pick(WORDS)).collect::<String>().into_bytes();
        }
        random.pick(&self.0).clone().into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let text = String::from_utf8_lossy(input);
        for issue in kindsmith_cel::syntax::parse_rule(&Source::new(&text)).err().iter().flatten() {
            // The greatest offset is the one before the text.
            let offset = issue.offset.filter(|offset| *offset != u32::MAX).unwrap_or_default();
            assert!(offset as usize <= text.chars().count(), "{issue:?} is outside of {text}");
        }
        let answers = [0, 1, 2].map(|seed| evaluation::attempt(seed, &text));
        answers.into_iter().find(|answer| !answer.starts_with("undeclared")).unwrap_or_default()
    }
}
