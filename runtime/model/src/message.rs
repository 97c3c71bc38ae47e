//! Kinds and their parts as Protobuf messages in Rust. [`Message`](derive@crate::Message) makes a declared type a
//! [`prost::Message`], and the types of `meta` are messages, too. Needs the feature `messages`.
//!
//! A type encodes to the same bytes that the server writes for the object, and decodes what the server writes. This is
//! for clients, and for programs that exchange such messages. The server itself uses schemas and needs none of this.
//!
//! ```
//! # extern crate kindsmith_model as kindsmith;
//! use kindsmith::message::{open, seal};
//! # use kindsmith::{ApiType, Message, ObjectMeta, Resource};
//! # #[derive(Resource, Message, Clone, Debug, Default, PartialEq)]
//! # #[resource(group = "library.example.com", version = "v1")]
//! # struct Shelf {
//! #     #[api(proto = 1)]
//! #     metadata: ObjectMeta,
//! # }
//! # fn main() -> Result<(), kindsmith::message::OpenError> {
//! let shelf = Shelf { metadata: ObjectMeta::named("novels") };
//! let body = seal(&shelf); // as `application/vnd.kubernetes.protobuf`
//! let back: Shelf = open(&body)?;
//! assert_eq!(back, shelf);
//! # Ok(())
//! # }
//! ```
use std::fmt;

use crate::{Resource, codec::protobuf};

pub use crate::meta::message::{
    Field, merge_named, merge_nested, message_field, nested, nested_length, no_value, prost, read_text, text_length,
    write_nested, write_text,
};

/// Encodes an object in the API's Protobuf envelope.
pub fn seal<T: Resource + prost::Message>(object: &T) -> Vec<u8> {
    let (api_version, kind) = type_of::<T>();
    protobuf::seal(&api_version, kind, &object.encode_to_vec())
}

/// Why a body could not be decoded as a type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The body is not an envelope.
    Envelope(protobuf::DecodeError),
    /// The envelope holds another type: the expected one, and the one found.
    Type(String, String),
    /// The message is not valid for the type.
    Message(prost::DecodeError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope(error) => error.fmt(f),
            Self::Type(wanted, found) => write!(f, "the message is a {found}, not a {wanted}"),
            Self::Message(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Decodes the object in an envelope. An envelope without a type is assumed to hold the expected one.
///
/// # Errors
/// [`OpenError`] if the body does not hold such an object.
pub fn open<T: Resource + prost::Message + Default>(body: &[u8]) -> Result<T, OpenError> {
    let envelope = protobuf::open(body).map_err(OpenError::Envelope)?;
    let (api_version, kind) = type_of::<T>();
    let fits = ["", &api_version].contains(&envelope.api_version) && ["", kind].contains(&envelope.kind);
    if !fits {
        let found = format!("{} {}", envelope.api_version, envelope.kind);
        return Err(OpenError::Type(format!("{api_version} {kind}"), found));
    }
    T::decode(envelope.message).map_err(OpenError::Message)
}

fn type_of<T: Resource>() -> (String, &'static str) {
    (T::RESOURCE.group_version().to_string(), T::RESOURCE.kind)
}
