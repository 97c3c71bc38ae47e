//! Signed tokens: JSON Web Tokens (RFC 7519) in the compact form (RFC 7515). A key decides by which algorithms its tokens are signed;
//! what a token says about itself must agree, and decides nothing.
use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest,
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{self, EcdsaKeyPair, KeyPair as _, RsaKeyPair, UnparsedPublicKey},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest token that is read, in bytes.
pub(crate) const LONGEST: usize = 64 << 10;

/// Why a token is refused. The text is for logs, and shows nothing of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid(pub String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A token whose signature is not checked yet.
pub(crate) struct UnverifiedToken<'t> {
    /// The header and the claims as they were signed.
    signed: &'t str,
    header: Header,
    /// The claims. Nothing may be decided by them before [`UnverifiedToken::verify`], except whose keys to take.
    claims: Value,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: String,
    /// Extensions that must be understood. None are.
    #[serde(default)]
    crit: Option<Value>,
}

impl<'t> UnverifiedToken<'t> {
    /// Reads a token; `None` if the text is no token.
    pub(crate) fn read(token: &'t str) -> Option<Self> {
        if token.len() > LONGEST {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        let header = serde_json::from_slice(&decoded(header)?).ok()?;
        let claims: Value = serde_json::from_slice(&decoded(claims)?).ok()?;
        claims.is_object().then_some(())?;
        Some(Self { signed, header, claims, signature: decoded(signature)? })
    }

    /// The issuer that it names.
    pub(crate) fn issuer(&self) -> &str {
        self.claims["iss"].as_str().unwrap_or_default()
    }

    /// The id of the key that it says to be signed with; may be empty.
    #[cfg(test)]
    pub(crate) fn key_id(&self) -> &str {
        &self.header.kid
    }

    /// The algorithm by which it says to be signed.
    pub(crate) fn algorithm(&self) -> &str {
        &self.header.alg
    }

    /// The claims before their signature is checked. A token may be refused by them, but never accepted.
    pub(crate) fn unverified_claims(&self) -> &Value {
        &self.claims
    }

    /// The claims, if one of these keys has signed them. A token that names a key is signed by that one.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn verify<'k>(self, keys: impl IntoIterator<Item = &'k PublicKey>) -> Result<Value, Invalid> {
        if self.header.crit.is_some() {
            return Err(Invalid("it has critical extensions".to_owned()));
        }
        let named = |key: &&PublicKey| self.header.kid.is_empty() || key.id.is_empty() || key.id == self.header.kid;
        let mut keys = keys.into_iter().filter(named).peekable();
        if keys.peek().is_none() {
            return Err(Invalid("no key has the id that it names".to_owned()));
        }
        if keys.any(|key| key.has_signed(&self.header.alg, self.signed.as_bytes(), &self.signature)) {
            Ok(self.claims)
        } else {
            Err(Invalid("no key has signed it, or by another algorithm".to_owned()))
        }
    }
}

/// A key that checks signatures.
#[derive(Clone)]
pub(crate) struct PublicKey {
    /// Its id; may be empty.
    pub id: String,
    /// The only algorithm that it is for; may be empty.
    algorithm: String,
    material: Material,
}

#[derive(Clone)]
enum Material {
    /// Modulus and exponent.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point, uncompressed.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl PublicKey {
    /// Reads a key of a JSON Web Key Set (RFC 7517); `None` for kinds of keys and curves that are not supported, and for keys that are
    /// not for signatures.
    pub(crate) fn from_jwk(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk[name].as_str().unwrap_or_default();
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)).ok();
        if !matches!(text("use"), "" | "sig") {
            return None;
        }
        // Some issuers write zeros first, with which the numbers would not be read.
        let number = |bytes: Vec<u8>| bytes.into_iter().skip_while(|byte| *byte == 0).collect();
        let point = |length: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == length && y.len() == length).then(|| [&[4], &*x, &*y].concat())
        };
        let material = match (text("kty"), text("crv")) {
            ("RSA", _) => Material::Rsa { n: number(bytes("n")?), e: number(bytes("e")?) },
            ("EC", "P-256") => Material::P256(point(32)?),
            ("EC", "P-384") => Material::P384(point(48)?),
            ("OKP", "Ed25519") => Material::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(Self { id: text("kid").to_owned(), algorithm: text("alg").to_owned(), material })
    }

    /// The key as a JSON Web Key, for others who check signatures.
    pub(crate) fn to_jwk(&self) -> Value {
        let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = |point: &[u8]| {
            let (x, y) = point[1..].split_at((point.len() - 1) / 2);
            (encoded(x), encoded(y))
        };
        match &self.material {
            Material::Rsa { n, e } => {
                json!({"use": "sig", "kty": "RSA", "kid": self.id, "alg": "RS256", "n": encoded(n), "e": encoded(e)})
            }
            Material::P256(at) => {
                let (x, y) = point(at);
                json!({"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": "ES256", "x": x, "y": y})
            }
            Material::P384(at) => {
                let (x, y) = point(at);
                json!({"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-384", "alg": "ES384", "x": x, "y": y})
            }
            Material::Ed25519(x) => {
                json!({"use": "sig", "kty": "OKP", "kid": self.id, "crv": "Ed25519", "alg": "EdDSA", "x": encoded(x)})
            }
        }
    }

    /// True if this key has signed something by an algorithm that it may be used with.
    fn has_signed(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let with = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(signed, signature).is_ok()
        };
        if !self.algorithm.is_empty() && self.algorithm != algorithm {
            return false;
        }
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, algorithm) => {
                let algorithm = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                    "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                    "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
                    _ => return false,
                };
                signature::RsaPublicKeyComponents { n, e }.verify(algorithm, signed, signature).is_ok()
            }
            (Material::P256(point), "ES256") => with(&signature::ECDSA_P256_SHA256_FIXED, point),
            (Material::P384(point), "ES384") => with(&signature::ECDSA_P384_SHA384_FIXED, point),
            (Material::Ed25519(key), "EdDSA") => with(&signature::ED25519, key),
            _ => false,
        }
    }
}

/// A key that signs tokens.
pub(crate) struct SigningKey {
    pair: Pair,
    /// The key that checks its signatures.
    pub public: PublicKey,
}

enum Pair {
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// A private key in PKCS #8: of the curve P-256, or RSA with 2048 bits or more.
    pub(crate) fn from_pkcs8(der: &[u8]) -> Option<Self> {
        let random = SystemRandom::new();
        if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            let point = pair.public_key().as_ref().to_vec();
            return Some(Self::new(Pair::P256(pair), Material::P256(point.clone()), &point));
        }
        let pair = RsaKeyPair::from_pkcs8(der).ok()?;
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
        let (material, of_id) = (Material::Rsa { n, e }, pair.public().as_ref().to_vec());
        Some(Self::new(Pair::Rsa(pair), material, &of_id))
    }

    /// The id is a digest of the public key.
    fn new(pair: Pair, material: Material, public: &[u8]) -> Self {
        let id = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, public));
        let algorithm = if matches!(pair, Pair::P256(_)) { "ES256" } else { "RS256" };
        Self { pair, public: PublicKey { id, algorithm: algorithm.to_owned(), material } }
    }

    /// A token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": self.public.algorithm, "kid": self.public.id});
        let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.signature(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn signature(&self, signed: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let why = "the operating system has random bytes";
        match &self.pair {
            Pair::P256(pair) => pair.sign(&random, signed).expect(why).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&signature::RSA_PKCS1_SHA256, &random, signed, &mut signature).expect(why);
                signature
            }
        }
    }
}

#[cfg(test)]
mod tests;
