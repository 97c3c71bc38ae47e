//! YAML.
use std::fmt::Write;

use kindsmith::schema::Document;
use kindsmith_model::codec::{self, Limits, yaml};
use kindsmith_tests::Random;

use super::decoders::{comes_back, depth, form};
use crate::{engine::Target, json};

/// YAML text. If it is also JSON, both decoders must agree.
pub(crate) struct Yaml;

const SCALARS: &[&str] = &[
    "a",
    "~",
    "null",
    "yes",
    "Off",
    "y",
    "0o17",
    "017",
    "0x1F",
    "0b101",
    "1_000",
    "1:30:00",
    ".inf",
    "-.Inf",
    ".NaN",
    "1e3",
    "1.",
    ".5",
    "+1",
    "-0",
    "9223372036854775808",
    "2026-01-02",
    "2026-01-02T03:04:05Z",
    "'it''s'",
    "\"\\u00e9\\x41\\n\"",
    "\"\\ud83d\\ude00\"",
    "\"\\0\"",
    "<<",
    "=",
    "!!str 1",
    "!!int '1'",
    "!!binary YWJj",
    "!!float 1",
    "!!bool yes",
    "!!null ''",
    "!local x",
    "!!set {a}",
    "!!omap [a: 1]",
    "? a",
    "- ",
    "@x",
    "`x",
    "%x",
    "a: b",
    "a #b",
    "\u{e9}",
    "\u{1F600}",
];
const BLOCKS: &[&str] = &["|", ">", "|-", ">+", "|2", ">-1", "|0", "|99"];

/// The lines of a block, each with its indentation.
fn block(random: &mut Random, depth: usize, indent: usize, out: &mut String) {
    let (list, pad) = (random.one_in(3), " ".repeat(indent));
    for number in 0..=random.below(4) {
        let name = *random.pick(&["a", "b", "c", "<<", "? ", "'q'", "1", "true", "~", "[x]", "{y: z}", "*a", "&b k"]);
        let anchor = *random.pick(&["", "", "", "", "&a ", "&b ", "!!map ", "!!seq ", "!!str "]);
        let (key, more) = if list { ("- ".to_owned(), 2) } else { (format!("{name}{number}: "), 1 + random.below(3)) };
        let key = if !list && random.one_in(4) { format!("{name}: ") } else { key };
        write!(out, "{pad}{key}{anchor}").expect("writing to a String cannot fail");
        match random.below(8) {
            0 | 1 if depth > 0 => {
                out.push('\n');
                block(random, depth - 1, indent + more, out);
                continue;
            }
            2 => out.push_str(random.pick::<&str>(&[
                "*a",
                "*b",
                "*c",
                "[*a, *a, *b]",
                "{<<: *a, x: 1}",
                "[<<: [*a, *b]]",
            ])),
            3 => {
                let inner = " ".repeat(indent + more);
                let style = *random.pick(BLOCKS);
                write!(out, "{style}\n{inner}{}\n\n{inner}  x", json::text(random).replace('\n', " "))
                    .expect("as above");
            }
            4 => json::write(&json::document(random, 2), random, out),
            _ => out.push_str(random.pick::<&str>(SCALARS)),
        }
        out.push_str(random.pick::<&str>(&["\n", "\n", "\n", "\n\n", " # c\n", "\r\n", "\n\t"]));
    }
}

impl Target for Yaml {
    const WORDS: &'static [&'static str] = &[
        "&a ",
        "*a",
        "<<: ",
        "<<: *a\n",
        "<<: [*a, *b]\n",
        "- ",
        "? ",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "%TAG ! tag:x,2000:\n",
        "!!binary ",
        "!!str ",
        "!!int ",
        "!<x> ",
        "|\n",
        ">-\n",
        "'",
        "\"",
        "#",
        "\\x",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\t",
        "~",
        "yes",
        "0x",
        "1:2",
        "[[[[[[[[",
        "{a: {a: {a: ",
        "- - - - - ",
        "&a [*a]",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut out = String::new();
        match random.below(40) {
            0 => {
                let deep = random.below(2_000);
                return ["[", "{a: ", "- ", "? ", "a:\n "][random.below(5)].repeat(deep).into_bytes();
            }
            1 => {
                // Each line contains the previous one several times.
                out.push_str("a0: &a0 [x, x]\n");
                for line in 1..=random.below(30) {
                    let before = line - 1;
                    writeln!(out, "a{line}: &a{line} [*a{before}, *a{before}, *a{before}]").expect("as above");
                }
            }
            2..15 => {
                let mut bytes = Vec::new();
                yaml::encode(&json::document(random, 5), &mut bytes);
                return bytes;
            }
            _ => block(random, 4, 0, &mut out),
        }
        out.into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let limits = Limits::default();
        let as_json = json_alone(input, &limits);
        match yaml::decode(input, &limits) {
            Ok(decoded) => {
                assert!(depth(&decoded.document) <= limits.depth);
                assert!(codec::size(&decoded.document) <= limits.memory, "the document is bounded");
                assert!(decoded.faults.len() <= 1, "all faults are one");
                if let Some(as_json) = as_json {
                    assert_eq!(as_json, decoded.document, "JSON is YAML");
                }
                comes_back(&decoded.document);
                form(&decoded.document) + if decoded.faults.is_empty() { "" } else { "!" }
            }
            Err(error) => {
                assert!(as_json.is_none(), "JSON is YAML: {error}");
                let message = error.to_string();
                assert!(message.len() <= 4 * input.len() + 40_000, "a message of {} bytes", message.len());
                message
            }
        }
    }
}

/// The document of a text that is a JSON object or list throughout.
fn json_alone(input: &[u8], limits: &Limits) -> Option<Document> {
    let decoded = codec::decode(input, limits).ok().filter(|decoded| decoded.faults.is_empty());
    decoded.map(|decoded| decoded.document).filter(|document| document.is_object() || document.is_array())
}
