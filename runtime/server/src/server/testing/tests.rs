//! Tests of clusters.
