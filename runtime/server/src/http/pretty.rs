//! Indents JSON for people. Works on the text, so that keys and numbers stay unchanged.

/// Indents compact JSON by two spaces per level.
pub(super) fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut indent = Indent::default();
    indent.write(json, &mut out);
    out
}

/// Indents compact JSON in pieces, which may end anywhere.
#[derive(Default)]
pub(super) struct Indent {
    depth: usize,
    /// True directly after an opening bracket, when it is unknown whether it is empty.
    opened: bool,
    in_text: bool,
    escaped: bool,
}

impl Indent {
    /// Appends the next piece.
    pub(super) fn write(&mut self, json: &[u8], out: &mut Vec<u8>) {
        let mut rest = json;
        while let Some(&byte) = rest.first() {
            if self.in_text {
                rest = self.text(rest, out);
                continue;
            }
            rest = &rest[1..];
            if matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                continue;
            }
            if self.opened && !matches!(byte, b'}' | b']') {
                self.depth += 1;
                self.line(out);
            }
            match byte {
                b'}' | b']' if !self.opened => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line(out);
                    out.push(byte);
                }
                b',' => {
                    out.push(byte);
                    self.line(out);
                }
                b':' => out.extend_from_slice(b": "),
                _ => out.push(byte),
            }
            self.opened = matches!(byte, b'{' | b'[');
            self.in_text = byte == b'"';
        }
    }

    /// Copies text up to its closing quote; returns the rest.
    fn text<'j>(&mut self, json: &'j [u8], out: &mut Vec<u8>) -> &'j [u8] {
        let mut at = 0;
        while self.in_text && at < json.len() {
            match json[at] {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            at += 1;
        }
        let (text, rest) = json.split_at(at);
        out.extend_from_slice(text);
        rest
    }

    fn line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + 2 * self.depth, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_without_touching_text() {
        let given = br#"{"kind":"A","b":[1,{"c":"x:{,\"]\\"}],"e":{},"f":[],"g":null}"#;
        let want = r#"{
  "kind": "A",
  "b": [
    1,
    {
      "c": "x:{,\"]\\"
    }
  ],
  "e": {},
  "f": [],
  "g": null
}"#;
        assert_eq!(String::from_utf8(indent(given)).unwrap(), want);
        for end in 0..given.len() {
            let (mut indent, mut out) = (Indent::default(), Vec::new());
            indent.write(&given[..end], &mut out);
            indent.write(&given[end..], &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want, "in two pieces, the first of {end} bytes");
        }
    }
}
