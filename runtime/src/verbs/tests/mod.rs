//! Tests of the verbs, in process, over the memory store.
