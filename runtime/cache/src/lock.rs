//! The one way to lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, even after a panic of another holder: every critical section leaves its data consistent.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
