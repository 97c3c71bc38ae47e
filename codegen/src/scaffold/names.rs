//! Names of kinds, modules and fields, and what is wrong with them.

/// Names that a kind cannot have, because its file uses them for something else.
const USED: [&str; 22] = [
    "ApiType",
    "BTreeMap",
    "Box",
    "ByteString",
    "Condition",
    "Default",
    "Deserialize",
    "IntOrString",
    "LabelSelector",
    "MicroTime",
    "ObjectMeta",
    "ObjectReference",
    "Option",
    "Quantity",
    "RawJson",
    "Resource",
    "Result",
    "Serialize",
    "Server",
    "String",
    "Time",
    "Vec",
];

/// Checks the name of a kind. The derive checks what is left.
pub(crate) fn check_kind(kind: &str) -> Result<(), String> {
    let fitting = kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    if !fitting {
        let near: String = words(kind).iter().map(|word| capital(word)).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
        return Err(format!("a kind is a noun in CamelCase, such as Order, not {kind:?}{hint}"));
    }
    if is_keyword(kind) {
        return Err(format!("a kind cannot be called {kind}, which is a word of Rust; a more specific name will do"));
    }
    if USED.contains(&kind) {
        return Err(format!(
            "a kind cannot be called {kind}, which its file uses itself; a more specific name will do"
        ));
    }
    Ok(())
}

/// Checks the name of a group.
pub(crate) fn check_group(group: &str) -> Result<(), String> {
    let label = |label: &str| {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty() && label.chars().all(allowed) && !label.starts_with('-') && !label.ends_with('-')
    };
    if group.contains('.') && group.split('.').all(label) && group.len() <= 253 {
        return Ok(());
    }
    Err(format!("a group is a domain name in lower case, such as shop.example.com, not {group:?}"))
}

/// Checks the name of a version.
pub(crate) fn check_version(version: &str) -> Result<(), String> {
    let number = |text: &str| !text.starts_with('0') && !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let fits = version.strip_prefix('v').is_some_and(|rest| {
        let staged = ["alpha", "beta"].iter().find_map(|stage| rest.split_once(stage));
        staged.map_or_else(|| number(rest), |(major, minor)| number(major) && number(minor))
    });
    if fits { Ok(()) } else { Err(format!("a version is one like v1, v1beta2 or v1alpha1, not {version:?}")) }
}

/// The words of a name: `pageCount` and `page_count` both have `page` and `count`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let after_lower = at > 0 && !letters[at - 1].is_uppercase();
        let ends_acronym = at > 0 && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_lower || ends_acronym) {
            words.push(String::new());
        }
        let word = words.last_mut().expect("there is a word from the start");
        word.extend(letter.to_lowercase());
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The name of a field or module: `pageCount` as `page_count`.
pub(crate) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// The name of a field on the wire, as serde forms it from that in Rust.
pub(crate) fn camel(name: &str) -> String {
    let mut words = words(name).into_iter();
    words.next().into_iter().chain(words.map(|word| capital(&word))).collect()
}

/// A name that begins with a capital.
pub(crate) fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// True for words of the language, which are no names of modules. `gen` is one since the edition of 2024.
pub(crate) fn is_keyword(name: &str) -> bool {
    name == "gen" || syn::parse_str::<syn::Ident>(name).is_err()
}

/// An identifier; keywords become raw ones. Keywords that cannot be raw get a `_`, which the name on the wire lacks.
pub(crate) fn raw(name: &str) -> String {
    if ["self", "super", "crate"].contains(&name) {
        return format!("{name}_");
    }
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

/// Names that mean something else in the root of a crate: other crates, and its files.
const ROOT: [&str; 9] = ["alloc", "core", "kindsmith", "lib", "main", "serde", "serde_json", "std", "tokio"];

/// The name of a module that is called like this.
pub(crate) fn module_called(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("_{name}");
    }
    if is_keyword(&name) || ROOT.contains(&&*name) { name + "_" } else { name }
}

/// The name of a kind's module.
pub(crate) fn module(kind: &str) -> String {
    module_called(&snake(kind))
}

/// The words of a name in a sentence: `order item`.
pub(crate) fn phrase(name: &str) -> String {
    words(name).join(" ")
}

/// The words of a kind in a sentence, with an article: `an order`.
pub(crate) fn one(kind: &str) -> String {
    let phrase = phrase(kind);
    let article = if phrase.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {phrase}")
}

/// The words of a kind in the name of a test: `an_order`.
pub(crate) fn one_in_test(kind: &str) -> String {
    one(kind).replace(' ', "_")
}

/// The name of the constant with the path of a kind's objects, in tests.
pub(crate) fn constant(kind: &str) -> String {
    snake(&plural(kind)).to_uppercase()
}

/// The path of a kind's objects in URLs, those of the namespace `default`.
pub(crate) fn objects_path(group: &str, version: &str, plural: &str, is_cluster: bool) -> String {
    let namespace = if is_cluster { "" } else { "namespaces/default/" };
    format!("/apis/{group}/{version}/{namespace}{plural}")
}

/// The plural of a kind, as the derive forms it.
pub(crate) fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| lower.ends_with(end)) {
        return lower + "es";
    }
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => lower + "s",
    }
}

#[cfg(test)]
mod tests;
