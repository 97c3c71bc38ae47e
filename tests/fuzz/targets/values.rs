//! Field types with their own value rules, in JSON.
use kindsmith::{
    ByteString, Condition, IntOrString, LabelSelector, MicroTime, ObjectMeta, Quantity, RawJson, Time,
    meta::options::client_name, schema::Document,
};
use kindsmith_model::codec::{self, Limits};
use kindsmith_tests::Random;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::decoders::form;
use crate::{engine::Target, json};

/// Each type reads the input's document or refuses it. Accepted values are written and read again.
pub(crate) struct Values;

fn there_and_back<T: DeserializeOwned + Serialize>(document: &Document, settled: bool) -> Option<Document> {
    let value: T = serde_json::from_value(document.clone()).ok()?;
    let written = codec::from_typed(&value).expect("what was read is written");
    let again: T = serde_json::from_value(written.clone()).expect("what was written is read");
    assert_eq!(codec::from_typed(&again).as_ref(), Ok(&written), "{}", std::any::type_name::<T>());
    if settled {
        assert_eq!(&written, document, "{} changes nothing", std::any::type_name::<T>());
    }
    Some(written)
}

impl Target for Values {
    const WORDS: &'static [&'static str] = &[
        "\"50%\"",
        "2147483647",
        "2147483648",
        "-2147483649",
        "\"YWJj\"",
        "\"YW\\nJj\"",
        "\"YQ==\"",
        "\"YQ\"",
        "\"2026-01-02T03:04:05.123456Z\"",
        "\"1e9999999999\"",
        "\"0.1n\"",
        "{\"matchLabels\":{\"a\":\"b\"}}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[]}]}",
        "{\"name\":",
        "\"managedFields\":[{}]",
        "null",
        "[",
        "{",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let document = match random.below(4) {
            0 => json::document(random, 2),
            1 => {
                json!({"matchLabels": {"a": json::text(random)}, "matchExpressions": [{"key": json::text(random), "operator": "In", "values": ["a"]}]})
            }
            2 => {
                json!({"name": json::text(random), "labels": {"a": json::text(random)}, "creationTimestamp": json::text(random)})
            }
            _ => json::text(random).into(),
        };
        json::bytes(&document, random)
    }

    fn attempt(&self, input: &[u8]) -> String {
        client_name(&String::from_utf8_lossy(input));
        let Ok(decoded) = codec::decode(input, &Limits::default()) else { return "no input".to_owned() };
        let document = &decoded.document;
        let read = [
            there_and_back::<IntOrString>(document, true),
            there_and_back::<RawJson>(document, true),
            there_and_back::<ByteString>(document, false),
            there_and_back::<Quantity>(document, false),
            there_and_back::<Time>(document, false),
            there_and_back::<MicroTime>(document, false),
            there_and_back::<LabelSelector>(document, false),
            there_and_back::<Condition>(document, false),
            there_and_back::<ObjectMeta>(document, false),
        ];
        let read: String = read.iter().map(|value| if value.is_some() { '+' } else { '-' }).collect();
        read + &form(document)
    }
}
