//! Reads files as the commands do, and makes everything of them that can be made.
use std::{fs, path::PathBuf};

use kindsmith::kind::crd;
use kindsmith_codegen::{
    Builder, Error, Kinds,
    export::{docs, json_schema, rbac},
    proto::Drafts,
};
use kindsmith_model::codec::yaml;
use kindsmith_tests::{Folder, Random};

use crate::{
    engine::Target,
    inputs::{self, HOSTILE, SEPARATOR},
    oracle,
};

pub(crate) struct Documents(Folder);

impl Documents {
    pub(crate) fn new() -> Self {
        Self(Folder::new("fuzz-documents"))
    }
}

impl Target for Documents {
    const WORDS: &'static [&'static str] = HOSTILE;
    const LONGEST: usize = 64 << 10;
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        inputs::files(random).into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let texts = input.split(|byte| *byte == SEPARATOR as u8);
        let files: Vec<(PathBuf, &[u8])> =
            texts.enumerate().map(|(index, text)| (self.0.path().join(format!("{index}.json")), text)).collect();
        for (path, text) in &files {
            fs::write(path, text).unwrap();
        }
        let kinds = match Kinds::of_files(files.iter().map(|(path, _)| path)) {
            Ok(kinds) => kinds,
            Err(error) => {
                let Error::Documents(report) = &error else { return error.to_string() };
                return report.0.first().map(|entry| entry.message.clone()).unwrap_or_default();
            }
        };
        oracle::names(&kinds);
        let builder = files.iter().fold(Builder::new(), |builder, (path, _)| builder.file(path));
        let generated = match builder.generate() {
            Ok(generated) => generated,
            Err(error) => {
                assert!(kinds.kinds.is_empty(), "kinds that are read can be generated: {error}");
                return error.to_string();
            }
        };
        oracle::rust(&kinds, &generated);
        let definitions = || kinds.kinds.iter().map(|declaration| &declaration.definition);
        for file in json_schema::files(definitions()).files {
            oracle::path(&file.path);
            serde_json::from_str::<serde_json::Value>(&file.text)
                .unwrap_or_else(|error| panic!("{error}: {}", file.text));
        }
        for file in docs::files(&kinds.kinds).files {
            oracle::path(&file.path);
            oracle::markdown(&file.text);
        }
        for file in rbac::files(definitions()) {
            oracle::path(&file.path);
            oracle::roles(&file.text);
        }
        oracle::proto(&Drafts::of_kinds(&kinds));
        for written in definitions().filter_map(|definition| crd::write(definition).ok()) {
            let mut text = Vec::new();
            yaml::encode(&written.document, &mut text);
            let read = yaml::decode(&text, &yaml_limits()).expect("what is written is YAML");
            assert_eq!(read.document, written.document);
        }
        format!("{} kinds, {} files, {} warnings", kinds.kinds.len(), generated.files.len(), generated.warnings.len())
    }
}

fn yaml_limits() -> kindsmith_model::codec::Limits {
    kindsmith_model::codec::Limits { depth: 256, memory: 256 << 20 }
}
