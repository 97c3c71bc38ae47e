//! The durable store on failing disks: errors at each call, disks that are full or read-only for a while, failing syncs
//! that lose pages, removed files, and a real full file system under a server process.
//!
//! In all cases: acknowledged writes are there, now and after a restart; refused ones are not; the sink gets each
//! change once and in order; reads continue; and writes resume by themselves when the cause is gone.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod calls;
mod disk;
mod files;
mod full_disk;
mod healing;
mod record;
