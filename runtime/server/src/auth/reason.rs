//! Why an authorizer allows something.
use std::{fmt, sync::Arc};

/// Why an authorizer allows something; may be empty. Reviews of access return the text, which is made only then.
#[derive(Clone, Default)]
pub struct Reason(Inner);

#[derive(Clone, Default)]
enum Inner {
    #[default]
    None,
    Text(Arc<str>),
    /// A part of something that can tell.
    Of(Arc<dyn Explain>, usize),
}

/// Something that allows, in several parts.
pub(crate) trait Explain: Send + Sync {
    /// Says why a part allows something.
    fn explain(&self, part: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Reason {
    /// No reason.
    pub const NONE: Self = Self(Inner::None);

    /// What a part of something says.
    pub(crate) fn of(what: Arc<dyn Explain>, part: usize) -> Self {
        Self(Inner::Of(what, part))
    }
}

impl<T: Into<Arc<str>>> From<T> for Reason {
    fn from(text: T) -> Self {
        Self(Inner::Text(text.into()))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::None => Ok(()),
            Inner::Text(text) => f.write_str(text),
            Inner::Of(what, part) => what.explain(*part, f),
        }
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Reason {}
