//! Names, texts, formats and patterns of random definitions.

/// Kinds: words of the language, names of the prelude, of kindsmith and of what the derives write, and forms that types do not have.
pub(super) const KINDS: [&str; 40] = [
    "Self", "Gear", "String", "Vec", "Option", "Box", "Result", "gear", "Gen", "type", "S", "D", "Read", "Value", "i32", "HTTPRoute",
    "Book-Shelf", "Resource", "ApiType", "Condition", "Time", "ObjectMeta", "Some", "None", "Ok", "Copy", "Drop", "Send", "Serialize",
    "RawJson", "HashSet", "Duration", "BTreeMap", "Static", "a1", "Crate", "Super", "Async", "str", "Iterator",
];

/// First parts of groups.
pub(super) const GROUPS: [&str; 12] =
    ["gen", "type", "self", "super", "crate", "async", "r", "mod", "core", "x-1", "std", "kindsmith"];

/// Keys of list maps.
pub(super) const KEYS: [&str; 5] = ["name", "type", "gen", "größe", "x-y.z/w"];

/// Fields: keywords of every edition, names of the prelude, names that differ in case and dashes alone, and no identifiers at all.
pub(super) const FIELDS: [&str; 90] = [
    "as", "break", "const", "continue", "crate", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop",
    "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "type",
    "unsafe", "use", "where", "while", "async", "await", "dyn", "abstract", "become", "box", "do", "final", "macro", "override",
    "priv", "typeof", "unsized", "virtual", "yield", "try", "gen", "union", "raw", "safe", "macro_rules", "String", "Option", "Vec",
    "podIP", "podIp", "pod_ip", "pod-ip", "pod.ip", "größe", "日本", "Ω", "e\u{301}", "\u{e9}", "é_é", "4th", "_", "__", "-", "$ref",
    "a b", "a\u{0}b", "\n", "\u{202e}x", "conditions", "observedGeneration", "data", "value", "aVeryLongNameOfAFieldThatGoesOnAndOn", "items", "read", "d", "s", "keywords", "r#type",
];

/// Values of enumerations.
pub(super) const VALUES: [&str; 16] = [
    "a", "A", "", "self", "Self", "gen", "été", "Été", "日本", "4", "-1", "a b", "\u{0}\r\n", "``", "\"\\", "round-robin",
];

/// Formats that kube-apiserver knows, those of kindsmith, and others.
pub(super) const FORMATS: [&str; 34] = [
    "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5", "isbn", "isbn10",
    "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration", "datetime", "date-time", "int32",
    "int64", "float", "double", "micro-time", "quantity", "int-or-string", "k8s-short-name", "colour",
];

/// Patterns that Go takes. Some have another form, or another meaning, in the syntax of Rust.
pub(super) const PATTERNS: [&str; 16] = [
    "^a?$", "^[a-z]*$", r"^\Qa.b\E?.*$", r"^(a{,3}|.*)$", r"^\07?.*$", "^{?a*}?.*$", r"^\d*$|^a$", r"^\w*$", r"^\s*.*$", r"^[[:alpha:]]*$",
    r"^\pL*$", r"(?i)^a*$", r"^[\w-.]*$", r#"^"?\\?.*$"#, r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
    r"^.*\z",
];

/// Paths of columns, of fields that are not there, too.
pub(super) const COLUMNS: [&str; 8] = [
    ".metadata.creationTimestamp", r".metadata.labels.mug\.example/zone", ".spec.type", ".gen", ".type", r".pod\.ip", ".conditions[0].type",
    r#".status.conditions[?(@.type=="Ready")].status"#,
];

/// Headers of columns.
pub(super) const HEADERS: [&str; 5] = ["Age", "Ready", "Ready", "gen", "\"\\\r"];

/// Descriptions: what comments do not hold, and what rustdoc would run.
pub(super) const DESCRIPTIONS: [&str; 22] = [
    "Plain.",
    "Two  spaces, and \"quotes\" \\ and 'ticks' {braces}.",
    "one\rtwo\r\nthree",
    "a\u{202e}b\u{2066}c\u{0}d\u{7f}e\u{feff}f",
    "ends with a space ",
    " begins with one",
    "line\nline \n  line",
    "code:\n\n    fn main() { panic!() }\n\nend",
    "-     panic!()",
    ">\tpanic!()",
    "```\npanic!()\n```",
    "```rust\npanic!()",
    "~~~\npanic!()\n~~~~\n```should_panic\n1\n```",
    "- a\n  ```yaml\n  a: b\n  ```\n- ```\n  panic!()",
    "<!--\n```\n-->\n```\npanic!()\n```",
    "# Items\n\nNot of items.",
    "*/ #![allow(unused)] /* //! \u{1b}[31m",
    "[link], [broken](, <html>, `code",
    "\n",
    "\t",
    "    panic!()",
    "A long sentence that goes on for longer than a line of a comment has room for, so that it is wrapped; then it goes on and on, ``` and on.",
];
