//! The decoders of documents.
use kindsmith::{Resource, kind::Kind, schema::Document};
use kindsmith_model::codec::{self, DecodedDocument, Limits, Order, cbor, yaml};
use kindsmith_tests::Random;
use serde_json::Value;

use crate::{engine::Target, json, sample::Sample};

fn encoded(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    codec::encode(document, &mut out);
    out
}

/// A summary of a document: the result of an accepted input.
pub(crate) fn form(document: &Document) -> String {
    fn walk(document: &Document, out: &mut String) {
        if out.len() > 100 {
            return;
        }
        match document {
            Document::Null => out.push('n'),
            Document::Bool(_) => out.push('b'),
            Document::Number(number) => out.push(if number.is_f64() { 'f' } else { 'i' }),
            Document::String(text) => out.push(if text.is_ascii() { 't' } else { 'u' }),
            Document::Array(items) => {
                out.push('[');
                items.iter().take(3).for_each(|item| walk(item, out));
            }
            Document::Object(fields) => {
                out.push('{');
                fields.values().take(3).for_each(|field| walk(field, out));
            }
        }
    }
    let mut out = String::new();
    walk(document, &mut out);
    out
}

/// How deep a document nests.
pub(crate) fn depth(document: &Document) -> usize {
    match document {
        Document::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Document::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Documents are written in every schemaless encoding, and read again.
pub(crate) fn comes_back(document: &Document) {
    let limits = Limits { memory: usize::MAX, ..Limits::default() };
    let same = |encoding: &str, decoded: Result<DecodedDocument, String>| {
        let decoded = decoded.unwrap_or_else(|error| panic!("{encoding} that was written is not read: {error}"));
        assert_eq!(&decoded.document, document, "by {encoding}");
        assert!(decoded.faults.is_empty(), "{encoding}: {:?}", decoded.faults);
    };
    same("JSON", codec::decode(&encoded(document), &limits).map_err(|error| error.to_string()));
    let mut bytes = Vec::new();
    cbor::encode(document, &mut bytes);
    same("CBOR", cbor::decode(&bytes, &limits).map_err(|error| error.to_string()));
    bytes.clear();
    yaml::encode(document, &mut bytes);
    same("YAML", yaml::decode(&bytes, &limits).map_err(|error| error.to_string()));
}

/// JSON text, compared with serde_json.
pub(crate) struct Json;

impl Target for Json {
    const WORDS: &'static [&'static str] = json::WORDS;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        if random.one_in(64) {
            let (open, deep) = (["[", "{\"a\":", "[{\"a\":"][random.below(3)], random.below(2_000));
            return open.repeat(deep).into_bytes();
        }
        let document = json::document(random, 5);
        json::bytes(&document, random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let limits = Limits::default();
        let other: Result<Value, _> = serde_json::from_slice(input);
        match codec::decode(input, &limits) {
            Ok(decoded) => {
                let text = encoded(&decoded.document);
                assert!(text.len() <= 8 * codec::size(&decoded.document), "the size is about known before");
                comes_back(&decoded.document);
                assert!(depth(&decoded.document) <= limits.depth);
                assert!(decoded.faults.len() <= 200, "{} faults", decoded.faults.len());
                if let Err(error) = other {
                    let error = error.to_string();
                    // serde_json reads doubles less exactly: those next to the largest become infinite.
                    let known = error.contains("recursion limit") || error.contains("number out of range");
                    assert!(known, "serde_json refuses it: {error}");
                }
                form(&decoded.document) + if decoded.faults.is_empty() { "" } else { "!" }
            }
            Err(error) => {
                let ours = error.message.contains("max depth") || error.message.contains("out of range");
                assert!(other.is_err() || ours, "serde_json accepts it: {error}");
                assert!(error.line >= 1 && error.column >= 1);
                error.message
            }
        }
    }
}

/// JSON text of an object of a kind; unknown fields are dropped.
pub(crate) struct JsonOfAKind(Kind);

impl JsonOfAKind {
    pub(crate) fn new() -> Self {
        Self(Sample::kind())
    }
}

impl Target for JsonOfAKind {
    const WORDS: &'static [&'static str] = &[
        "\"unknown\":",
        "\"spec\":",
        "\"parts\":[",
        "\"metadata\":",
        "\"status\":",
        "\"a\":1,\"a\":2",
        "{}",
        "[",
        "null",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut documents = kindsmith::testing::documents(&self.0, random.number());
        let document = documents.next().expect("a document without end");
        json::bytes(&document, random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let limits = Limits::default();
        let (plain, strict) =
            (codec::decode(input, &limits), codec::decode_strict(input, &limits, &self.0.version.schema, Order::AsMet));
        let (plain, strict) = match (plain, strict) {
            (Ok(plain), Ok(strict)) => (plain, strict),
            (Err(plain), Err(strict)) => {
                assert_eq!(plain, strict);
                return plain.message;
            }
            (plain, strict) => panic!("{plain:?}, but {strict:?}"),
        };
        let mut pruned = plain.document.clone();
        kindsmith::schema::prune(&self.0.version.schema, &mut pruned);
        let without_metadata = |mut document: Document| {
            document.as_object_mut().and_then(|fields| fields.remove("metadata"));
            document
        };
        assert_eq!(without_metadata(strict.document.clone()), without_metadata(pruned), "the same as pruning after");
        assert!(strict.faults.len() <= 300, "{} faults", strict.faults.len());
        let faults: String = strict.faults.concat();
        form(&strict.document) + &faults
    }
}

/// CBOR.
pub(crate) struct Cbor;

impl Target for Cbor {
    const WORDS: &'static [&'static str] = &["\u{7f}", "a", "ab", "name"];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut out = Vec::new();
        if random.one_in(2) {
            cbor::encode(&json::document(random, 5), &mut out);
        } else {
            item(random, 5, &mut out);
        }
        out
    }

    fn attempt(&self, input: &[u8]) -> String {
        let limits = Limits::default();
        match cbor::decode(input, &limits) {
            Ok(decoded) => {
                comes_back(&decoded.document);
                assert!(depth(&decoded.document) <= limits.depth);
                form(&decoded.document)
            }
            Err(error) => error.message,
        }
    }
}

