//! The encodings of documents, and their names on the wire.

use super::protobuf;

/// The encoding of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Protobuf in the `k8s\0` envelope; only for messages with numbered fields.
    Protobuf,
    /// CBOR.
    Cbor,
}

impl Encoding {
    /// All encodings, in the order of preference for clients without one.
    pub const ALL: [Self; 4] = [Self::Json, Self::Yaml, Self::Protobuf, Self::Cbor];

    /// The media type of one document.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => protobuf::MEDIA_TYPE,
            Self::Cbor => "application/cbor",
        }
    }

    /// The media type of a stream of watch events; `None` for an encoding without frames.
    pub const fn stream_media_type(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("application/json"),
            Self::Yaml => None,
            Self::Protobuf => Some("application/vnd.kubernetes.protobuf;stream=watch"),
            Self::Cbor => Some("application/cbor-seq"),
        }
    }

    /// The media type of a watch stream in lists that also contain those of documents, which JSON shares.
    pub const fn listed_stream(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("application/json;stream=watch"),
            other => other.stream_media_type(),
        }
    }

    /// The encoding of a media type without parameters, in lower case.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.media_type() == media_type)
    }
}
