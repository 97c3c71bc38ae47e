//! Values that kube-apiserver stored, and that are not JSON, and encrypted values.

use std::fmt;

/// What is stored, other than JSON and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Protobuf. A server reads it if its kind has Protobuf numbers.
    Protobuf,
    /// A value that is encrypted with the keys of an EncryptionConfiguration. A server with these keys reads it, if they are of AES-GCM.
    Encrypted,
}

impl Foreign {
    /// What a value is. `None` for JSON and for the records of this server.
    pub fn of(value: &[u8]) -> Option<Self> {
        if value.starts_with(b"k8s\0") {
            return Some(Self::Protobuf);
        }
        value.starts_with(b"k8s:enc:").then_some(Self::Encrypted)
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protobuf => {
                "kube-apiserver's Protobuf, read only by a program that declares the kind with Protobuf numbers"
            }
            Self::Encrypted => {
                "encrypted, read only by a server with the keys (encryptionProviderConfig), which are of the provider aesgcm"
            }
        })
    }
}
