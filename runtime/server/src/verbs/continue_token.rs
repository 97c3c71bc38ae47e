//! Continue tokens: the position of the next page of a list. Opaque to clients, and not trusted: a token can only
//! contain a key below the prefix for which the request is authorized.
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::meta::{Revision, go};

/// The version of the token format, like kube-apiserver's.
const VERSION: &str = "meta.k8s.io/v1";

/// The position of the next page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The revision that is being listed; `None` continues with the newest state, inconsistently.
    pub revision: Option<Revision>,
    /// The last key of the previous page, below the list's prefix.
    pub after: String,
}

#[derive(Serialize, Deserialize)]
struct Token {
    #[serde(rename = "v", default)]
    version: String,
    #[serde(rename = "rv", default)]
    revision: i64,
    #[serde(default)]
    start: String,
}

impl Position {
    /// The token for clients.
    pub(super) fn encode(&self) -> String {
        let revision = self.revision.map_or(-1, |revision| i64::try_from(revision.0).unwrap_or(i64::MAX));
        // The first key after a key is that key with a zero byte appended.
        let token = Token { version: VERSION.to_owned(), revision, start: format!("{}\0", self.after) };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).expect("a token is plain JSON"))
    }

    /// Parses a client's token. Fails with [`Error::BadRequest`].
    pub(super) fn decode(token: &str) -> Result<Self, Error> {
        let refuse = |why: &str| Error::BadRequest(format!("invalid continue token: continue key is not valid: {why}"));
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|error| refuse(&error.to_string()))?;
        let token: Token = serde_json::from_slice(&bytes).map_err(|error| refuse(&error.to_string()))?;
        if token.version != VERSION {
            return Err(refuse(&format!(
                "server does not recognize this encoded version {}",
                go::quoted(&token.version)
            )));
        }
        if token.start.is_empty() {
            return Err(refuse("encoded start key empty (version meta.k8s.io/v1)"));
        }
        let revision = match token.revision {
            0 => return Err(refuse("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")),
            revision => u64::try_from(revision).ok().map(Revision),
        };
        let after = token.start.strip_suffix('\0').unwrap_or_default();
        if after.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(refuse(&token.start));
        }
        Ok(Self { revision, after: after.to_owned() })
    }
}
