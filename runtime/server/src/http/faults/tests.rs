//! Tests of faults.
