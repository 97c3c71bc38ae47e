//! Tests of readers, records and views together.

mod reader;
mod record;
mod view;
