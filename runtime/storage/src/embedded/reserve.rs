//! Space on the disk that is set aside for a time when the disk is full.
//!
//! # Why is it needed?
//!
//! The engine never overwrites a page that is in use: also a transaction that only removes something writes new pages. On
//! a full disk such a transaction fails unless it finds enough pages that were written before and are free. Then nothing
//! can be deleted, and old history keeps its space.
//!
//! # How does it work?
//!
//! A file beside the store's holds blocks of the disk (`file.rs`). When a write finds the disk full, a piece of that file
//! is given up and the write is repeated, so the engine sees no error, and the group that is being written succeeds.
//! What the store accepts from then on is decided in `full.rs`.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Disk, queue::GROUP_BYTES};

/// The size of the reserve: more than the largest group of commits writes. The engine rounds the page of a large value up to
/// a power of two, so values take up to twice their size, and the last commit of a group may pass its limit. A small disk
/// has a smaller one.
const SIZE: u64 = 4 * GROUP_BYTES as u64;
const LEAST: u64 = 1 << 20;

/// The size of a piece. Another process could take the space before the store uses it, so a piece is small.
const PIECE: u64 = 1 << 20;

/// How much of the reserve is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReserveLevel {
    /// At least half.
    Most,
    /// Less.
    Some,
    /// Little enough that deletions need it.
    Little,
}

/// A disk with a reserve.
#[derive(Debug)]
pub(super) struct Reserve {
    disk: Arc<dyn Disk>,
    /// The size that could be set aside since the store was opened; zero before.
    size: AtomicU64,
    /// The error of a write that used the reserve, until the writer takes note of it.
    used: Mutex<Option<String>>,
}

impl Reserve {
    pub(super) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk, size: AtomicU64::new(0), used: Mutex::default() }
    }

    /// Sets space aside: as much as can be had, and not less than before.
    pub(super) fn fill(&self) -> io::Result<()> {
        let least = match self.size.load(Ordering::Relaxed) {
            // A part may have been used before the store was opened.
            0 => self.disk.reserved()?.next_power_of_two().clamp(LEAST, SIZE),
            known => known,
        };
        let mut size = SIZE;
        while let Err(error) = self.disk.reserve(size) {
            if !is_full(&error) || size <= least {
                return Err(error);
            }
            size /= 2;
        }
        self.size.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// How much of it is left.
    pub(super) fn level(&self) -> ReserveLevel {
        let (left, size) = (self.disk.reserved().unwrap_or(0), self.size.load(Ordering::Relaxed));
        match left {
            _ if left < (2 * PIECE).min(size / 2).max(1) => ReserveLevel::Little,
            _ if left < size / 2 => ReserveLevel::Some,
            _ => ReserveLevel::Most,
        }
    }

    /// True if something is set aside.
    pub(super) fn is_left(&self) -> bool {
        self.disk.reserved().is_ok_and(|left| left > 0)
    }

    /// The error of a write that has used the reserve since the last call.
    pub(super) fn take_used(&self) -> Option<String> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Gives up space for a write that found the disk full. False if nothing was set aside.
    fn give_up(&self, bytes: u64, found: &io::Error) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = self.disk.reserved().unwrap_or(0);
        let given_up = reserved > 0 && self.disk.reserve(reserved.saturating_sub(bytes)).is_ok();
        if given_up {
            *used = Some(found.to_string());
        }
        given_up
    }
}

/// True if an error means that the disk has no space for this process.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl Disk for Reserve {
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        loop {
            let Err(error) = self.disk.write(offset, bytes) else { return Ok(()) };
            // If nothing can be given up, this error tells more than that of giving up.
            if !is_full(&error) || !self.give_up(PIECE.max(bytes.len() as u64), &error) {
                return Err(error);
            }
        }
    }

    fn size(&self) -> io::Result<u64> {
        self.disk.size()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, into)
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_size(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.sync()
    }

    fn forget(&self) -> io::Result<()> {
        self.disk.forget()
    }

    fn check(&self) -> io::Result<()> {
        self.disk.check()
    }

    fn probe(&self) -> io::Result<()> {
        self.disk.probe()
    }
}
