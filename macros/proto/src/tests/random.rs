//! Properties of merging, over random sequences of changes.
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{draft, file};
use crate::{File, merge};

const KINDS: [&str; 4] = ["int32", "string", "bool", "Inner"];
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// The fields of a message, by name; their types.
type Fields = BTreeMap<usize, usize>;

fn text(message: &str, fields: &Fields) -> String {
    let lines = fields.iter().map(|(name, kind)| format!("optional {} {} = 0;", KINDS[*kind], NAMES[*name]));
    let lines = lines.collect::<Vec<_>>().join(" ");
    format!("message {message} {{ {lines} }} ")
}

fn kinds(outer: &Fields, inner: &Fields) -> File {
    let scalars = inner.iter().map(|(name, kind)| (*name, kind % 3)).collect();
    draft(&format!("{}{}", text("Outer", outer), text("Inner", &scalars)))
}

fn fields() -> impl Strategy<Value = (Fields, Fields)> {
    let one = || proptest::collection::btree_map(0..NAMES.len(), 0..KINDS.len(), 0..NAMES.len());
    (one(), one())
}

proptest! {
    #[test]
    fn a_number_never_gets_another_meaning(steps in proptest::collection::vec(fields(), 1..12)) {
        let mut published = File::default();
        // Each number of a message that was ever published, with its name and type.
        let mut ever: BTreeMap<(String, u32), (String, String)> = BTreeMap::new();
        for (outer, inner) in steps {
            let draft = kinds(&outer, &inner);
            let Ok(merged) = merge(&published, &draft) else { continue };
            let written = merged.file.to_string();
            let again = merge(&file(&written), &draft).expect("the same kinds");
            prop_assert_eq!(again.file.to_string(), written.clone());
            for (name, message) in merged.file.all() {
                for field in &message.fields {
                    let meaning = (field.name.clone(), field.declared());
                    let known = ever.entry((name.clone(), field.number)).or_insert_with(|| meaning.clone());
                    prop_assert_eq!(&*known, &meaning);
                }
            }
            for ((message, number), (name, _)) in &ever {
                let message = merged.file.message(message).expect("messages are kept");
                let is_field = message.fields.iter().any(|field| field.number == *number && field.name == *name);
                prop_assert!(is_field || message.reserves(*number).is_some() && message.reserves_name(name).is_some());
            }
            published = file(&written);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z0-9 ={};<>\\[\\]\"'/*\n.,-]{0,200}") {
        let _ = crate::parse(&text);
        let _ = crate::parse(&format!("message M {{ {text} }}"));
        let _ = crate::is_proto(&text);
    }
}
