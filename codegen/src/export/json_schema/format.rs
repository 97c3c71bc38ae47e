//! Formats of text. JSON Schema has names for few of the formats that servers check. The others are written as patterns.

/// How a format is written.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// By its name, which means the same in JSON Schema.
    Name(&'static str),
    /// By a pattern, and the greatest length.
    Pattern(&'static str, Option<u64>),
    /// Not at all.
    Unsaid,
}

/// Base64 with padding; line breaks are allowed anywhere.
const BASE64: &str = "^[\\r\\n]*(?:(?:[A-Za-z0-9+/][\\r\\n]*){4})*\
    (?:[A-Za-z0-9+/][\\r\\n]*(?:[AQgw][\\r\\n]*=|[A-Za-z0-9+/][\\r\\n]*[AEIMQUYcgkosw048])[\\r\\n]*=[\\r\\n]*)?$";
const QUANTITY: &str = "^[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$";
const UUID: &str = "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$";
const SHORT_NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const LONG_NAME: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

impl Format {
    /// The format of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "date-time" | "micro-time" => Self::Name("date-time"),
            "date" => Self::Name("date"),
            "ipv4" => Self::Name("ipv4"),
            "ipv6" => Self::Name("ipv6"),
            "byte" => Self::Pattern(BASE64, None),
            "quantity" => Self::Pattern(QUANTITY, None),
            "uuid" => Self::Pattern(UUID, None),
            "k8s-short-name" => Self::Pattern(SHORT_NAME, Some(63)),
            "k8s-long-name" => Self::Pattern(LONG_NAME, Some(253)),
            _ => Self::Unsaid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_what_servers_check() {
        let cases: [(&str, &[&str], &[&str]); 4] = [
            ("byte", &["", "YQ==", "YWE=", "YWFh", "YW\nFh\n", "YQ=\n="], &["YQ=", "YR==", "Y", "YWFhY", "Y-=="]),
            ("quantity", &["1", "1Gi", ".5", "-2.5k", "1e3", "12E", "1."], &["", "1 Gi", "Gi", "1KiB", "."]),
            ("uuid", &["11111111222243338444555555555555"], &["1111"]),
            ("k8s-long-name", &["a.b-c"], &["a..b", "-a", "A"]),
        ];
        for (format, good, bad) in cases {
            let Format::Pattern(pattern, _) = Format::of(format) else { panic!("{format} is a pattern") };
            let schema = jsonschema::validator_for(&serde_json::json!({"pattern": pattern})).unwrap();
            for (texts, expected) in [(good, true), (bad, false)] {
                for text in texts {
                    assert_eq!(schema.is_valid(&(*text).into()), expected, "{format} {text:?}");
                }
            }
        }
    }
}
