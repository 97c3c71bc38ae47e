//! The names in the text of a rule: fields, texts and numbers, from which values are made that the rule tells apart.
use std::collections::BTreeSet;

use kindsmith_tests::Random;

/// What an expression names.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// The fields, and whatever else is an identifier.
    pub(super) fields: BTreeSet<String>,
    /// The literals, of which there is at least one.
    pub(super) literals: Vec<String>,
    /// The same, texts made from them, and others.
    pub(super) texts: Vec<String>,
    pub(super) numbers: Vec<i64>,
}

/// Texts that functions of the libraries tell apart.
const TEXTS: [&str; 24] = [
    "",
    "a",
    "A-1",
    "*",
    "%",
    "/",
    "1",
    "-1",
    "a.b/c:1",
    "a@b",
    "a@latest",
    "unix:///a",
    "unix://@a",
    "http://a.b/c",
    "ftp://a.b",
    "1ms",
    "1s",
    "0s",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "10.0.0.1",
    "fd00::/8",
    "fd00::1",
    "169.254.1.0/24",
];

impl Vocabulary {
    pub(super) fn of(expression: &str) -> Self {
        let mut vocabulary = Self::default();
        let mut rest = expression;
        while let Some(first) = rest.chars().next() {
            rest = match first {
                '\'' | '"' => vocabulary.literal(rest),
                '0'..='9' => vocabulary.number(rest),
                'a'..='z' | 'A'..='Z' | '_' => vocabulary.identifier(rest),
                _ => &rest[first.len_utf8()..],
            };
        }
        if vocabulary.literals.is_empty() {
            vocabulary.literals.push("a".to_owned());
        }
        vocabulary.literals.sort();
        vocabulary.literals.dedup();
        let literals = vocabulary.literals.clone();
        for one in &literals {
            vocabulary.texts.push(one.clone());
            vocabulary.texts.extend([
                format!("{one}a"),
                format!("a{one}"),
                format!("/{one}"),
                format!("{one}/a"),
                one.to_uppercase(),
            ]);
            vocabulary.texts.extend([
                format!("{one}/"),
                format!("{one}@b"),
                format!("{one}@latest"),
                format!("a.{one}/b"),
                format!("/a{one}b"),
            ]);
            let few = literals.iter().filter(|other| literals.len() < 9 || other.len() < 3);
            vocabulary.texts.extend(few.map(|other| format!("{one}{other}")));
        }
        vocabulary.texts.extend(TEXTS.map(str::to_owned));
        let near = vocabulary.numbers.iter().flat_map(|number| [number - 1, number + 1]).collect::<Vec<_>>();
        vocabulary.numbers.extend(near.into_iter().chain([0, 1, 2]));
        vocabulary
    }

    /// A literal, or a text like it.
    pub(super) fn text(&self, random: &mut Random) -> &String {
        let all = if random.one_in(2) { &self.literals } else { &self.texts };
        random.pick(all)
    }

    fn literal<'t>(&mut self, text: &'t str) -> &'t str {
        let quote = &text[..1];
        let triple = quote.repeat(3);
        let ends = if text.starts_with(&triple) { &triple } else { quote };
        let inside = &text[ends.len()..];
        let end = inside.match_indices(ends).find(|(at, _)| !inside[..*at].ends_with('\\')).expect("a literal ends").0;
        self.literals.push(inside[..end].replace("\\\\", "\\"));
        &inside[end + ends.len()..]
    }

    fn number<'t>(&mut self, text: &'t str) -> &'t str {
        let end = text.find(|of: char| !of.is_ascii_digit()).unwrap_or(text.len());
        self.numbers.extend(text[..end].parse::<i64>());
        &text[end..]
    }

    fn identifier<'t>(&mut self, text: &'t str) -> &'t str {
        let end = text.find(|of: char| !of.is_ascii_alphanumeric() && of != '_').unwrap_or(text.len());
        let name = &text[..end];
        let word = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name);
        self.fields.insert(word.replace("__dash__", "-").replace("__dot__", ".").replace("__slash__", "/"));
        &text[end..]
    }
}
