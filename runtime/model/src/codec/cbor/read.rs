//! CBOR to documents, in one pass. Errors have kube-apiserver's wording where clients may know it.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use jiff::Timestamp;
use minicbor::{
    Decoder,
    data::{IanaTag, Tag, Type},
};
use serde_json::Map;

use super::half;
use crate::{
    codec::{DecodeError, DecodedDocument, Limits, memory::Memory},
    meta::go,
    schema::{Document, number},
};

/// The initial capacity of a list with a declared length; it grows with the actual items.
const FIRST_ITEMS: usize = 64;

/// Why reading stopped at the reader's position.
struct Stop(String);

impl From<minicbor::decode::Error> for Stop {
    fn from(error: minicbor::decode::Error) -> Self {
        if error.is_end_of_input() { Self("unexpected EOF".to_owned()) } else { Self(format!("cbor: {error}")) }
    }
}

fn stop<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop(message.into()))
}

/// The meaning of byte strings inside a tag.
#[derive(Clone, Copy)]
enum Text {
    /// They are text.
    Plain,
    Base64Url,
    Base64,
    Base16,
}

/// The meaning of a tagged text or number.
#[derive(Clone, Copy)]
enum Time {
    /// RFC 3339 text.
    Text,
    /// Seconds since 1970.
    Seconds,
}

/// A reader of one document.
pub(super) struct Reader<'b> {
    decoder: Decoder<'b>,
    /// The remaining nesting depth.
    depth_left: usize,
    memory: Memory,
    limits: &'b Limits,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], limits: &'b Limits) -> Self {
        Self { decoder: Decoder::new(bytes), depth_left: limits.depth, memory: Memory::new(limits), limits }
    }

    /// Reads the document and checks that nothing follows.
    pub(super) fn document(mut self) -> Result<DecodedDocument, DecodeError> {
        match self.whole() {
            Ok(document) => Ok(document.into()),
            Err(Stop(message)) => Err(DecodeError { line: 0, column: self.decoder.position(), message }),
        }
    }

    fn whole(&mut self) -> Result<Document, Stop> {
        let document = self.value(Text::Plain)?;
        match self.remaining() {
            0 => Ok(document),
            more => {
                let at = self.decoder.position();
                stop(format!("cbor: {more} bytes of extraneous data starting at index {at}"))
            }
        }
    }

    fn remaining(&self) -> usize {
        self.decoder.input().len() - self.decoder.position()
    }

    fn value(&mut self, mut text: Text) -> Result<Document, Stop> {
        if !self.memory.value() {
            return stop(Memory::EXCEEDED);
        }
        let mut time = None;
        let kind = loop {
            let kind = self.decoder.datatype()?;
            if kind != Type::Tag {
                break kind;
            }
            time = tag(self.decoder.tag()?, &mut text)?.or(time);
        };
        if let Some(time) = time {
            return self.time(time, kind).and_then(|text| self.charged(text));
        }
        match kind {
            Type::Bytes | Type::BytesIndef | Type::String | Type::StringIndef => {
                self.text(kind, text).and_then(|text| self.charged(Document::String(text)))
            }
            Type::Map | Type::MapIndef => self.map(text),
            Type::Array | Type::ArrayIndef => self.array(text),
            Type::Bool => Ok(Document::Bool(self.decoder.bool()?)),
            Type::Null => Ok(self.decoder.null().map(|()| Document::Null)?),
            Type::F16 | Type::F32 | Type::F64 => {
                let double = self.float(kind)?;
                number::of_double(double).map(Document::Number).map_or_else(|| stop(unspeakable(double)), Ok)
            }
            _ => self.integer(kind).map(Document::from),
        }
    }

    /// A text, after its memory was accounted for.
    fn charged(&mut self, text: Document) -> Result<Document, Stop> {
        if text.as_str().is_none_or(|text| self.memory.text(text)) { Ok(text) } else { stop(Memory::EXCEEDED) }
    }

    fn integer(&mut self, kind: Type) -> Result<i64, Stop> {
        match kind {
            Type::Undefined => stop("cbor: simple value 23 is not recognized"),
            Type::Simple => stop(format!("cbor: simple value {} is not recognized", self.decoder.simple()?)),
            Type::Break => stop("cbor: unexpected \"break\" code"),
            Type::Unknown(byte) => stop(format!("cbor: invalid additional information in the byte {byte:#04x}")),
            _ => match i64::try_from(self.decoder.int()?) {
                Ok(integer) => Ok(integer),
                Err(_) => stop("cbor: cannot unmarshal an integer into Go value of type int64: it overflows"),
            },
        }
    }

    fn float(&mut self, kind: Type) -> Result<f64, Stop> {
        if kind != Type::F16 {
            return Ok(self.decoder.f64()?);
        }
        let at = self.decoder.position();
        let Some(&[_, high, low]) = self.decoder.input().get(at..at + 3) else { return stop("unexpected EOF") };
        self.decoder.set_position(at + 3);
        Ok(half::value(u16::from_be_bytes([high, low])))
    }

    /// The pieces of a text, one if its length is definite, and their meaning.
    fn text(&mut self, kind: Type, text: Text) -> Result<String, Stop> {
        match kind {
            Type::String => Ok(self.decoder.str()?.to_owned()),
            Type::StringIndef => {
                let mut all = String::new();
                for piece in self.decoder.str_iter()? {
                    all.push_str(piece?);
                }
                Ok(all)
            }
            Type::Bytes => spell(self.decoder.bytes()?, text),
            _ => {
                let mut all = Vec::new();
                for piece in self.decoder.bytes_iter()? {
                    all.extend_from_slice(piece?);
                }
                spell(&all, text)
            }
        }
    }

    fn array(&mut self, text: Text) -> Result<Document, Stop> {
        self.enter()?;
        let mut left = self.decoder.array()?;
        self.check_claim(left)?;
        if left != Some(0) && !self.memory.list() {
            return stop(Memory::EXCEEDED);
        }
        let mut items = Vec::with_capacity(claimed(left));
        while self.more(&mut left)? {
            items.push(self.value(text)?);
        }
        self.depth_left += 1;
        Ok(Document::Array(items))
    }

    fn map(&mut self, text: Text) -> Result<Document, Stop> {
        self.enter()?;
        if !self.memory.object() {
            return stop(Memory::EXCEEDED);
        }
        let mut left = self.decoder.map()?;
        self.check_claim(left)?;
        let mut fields = Map::new();
        while self.more(&mut left)? {
            let kind = self.decoder.datatype()?;
            if !matches!(kind, Type::Bytes | Type::BytesIndef | Type::String | Type::StringIndef) {
                return stop(format!("cbor: cannot unmarshal {kind} into Go value of type string: map keys are text"));
            }
            let key = self.text(kind, Text::Plain)?;
            if !self.memory.field() {
                return stop(Memory::EXCEEDED);
            }
            if fields.contains_key(&key) {
                let index = fields.len();
                let key = go::quoted(&key);
                return stop(format!("cbor: found duplicate map key {key} at map element index {index}"));
            }
            let value = self.value(text)?;
            fields.insert(key, value);
        }
        self.depth_left += 1;
        Ok(Document::Object(fields))
    }

    fn enter(&mut self) -> Result<(), Stop> {
        if self.depth_left == 0 {
            return stop(format!("cbor: exceeded max nested level {}", self.limits.depth));
        }
        self.depth_left -= 1;
        Ok(())
    }

    /// Refuses an impossible length at once: each item takes at least a byte.
    fn check_claim(&self, items: Option<u64>) -> Result<(), Stop> {
        let too_many = items.is_some_and(|items| usize::try_from(items).map_or(true, |items| items > self.remaining()));
        if too_many { stop("unexpected EOF") } else { Ok(()) }
    }

    /// Whether another item follows; skips the break that ends an indefinite length.
    fn more(&mut self, left: &mut Option<u64>) -> Result<bool, Stop> {
        match left {
            Some(0) => Ok(false),
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None if self.decoder.datatype()? == Type::Break => {
                self.decoder.set_position(self.decoder.position() + 1);
                Ok(false)
            }
            None => Ok(true),
        }
    }

    fn time(&mut self, time: Time, kind: Type) -> Result<Document, Stop> {
        let refused = || stop("cbor: a tagged time is neither RFC 3339 text nor a number of seconds");
        match (time, kind) {
            (Time::Text, Type::Bytes | Type::BytesIndef | Type::String | Type::StringIndef) => {
                let text = self.text(kind, Text::Plain)?;
                if text.parse::<Timestamp>().is_ok() { Ok(Document::String(text)) } else { refused() }
            }
            (Time::Seconds, Type::F16 | Type::F32 | Type::F64) => {
                let double = self.float(kind)?;
                let time = jiff::SignedDuration::try_from_secs_f64(double).and_then(Timestamp::from_duration);
                time.map_or_else(|_| refused(), |time| Ok(Document::String(time.to_string())))
            }
            (Time::Seconds, _) => {
                let seconds = self.integer(kind)?;
                let time = Timestamp::from_second(seconds);
                time.map_or_else(|_| refused(), |time| Ok(Document::String(time.to_string())))
            }
            (Time::Text, _) => refused(),
        }
    }
}

