//! Kinds generated from random definitions, compiled.
#![deny(warnings, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/kinds.rs"));
include!(concat!(env!("OUT_DIR"), "/all.rs"));
