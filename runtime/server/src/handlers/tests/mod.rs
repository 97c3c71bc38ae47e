//! Tests of the client that handlers get.

mod client;
