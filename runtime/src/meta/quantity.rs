//! Quantities: `500m`, `1Gi`, `1e3`. The text stays as it was given; its value and canonical form are computed.
use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An amount of something, with a suffix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity(String);

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `1500m`, `2k`.
    Decimal,
    /// `1Ki`.
    Binary,
    /// `1e3`.
    Exponent,
}

const NANO: i128 = 1_000_000_000;
/// Larger quantities are cut to this, as the API does.
const MAX: i128 = (i64::MAX as i128) * NANO;
