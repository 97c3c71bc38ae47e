//! Warnings to the client, as `Warning` headers: what went through although something is wrong with it.
//! Guarantees that each text is told once, and that all of them fit into what clients and proxies take as headers.

use axum::http::{HeaderMap, HeaderValue, header::WARNING};

/// Characters of all warnings together past which each of them is cut.
const ALL: usize = 4 << 10;

/// Characters that are left of a warning that is cut.
const ONE: usize = 256;

/// The most headers. Some clients refuse an answer with more than a hundred headers in all, such as Python's.
const MOST: usize = 32;

/// Adds a header for each text. Where they are too long together, each is cut short, and the last ones are left out. The
/// last header says how many were left out.
pub fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    let mut told: Vec<&str> = Vec::with_capacity(warnings.len());
    let mut seen = std::collections::HashSet::new();
    told.extend(warnings.iter().map(String::as_str).filter(|text| !text.is_empty() && seen.insert(*text)));
    let total: usize = told.iter().map(|text| text.chars().count()).sum();
    let each = if total > ALL { ONE } else { usize::MAX };
    let (mut written, count) = (0, told.len());
    for (at, text) in told.into_iter().enumerate() {
        if written >= ALL || (at + 1 == MOST && count > MOST) {
            headers.append(WARNING, quote(&format!("{} more warnings are left out", count - at), ONE).0);
            return;
        }
        let (value, length) = quote(text, each);
        written += length;
        headers.append(WARNING, value);
    }
}

/// Adds a header for a text before those that are there.
pub fn warn_first(headers: &mut HeaderMap, text: &str) {
    let others: Vec<HeaderValue> = headers.get_all(WARNING).iter().cloned().collect();
    headers.insert(WARNING, quote(text, ALL).0);
    for other in others {
        headers.append(WARNING, other);
    }
}

/// The value of a header for the beginning of a text, and how many characters that is.
fn quote(text: &str, most: usize) -> (HeaderValue, usize) {
    let (mut value, mut length) = (String::with_capacity(text.len().min(ALL) + 16), 0);
    value.push_str("299 - \"");
    for character in text.chars().take(most) {
        length += 1;
        match character {
            '"' | '\\' => value.extend(['\\', character]),
            // Which no header may hold.
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

    fn told(warnings: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        warn(&mut headers, &warnings.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let text = |value: &HeaderValue| String::from_utf8(value.as_bytes().to_vec()).unwrap();
        headers.get_all(WARNING).iter().map(text).collect()
    }

    #[test]
    fn they_are_quoted() {
        let given = ["unknown field \"a\\b\"", "line\nbreak\u{85}", "größer"];
        let want = [r#"299 - "unknown field \"a\\b\"""#, "299 - \"line break \"", "299 - \"größer\""];
        assert_eq!(told(&given), want);
    }

    #[test]
    fn each_is_told_once_and_none_is_empty() {
        assert_eq!(told(&["a", "", "b", "a"]), ["299 - \"a\"", "299 - \"b\""]);
    }

    #[test]
    fn they_stay_whole_while_they_fit() {
        let long = "x".repeat(ALL - 1);
        assert_eq!(told(&[&long, "y"]), [format!("299 - \"{long}\""), "299 - \"y\"".to_owned()]);
    }

    #[test]
    fn there_are_no_more_than_clients_take() {
        let texts: Vec<String> = (0..500).map(|at| at.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(told(&texts[..MOST]).last().unwrap(), "299 - \"31\"", "as many as fit are all told");
        let all = told(&texts);
        assert_eq!(all.len(), MOST);
        assert_eq!(all[MOST - 2..], ["299 - \"30\"", "299 - \"469 more warnings are left out\""]);
    }

    #[test]
    fn too_many_are_cut_and_the_last_left_out() {
        let texts: Vec<String> = (0..1_000).map(|at| format!("{at:04}{}", "ä".repeat(300))).collect();
        let all = told(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(all.len(), ALL / ONE + 1);
        assert_eq!(all[16], "299 - \"984 more warnings are left out\"");
        assert_eq!(all[15], format!("299 - \"0015{}\"", "ä".repeat(ONE - 4)), "cut between characters");
        assert_eq!(told(&["short", &"x".repeat(ALL)])[0], "299 - \"short\"");
    }
}
