//! What `kindsmith export` gets of a program: the file that an environment variable names, in place of a server.

use std::{collections::BTreeSet, env, path::PathBuf};

use serde_json::{Map, Value, json};

use super::{Error, Result, builder::Builder};
use crate::{
    auth::User,
    crd,
    http::{self, Caller},
    kind::{Kind, Versions, by_resource},
    proto,
};

/// The environment variable.
const VARIABLE: &str = "KINDSMITH_EXPORT";

/// Of a kind whose versions differ.
const CONVERTED: &str = "this program converts between its versions; a definition needs a conversion webhook for that, and changes \
                         only apiVersion without one";

/// The group of definitions themselves.
const API_GROUP: &str = "apiextensions.k8s.io";

/// The file that was asked for.
pub(super) fn file() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

impl Builder {
    /// Writes the definitions and OpenAPI documents of the program's kinds to a file. Nothing else is read or written.
    pub(super) async fn export(mut self, file: PathBuf) -> Result<()> {
        self.controllers.clear();
        self.builtin_controllers = false;
        let app = self.memory().load().await?;
        let mut kinds = app.entrance.samples.kinds.clone();
        // Every server has it that serves what clients define.
        kinds.retain(|kind| kind.shared.group != API_GROUP);
        let messages = messages(&kinds);
        let served = kinds.iter().filter(|kind| kind.version.served);
        let versions: BTreeSet<_> = served.map(|kind| kind.group_version.to_string()).collect();
        let (mut definitions, mut roles, mut warnings) = (Vec::new(), Map::new(), Vec::new());
        for kinds in by_resource(kinds) {
            let versions = Versions::new(kinds).map_err(|problems| Error::Kind(problems.to_string()))?;
            match crd::write(versions.definition()) {
                Ok(written) => {
                    definitions.push(written.document);
                    warnings.extend(written.warnings);
                    if versions.iter().any(|kind| kind.converts_in_code()) {
                        let what = versions.stored().shared.group_kind();
                        warnings.push(format!("{what}: {CONVERTED}"));
                    }
                }
                Err(why) => {
                    let shared = &versions.stored().shared;
                    roles.insert(shared.group_resource().to_string(), json!(shared.roles.names()));
                    warnings.push(why);
                }
            }
        }
        let (mut documents, admin) = (Map::new(), User::new("kindsmith", &["system:masters"]));
        for version in versions {
            let path = if version.contains('/') { format!("apis/{version}") } else { format!("api/{version}") };
            let address = format!("/openapi/v3/{path}");
            let answer = http::call(&app.service, Caller::User(&admin), "GET", &address, &Value::Null).await;
            if answer.code != 200 {
                return Err(Error::Setting(format!("{address}: {} {}", answer.code, answer.body)));
            }
            documents.insert(path, answer.body);
        }
        app.stop().await;
        let exported = json!({"definitions": definitions, "openapi": documents, "proto": messages, "roles": roles, "warnings": warnings});
        let failed = |error| Error::Setting(format!("{VARIABLE}={}: {error}", file.display()));
        std::fs::write(&file, exported.to_string()).map_err(failed)
    }
}

/// The Protobuf definitions of kinds that are not those of Kubernetes, whose numbers are known.
fn messages(kinds: &[Kind]) -> Value {
    let kinds = kinds.iter().filter(|kind| kind.policy().package(&kind.group_version).is_none());
    let drafts = proto::drafts(kinds);
    let texts = |files: Vec<proto::File>| -> Value {
        files.into_iter().map(|file| (file.path, Value::from(file.text))).collect::<Map<_, _>>().into()
    };
    json!({"files": texts(drafts.files), "imported": texts(drafts.imported), "leftOut": drafts.left_out})
}
