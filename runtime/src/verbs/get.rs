//! get: one object, no older than asked for.
use std::sync::Arc;

use super::{Answer, Api, Error, Request, scale, versions::shown};
use crate::{cache::Object, kind::registry::Served, meta::options::GetOptions};

/// How many objects that cannot be read an error names.
const MAX_CAUSES: usize = 100;

impl Api {
    /// One object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::TooLargeRevision`] where the revision asked for does not come;
    /// [`Error::StoreRead`].
    pub async fn get(&self, request: &Request, options: &GetOptions) -> Result<Answer, Error> {
        if let Some(asked) = options.resource_version {
            self.reach(asked).await?;
        }
        let object = shown(request, &current(request)?)?;
        if request.endpoint().is_none() {
            return Err(request.not_found());
        }
        if request.is_scale() {
            return scale::of_object(&request.served.kind, &object).map(Answer::Document);
        }
        Ok(Answer::Object(object))
    }
}

/// The newest state of the object that a request names, in the version that is stored.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::StoreRead`] for an object whose stored bytes cannot be understood: it is there, so it is
/// not "not found", but there is nothing to show.
pub(super) fn current(request: &Request) -> Result<Arc<Object>, Error> {
    let object = find(request)?;
    match object.unreadable() {
        None => Ok(object),
        Some(_) => Err(unreadable(request, [&*object])),
    }
}

/// The same, readable or not.
///
/// # Errors
/// [`Error::NotFound`].
pub(super) fn find(request: &Request) -> Result<Arc<Object>, Error> {
    request.served.objects.snapshot().get(&request.key()).ok_or_else(|| request.not_found())
}

/// The refusal to show objects that cannot be read.
pub(super) fn unreadable<'o>(request: &Request, objects: impl IntoIterator<Item = &'o Object>) -> Error {
    let prefix = request.served.objects.prefix();
    let mut causes = Vec::new();
    let mut more = false;
    for object in objects {
        if causes.len() == MAX_CAUSES {
            more = true;
            break;
        }
        let reason = object.unreadable().unwrap_or_default();
        let why = format!("object not decodable revision={}: {reason}", object.revision());
        causes.push((format!("{prefix}{}", object.key()), why));
    }
    let resource = request.served.kind.group_resource();
    Error::StoreRead { resource, name: request.name.clone(), causes, more }
}

/// Stored objects that have no form in the version that was asked for.
#[derive(Debug, Default)]
pub struct Unconverted {
    causes: Vec<(String, String)>,
    more: bool,
}

impl Unconverted {
    /// One, and why it has none.
    pub fn one(served: &Served, object: &Object, reason: &str) -> Self {
        let mut all = Self::default();
        all.push(served, object, reason);
        all
    }

    /// Notes one, and why it has none.
    pub fn push(&mut self, served: &Served, object: &Object, reason: &str) {
        if self.causes.len() == MAX_CAUSES {
            self.more = true;
            return;
        }
        let (version, revision) = (&served.kind.group_version, object.revision());
        let why = format!("object not convertible to {version} revision={revision}: {reason}");
        self.causes.push((format!("{}{}", served.objects.prefix(), object.key()), why));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }

    /// Whether there are more than an error names.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// The refusal to show them: where a name was asked for, that one.
    pub fn refusal(self, served: &Served, name: &str) -> Error {
        let resource = served.kind.group_resource();
        Error::StoreRead { resource, name: name.to_owned(), causes: self.causes, more: self.more }
    }
}
