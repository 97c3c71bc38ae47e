//! Waits for revisions: a read that must not be older than a revision waits for it for a limited time. A read without a
//! revision must not be older than any acknowledged write; if other servers write to the store, it asks for its newest
//! revision first.
use std::time::Duration;

use tokio::time::timeout;

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
        let reached = async {
            // An engine over several servers learns of revisions without changes only when it asks. The wait is the same
            // if the question fails: the revision may arrive nevertheless.
            if let Some(confirming) = self.store.confirm() {
                let _ = confirming.await;
            }
            self.cache.reached(asked).await;
        };
        let current = || self.cache.revision();
        timeout(PATIENCE, reached).await.map_err(|_| Error::TooLargeRevision { asked, current: current() })
    }

    /// Waits until readers see everything that any server has acknowledged before this call. Costs nothing if no other
    /// server writes to the store. Fails with [`Error::Timeout`] if the store does not answer,
    /// [`Error::TooLargeRevision`] if its changes arrive too late.
    pub(crate) async fn confirm(&self) -> Result<(), Error> {
        let Some(confirming) = self.store.confirm() else { return Ok(()) };
        let newest = match timeout(PATIENCE, confirming).await {
            Ok(Ok(newest)) => newest,
            Ok(Err(error)) => return Err(Error::Timeout(format!("the newest state could not be read: {error}"))),
            Err(_) => return Err(Error::Timeout("the store did not answer in time".to_owned())),
        };
        if self.cache.revision() >= newest {
            return Ok(());
        }
        let current = || self.cache.revision();
        let reached = timeout(PATIENCE, self.cache.reached(newest)).await;
        reached.map_err(|_| Error::TooLargeRevision { asked: newest, current: current() })
    }

    /// Waits for the state that a read without or with a resourceVersion requires. For version zero any state will do.
    pub(super) async fn recent(&self, asked: Option<Revision>) -> Result<(), Error> {
        match asked {
            None => self.confirm().await,
            Some(asked) => self.reach(asked).await,
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
            request.unreadable(vec![(request.resource.objects.prefix().to_owned(), message.clone())], false, false)
        }
        ReadError::Unreachable(_) => Error::Timeout(error.to_string()),
        ReadError::Engine(_) => Error::Internal(error.to_string()),
    }
}
