//! Options of requests, from queries and bodies.
use kindsmith::meta::options::{
    DeleteOptions, GetOptions, ListOptions, OptionsError, PatchOptions, Query, WriteOptions,
};
use kindsmith_tests::Random;
use serde_json::json;

use crate::{engine::Target, json};

/// The lines of an input are parameters; the text after an empty line is a body.
pub(crate) struct Parameters;

const NAMES: &[&str] = &[
    "labelSelector",
    "fieldSelector",
    "watch",
    "allowWatchBookmarks",
    "timeoutSeconds",
    "limit",
    "continue",
    "sendInitialEvents",
    "resourceVersion",
    "resourceVersionMatch",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "propagationPolicy",
    "orphanDependents",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "pretty",
    "x",
];
const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "+5",
    "true",
    "false",
    "True",
    "5",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "All",
    "all",
    "Strict",
    "Warn",
    "Ignore",
    "Exact",
    "NotOlderThan",
    "Background",
    "Foreground",
    "Orphan",
    "a=b",
    "a in (b)",
    "metadata.name=x",
    "kubectl",
    "\u{e9}",
    "\u{0}",
    "01",
    " 1",
    "1.5",
    "1e3",
];

fn said(error: &OptionsError, longest: usize) -> String {
    let text = match error {
        OptionsError::BadRequest(message) | OptionsError::Unknown(message) => message.clone(),
        OptionsError::Invalid(kind, errors) => {
            assert!(!errors.is_empty() && errors.len() <= 140, "{} errors of {}", errors.len(), kind.kind);
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(";")
        }
    };
    assert!(!text.is_empty() && text.len() <= 200_000 + longest, "a message of {} bytes", text.len());
    text
}

impl Target for Parameters {
    const WORDS: &'static [&'static str] =
        &["\n", "\n\n{", "=", "dryRun=All", "resourceVersion=", "limit=", "true", "{\"dryRun\":[\"All\"]}"];
    const LONGEST: usize = 4 << 10;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let one = |random: &mut Random| format!("{}={}\n", *random.pick(NAMES), *random.pick(VALUES));
        let mut input: String = (0..random.below(6)).map(|_| one(random)).collect();
        if random.one_in(3) {
            let mut body = json!({"kind": "DeleteOptions", "gracePeriodSeconds": random.below(3), "dryRun": ["All"],
                "preconditions": {"uid": json::text(random)}, "propagationPolicy": *random.pick(VALUES)});
            body[*random.pick(NAMES)] = json::document(random, 1);
            input.extend(["\n", &body.to_string()]);
        }
        input.into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let text = String::from_utf8_lossy(input);
        let (parameters, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let pairs = parameters.lines().map(|line| line.split_once('=').unwrap_or((line, "")));
        let query: Query = pairs.collect();
        let query = &query;
        let body = serde_json::from_str(body).ok();
        let watch = input.len().is_multiple_of(2);
        let list = ListOptions::parse(query, watch).inspect(|options| {
            assert!(options.watch || !watch);
            assert!(i64::try_from(options.limit).is_ok());
        });
        let patch = PatchOptions::parse(query, watch).inspect(|options| {
            assert!(!options.force || watch, "only what is applied is forced");
            assert!(options.write.manager().len() <= 128);
        });
        let delete =
            DeleteOptions::for_collection(query, body.as_ref()).inspect(|options| assert!(!options.ignore_read_errors));
        let answers = [
            GetOptions::parse(query).err(),
            list.err(),
            WriteOptions::for_create(query).err(),
            WriteOptions::for_update(query).err(),
            patch.err(),
            delete.err(),
            DeleteOptions::parse(query, body.as_ref()).err(),
        ];
        answers.iter().map(|error| error.as_ref().map_or("ok ".to_owned(), |error| said(error, input.len()))).collect()
    }
}
