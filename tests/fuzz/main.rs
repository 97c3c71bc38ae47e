//! Fuzz tests with hundreds of thousands of malformed inputs for every decoder, every patch, selectors, tokens and
//! everything else that reads client data. Nothing panics, nothing takes long, limits hold, and accepted input
//! round-trips.
//!
//! Each target generates inputs, mutates them and those in `corpus/<target>`, and keeps inputs with new results. A run
//! takes two seconds per target, half of it from a fixed seed, half from a new one. `KINDSMITH_FUZZ_SECONDS=600 cargo
//! test --release -p kindsmith-tests --test fuzz json_patch -- --nocapture` runs longer. `KINDSMITH_SEED` is the seed
//! of the second half. A failing input is written to `target/tmp/fuzz-<target>`. Moved to `corpus/<target>`, it becomes
//! a regression test: the corpus is tried first.

mod engine;
mod json;
mod mutate;
mod normal;
mod sample;
mod schemas;
mod targets {
    pub(crate) mod decoders;
    pub(crate) mod encodings;
    pub(crate) mod messages;
    pub(crate) mod objects;
    pub(crate) mod parameters;
    pub(crate) mod patches;
    pub(crate) mod queries;
    pub(crate) mod requests;
    pub(crate) mod sockets;
    pub(crate) mod texts;
    pub(crate) mod values;
    pub(crate) mod yaml;
}

use targets::{
    decoders, encodings, messages, objects, parameters, patches, queries, requests, sockets, texts, values, yaml,
};

/// One test per target, with its name.
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
