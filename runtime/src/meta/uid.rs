//! Random uids.

/// A random uid (UUID version 4).
///
/// # Errors
/// If the system cannot provide randomness.
pub(crate) fn uid() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness: {error}"))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let n = u128::from_be_bytes(bytes);
    let part = |shift: u32, bits: u32| n >> shift & ((1 << bits) - 1);
    Ok(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 32),
        part(80, 16),
        part(64, 16),
        part(48, 16),
        part(0, 48)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_of_version_four_and_differ() {
        let (a, b) = (uid().unwrap(), uid().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert_eq!(&a[14..15], "4");
        assert!("89ab".contains(&a[19..20]), "{a}");
    }
}
