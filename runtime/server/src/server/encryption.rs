//! Encryption of stored objects with the keys of an EncryptionConfiguration (`apiserver.config.k8s.io/v1`), the file that kube-apiserver
//! takes with `--encryption-provider-config`.
//!
//! An object is written by the first provider of its resource, and read by the provider that its beginning names. What is stored has
//! kube-apiserver's form: `k8s:enc:aesgcm:v1:<key>:`, a random nonce of twelve bytes, and AES-GCM's output. The key in the store is
//! authenticated with it, so that values of two objects cannot be exchanged.
use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::Deserialize;

use super::{Error, Result, Transformer, files::warn_if_open};
use crate::{
    codec::{self, yaml},
    files::{self, Limits},
};

/// What every encrypted value begins with.
const ENCRYPTED: &str = "k8s:enc:";
const AES_GCM: &str = "k8s:enc:aesgcm:v1:";
/// Stands for all resources, or all groups.
const ALL: &str = "*";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct EncryptionConfiguration {
    api_version: String,
    kind: String,
    resources: Vec<ResourceConfiguration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResourceConfiguration {
    resources: Vec<String>,
    providers: Vec<Provider>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Provider {
    AesGcm(Keys),
    Identity {},
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    secret: String,
}

/// The keys of some resources.
struct ResourceKeys {
    /// What the keys in the store of the resources begin with.
    prefixes: Vec<String>,
    /// The key that encrypts; without it, objects are stored as they are.
    writes: Option<usize>,
    keys: Vec<NamedKey>,
    /// True if objects that are not encrypted are read.
    reads_plain: bool,
}

struct NamedKey {
    name: String,
    key: LessSafeKey,
}

/// Encrypts what is stored.
pub(super) struct Encryption(Vec<ResourceKeys>);

impl Encryption {
    /// Reads the file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |why: String| {
            Error::Setting(format!("the encryption configuration {} cannot be used: {why}", path.display()))
        };
        let text = files::read_text(path, &Limits::of_file(1 << 20)).map_err(|error| failed(error.to_string()))?;
        warn_if_open(path, "encryption configuration");
        Self::parse(&text).map_err(failed)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let decoded = yaml::decode(text.as_bytes(), &codec::Limits::OPTIONS).map_err(|error| error.to_string())?;
        if let Some(fault) = decoded.faults.into_iter().next() {
            return Err(fault);
        }
        let file: EncryptionConfiguration =
            serde_json::from_value(decoded.document).map_err(|error| error.to_string())?;
        let (version, kind) = ("apiserver.config.k8s.io/v1", "EncryptionConfiguration");
        if file.api_version != version || file.kind != kind {
            return Err(format!("expected {kind} of {version}, found {} of {}", file.kind, file.api_version));
        }
        let all: Vec<ResourceKeys> = file.resources.into_iter().map(ResourceKeys::of).collect::<Result<_, String>>()?;
        if all.is_empty() { Err("resources: at least one entry is required".to_owned()) } else { Ok(Self(all)) }
    }

    /// The keys of the resource that a key in the store belongs to. The first entry for it counts, as in kube-apiserver.
    fn keys(&self, key: &str) -> Option<&ResourceKeys> {
        self.0.iter().find(|keys| keys.prefixes.iter().any(|prefix| key.starts_with(prefix)))
    }
}

/// What the keys in the store of these resources begin with: `secrets`, `widgets.example.com`, `*.apps` or `*.*`.
fn prefix(resources: &str) -> Result<String, String> {
    let invalid =
        || format!("invalid resource {resources:?}; expected one such as secrets, widgets.example.com, *.apps or *.*");
    let (resource, group) = resources.split_once('.').unwrap_or((resources, ""));
    Ok(match (resource, group) {
        (ALL, ALL) => "/registry/".to_owned(),
        (ALL, "") => {
            return Err(format!("{resources:?} is not supported; name the resources of the core group, or use *.*"));
        }
        (ALL, group) => format!("/registry/{group}/"),
        (_, ALL) | ("", _) => return Err(invalid()),
        (name, group) if (name != ALL && name.chars().any(|c| c.is_ascii_uppercase())) || group.contains('/') => {
            return Err(invalid());
        }
        (resource, "") => format!("/registry/{resource}/"),
        (resource, group) => format!("/registry/{group}/{resource}/"),
    })
}

