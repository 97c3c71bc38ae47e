//! Part of [`kindsmith`](https://docs.rs/kindsmith), on which programs depend instead: the model of resources, schemas, documents
//! and patches. No I/O, and nothing asynchronous but hooks.
//!
//! The layers, from the top; imports go down only:
//!
//! - [`testing`]: random objects of a kind, and the check that a type and its schema agree.
//! - `message`: Protobuf messages in Rust (feature `messages`).
//! - [`kind`]: resources, their versions, what their hooks do, conversion, and the typed client.
//! - [`patch`]: patches and apply.
//! - [`codec`]: bytes and documents.
//! - [`schema`]: structural schemas; validate, default, prune.

// Derived code names the crate `kindsmith`, in here too.
extern crate self as kindsmith;

pub mod codec;
pub mod kind;
#[cfg(feature = "messages")]
pub mod message;
pub mod patch;
pub mod schema;
pub mod testing;
#[cfg(any(test, feature = "test-support"))]
pub mod widget;

#[cfg(feature = "messages")]
pub use kindsmith_macros::Message;
pub use kindsmith_macros::{ApiType, Resource};
pub use kindsmith_meta as meta;

pub use kind::{
    Resource,
    hook::{Context, Hooks},
};
pub use meta::{
    Condition, FieldError, FieldErrorKind, FieldPath, LabelSelector, MicroTime, ObjectMeta, ObjectReference,
    OwnerReference, Quantity, Time,
    values::{ByteString, IntOrString, RawJson},
};
pub use schema::declare::ApiType;

/// What derived code needs of the crate, and of others.
#[doc(hidden)]
pub mod __private {
    pub use serde;

    #[cfg(feature = "messages")]
    pub use crate::message::{self, prost};
    pub mod resource {
        pub use crate::kind::resource::*;
        pub mod hook {
            pub use crate::kind::hook::*;
        }
    }
    pub mod declare {
        pub use crate::schema::declare::*;
    }
}
