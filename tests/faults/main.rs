//! The durable store on disks that fail: errors at each call in turn, disks that are full or read-only for a while, syncs
//! that fail and lose pages, files that vanish, and a real file system without room under a server's process.
//!
//! For each: what was acknowledged is there, now and after a restart; what was refused is not; the sink sees each change
//! once and in order; reads go on; and writing goes on by itself when the cause is gone.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod calls;
mod disk;
mod files;
mod full_disk;
mod healing;
mod record;
