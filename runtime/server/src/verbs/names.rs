//! Generated names of new objects, if only a prefix is given.

/// The characters of generated names. They avoid similar characters and real words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The number of random characters.
const RANDOM_LENGTH: usize = 5;
/// The maximum length of the prefix, so that the whole name fits in a DNS label.
const MAX_BASE: usize = 63 - RANDOM_LENGTH;

/// A name that starts with a base, truncated to fit, and ends with random characters. Fails if the system cannot
/// provide randomness.
pub(super) fn generate(base: &str) -> Result<String, String> {
    let cut = base.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_BASE).last();
    let mut name = base[..cut.unwrap_or(0)].to_owned();
    let mut bytes = [0; RANDOM_LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| format!("no randomness: {error}"))?;
    for byte in bytes {
        name.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
    }
    Ok(name)
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
}
