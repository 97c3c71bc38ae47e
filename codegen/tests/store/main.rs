//! Tests of the command `kindsmith store` and of the library behind it: exit codes, output and files.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod backup;
mod copy;
mod damage;
#[cfg(feature = "etcd")]
mod etcd;
#[path = "../../../tests/versions/lamp.rs"]
mod lamp;
mod migrate;
mod sample;
mod usage;
