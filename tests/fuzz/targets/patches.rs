//! Patches. An input is a list of a document and a patch.
use kindsmith::{Resource, kind::Kind, schema::Document};
use kindsmith_model::{
    codec::{self, Limits},
    patch::{PatchError, json as json_patch, merge, strategic},
};
use kindsmith_tests::Random;
use serde_json::json;

use super::decoders::{depth, form};
use crate::{engine::Target, json, sample::Sample};

/// The two parts of an input.
pub(crate) fn two(input: &[u8]) -> Option<(Document, Document)> {
    match codec::decode(input, &Limits::default()).ok()?.document {
        Document::Array(mut parts) if parts.len() >= 2 => {
            let second = parts.swap_remove(1);
            Some((parts.swap_remove(0), second))
        }
        _ => None,
    }
}

fn encoded(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    codec::encode(document, &mut out);
    out
}

fn error_form(error: &PatchError) -> String {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() < 40_000, "a message of {} bytes", text.len());
    text
}

/// JSON Patch.
pub(crate) struct JsonPatch;

impl Target for JsonPatch {
    const WORDS: &'static [&'static str] = &[
        "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}",
        "{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}",
        "\"op\":\"add\",",
        "\"op\":\"test\",",
        "\"path\":\"/a\"",
        "\"path\":\"\"",
        "\"from\":\"\"",
        "/a",
        "/-",
        "/0",
        "/~1",
        "~",
        "/99999999999999999999",
        "{}",
        "[]",
        "null",
        ",",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let pointer = |random: &mut Random| {
            (0..random.below(4))
                .flat_map(|_| ["/", *random.pick::<&str>(&["a", "b", "0", "1", "-", "~0", "~1", "", "01"])])
                .collect::<String>()
        };
        let operations: Vec<Document> = (0..random.below(12))
            .map(|_| {
                let op = *random.pick(&["add", "remove", "replace", "move", "copy", "test", "x"]);
                let mut operation = json!({"op": op, "path": pointer(random), "from": pointer(random)});
                if !random.one_in(6) {
                    operation["value"] = json::document(random, 2);
                }
                operation
            })
            .collect();
        let document = json::fields(random, 3, json::NAMES);
        json::bytes(&json!([document, operations]), random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((document, patch)) = two(input) else { return "no input".to_owned() };
        let before = document.clone();
        let answer = json_patch::Patch::parse(&encoded(&patch))
            .and_then(|patch| patch.apply(&document, &kindsmith::schema::Meter::default()));
        assert_eq!(document, before);
        match answer {
            Ok(result) => {
                assert!(depth(&result) <= Limits::default().depth);
                assert!(codec::size(&result) <= (3 << 20) + 2 * input.len() + 100, "copies are limited");
                form(&result)
            }
            Err(error) => error_form(&error),
        }
    }
}

/// JSON Merge Patch.
pub(crate) struct MergePatch;

impl Target for MergePatch {
    const WORDS: &'static [&'static str] = &["null", "{}", "{\"a\":null}", "\"a\":", "[]"];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let documents = json!([json::document(random, 4), json::document(random, 4)]);
        json::bytes(&documents, random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((document, patch)) = two(input) else { return "no input".to_owned() };
        let mut merged = document.clone();
        merge::apply(&mut merged, &patch);
        let mut again = merged.clone();
        merge::apply(&mut again, &patch);
        assert_eq!(merged, again, "nothing changes the second time");
        assert!(depth(&merged) <= depth(&document).max(depth(&patch)));
        match merge::parse(&encoded(&patch)) {
            Ok(parsed) => assert_eq!(parsed.document, patch),
            Err(error) => assert!(!patch.is_object(), "{error}"),
        }
        form(&merged)
    }
}

/// Strategic merge patch.
pub(crate) struct Strategic(Kind);

const FIELDS: &[&str] = &[
    "spec",
    "metadata",
    "parts",
    "tags",
    "arguments",
    "options",
    "nested",
    "strategy",
    "references",
    "name",
    "note",
    "limits",
    "finalizers",
    "ownerReferences",
    "uid",
    "managedFields",
    "raw",
    "conditions",
    "status",
    "type",
    "$patch",
    "$patch",
    "$retainKeys",
    "$setElementOrder/parts",
    "$setElementOrder/tags",
    "$setElementOrder/references",
    "$deleteFromPrimitiveList/tags",
    "$deleteFromPrimitiveList/finalizers",
    "$setElementOrder",
    "$deleteFromPrimitiveList/",
    "apiVersion",
    "kind",
    "a",
];
const VALUES: &[&str] = &["replace", "delete", "merge", "a", "b", "c", "name", "spec", "tags", "type"];

impl Strategic {
    pub(crate) fn new() -> Self {
        Self(Sample::kind())
    }

    /// A patch: fields and directives.
    fn patch(random: &mut Random, depth: usize) -> Document {
        if depth == 0 || random.one_in(5) {
            return match random.below(4) {
                0 => Document::Null,
                1 => json!(random.below(3)),
                _ => Document::from(*random.pick(VALUES)),
            };
        }
        if random.one_in(3) {
            return (0..random.below(5)).map(|_| Self::patch(random, depth - 1)).collect();
        }
        (0..random.below(6)).map(|_| ((*random.pick(FIELDS)).to_owned(), Self::patch(random, depth - 1))).collect()
    }
}

impl Target for Strategic {
    const WORDS: &'static [&'static str] = &[
        "\"$patch\":\"replace\",",
        "\"$patch\":\"delete\",",
        "{\"$patch\":\"replace\"},",
        "{\"$patch\":\"delete\",\"name\":\"a\"},",
        "\"$retainKeys\":[\"name\"],",
        "\"$setElementOrder/parts\":[{\"name\":\"a\"}],",
        "\"$deleteFromPrimitiveList/tags\":[\"a\"],",
        "{\"name\":\"a\"},",
        "\"spec\":{",
        "\"parts\":[",
        "\"tags\":[\"a\"],",
        "null",
        "\"a\",",
        "{\"name\":null},",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut documents = kindsmith::testing::documents(&self.0, random.number());
        let mut next = || documents.next().expect("documents without end");
        let (from, to) = (next(), next());
        let patch = match random.below(3) {
            0 => to,
            1 => json!({"spec": Self::patch(random, 4), "metadata": Self::patch(random, 3)}),
            _ => Self::patch(random, 5),
        };
        let document = if random.one_in(4) { Self::patch(random, 5) } else { from };
        json::bytes(&json!([document, patch]), random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((document, patch)) = two(input) else { return "no input".to_owned() };
        match strategic::apply(&self.0.version.schema, &document, &patch) {
            Ok(result) => {
                assert!(result.is_object());
                assert!(
                    codec::size(&result) <= codec::size(&document) + codec::size(&patch) + 8,
                    "the size is bounded"
                );
                form(&result)
            }
            Err(error @ (PatchError::Malformed(_) | PatchError::TooLarge(_))) => {
                panic!("not an error of this patch: {error}")
            }
            Err(error) => error_form(&error),
        }
    }
}
