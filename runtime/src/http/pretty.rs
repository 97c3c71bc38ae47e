//! Indentation of JSON for people: works on the text, so that keys and numbers stay as they were written.

/// Indents compact JSON by two spaces a level, and ends it with a newline.
pub fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    for (at, &byte) in json.iter().enumerate() {
        if in_text {
            out.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if !matches!(json.get(at + 1), Some(b'}' | b']')) {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                if !matches!(out.last(), Some(b'{' | b'[')) {
                    depth = depth.saturating_sub(1);
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'"' => {
                in_text = true;
                out.push(byte);
            }
            b' ' | b'\n' | b'\t' | b'\r' => {}
            _ => out.push(byte),
        }
    }
    out.push(b'\n');
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(b"  ");
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
}
"#;
        assert_eq!(String::from_utf8(indent(given)).unwrap(), want);
    }
}
