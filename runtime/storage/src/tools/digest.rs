//! A digest of keys and values that does not depend on their order.

use std::fmt;

use ring::digest::{Context, SHA256};

/// The sum of the SHA-256 of each key and value, in four lanes of 64 bits; and how many there are. It tells accidents, not
/// forgeries: sums can be made equal on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The number of objects.
    pub objects: u64,
    /// The size of their keys and values in bytes.
    pub bytes: u64,
    sum: [u64; 4],
}

impl Digest {
    /// Adds an object.
    pub(super) fn add(&mut self, key: &str, value: &[u8]) {
        let mut hash = Context::new(&SHA256);
        hash.update(&(key.len() as u64).to_le_bytes());
        hash.update(key.as_bytes());
        hash.update(value);
        let hash = hash.finish();
        let (lanes, _) = hash.as_ref().as_chunks();
        for (sum, lane) in self.sum.iter_mut().zip(lanes) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*lane));
        }
        self.objects += 1;
        self.bytes += (key.len() + value.len()) as u64;
    }
}

/// In hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sum.iter().try_for_each(|lane| write!(f, "{lane:016x}"))
    }
}
