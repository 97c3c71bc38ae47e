//! Tests of the verbs, in process, over the memory store.

mod admission;
mod alive;
mod apply;
mod collections;
mod contention;
mod create;
mod delete;
mod fixture;
mod force;
mod generations;
mod grace;
mod holds;
mod hostile;
mod kinds;
mod migrate;
mod namespaces;
mod ownership;
mod patch;
mod races;
mod ratcheting;
mod subresources;
mod update;
mod versions;
mod versions_owning;
mod versions_writing;
mod watch;
