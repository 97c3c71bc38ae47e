//! Wraps every call into the engine. The engine trusts its pages and may panic on damaged ones. A panic must end
//! neither a thread of the server nor the process, so it becomes an engine error.

use std::{
    ops::{Deref, DerefMut},
    panic::{AssertUnwindSafe, catch_unwind},
};

use redb::Database;

/// Calls into the engine. A panic becomes [`redb::Error::Corrupted`].
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    // The call's leftovers belong to the engine, which refuses to use what a panic left unfinished.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let text = text.lines().next().unwrap_or_default();
        Err(redb::Error::Corrupted(format!("a page cannot be read ({text})")))
    })
}

/// An open file of the engine. Closing it writes, so closing may panic, too.
pub(super) struct Engine(Option<Database>);

impl Engine {
    pub(super) fn new(db: Database) -> Self {
        Self(Some(db))
    }
}

impl Deref for Engine {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("it is taken out only when it is dropped")
    }
}

impl DerefMut for Engine {
    fn deref_mut(&mut self) -> &mut Database {
        self.0.as_mut().expect("it is taken out only when it is dropped")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let db = self.0.take();
        let closed = guarded(|| {
            drop(db);
            Ok(())
        });
        if let Err(error) = closed {
            tracing::warn!(%error, "the store's file could not be closed cleanly");
        }
    }
}
