//! The page of mistakes: each declaration is that of a compile-fail case, with the compiler's output, and each command prints what
//! the page says.

use std::fs;

use kindsmith_tests::Folder;

use crate::{SOURCES, done, refused};

const PAGE: &str = include_str!("../../src/docs/mistakes.md");

/// The blocks of code in a language.
fn blocks<'p>(section: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    section.split(&start).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

/// The sections of a part of the page.
fn sections(part: &str) -> Vec<&'static str> {
    let (_, rest) = PAGE.split_once(&format!("\n## {part}\n")).unwrap();
    let part = rest.split("\n## ").next().unwrap();
    part.split("\n### ").skip(1).collect()
}

/// A text as its lines that are not empty.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn the_page_has_twenty_mistakes() {
    let numbers = PAGE.lines().filter_map(|line| line.strip_prefix("### ")?.split_once(". ")).map(|(number, _)| number);
    let expected: Vec<String> = (1..=20).map(|number| number.to_string()).collect();
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
}

#[test]
fn each_declaration_is_refused_with_the_message_on_the_page() {
    let sections = sections("In a declaration");
    assert!(sections.len() >= 10, "{} declarations", sections.len());
    for section in sections {
        let (_, rest) = section.split_once("(`tests/ui/").unwrap_or_else(|| panic!("no case is named: {section}"));
        let case = rest.split("`)").next().unwrap();
        let path = format!("{SOURCES}/tests/ui/{case}");
        let source = fs::read_to_string(&path).unwrap();
        let error = fs::read_to_string(path.replace(".rs", ".stderr")).unwrap();
        let declared = lines(blocks(section, "rust")[0]);
        let case_lines = lines(&source);
        assert!(case_lines.windows(declared.len()).any(|part| part == declared), "{case} declares something else");
        // The compiler's whole first message.
        let first = error.split("\n\n").next().unwrap().trim_end();
        assert_eq!(blocks(section, "text")[0].trim_end(), first, "{case}");
    }
}

#[test]
fn each_command_prints_the_message_on_the_page() {
    let sections = sections("With the command");
    assert!(sections.len() >= 7, "{} commands", sections.len());
    for section in sections {
        let folder = Folder::new("mistakes");
        done(folder.path(), &["new", "shop"]);
        let shop = folder.path().join("shop");
        done(&shop, &["add", "kind", "Order", "customer:String", "copies:i32=1"]);
        if let Some(content) = blocks(section, "yaml").first() {
            let name = section.split_once("`:\n").unwrap().0.rsplit('`').next().unwrap();
            fs::create_dir_all(shop.join("schemas")).unwrap();
            fs::write(shop.join(name), content).unwrap();
        }
        let (command, expected) = blocks(section, "console")[0].split_once('\n').unwrap();
        let arguments: Vec<&str> = command.strip_prefix("$ kindsmith ").unwrap().split(' ').collect();
        assert_eq!(refused(&shop, &arguments), expected, "{command}");
    }
}