impl ResourceKeys {
    fn of(ResourceConfiguration { resources, providers }: ResourceConfiguration) -> Result<Self, String> {
        let plain = providers.iter().position(|provider| matches!(provider, Provider::Identity {}));
        let lacks_keys = |provider: &Provider| matches!(provider, Provider::AesGcm(keys) if keys.keys.is_empty());
        if providers.is_empty() || providers.iter().any(lacks_keys) {
            return Err(format!("the providers of {} have no key", resources.join(", ")));
        }
        if resources.is_empty() {
            return Err("resources: at least one resource is required".to_owned());
        }
        let mut keys = Vec::new();
        for Key { name, secret } in providers.into_iter().flat_map(Provider::keys) {
            if name.is_empty() || name.contains(':') {
                return Err(format!("invalid key name {name:?}: it must not be empty or contain a colon"));
            }
            let bytes = STANDARD.decode(&secret).map_err(|error| format!("the secret of key {name}: {error}"))?;
            let algorithm = match bytes.len() {
                16 => &AES_128_GCM,
                32 => &AES_256_GCM,
                other => return Err(format!("the secret of key {name} has {other} bytes; expected 16 or 32")),
            };
            let key =
                UnboundKey::new(algorithm, &bytes).map_err(|_| format!("the secret of key {name} cannot be used"))?;
            keys.push(NamedKey { name, key: LessSafeKey::new(key) });
        }
        // Keys of providers after `identity` only read.
        let writes = Some(0).filter(|_| plain != Some(0));
        let prefixes = resources.iter().map(|resources| prefix(resources)).collect::<Result<_, _>>()?;
        Ok(Self { prefixes, writes, keys, reads_plain: plain.is_some() })
    }
}

impl Provider {
    fn keys(self) -> Vec<Key> {
        match self {
            Self::AesGcm(keys) => keys.keys,
            Self::Identity {} => Vec::new(),
        }
    }
}

