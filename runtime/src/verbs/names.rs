//! Generated fields of a new object: its uid, and its name if only a prefix is given.

/// The characters of generated names. They avoid similar characters and real words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The number of random characters.
const RANDOM_LENGTH: usize = 5;
/// The maximum length of the prefix, so that the whole name fits in a DNS label.
const MAX_BASE: usize = 63 - RANDOM_LENGTH;

/// A name that starts with a base, truncated to fit, and ends with random characters.
///
/// # Errors
/// If the system cannot provide randomness.
pub(super) fn generate(base: &str) -> Result<String, String> {
    let cut = base.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_BASE).last();
    let mut name = base[..cut.unwrap_or(0)].to_owned();
    for byte in random::<RANDOM_LENGTH>()? {
        name.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
    }
    Ok(name)
}

/// A random uid (UUID version 4).
///
/// # Errors
/// If the system cannot provide randomness.
pub(super) fn uid() -> Result<String, String> {
    let mut bytes: [u8; 16] = random()?;
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

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness: {error}"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_fit_a_label_and_keep_their_base() {
        let name = generate("web-").unwrap();
        assert!(name.starts_with("web-") && name.len() == 9, "{name}");
        assert!(name[4..].bytes().all(|b| ALPHABET.contains(&b)), "{name}");
        assert_eq!(generate(&"x".repeat(80)).unwrap().len(), 63);
        assert!(generate(&"ü".repeat(80)).unwrap().len() <= 63, "cut between characters");
    }

    #[test]
    fn uids_are_of_version_four_and_differ() {
        let (a, b) = (uid().unwrap(), uid().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert_eq!(&a[14..15], "4");
        assert!("89ab".contains(&a[19..20]), "{a}");
    }
}
