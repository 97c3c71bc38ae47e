//! Objects of random kinds pass through every pair of encodings unchanged, except for what Protobuf cannot represent.
use std::sync::Arc;

use kindsmith::{
    Resource, builtin,
    kind::Kind,
    schema::{Document, METADATA, Schema, Type},
};
use kindsmith_model::codec::{
    self, Encoding, Limits, cbor,
    protobuf::{self, Message},
    yaml,
};
use kindsmith_tests::Random;

use super::decoders::form;
use crate::{engine::Target, normal, sample::Sample, schemas};

/// The first byte of an input selects the kind; the rest is the seed of the object, and of the kind if it is random.
pub(crate) struct Encodings {
    kinds: Vec<Kind>,
    /// A kind whose spec is metadata.
    metadata: Kind,
}

impl Encodings {
    pub(crate) fn new() -> Self {
        let mut kinds = builtin::kinds();
        kinds.push(Sample::kind());
        let properties = [("spec".to_owned(), METADATA.clone())].into();
        let schema = Schema::of(Type::Object).with(|schema| schema.properties = properties);
        Self { kinds, metadata: Sample::kind().with(|_, version, _| version.schema = Arc::new(schema)) }
    }

    /// A kind and an object of it.
    fn object(&self, which: u8, random: &mut Random) -> (Kind, Document) {
        let kind = match self.kinds.get(usize::from(which) % (2 * self.kinds.len())) {
            Some(kind) => kind.clone(),
            None => Sample::kind().with(|_, version, _| version.schema = Arc::new(schemas::root(random))),
        };
        let one = |kind: &Kind, seed| kindsmith::testing::documents(kind, seed).next().expect("documents without end");
        let mut object = one(&kind, random.number());
        if let Document::Object(more) = one(&self.metadata, random.number())["spec"].take() {
            object["metadata"].as_object_mut().expect("every object has metadata").extend(more);
        }
        (kind, object)
    }
}

/// The encodings of one kind.
struct Encoder<'k> {
    root: &'k Schema,
    message: Message,
}

impl Encoder<'_> {
    fn write(&self, encoding: Encoding, object: &Document) -> Vec<u8> {
        let mut out = Vec::new();
        match encoding {
            Encoding::Json => codec::encode(object, &mut out),
            Encoding::Yaml => yaml::encode(object, &mut out),
            Encoding::Cbor => cbor::item(Some(self.root), object, &mut out),
            Encoding::Protobuf => out = protobuf::encode(&self.message, object).expect("an object of the kind"),
        }
        out
    }

    fn read(&self, encoding: Encoding, bytes: &[u8]) -> Document {
        let limits = Limits::default();
        let decoded = match encoding {
            Encoding::Json => codec::decode(bytes, &limits).expect("JSON"),
            Encoding::Yaml => yaml::decode(bytes, &limits).expect("YAML"),
            Encoding::Cbor => cbor::decode(bytes, &limits).expect("CBOR"),
            Encoding::Protobuf => {
                let envelope = protobuf::open(bytes).expect("an envelope");
                protobuf::object(&self.message, &envelope, &limits).expect("Protobuf").into()
            }
        };
        assert!(decoded.faults.is_empty(), "{:?}", decoded.faults);
        decoded.document
    }

    /// Takes an object from each encoding to each other one.
    fn round_trips(&self, object: &Document) {
        let normal = normal::object(self.root, object);
        assert_eq!(normal::object(self.root, &normal), normal, "what is normal stays so");
        for from in Encoding::ALL {
            let there = self.read(from, &self.write(from, object));
            for to in Encoding::ALL {
                let held = from == Encoding::Protobuf || to == Encoding::Protobuf;
                let want = if held { &normal } else { object };
                let back = self.read(to, &self.write(to, &there));
                assert_eq!(&back, want, "from {from:?} to {to:?} of\n{object:#}\nunder {:#?}", self.root);
            }
        }
    }
}

impl Target for Encodings {
    fn make(&self, random: &mut Random) -> Vec<u8> {
        let which = u8::try_from(random.below(256)).expect("below 256");
        [&[which][..], &random.number().to_le_bytes()].concat()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((&which, seed)) = input.split_first() else { return String::new() };
        let seed = seed.iter().fold(0_u64, |seed, byte| seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte));
        let mut random = Random::from_seed(seed);
        let (kind, object) = self.object(which, &mut random);
        let root = &kind.version.schema;
        let encoder = Encoder { root, message: Message::of_object(root).expect("all fields are numbered") };
        encoder.round_trips(&object);
        let mut spoilt = object.clone();
        if schemas::spoil(&mut random, root, &mut spoilt) > 0 {
            encoder.round_trips(&spoilt);
            assert_eq!(normal::object(root, &spoilt), normal::object(root, &object), "unknown fields are not held");
            let json = encoder.write(Encoding::Json, &spoilt);
            let strict =
                codec::decode_strict(&json, &Limits::default(), root, kind.policy().fault_order()).expect("JSON");
            assert!(!strict.faults.is_empty(), "unknown fields are reported");
            assert_eq!(strict.document, object, "unknown fields are dropped");
        }
        form(&object)
    }
}
