//! Checks that hold for all output made from definitions and documents.
use std::collections::BTreeSet;

use kindsmith_codegen::{GeneratedCode, Kinds, proto::Drafts};
use kindsmith_formats::files::RelativePath;
use kindsmith_meta::text::{in_one_line, is_unsafe};
use kindsmith_model::codec::yaml;
use syn::{Item, Visibility};

/// Checks that a file lies below its folder.
pub(crate) fn path(path: &str) {
    RelativePath::new(path).unwrap();
}

/// Checks that kinds that were read have valid names.
pub(crate) fn names(kinds: &Kinds) {
    let is_label = |text: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !text.is_empty()
            && text.len() <= 63
            && text.chars().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-')
    };
    for declaration in &kinds.kinds {
        let shared = &declaration.definition.shared;
        let names = &shared.names;
        assert!(shared.group.is_empty() || shared.group.split('.').all(is_label), "{:?}", shared.group);
        for kind in [&names.kind, &names.list_kind] {
            assert!(is_label(&kind.to_ascii_lowercase()), "{kind:?}");
        }
        for name in [&names.plural, &names.singular].into_iter().chain(&names.short_names).chain(&names.categories) {
            assert!(is_label(name), "{name:?}");
        }
        for version in &declaration.definition.versions {
            assert!(is_label(&version.name), "{:?}", version.name);
            assert!(version.subresources.iter().all(|endpoint| is_label(&endpoint.subresource)));
        }
    }
}

/// Generated code parses and has modules of the groups and versions, imports and types alone, each with attributes that are known.
pub(crate) fn rust(kinds: &Kinds, generated: &GeneratedCode) {
    let definitions = || kinds.kinds.iter().map(|declaration| &declaration.definition);
    let groups: BTreeSet<&str> = definitions().map(|definition| &*definition.shared.group).collect();
    let versions: BTreeSet<(&str, &str)> =
        definitions().flat_map(|of| of.versions.iter().map(|version| (&*of.shared.group, &*version.name))).collect();
    let (mut modules, mut roots) = (0, 0);
    for file in &generated.files {
        path(file.path.to_str().unwrap());
        let code = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{error}: {}", file.text));
        assert!(!file.text.contains(|letter| is_unsafe(letter) && letter != '\n' && letter != '\t'), "{:?}", file.text);
        for item in &code.items {
            match item {
                Item::Use(_) => {}
                Item::Mod(module) => {
                    assert!(module.content.is_none(), "{}", file.text);
                    modules += 1;
                }
                Item::Struct(of) => {
                    roots += usize::from(attributes(&of.attrs));
                    for field in &of.fields {
                        attributes(&field.attrs);
                        assert!(matches!(field.vis, Visibility::Public(_)) && matches!(field.ty, syn::Type::Path(_)));
                    }
                }
                Item::Enum(of) => {
                    attributes(&of.attrs);
                    for variant in &of.variants {
                        attributes(&variant.attrs);
                        assert!(variant.fields.is_empty() && variant.discriminant.is_none());
                    }
                }
                _ => panic!("an item that nothing accounts for: {}", file.text),
            }
        }
    }
    assert_eq!(modules, groups.len() + versions.len());
    assert_eq!(roots, definitions().map(|definition| definition.versions.len()).sum::<usize>());
    assert_eq!(roots, generated.kinds.len());
    for warning in &generated.warnings {
        let line = warning.to_string();
        assert_eq!(in_one_line(&line), line);
    }
}

/// True for the attributes of a kind.
fn attributes(all: &[syn::Attribute]) -> bool {
    let known = ["doc", "derive", "resource", "api", "serde", "allow"];
    for attribute in all {
        assert!(known.iter().any(|known| attribute.path().is_ident(known)), "{:?}", attribute.path().get_ident());
    }
    all.iter().any(|attribute| attribute.path().is_ident("resource"))
}

/// Texts in pages are texts: the page has no tags and links but its own, outside of code, and what is code ends where the page says.
pub(crate) fn markdown(text: &str) {
    let mut fence = None;
    for line in text.lines() {
        match fence {
            Some(end) => fence = Some(end).filter(|end| line != *end),
            None if line.starts_with("```") => {
                fence = line.strip_suffix("yaml");
                assert!(fence.is_some_and(|fence| fence.bytes().all(|byte| byte == b'`')), "{text}");
            }
            None => {
                let outside = outside_of_code(line);
                for forbidden in ["<script", "](javascript:"] {
                    let is_there = outside.replace("\\]", "").contains(forbidden);
                    assert!(!is_there, "{forbidden}: {line} in {text}");
                }
            }
        }
    }
    assert_eq!(fence, None, "{text}");
}

/// What stands outside of code spans (CommonMark, 6.1): a backslash escapes only there.
fn outside_of_code(line: &str) -> String {
    let run = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let (mut outside, mut rest) = (String::new(), line);
    while let Some(next) = rest.chars().next() {
        if next == '\\' {
            let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
            outside.push_str(&rest[..=escaped]);
            rest = &rest[1 + escaped..];
            continue;
        }
        let length = run(rest);
        if length == 0 {
            outside.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let after = &rest[length..];
        let mut at = 0;
        let end = after.match_indices('`').find_map(|(found, _)| {
            if found < at {
                return None;
            }
            let run = run(&after[found..]);
            at = found + run;
            (run == length).then_some(at)
        });
        outside.push_str(if end.is_none() { &rest[..length] } else { "" });
        rest = &after[end.unwrap_or(0)..];
    }
    outside
}

#[test]
fn code_spans_end_at_as_many_backticks_as_they_begin_with() {
    for (line, outside) in [
        (r"a `b` c", "a  c"),
        (r"`\` | `](javascript:x)`", " | "),
        (r"\`a `b` ` c", r"\`a  ` c"),
        ("``a ` b`` c", " c"),
        ("`a", "`a"),
    ] {
        assert_eq!(outside_of_code(line), outside, "{line}");
    }
}

/// Each document is a role.
pub(crate) fn roles(text: &str) {
    for (_, body) in yaml::documents(text) {
        let limits = kindsmith_model::codec::Limits { depth: 32, memory: 16 << 20 };
        let role = yaml::decode(body.as_bytes(), &limits).expect("roles are YAML").document;
        assert_eq!(role["kind"], "ClusterRole", "{text}");
    }
}

/// Drafts are read again, and have the messages of kinds and their fields alone.
pub(crate) fn proto(drafts: &Drafts) {
    drafts.files.keys().chain(drafts.imported.keys()).for_each(|name| path(name));
    for locked in drafts.lock(None).unwrap() {
        path(&locked.path);
        let read = kindsmith_proto::parse(&locked.text).unwrap_or_else(|error| panic!("{error}: {}", locked.text));
        assert!(
            read.others.is_empty() && read.messages.iter().all(|message| message.others.is_empty()),
            "{}",
            locked.text
        );
        let lines = locked.text.lines().filter(|line| line.starts_with("message ")).count();
        assert_eq!(lines, read.messages.len(), "{}", locked.text);
        // A statement of a message stands in a line of its own.
        for line in locked.text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let signs = line.split('"').step_by(2).flat_map(|outside| outside.matches([';', '{', '}']));
            assert!(signs.count() <= 1, "{line}");
        }
    }
}
