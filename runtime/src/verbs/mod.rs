//! The verbs, one file each; `pipeline` fixes the order of a write, once.
