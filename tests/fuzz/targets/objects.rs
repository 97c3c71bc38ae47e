//! Targets that need whole objects: Protobuf, and field ownership.
use kindsmith::{
    Resource, builtin,
    kind::Kind,
    schema::{self, Document, METADATA},
};
use kindsmith_model::{
    codec::{
        self, Limits,
        protobuf::{self, Message},
    },
    patch::apply::{self, ApplyError, OneVersion, View, Writer},
};
use kindsmith_tests::Random;
use serde_json::{Map, json};

use super::{decoders::form, patches::two};
use crate::{engine::Target, json, sample::Sample};

/// Protobuf messages of several kinds; the first byte selects one.
pub(crate) struct Protobuf(Vec<(Kind, Message)>);

impl Protobuf {
    pub(crate) fn new() -> Self {
        let mut kinds = builtin::kinds();
        kinds.push(Sample::kind());
        let message = |kind: Kind| Message::of_object(&kind.version.schema).map(|message| (kind, message));
        Self(kinds.into_iter().filter_map(message).collect())
    }
}

impl Target for Protobuf {
    const WORDS: &'static [&'static str] =
        &["k8s\0", "\n\u{2}", "\u{12}\0", "\u{1a}\u{7f}", "v1", "\u{8}\u{1}", "ConfigMap"];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let which = random.below(self.0.len());
        let (kind, message) = &self.0[which];
        let document = kindsmith::testing::documents(kind, random.number()).next().expect("a document without end");
        let mut input = vec![u8::try_from(which).expect("few kinds")];
        input.extend(protobuf::encode(message, &document).expect("a document of the kind"));
        input
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((which, body)) = input.split_first() else { return String::new() };
        let (kind, message) = &self.0[usize::from(*which) % self.0.len()];
        let limits = Limits::default();
        let envelope = match protobuf::open(body) {
            Ok(envelope) => envelope,
            Err(error) => return error.to_string(),
        };
        let document = match protobuf::object(message, &envelope, &limits) {
            Ok(document) => document,
            Err(error) => return error.to_string(),
        };
        let there_and_back = |document: &Document| {
            let bytes = protobuf::encode(message, document).expect("what was read is written");
            let envelope = protobuf::open(&bytes).expect("what was written has an envelope");
            protobuf::object(message, &envelope, &limits).expect("what was written is read")
        };
        // Non-pointer fields of messages are present after the first round.
        let again = there_and_back(&document);
        assert_eq!(there_and_back(&again), again, "{}", kind.names().kind);
        let mut text = Vec::new();
        codec::encode(&document, &mut text);
        assert_eq!(
            codec::decode(&text, &limits).expect("a document is JSON").document,
            document,
            "a document is settled"
        );
        form(&document)
    }
}

/// Server-side apply, and field ownership of other writes. An input is a list of the stored object and the applied one.
pub(crate) struct Apply(Kind);

const WRITER: Writer<'_> =
    Writer { manager: "fuzzer", api_version: "fuzz.example.com/v1", subresource: "", time: "2026-01-02T03:04:05Z" };
const PATHS: &[&str] = &[
    "f:spec",
    "f:metadata",
    "f:parts",
    "f:tags",
    "f:options",
    "f:labels",
    "f:nested",
    "f:a",
    "f:text",
    ".",
    "k:{\"name\":\"a\"}",
    "k:{\"host\":\"a\",\"port\":80}",
    "k:{",
    "k:{}",
    "v:\"a\"",
    "v:1",
    "v:",
    "i:0",
    "i:-1",
    "i:99999999999999999999",
    "x:",
    "",
    "f:",
    "f:doors",
    "f:strategy",
    "f:finalizers",
    "f:status",
    "f:raw",
];

impl Apply {
    pub(crate) fn new() -> Self {
        Self(Sample::kind())
    }

    /// Mostly valid FieldsV1.
    fn fields(random: &mut Random, depth: usize) -> Document {
        if random.one_in(30) {
            return json::document(random, 1);
        }
        let below = |random: &mut Random| if depth == 0 { json!({}) } else { Self::fields(random, depth - 1) };
        (0..random.below(5)).map(|_| ((*random.pick(PATHS)).to_owned(), below(random))).collect()
    }

