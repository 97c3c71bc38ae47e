//! Random uids.

/// A random uid (UUID version 4).
///
/// # Errors
/// If the system cannot provide randomness.
pub fn uid() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness: {error}"))?;
    Ok(uuid(u128::from_be_bytes(bytes)).map(char::from).iter().collect())
}

/// A UUID of version 4 as text, with most bits of a number.
pub fn uuid(number: u128) -> [u8; 36] {
    // The bits for version 4 and variant 1.
    let number = number & !(0xf000_u128 << 64 | 0b11_u128 << 62) | 0x4000_u128 << 64 | 0b10_u128 << 62;
    let (mut text, mut at) = ([b'-'; 36], 0);
    for (index, byte) in number.to_be_bytes().into_iter().enumerate() {
        at += usize::from(matches!(index, 4 | 6 | 8 | 10));
        text[at..at + 2].copy_from_slice(&[byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        at += 2;
    }
    text
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