/// A CBOR item: heads of all kinds, sometimes with false lengths.
fn item(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    let major = if depth == 0 { random.below(4) } else { random.below(8) };
    let small = random.below(5);
    match major {
        2 | 3 => {
            let text = json::text(random);
            head(random, major, text.len(), out);
            out.extend_from_slice(text.as_bytes());
        }
        4 | 5 if random.one_in(4) => {
            out.push(if major == 4 { 0x9f } else { 0xbf });
            (0..small * (major - 3)).for_each(|_| item(random, depth - 1, out));
            out.push(0xff);
        }
        4 | 5 => {
            head(random, major, small, out);
            (0..small * (major - 3)).for_each(|_| item(random, depth - 1, out));
        }
        6 => {
            head(random, 6, *random.clone().pick(&[0, 1, 2, 3, 4, 21, 22, 23, 24, 32, 55799]), out);
            item(random, depth - 1, out);
        }
        7 => out.extend_from_slice(random.pick::<&[u8]>(&[
            &[0xf4],
            &[0xf6],
            &[0xf7],
            &[0xf9, 0x7c, 0],
            &[0xf9, 0x3c, 0],
            &[0xfa, 0x7f, 0xc0, 0, 0],
            &[0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0],
            &[0xff],
            &[0xf8, 32],
        ])),
        _ => {
            let value = *random.clone().pick(&[0, 1, 23, 24, 255, 256, 65_536, usize::MAX / 2, usize::MAX]);
            head(random, major, value, out);
        }
    }
}

/// The head of an item in the shortest or a longer form, sometimes with a false length.
fn head(random: &mut Random, major: usize, value: usize, out: &mut Vec<u8>) {
    let value = if random.one_in(60) { usize::try_from(random.number()).unwrap_or(0) } else { value };
    let major = u8::try_from(major << 5).expect("three bits");
    let bytes = u64::try_from(value).expect("a number").to_be_bytes();
    let least = match value {
        0..24 => 0,
        24..256 => 1,
        256..65_536 => 2,
        _ if value <= 0xffff_ffff => 3,
        _ => 4,
    };
    match least.max(if random.one_in(10) { random.below(5) } else { 0 }) {
        0 => out.push(major | bytes[7]),
        1 => out.extend_from_slice(&[major | 0x18, bytes[7]]),
        2 => out.extend([major | 0x19].iter().chain(&bytes[6..])),
        3 => out.extend([major | 0x1a].iter().chain(&bytes[4..])),
        _ => out.extend([major | 0x1b].iter().chain(&bytes)),
    }
}
