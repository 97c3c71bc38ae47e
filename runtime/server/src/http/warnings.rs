//! Warnings to the client as `Warning` headers, about accepted requests with a problem. Each text is sent once, and all
//! of them fit into the header limits of clients and proxies.

use http::{HeaderMap, HeaderValue, header::WARNING};

/// The total number of characters above which each warning is truncated.
const ALL: usize = 4 << 10;

/// The maximum length of a truncated warning.
const ONE: usize = 256;

/// The maximum number of headers. Some clients, such as Python's, refuse answers with more than a hundred headers.
const MOST: usize = 32;

/// Adds a header for each text. If they are too long together, each is truncated, and the last ones are dropped. The
/// last header then contains the number of dropped ones.
pub(super) fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    let mut distinct: Vec<&str> = Vec::with_capacity(warnings.len());
    let mut seen = std::collections::HashSet::new();
    distinct.extend(warnings.iter().map(String::as_str).filter(|text| !text.is_empty() && seen.insert(*text)));
    let total: usize = distinct.iter().map(|text| text.chars().count()).sum();
    let each = if total > ALL { ONE } else { usize::MAX };
    let (mut written, count) = (0, distinct.len());
    for (at, text) in distinct.into_iter().enumerate() {
        if written >= ALL || (at + 1 == MOST && count > MOST) {
            headers.append(WARNING, quote(&format!("{} more warnings are left out", count - at), ONE).0);
            return;
        }
        let (value, length) = quote(text, each);
        written += length;
        headers.append(WARNING, value);
    }
}

/// Adds a header before the existing ones.
pub(super) fn warn_first(headers: &mut HeaderMap, text: &str) {
    let others: Vec<HeaderValue> = headers.get_all(WARNING).iter().cloned().collect();
    headers.insert(WARNING, quote(text, ALL).0);
    for other in others {
        headers.append(WARNING, other);
    }
}

/// The texts of the warnings in the headers of an answer of this server.
pub(super) fn read(headers: &HeaderMap) -> Vec<String> {
    let text = |value: &HeaderValue| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let quoted = value.strip_prefix("299 - \"").and_then(|rest| rest.strip_suffix('"')).unwrap_or(&value);
        let mut escaped = false;
        quoted
            .chars()
            .filter(|&character| {
                escaped = character == '\\' && !escaped;
                !escaped
            })
            .collect()
    };
    headers.get_all(WARNING).iter().map(text).collect()
}

/// The value of a header for the beginning of a text, and its number of characters.
fn quote(text: &str, most: usize) -> (HeaderValue, usize) {
    let (mut value, mut length) = (String::with_capacity(text.len().min(ALL) + 16), 0);
    value.push_str("299 - \"");
    for character in text.chars().take(most) {
        length += 1;
        match character {
            '"' | '\\' => value.extend(['\\', character]),
            // Headers must not contain control characters.
            control if control.is_control() => value.push(' '),
            other => value.push(other),
        }
    }
    value.push('"');
    (HeaderValue::from_bytes(value.as_bytes()).expect("a header value holds all but control characters"), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(warnings: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        warn(&mut headers, &warnings.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let text = |value: &HeaderValue| String::from_utf8(value.as_bytes().to_vec()).unwrap();
        headers.get_all(WARNING).iter().map(text).collect()
    }

    #[test]
    fn they_are_quoted() {
        let given = ["unknown field \"a\\b\"", "line\nbreak\u{85}", "größer"];
        let want = [r#"299 - "unknown field \"a\\b\"""#, "299 - \"line break \"", "299 - \"größer\""];
        assert_eq!(sent(&given), want);
        let mut headers = HeaderMap::new();
        warn(&mut headers, &given.map(str::to_owned));
        assert_eq!(read(&headers), [given[0], "line break ", given[2]]);
    }

    #[test]
    fn each_warning_is_sent_once_and_none_is_empty() {
        assert_eq!(sent(&["a", "", "b", "a"]), ["299 - \"a\"", "299 - \"b\""]);
    }

    #[test]
    fn warnings_that_fit_are_not_truncated() {
        let long = "x".repeat(ALL - 1);
        assert_eq!(sent(&[&long, "y"]), [format!("299 - \"{long}\""), "299 - \"y\"".to_owned()]);
    }

    #[test]
    fn the_number_of_warnings_is_limited() {
        let texts: Vec<String> = (0..500).map(|at| at.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(sent(&texts[..MOST]).last().unwrap(), "299 - \"31\"", "as many as fit are all sent");
        let all = sent(&texts);
        assert_eq!(all.len(), MOST);
        assert_eq!(all[MOST - 2..], ["299 - \"30\"", "299 - \"469 more warnings are left out\""]);
    }

    #[test]
    fn too_many_warnings_are_truncated_and_the_last_dropped() {
        let texts: Vec<String> = (0..1_000).map(|at| format!("{at:04}{}", "ä".repeat(300))).collect();
        let all = sent(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(all.len(), ALL / ONE + 1);
        assert_eq!(all[16], "299 - \"984 more warnings are left out\"");
        assert_eq!(all[15], format!("299 - \"0015{}\"", "ä".repeat(ONE - 4)), "cut between characters");
        assert_eq!(sent(&["short", &"x".repeat(ALL)])[0], "299 - \"short\"");
    }
}