    fn managed(random: &mut Random) -> Document {
        let entry = |random: &mut Random| {
            let mut entry = json!({
                "manager": *random.pick(&["fuzzer", "other", "", "unknown"]), "operation": *random.pick(&["Apply", "Update", "", "x"]),
                "apiVersion": *random.pick(&["fuzz.example.com/v1", "v1", "fuzz.example.com/v2", ""]), "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": Self::fields(random, 4)});
            if random.one_in(5) {
                entry[*random.pick(&["manager", "time", "fieldsType", "subresource", "fieldsV1"])] =
                    json::document(random, 1);
            }
            entry
        };
        (0..random.below(5)).map(|_| entry(random)).collect()
    }

    fn view(&self) -> View<'_> {
        View { root: &self.0.version.schema, kind: &self.0.names().kind, reset: &[&["status"]], versions: &OneVersion }
    }

    /// True if a document could be stored, which is a precondition for the stored object.
    fn is_sound(&self, document: &Document) -> bool {
        let metadata = document.get("metadata").unwrap_or(&Document::Null);
        metadata.is_object()
            && schema::validate(&self.0.version.schema, document, &schema::Meter::default())
                .is_ok_and(|errors| errors.is_empty())
            && schema::check_types(&METADATA, metadata).is_none()
    }
}

impl Target for Apply {
    const WORDS: &'static [&'static str] = &[
        "\"managedFields\":[{}],",
        "\"f:spec\":{",
        "\"f:a\":{},",
        "\"k:{\\\"name\\\":\\\"a\\\"}\":{},",
        "\"v:\\\"a\\\"\":{},",
        "\".\":{},",
        "null",
        "\"parts\":[{\"name\":\"a\"}],",
        "{\"name\":\"a\"},",
        "\"tags\":[\"a\",\"a\"],",
        "\"spec\":{",
        "\"metadata\":{",
        "{}",
        "[]",
        "\"uid\":\"u\",",
        "\"resourceVersion\":\"1\",",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut documents = kindsmith::testing::documents(&self.0, random.number());
        let mut next = || documents.next().expect("documents without end");
        let (mut live, mut config) = (next(), next());
        config["metadata"]["name"] = live["metadata"]["name"].clone();
        if random.one_in(3) {
            config = live.clone();
        }
        if !random.one_in(4) {
            live["metadata"]["managedFields"] = Self::managed(random);
        }
        if random.one_in(8) {
            config["metadata"]["managedFields"] = Self::managed(random);
        }
        if random.one_in(8) {
            config["spec"] =
                Document::Object(json::fields(random, 3, &["parts", "tags", "text", "a", "nested", "raw"]));
        }
        json::bytes(&json!([live, config, random.one_in(2)]), random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((live, config)) = two(input) else { return "no input".to_owned() };
        if !self.is_sound(&live) {
            return "nothing that is stored".to_owned();
        }
        let mut written = config.clone();
        if written.is_object() && written.get("metadata").is_none_or(Document::is_object) {
            written.as_object_mut().expect("it is an object").entry("metadata").or_insert(Document::Object(Map::new()));
            apply::update(&self.view(), Some(&live), &mut written, &WRITER);
            apply::keep_times(&live, &mut written);
        }
        let force = input.len().is_multiple_of(2);
        match apply::merge(&self.view(), Some(&live), &config, &WRITER, force) {
            Ok(merged) => {
                assert!(codec::size(&merged) < 64 * (input.len() + 1_000), "the size is bounded");
                let again = apply::merge(&self.view(), Some(&merged), &config, &WRITER, force);
                assert_eq!(again.as_ref(), Ok(&merged), "nothing changes the second time");
                form(&merged)
            }
            Err(error @ ApplyError::Conflicts { .. }) => {
                assert!(!force, "{error}");
                error.to_string()
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                error.to_string()
            }
        }
    }
}
