//! Kinds generated from the definitions of the corpus. Each has the resource that the front end read.
#![deny(warnings, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/kinds.rs"));
include!(concat!(env!("OUT_DIR"), "/all.rs"));
