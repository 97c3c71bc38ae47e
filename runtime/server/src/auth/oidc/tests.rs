//! Tests of sign-in with ID tokens: an issuer whose documents are in memory.
mod attacks;
mod file;
mod keys;
mod mapping;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair},
};
use serde_json::{Value, json};

use super::{issuer::now, *};
use crate::auth::User;

pub(super) const ISSUER: &str = "https://issuer.example.com";
const OTHER: &str = "https://other.example.com/realm";

/// A private key of 2048 bits, which is used nowhere else.
const RSA: &str = include_str!("tests/rsa.pem");

/// Signs bytes.
type Sign = Box<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// A key of an issuer.
pub(super) struct Key {
    pub algorithm: &'static str,
    pub id: String,
    /// The public key.
    pub jwk: Value,
    sign: Sign,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Key {
    fn of_curve(id: &str, bits: usize) -> Self {
        let (curve, algorithm, signing, rcgen) = match bits {
            256 => ("P-256", "ES256", &signature::ECDSA_P256_SHA256_FIXED_SIGNING, &rcgen::PKCS_ECDSA_P256_SHA256),
            _ => ("P-384", "ES384", &signature::ECDSA_P384_SHA384_FIXED_SIGNING, &rcgen::PKCS_ECDSA_P384_SHA384),
        };
        let der = rcgen::KeyPair::generate_for(rcgen).unwrap().serialize_der();
        let pair = EcdsaKeyPair::from_pkcs8(signing, &der, &SystemRandom::new()).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(bits / 8);
        let jwk = json!({"kty": "EC", "crv": curve, "kid": id, "x": encoded(x), "y": encoded(y)});
        let sign = move |text: &[u8]| pair.sign(&SystemRandom::new(), text).unwrap().as_ref().to_vec();
        Self { algorithm, id: id.to_owned(), jwk, sign: Box::new(sign) }
    }

    pub(super) fn p256(id: &str) -> Self {
        Self::of_curve(id, 256)
    }

    fn ed25519(id: &str) -> Self {
        let der = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap().serialize_der();
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).unwrap();
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(pair.public_key())});
        let sign = move |text: &[u8]| pair.sign(text).as_ref().to_vec();
        Self { algorithm: "EdDSA", id: id.to_owned(), jwk, sign: Box::new(sign) }
    }

    fn rsa(id: &str, algorithm: &'static str) -> Self {
        use tokio_rustls::rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
        let der = PrivatePkcs8KeyDer::from_pem_slice(RSA.as_bytes()).unwrap();
        let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
        let public = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
        // With a zero first, as some issuers write it.
        let modulus = [&[0], &*public.n].concat();
        let jwk = json!({"kty": "RSA", "kid": id, "use": "sig", "n": encoded(modulus), "e": encoded(&public.e)});
        let encoding: &'static dyn signature::RsaEncoding = match algorithm {
            "RS256" => &signature::RSA_PKCS1_SHA256,
            "RS512" => &signature::RSA_PKCS1_SHA512,
            _ => &signature::RSA_PSS_SHA256,
        };
        let sign = move |text: &[u8]| {
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(encoding, &SystemRandom::new(), text, &mut signature).unwrap();
            signature
        };
        Self { algorithm, id: id.to_owned(), jwk, sign: Box::new(sign) }
    }

    /// A token with this header as text.
    fn with_header(&self, header: &str, claims: &Value) -> String {
        let signed = format!("{}.{}", encoded(header), encoded(claims.to_string()));
        let signature = (self.sign)(signed.as_bytes());
        format!("{signed}.{}", encoded(signature))
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        self.with_header(&json!({"alg": self.algorithm, "kid": self.id}).to_string(), claims)
    }
}

/// The documents of issuers by URL.
#[derive(Clone, Default)]
pub(super) struct Documents {
    by_url: Arc<Mutex<HashMap<String, String>>>,
    /// The URLs that were fetched.
    fetched: Arc<Mutex<Vec<String>>>,
}

impl Documents {
    fn put(&self, url: &str, document: &Value) {
        let mut by_url = self.by_url.lock().unwrap_or_else(PoisonError::into_inner);
        by_url.insert(url.to_owned(), document.to_string());
    }

    /// Publishes the keys of an issuer.
    fn publish(&self, issuer: &str, keys: &[&Key]) {
        let jwks = format!("{issuer}/keys");
        self.put(&format!("{issuer}/.well-known/openid-configuration"), &json!({"issuer": issuer, "jwks_uri": jwks}));
        let keys: Vec<_> = keys.iter().map(|key| &key.jwk).collect();
        self.put(&jwks, &json!({"keys": keys}));
    }

    fn fetched(&self) -> usize {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Fetch for Documents {
    fn get(&self, url: &str) -> BoxFuture<Result<Vec<u8>, String>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).push(url.to_owned());
        let by_url = self.by_url.lock().unwrap_or_else(PoisonError::into_inner);
        let document =
            by_url.get(url).map(|text| text.clone().into_bytes()).ok_or_else(|| "status code 404".to_owned());
        Box::pin(async { document })
    }
}

/// A file with these authenticators.
fn file(jwt: &Value) -> String {
    json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": jwt}).to_string()
}

/// An authenticator of an issuer with `sub` as the user and `groups`, without prefixes.
fn simple(issuer: &str) -> Value {
    json!({
        "issuer": {"url": issuer, "audiences": ["us"]},
        "claimMappings": {"username": {"claim": "sub", "prefix": ""}, "groups": {"claim": "groups", "prefix": "o:"}},
    })
}

fn replace(tokens: &IdTokens, text: &str, documents: &Documents) -> Result<Option<AnonymousAccess>, String> {
    tokens.replace(text, false, &|authorities| {
        if authorities == "broken" { Err("no PEM".to_owned()) } else { Ok(Arc::new(documents.clone())) }
    })
}

fn id_tokens(jwt: &Value, documents: &Documents) -> IdTokens {
    let tokens = IdTokens::default();
    replace(&tokens, &file(jwt), documents).unwrap();
    tokens
}

/// Claims of a token that is valid for ten minutes.
fn claims(subject: &str) -> Value {
    json!({"iss": ISSUER, "aud": "us", "sub": subject, "exp": now() + 600.0, "iat": now(), "groups": ["staff"]})
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

/// The user of a token, without the group of all authenticated users, which each has.
async fn sign_in(tokens: &IdTokens, token: &str) -> Result<Option<Arc<User>>, String> {
    let mut user = tokens.authenticate(&Credentials::token(token)).await.map_err(|why| why.0)?;
    if let Some(user) = &mut user {
        assert_eq!(user.groups.last().map(String::as_str), Some(User::AUTHENTICATED));
        Arc::make_mut(user).groups.pop();
    }
    Ok(user)
}

async fn name(tokens: &IdTokens, token: &str) -> Result<Option<String>, String> {
    sign_in(tokens, token).await.map(|user| user.map(|user| user.name.clone()))
}
