//! Documents to CBOR.

use base64::{Engine, engine::general_purpose::STANDARD};
use minicbor::{Encoder, data::IanaTag};
use serde_json::{Map, Number};

use super::half;
use crate::schema::{At, Document, Schema, model::Type};

/// Writing to a `Vec` cannot fail.
const INFALLIBLE: &str = "writing to a Vec cannot fail";

/// Appends to a buffer.
pub(super) struct Writer<'o>(pub(super) Encoder<&'o mut Vec<u8>>);

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self(Encoder::new(out))
    }

    /// A value; the schema determines which strings are bytes.
    pub(super) fn value(&mut self, at: At<'_>, document: &Document) {
        let written = match document {
            Document::Null => self.0.null().map(drop),
            Document::Bool(flag) => self.0.bool(*flag).map(drop),
            Document::Number(number) => return self.number(number),
            Document::String(text) if holds_bytes(&at) => return self.base64(text),
            Document::String(text) => return self.text(text),
            Document::Array(items) => {
                let at = at.item();
                self.array(items.len());
                return items.iter().for_each(|item| self.value(at, item));
            }
            Document::Object(fields) => return self.object(at, fields),
        };
        written.expect(INFALLIBLE);
    }

    fn object(&mut self, at: At<'_>, fields: &Map<String, Document>) {
        let mut sorted: Vec<(&String, &Document)> = fields.iter().collect();
        // The order of encoded keys: a shorter length is less, because it precedes the bytes.
        sorted.sort_unstable_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        self.map(fields.len());
        for (name, value) in sorted {
            self.text(name);
            self.value(at.member(name).unwrap_or_else(At::anything), value);
        }
    }

    /// The head of a map; its keys and values follow.
    pub(super) fn map(&mut self, entries: usize) {
        self.0.map(length(entries)).expect(INFALLIBLE);
    }

    /// The head of a list; its items follow.
    pub(super) fn array(&mut self, items: usize) {
        self.0.array(length(items)).expect(INFALLIBLE);
    }

    /// Text, as kube-apiserver writes it: as bytes.
    pub(super) fn text(&mut self, text: &str) {
        self.0.bytes(text.as_bytes()).expect(INFALLIBLE);
    }

    /// The bytes of base64 text. Strings that are not valid base64 are kept as strings.
    fn base64(&mut self, text: &str) {
        match STANDARD.decode(text) {
            Ok(bytes) => {
                self.0.tag(IanaTag::ToBase64).and_then(|encoder| encoder.bytes(&bytes)).map(drop).expect(INFALLIBLE);
            }
            Err(_) => self.text(text),
        }
    }

    fn number(&mut self, number: &Number) {
        let written = match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => self.0.i64(integer).map(drop),
            (None, Some(double)) => return self.double(double),
            // Documents have no other numbers.
            (None, None) => self.0.null().map(drop),
        };
        written.expect(INFALLIBLE);
    }

    /// A double in the shortest form that preserves its value.
    fn double(&mut self, double: f64) {
        if let Some(bits) = half::exactly(double) {
            let [high, low] = bits.to_be_bytes();
            return self.0.writer_mut().extend_from_slice(&[0xf9, high, low]);
        }
        #[expect(clippy::cast_possible_truncation, reason = "whether that loses anything is what is asked")]
        let single = double as f32;
        let exact = f64::from(single).to_bits() == double.to_bits();
        if exact { self.0.f32(single).map(drop) } else { self.0.f64(double).map(drop) }.expect(INFALLIBLE);
    }
}

fn length(of: usize) -> u64 {
    u64::try_from(of).expect("a length fits 64 bits")
}

fn holds_bytes(schema: &Schema) -> bool {
    schema.kind == Type::String && schema.format.as_deref() == Some("byte")
}
