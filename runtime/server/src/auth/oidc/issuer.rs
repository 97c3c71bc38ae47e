//! Checks the ID tokens of one issuer.
use std::sync::Arc;

use serde_json::Value;

use super::{
    Fetch,
    keys::{Pace, RemoteKeys},
    mapping::Mapping,
};
use crate::{
    auth::{User, jwt::UnverifiedToken},
    meta::Time,
};

/// How far the clocks of an issuer and of this server may differ at the beginning of a token's time, in seconds, as in kube-apiserver. At
/// the end there is no tolerance.
const LEEWAY: f64 = 60.0;
/// What Google's tokens may say in place of the URL with its scheme.
const GOOGLE: (&str, &str) = ("accounts.google.com", "https://accounts.google.com");
/// The algorithms by which tokens may be signed: with a key, and not with a shared secret.
const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// An issuer in a file without errors.
pub(super) struct CheckedIssuer {
    pub source: KeySource,
    pub audiences: Vec<String>,
    pub mapping: Mapping,
}

/// The source of an issuer's keys.
#[derive(Clone)]
pub(super) struct KeySource {
    /// The URL of the issuer.
    pub issuer: String,
    /// The URL of its discovery document, if that is not below its own URL; may be empty.
    pub discovery_url: String,
    /// Who has signed the certificate of its server, in PEM; empty for the authorities of the system.
    pub certificate_authority: String,
    pub client: Arc<dyn Fetch>,
}

impl KeySource {
    /// The URL of the discovery document.
    pub(super) fn document(&self) -> String {
        if self.discovery_url.is_empty() {
            let issuer = &self.issuer;
            format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer))
        } else {
            self.discovery_url.clone()
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let of = |source: &Self| {
            let Self { issuer, discovery_url, certificate_authority, .. } = source.clone();
            (issuer, discovery_url, certificate_authority)
        };
        of(self) == of(other)
    }
}

/// An issuer.
pub(super) struct Issuer {
    source: KeySource,
    audiences: Vec<String>,
    mapping: Mapping,
    keys: Arc<RemoteKeys>,
}

/// The user of a good token.
pub(super) struct Verified {
    pub user: User,
    /// When the token expires, in seconds since 1970.
    pub expires: f64,
}

/// The time in seconds since 1970.
pub(super) fn now() -> f64 {
    Time::now().timestamp().as_duration().as_secs_f64()
}

impl Issuer {
    /// An issuer with known keys, or with keys that it begins to fetch now.
    pub(super) fn new(checked: CheckedIssuer, keys: Option<Arc<RemoteKeys>>) -> Self {
        let CheckedIssuer { source, audiences, mapping } = checked;
        let keys = keys.unwrap_or_else(|| Arc::new(RemoteKeys::fetch(source.clone(), Pace::default())));
        Self { source, audiences, mapping, keys }
    }

    pub(super) fn keys(&self) -> Arc<RemoteKeys> {
        Arc::clone(&self.keys)
    }

    /// True if its keys come from there.
    pub(super) fn has_source(&self, source: &KeySource) -> bool {
        self.source.is_same(source)
    }

    /// True if a token says that it is from this issuer.
    pub(super) fn issues(&self, token: &UnverifiedToken<'_>) -> bool {
        let issuer = token.issuer();
        self.source.issuer == if issuer == GOOGLE.0 { GOOGLE.1 } else { issuer }
    }

    /// The user of a token of this issuer. Waits for keys if they are not there yet, or if none fits.
    ///
    /// # Errors
    /// Why the token is refused. Shows nothing of it.
    pub(super) async fn user(&self, token: &str) -> Result<Verified, String> {
        let read = || UnverifiedToken::read(token).ok_or_else(|| "malformed jwt".to_owned());
        let unverified = read()?;
        if !ALGORITHMS.contains(&unverified.algorithm()) {
            return Err("id token signed with unsupported algorithm".to_owned());
        }
        // What is refused anyway needs no keys.
        self.check(unverified.unverified_claims(), now())?;
        let keys = self.keys.first().await?;
        let claims = match unverified.verify(keys.keys.iter()) {
            Ok(claims) => claims,
            Err(why) => {
                let keys = self.keys.newer(&keys).await.ok_or_else(|| format!("failed to verify signature: {why}"))?;
                let verified = read()?.verify(keys.keys.iter());
                verified.map_err(|why| format!("failed to verify signature: {why}"))?
            }
        };
        let expires = self.check(&claims, now())?;
        Ok(Verified { user: self.mapping.user(&claims)?, expires })
    }

    /// Checks audience and time of a token. Returns when it expires.
    fn check(&self, claims: &Value, now: f64) -> Result<f64, String> {
        let is_meant =
            |audience: &Value| audience.as_str().is_some_and(|one| self.audiences.iter().any(|own| own == one));
        let is_meant = match &claims["aud"] {
            Value::Array(audiences) => audiences.iter().any(is_meant),
            audience => is_meant(audience),
        };
        if !is_meant {
            return Err(format!("expected audience in {:?}", self.audiences));
        }
        let time = |claim: &str| match claims.get(claim) {
            None | Some(Value::Null) => Ok(None),
            Some(time) => time.as_f64().map(Some).ok_or_else(|| format!("{claim} is not a number")),
        };
        let expires = time("exp")?.ok_or("token is expired: it has no exp")?;
        if expires < now {
            return Err("token is expired".to_owned());
        }
        if time("nbf")?.is_some_and(|from| now + LEEWAY < from) {
            return Err("current time is before the nbf (not before) time".to_owned());
        }
        // Only its form is checked, as in kube-apiserver.
        time("iat")?;
        Ok(expires)
    }
}
