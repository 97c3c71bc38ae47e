//! The order of API versions.
use std::cmp::Ordering;

/// Compares two versions of a group by Kubernetes' version priority: stable before beta before alpha, then the higher
/// number first. Names of another form come last, in alphabetical order.
pub fn by_priority(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The stability, the major version, and the number within the stability.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let (major, rest) = number(version.strip_prefix('v')?)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, rest) = match rest.strip_prefix("beta") {
        Some(rest) => (1, rest),
        None => (0, rest.strip_prefix("alpha")?),
    };
    let (minor, rest) = number(rest)?;
    rest.is_empty().then_some((stability, major, minor))
}

/// The number at the beginning of a text, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first_and_names_of_another_form_last() {
        let ordered = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "v1alpha1",
            "foo1",
            "foo10",
            "v",
            "v+1",
            "v1beta",
            "v1beta+1",
            "v1beta1x",
            "v1gamma1",
            "va",
        ];
        for (position, first) in ordered.iter().enumerate() {
            assert_eq!(by_priority(first, first), Ordering::Equal);
            for second in &ordered[position + 1..] {
                assert_eq!(by_priority(first, second), Ordering::Less, "{first} {second}");
                assert_eq!(by_priority(second, first), Ordering::Greater, "{second} {first}");
            }
        }
    }
}
