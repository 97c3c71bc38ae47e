//! Texts and bytes, borrowed from documents and programs, or shared.
use std::{
    fmt,
    ops::{Deref, Range},
    sync::Arc,
};

/// Text, borrowed or shared.
#[derive(Clone)]
pub enum Text<'a> {
    /// From the document or the program.
    Borrowed(&'a str),
    /// Computed.
    Shared(Arc<str>),
}

impl Text<'_> {
    /// A part of it by bytes, which is not copied if it is borrowed.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Borrowed(text) => Self::Borrowed(&text[range]),
            Self::Shared(text) if range.len() == text.len() => Self::Shared(Arc::clone(text)),
            Self::Shared(text) => Self::Shared(text[range].into()),
        }
    }

    /// How many code points it has.
    pub fn code_points(&self) -> u64 {
        if self.is_ascii() { self.len() as u64 } else { self.chars().count() as u64 }
    }

    /// It, borrowing nothing.
    pub fn into_shared(self) -> Text<'static> {
        Text::Shared(match self {
            Self::Borrowed(text) => text.into(),
            Self::Shared(text) => text,
        })
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Bytes, borrowed or shared.
#[derive(Clone)]
pub enum Octets<'a> {
    /// From the document or the program.
    Borrowed(&'a [u8]),
    /// Computed.
    Shared(Arc<[u8]>),
}

impl Octets<'_> {
    /// They, borrowing nothing.
    pub fn into_shared(self) -> Octets<'static> {
        Octets::Shared(match self {
            Self::Borrowed(bytes) => bytes.into(),
            Self::Shared(bytes) => bytes,
        })
    }
}

impl Deref for Octets<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
