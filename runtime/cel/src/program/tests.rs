//! Tests of programs.
