//! Finds the end of text without JSON escapes, eight bytes at a time, because documents consist mostly of it.

/// One in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte of a word.
const HIGH: u64 = 0x80 * ONES;

/// The number of bytes before the first quote, backslash or control character; or all of them.
pub fn length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return index * 8 + usize::try_from(marks.trailing_zeros() / 8).expect("at most eight");
        }
    }
    let more = rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(rest.len());
    words.len() * 8 + more
}

/// Marks the bytes of a word that need an escape in their highest bits. Bits above the first mark may be wrong, because
/// subtraction borrows from there.
fn marks(word: u64) -> u64 {
    let below = |word: u64, bound: u64| word.wrapping_sub(bound * ONES) & !word;
    let equal = |byte: u8| below(word ^ (u64::from(byte) * ONES), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & HIGH
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            let special = byte < 0x20 || byte == b'"' || byte == b'\\';
            for before in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                for at in 0..20 {
                    let mut bytes = [before; 27];
                    bytes[at] = byte;
                    assert_eq!(length(&bytes), if special { at } else { 27 }, "{byte:#x} at {at} in {before:#x}");
                    assert_eq!(length(&bytes[..at]), at);
                }
            }
        }
    }
}