impl Transformer for Encryption {
    fn seal(&self, key: &str, mut record: Vec<u8>) -> Result<Vec<u8>, String> {
        let Some((keys, writes)) = self.keys(key).and_then(|keys| Some((keys, keys.writes?))) else {
            return Ok(record);
        };
        let NamedKey { name, key: secret } = &keys.keys[writes];
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|error| error.to_string())?;
        let sealed = secret.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(key), &mut record);
        sealed.map_err(|_| "the object is too large to be encrypted".to_owned())?;
        Ok([AES_GCM.as_bytes(), name.as_bytes(), b":", &nonce, &record].concat())
    }

    fn open(&self, key: &str, stored: &Bytes) -> Result<Bytes, String> {
        let keys = self.keys(key);
        if !stored.starts_with(ENCRYPTED.as_bytes()) {
            return match keys {
                Some(keys) if !keys.reads_plain => {
                    Err("it is not encrypted, and no provider `identity` reads such objects".to_owned())
                }
                _ => Ok(stored.clone()),
            };
        }
        let rest = stored
            .strip_prefix(AES_GCM.as_bytes())
            .ok_or("it is encrypted by a provider that is not supported here")?;
        let colon = rest.iter().position(|byte| *byte == b':').ok_or("the name of its key is missing")?;
        let (name, rest) = (&rest[..colon], &rest[colon + 1..]);
        let found = keys.into_iter().flat_map(|keys| &keys.keys).find(|known| known.name.as_bytes() == name);
        let found = found.ok_or_else(|| format!("its key {:?} is not configured", String::from_utf8_lossy(name)))?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN).ok_or("it is too short")?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| "it is too short")?;
        let mut opened = sealed.to_vec();
        let length = found.key.open_in_place(nonce, Aad::from(key), &mut opened).map(|plain| plain.len());
        opened.truncate(length.map_err(|_| "it was changed, or encrypted with another key of this name")?);
        Ok(opened.into())
    }

    fn is_current(&self, key: &str, stored: &[u8]) -> bool {
        let writes = self.keys(key).and_then(|keys| Some(&keys.keys.get(keys.writes?)?.name));
        match writes {
            None => !stored.starts_with(ENCRYPTED.as_bytes()),
            Some(name) => stored
                .strip_prefix(AES_GCM.as_bytes())
                .is_some_and(|rest| rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b":"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: &str = "/registry/secrets/default/a";

    fn configured(resources: &str, providers: &str) -> Result<Encryption, String> {
        Encryption::parse(&format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [{resources}]\n  providers: {providers}\n"
        ))
    }

    fn aes(name: &str, byte: u8) -> String {
        format!("{{aesgcm: {{keys: [{{name: {name}, secret: {}}}]}}}}", STANDARD.encode([byte; 32]))
    }

    #[test]
    fn objects_are_encrypted_and_bound_to_their_key() {
        let encryption =
            configured("secrets, '*.example.com'", &format!("[{}, {{identity: {{}}}}]", aes("one", 1))).unwrap();
        for key in [SECRETS, "/registry/example.com/widgets/default/a"] {
            let sealed: Bytes = encryption.seal(key, b"plain".to_vec()).unwrap().into();
            assert!(sealed.starts_with(b"k8s:enc:aesgcm:v1:one:") && !sealed.windows(5).any(|part| part == b"plain"));
            assert_eq!(encryption.open(key, &sealed).unwrap(), "plain");
            assert_ne!(encryption.seal(key, b"plain".to_vec()).unwrap(), sealed, "a nonce is used once");
            assert!(encryption.open("/registry/secrets/default/b", &sealed).unwrap_err().contains("changed"));
            let mut changed = sealed.to_vec();
            *changed.last_mut().unwrap() ^= 1;
            assert!(encryption.open(key, &changed.into()).unwrap_err().contains("changed"));
        }
        assert_eq!(encryption.seal("/registry/configmaps/default/a", b"plain".to_vec()).unwrap(), b"plain");
        assert_eq!(encryption.open(SECRETS, &Bytes::from_static(b"plain")).unwrap(), "plain");
    }

    #[test]
    fn keys_are_rotated() {
        let old = configured("'*.*'", &format!("[{}]", aes("old", 1))).unwrap();
        let sealed: Bytes = old.seal(SECRETS, b"plain".to_vec()).unwrap().into();
        assert!(
            old.open(SECRETS, &Bytes::from_static(b"plain")).is_err(),
            "without identity, plain objects are not read"
        );
        let new = configured("'*.*'", &format!("[{}, {}]", aes("new", 2), aes("old", 1))).unwrap();
        assert_eq!(new.open(SECRETS, &sealed).unwrap(), "plain");
        assert!(new.seal(SECRETS, b"plain".to_vec()).unwrap().starts_with(b"k8s:enc:aesgcm:v1:new:"));
        assert!(
            old.is_current(SECRETS, &sealed) && !new.is_current(SECRETS, &sealed) && !old.is_current(SECRETS, b"plain")
        );
        let gone = configured("'*.*'", &format!("[{}]", aes("new", 2))).unwrap();
        assert!(gone.open(SECRETS, &sealed).unwrap_err().contains("\"old\" is not configured"));
        let off = configured("'*.*'", &format!("[{{identity: {{}}}}, {}]", aes("old", 1))).unwrap();
        assert_eq!(off.open(SECRETS, &sealed).unwrap(), "plain");
        assert_eq!(off.seal(SECRETS, b"plain".to_vec()).unwrap(), b"plain");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (resources, providers, expected) in [
            ("secrets", "[{aescbc: {keys: []}}]", "unknown variant `aescbc`"),
            ("secrets", "[]", "have no key"),
            ("secrets", "[{aesgcm: {keys: [{name: a, secret: YWJj}]}}]", "has 3 bytes; expected 16 or 32"),
            ("secrets", "[{aesgcm: {keys: [{name: 'a:b', secret: YWJj}]}}]", "invalid key name"),
            ("secrets", "[{aesgcm: {keys: []}}, {identity: {}}]", "have no key"),
            ("", "[{identity: {}}]", "at least one resource"),
            ("Secrets", "[{identity: {}}]", "invalid resource"),
            ("'*'", "[{identity: {}}]", "not supported; name the resources"),
            ("'widgets.*'", "[{identity: {}}]", "invalid resource"),
        ] {
            let error = configured(resources, providers).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
