//! Addresses of e-mail as Go reads them (`net/mail.ParseAddress`): `a@b`, `A <a@b>`, with comments, and a group of one.
use std::net::IpAddr;

use crate::meta::values::ByteString;

pub(super) fn is_email(text: &str) -> bool {
    let mut reader = Reader { rest: text };
    matches!(reader.addresses(true), Some(1)) && reader.skip_comments() && reader.rest.is_empty()
}

/// Reads addresses from the beginning of a text. Methods that fail leave the reader anywhere.
struct Reader<'t> {
    rest: &'t str,
}

/// How a word is encoded (RFC 2047).
enum EncodedWord {
    No,
    /// Its text can be read, which may be empty.
    Text(bool),
    /// The character set is not known.
    Unknown,
}

impl<'t> Reader<'t> {
    /// An address, or a group of them where groups are allowed. Returns how many addresses there are.
    fn addresses(&mut self, allows_groups: bool) -> Option<usize> {
        self.skip_blanks();
        let before = self.rest;
        if before.is_empty() {
            return None;
        }
        if self.address().is_some() {
            self.skip_blanks();
            return if self.rest.starts_with('(') { self.comment_as_name().then_some(1) } else { Some(1) };
        }
        self.rest = before;
        if !before.starts_with('<') {
            self.phrase()?;
        }
        self.skip_blanks();
        if allows_groups && self.take(':') {
            return self.group();
        }
        (self.take('<') && self.address().is_some() && self.take('>')).then_some(1)
    }

    /// The members of a group, up to its end.
    fn group(&mut self) -> Option<usize> {
        self.skip_blanks();
        let mut count = 0;
        if self.take(';') {
            return self.skip_comments().then_some(0);
        }
        loop {
            self.skip_blanks();
            count += self.addresses(false)?;
            if !self.skip_comments() {
                return None;
            }
            if self.take(';') {
                return self.skip_comments().then_some(count);
            }
            if !self.take(',') {
                return None;
            }
        }
    }

    /// A local part, `@`, and a domain.
    fn address(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.rest.starts_with('"') {
            self.quoted().filter(|quoted| !quoted.is_empty())?;
        } else {
            self.atom().filter(|atom| is_dotted(atom))?;
        }
        if !self.take('@') {
            return None;
        }
        self.skip_blanks();
        if self.take('[') {
            let (address, rest) = self.rest.split_once(']')?;
            self.rest = rest;
            return address.parse::<IpAddr>().ok().map(|_| ());
        }
        self.atom().filter(|atom| is_dotted(atom)).map(|_| ())
    }

    /// Words, of which there is at least one unless the text ends. What is after the last one is left.
    fn phrase(&mut self) -> Option<()> {
        let (mut has_words, mut has_encoded) = (false, false);
        loop {
            // A comment may come after a word that is not encoded.
            if has_words && !self.skip_comments() {
                return None;
            }
            self.skip_blanks();
            if self.rest.is_empty() {
                return Some(());
            }
            let word = if self.rest.starts_with('"') {
                self.quoted().map(|_| EncodedWord::No)
            } else {
                self.atom().map(encoded_word)
            };
            match word {
                Some(EncodedWord::Text(is_empty)) => has_encoded |= !is_empty,
                Some(EncodedWord::No) => has_words = true,
                // The words end here.
                None | Some(EncodedWord::Unknown) => return (has_words || has_encoded).then_some(()),
            }
        }
    }

    /// Text in quotes, without them.
    fn quoted(&mut self) -> Option<&'t str> {
        let inside = &self.rest[1..];
        let mut is_escaped = false;
        for (at, c) in inside.char_indices() {
            match c {
                _ if is_escaped && (is_visible(c) || is_blank(c)) => is_escaped = false,
                _ if is_escaped => return None,
                '"' => {
                    self.rest = &inside[at + 1..];
                    return Some(&inside[..at]);
                }
                '\\' => is_escaped = true,
                c if is_visible(c) || is_blank(c) => {}
                _ => return None,
            }
        }
        None
    }

    /// Signs and points, of which there is at least one.
    fn atom(&mut self) -> Option<&'t str> {
        let is_sign = |c: char| is_visible(c) && !r#"()<>[]:;@\,""#.contains(c);
        let end = self.rest.find(|c| !is_sign(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// A comment that stands for a name: none of its words is in a character set that is not known.
    fn comment_as_name(&mut self) -> bool {
        self.take('(');
        let Some(comment) = self.comment() else { return false };
        comment.split(is_blank).all(|word| !matches!(encoded_word(word), EncodedWord::Unknown))
    }

    /// The content of an open comment, with the comments in it.
    fn comment(&mut self) -> Option<String> {
        let (mut depth, mut comment) = (1, String::new());
        let mut chars = self.rest.chars();
        while depth > 0 {
            let mut c = chars.next()?;
            match c {
                '\\' if !chars.as_str().is_empty() => c = chars.next()?,
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            comment.push(c);
        }
        comment.pop();
        self.rest = chars.as_str();
        Some(comment)
    }

    /// Skips blanks and comments. False if a comment does not end.
    fn skip_comments(&mut self) -> bool {
        self.skip_blanks();
        while self.take('(') {
            if self.comment().is_none() {
                return false;
            }
            self.skip_blanks();
        }
        true
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(is_blank);
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn is_visible(c: char) -> bool {
    ('!'..='~').contains(&c) || !c.is_ascii()
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// No point is at an end or beside another.
fn is_dotted(atom: &str) -> bool {
    !atom.starts_with('.') && !atom.ends_with('.') && !atom.contains("..")
}

/// How a word such as `=?utf-8?q?caf=C3=A9?=` is encoded.
fn encoded_word(word: &str) -> EncodedWord {
    let inside = word.strip_prefix("=?").and_then(|word| word.strip_suffix("?=")).filter(|_| word.len() >= 8);
    let Some(inside) = inside else { return EncodedWord::No };
    let parts: Vec<&str> = inside.splitn(4, '?').collect();
    let [charset, encoding, text] = parts[..] else { return EncodedWord::No };
    let is_text = match encoding {
        "B" | "b" => ByteString::from_base64(text).is_ok(),
        "Q" | "q" => is_quoted_printable(text),
        _ => false,
    };
    if charset.is_empty() || !is_text {
        return EncodedWord::No;
    }
    let is_known = ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known));
    if is_known { EncodedWord::Text(text.is_empty()) } else { EncodedWord::Unknown }
}

fn is_quoted_printable(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'=', [one, other, after @ ..]) if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() => after,
            (b' '..=b'~' | b'\n' | b'\r' | b'\t', after) if byte != b'=' => after,
            _ => return false,
        };
    }
    true
}
