//! Input that nobody would write on purpose, by the hundred thousand: for every decoder, every patch, selectors, tokens
//! and what else reads what a client sends. Nothing panics, nothing takes long, limits hold, and what was understood comes
//! back the same.
//!
//! Each target makes input of its own kind, changes it and what lies in `corpus/<target>` at random, and keeps what leads
//! to an answer not seen before. A run takes two seconds a target, half of it from a fixed seed, half from a new one;
//! `KINDSMITH_FUZZ_SECONDS=600 cargo test --release -p kindsmith-tests --test fuzz json_patch -- --nocapture` takes as
//! long as it is told to. `KINDSMITH_SEED` is the seed of the second half. An input that shows a mistake is written to
//! `target/tmp/fuzz-<target>`; moved to `corpus/<target>`, it is a test from then on: all of the corpus is tried first.

mod engine;
mod json;
mod mutate;
mod normal;
mod sample;
mod schemas;
mod targets {
    pub mod decoders;
    pub mod encodings;
    pub mod messages;
    pub mod objects;
    pub mod parameters;
    pub mod patches;
    pub mod queries;
    pub mod requests;
    pub mod sockets;
    pub mod texts;
    pub mod values;
    pub mod yaml;
}

use targets::{
    decoders, encodings, messages, objects, parameters, patches, queries, requests, sockets, texts, values, yaml,
};

/// A test for each target, under its name.
macro_rules! fuzz {
    ($($name:ident: $target:expr;)*) => { $(
        #[test]
        fn $name() {
            engine::fuzz(stringify!($name), &$target);
        }
    )* };
}

fuzz! {
    json: decoders::Json;
    json_of_a_kind: decoders::JsonOfAKind::new();
    yaml: yaml::Yaml;
    cbor: decoders::Cbor;
    protobuf: objects::Protobuf::new();
    encodings: encodings::Encodings::new();
    protobuf_messages: messages::Messages;
    json_patch: patches::JsonPatch;
    merge_patch: patches::MergePatch;
    strategic_merge_patch: patches::Strategic::new();
    apply: objects::Apply::new();
    label_selector: texts::Labels;
    field_selector: texts::Fields;
    quantity: texts::Quantities;
    time: texts::Times;
    values: values::Values;
    parameters: parameters::Parameters;
    queries: queries::Queries;
    requests: requests::Requests::start();
    sockets: sockets::Sockets::start();
}
