//! Scalars that are types of their own in Go: kube-apiserver reads their text, and prints it anew.
use std::borrow::Cow;

use crate::meta::{ByteString, quantity::Quantity, time::Layout};

/// A type of text in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A time in whole seconds (`metav1.Time`).
    Time,
    /// A time in microseconds (`metav1.MicroTime`).
    MicroTime,
    /// An amount (`resource.Quantity`).
    Quantity,
    /// Bytes in base64 (`[]byte`).
    Bytes,
    /// Text, or a number of 32 bits (`intstr.IntOrString`).
    IntOrString,
}

impl Scalar {
    /// The text to keep for a text, which for times and bytes is what Go prints; `None` for the zero time, which it prints as `null`.
    ///
    /// # Errors
    /// Why Go refuses the text, in its words.
    pub(crate) fn read(self, text: &str) -> Result<Option<Cow<'_, str>>, String> {
        match self {
            Self::Time => Layout::RFC_3339.read(text),
            Self::MicroTime => Layout::MICRO.read(text),
            // Amounts stay as they were sent, which clients read all the same.
            Self::Quantity => match text.parse::<Quantity>() {
                Ok(_) => Ok(Some(text.into())),
                Err(error) => Err(error.to_string()),
            },
            Self::IntOrString => Ok(Some(text.into())),
            Self::Bytes => Ok(Some(ByteString::canonical(text)?)),
        }
    }
}
