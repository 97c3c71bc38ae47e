//! Patterns match what they match in Go, or are refused in its words.
use super::{read, translate};

#[test]
fn a_pattern_matches_what_it_matches_in_go() {
    let matches = [
        (r"^\d+$", "12", "١٢"),
        (r"^[\w.-]+$", "a_.-", "é"),
        (r"^[^\s]+$", "a\u{a0}", "a b"),
        (r"^{[a-z]}$", "{a}", "a"),
        ("^[[]&&]$", "[&&]", "a"),
        (r"^[a&&b~~]+$", "&~ab", "c"),
        (r"^\Qa.b\E$", "a.b", "axb"),
        (r"^\<a\>$", "<a>", "a"),
        (r"^a{2,3}$", "aa", "a"),
        (r"^[\D]$", "x", "1"),
        ("^[]a-]+$", "]-a", "b"),
        (r"^\x41\101\/$", "AA/", "A"),
        ("^[+--]$", ",", "a"),
        (r"^[[:alpha:]\-]$", "-", "1"),
        (r"\bfoo", "a foo", "afoo"),
        (r"^(?:[a-z0-9]{1,63}\.)*?x$", "ab.x", "ab,x"),
        (r"^(?i)[a-z]+$", "Ab", "1"),
        (r"^\p{Greek}\pL[\p{Lu}]$", "λaB", "aλB"),
        (r"^(?:a{2})?$", "", "a"),
        (r"^(?:(?:ab)?)+$", "", "a"),
    ];
    for (pattern, good, bad) in matches {
        let read = read(pattern).unwrap();
        assert!(read.is_match(good), "{pattern} {good}");
        assert!(!read.is_match(bad), "{pattern} {bad}");
    }
}

#[test]
fn what_is_too_large_is_refused_without_compiling_it() {
    let refused = |pattern: &str| read(pattern).unwrap_err();
    let large = refused(r"^\pL{1000}$");
    assert!(large.starts_with(r"error parsing regexp: expression too large: `^\pL{1000}$`: it has "), "{large}");
    assert!(large.ends_with(" bytes when compiled; supported: at most 16777216"), "{large}");
    assert!(refused(&r"\pL".repeat(101)).ends_with("it has 101 classes of Unicode; supported: at most 100"));
    assert!(refused(&r"\pL".repeat(20_000)).ends_with("it has 60000 bytes; supported: at most 16384"));
    let deep = "(".repeat(1_001) + &")".repeat(1_001);
    assert!(refused(&deep).starts_with("error parsing regexp: expression nests too deeply: `(((("));
    assert!(read("^.{1,1000}$").is_ok() && read(r"^[\pL\d-]{1,63}$").is_ok());
}

#[test]
fn what_go_refuses_is_refused_in_its_words() {
    let refused = [
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("x[a", "missing closing ]: `[a`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{3,2}", "invalid repeat count: `{3,2}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ];
    for (pattern, message) in refused {
        assert_eq!(translate(pattern).unwrap_err(), format!("error parsing regexp: {message}"), "{pattern}");
    }
}

/// `patterns.tsv` says for each pattern why Go 1.26 refuses it, or which of the texts in the first row it matches.
#[test]
fn a_pattern_is_what_it_is_in_go() {
    let mut rows = include_str!("patterns.tsv").lines();
    let json = |text: &str| serde_json::from_str::<String>(text).expect("JSON");
    let texts: Vec<String> = rows.next().expect("a row").split('\t').map(json).collect();
    let mut wrong = Vec::new();
    for row in rows {
        let (pattern, go) = row.split_once('\t').expect("two columns");
        let ours = match read(&json(pattern)) {
            Ok(read) => {
                "+".to_owned()
                    + &texts.iter().map(|text| if read.is_match(text) { '1' } else { '0' }).collect::<String>()
            }
            Err(error) => format!("-{}", serde_json::Value::from(error)),
        };
        if ours != go {
            wrong.push(format!("{row}\n{ours}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn names_of_several_words_are_known() {
    for pattern in [r"\p{Old_Italic}", r"[\p{old italic}]", r"\P{^Old-Italic}"] {
        assert!(read(pattern).expect("a pattern").is_match("\u{10300}"), "{pattern}");
    }
}

#[test]
fn the_text_that_matches_is_the_one_that_go_finds() {
    let found = [
        ("a.*?b", "xaabb", "aab"),
        ("a.*b", "xaabb", "aabb"),
        ("(?U)a.*b", "xaabb", "aab"),
        ("(?U)a.*?b", "xaabb", "aabb"),
        ("(?U:a+)b?", "aab", "a"),
        ("a|ab", "ab", "a"),
        ("a{2,3}?", "aaaa", "aa"),
        ("(a+?)+", "aaa", "aaa"),
        ("", "abc", ""),
        ("(?:a+)?", "aab", "aa"),
        ("(?:a{2}){1,2}?", "aaaa", "aa"),
    ];
    for (pattern, text, expected) in found {
        assert_eq!(read(pattern).unwrap().find(text, &crate::Unmetered), Ok(Some(expected)), "{pattern}");
    }
    let all = |pattern: &str, text: &'static str, most| {
        read(pattern).unwrap().find_all(text, most, &crate::Unmetered).unwrap()
    };
    assert_eq!(all("a*", "baac", usize::MAX), ["", "aa", ""]);
    assert_eq!(all("[0-9]+", "1 22 333", 2), ["1", "22"]);
    assert_eq!(read("x").unwrap().find("abc", &crate::Unmetered), Ok(None));
}
