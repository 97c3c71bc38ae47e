//! Waits for revisions: a read that must not be older than a revision waits for it for a limited time.
use std::time::Duration;

use super::{Error, Request, Verbs};
use crate::{meta::Revision, storage::ReadError};

/// The maximum wait for a future revision, the same as in kube-apiserver.
const PATIENCE: Duration = Duration::from_secs(3);

impl Verbs {
    /// Waits until readers see a revision. Fails with [`Error::TooLargeRevision`] if that takes too long.
    pub(super) async fn reach(&self, asked: Revision) -> Result<(), Error> {
        if self.cache.revision() >= asked {
            return Ok(());
        }
        match tokio::time::timeout(PATIENCE, self.cache.reached(asked)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::TooLargeRevision { asked, current: self.cache.revision() }),
        }
    }
}

/// The error for a state that cannot be read.
pub(super) fn unreachable(request: &Request, error: &ReadError, asked: Revision) -> Error {
    match error {
        ReadError::Compacted(_) => Error::Expired {
            message: "The resourceVersion for the provided list is too old.".to_owned(),
            continue_token: None,
        },
        ReadError::Future(current) => Error::TooLargeRevision { asked, current: *current },
        ReadError::Damaged(message) => {
            request.unreadable(vec![(request.served.objects.prefix().to_owned(), message.clone())], false)
        }
        ReadError::Engine(_) => Error::Internal(error.to_string()),
    }
}