/// The meaning of a tag for its item.
fn tag(tag: Tag, text: &mut Text) -> Result<Option<Time>, Stop> {
    match IanaTag::try_from(tag) {
        Ok(IanaTag::PosBignum | IanaTag::NegBignum) => {
            return stop("cbor: cannot unmarshal bignum into Go value: it has no counterpart in JSON");
        }
        Ok(IanaTag::ToBase64Url) => *text = Text::Base64Url,
        Ok(IanaTag::ToBase64) => *text = Text::Base64,
        Ok(IanaTag::ToBase16) => *text = Text::Base16,
        Ok(IanaTag::DateTime) => return Ok(Some(Time::Text)),
        Ok(IanaTag::Timestamp) => return Ok(Some(Time::Seconds)),
        _ => {}
    }
    Ok(None)
}

/// The text of a byte string.
fn spell(bytes: &[u8], text: Text) -> Result<String, Stop> {
    Ok(match text {
        Text::Plain => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return stop("cbor: invalid UTF-8 string"),
        },
        Text::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
        Text::Base64 => STANDARD.encode(bytes),
        Text::Base16 => {
            let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
            bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
        }
    })
}

fn unspeakable(double: f64) -> String {
    format!("cbor: floating-point {double} is not acceptable")
}

fn claimed(items: Option<u64>) -> usize {
    usize::try_from(items.unwrap_or(0)).unwrap_or(usize::MAX).min(FIRST_ITEMS)
}
