//! Templates of the items that `join` shows: text in which `{.path}` is what the path finds in an item. A part in brackets is there
//! if all of its paths find something.
use super::text_of;
use crate::{
    kind::jsonpath::{CellMeter, JsonPath},
    schema::Document,
};

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Path(JsonPath),
    /// There if all of its paths find something.
    Part(Vec<Piece>),
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// An invalid path.
    pub(super) fn parse(template: &str) -> Result<Self, String> {
        let (mut pieces, mut rest, mut part): (Vec<Piece>, _, Option<Vec<Piece>>) = (Vec::new(), template, None);
        while let Some((before, after)) = rest.find(['{', '[', ']']).map(|at| rest.split_at(at)) {
            part.as_mut().unwrap_or(&mut pieces).push(Piece::Text(before.to_owned()));
            let (sign, after) = after.split_at(1);
            rest = after;
            match (sign, after.split_once('}'), part.take()) {
                ("[", _, None) => part = Some(Vec::new()),
                ("]", _, Some(whole)) => pieces.push(Piece::Part(whole)),
                (_, path, open) => {
                    part = open;
                    let piece = match path.filter(|_| sign == "{") {
                        Some((path, after)) => {
                            rest = after;
                            Piece::Path(JsonPath::parse_in_call(path)?)
                        }
                        None => Piece::Text(sign.to_owned()),
                    };
                    part.as_mut().unwrap_or(&mut pieces).push(piece);
                }
            }
        }
        pieces.extend(part.into_iter().flatten());
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The template with what its paths find in a value.
    pub(super) fn fill(&self, value: &Document, meter: &CellMeter) -> String {
        filled(&self.0, value, meter).0
    }
}

/// The text of pieces, and true if all of their paths find something.
fn filled(pieces: &[Piece], value: &Document, meter: &CellMeter) -> (String, bool) {
    let (mut out, mut whole) = (String::new(), true);
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Path(path) => {
                let found = path.find(value, meter).next().map(text_of).unwrap_or_default();
                if !meter.text(found.len()) {
                    break;
                }
                whole &= !found.is_empty();
                out.push_str(&found);
            }
            Piece::Part(pieces) => {
                if let (text, true) = filled(pieces, value, meter) {
                    out.push_str(&text);
                }
            }
        }
    }
    (out, whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_in_brackets_needs_all_of_its_values() {
        let item = json!({"a": 1, "b": "x", "none": ""});
        for (template, filled) in [
            ("{.a}/{.b}", "1/x"),
            ("[{.a}:]{.b}[/{.missing}]", "1:x"),
            ("[{.a}{.none}]{.b}", "x"),
            ("{.missing}-", "-"),
            ("]{.b}[{.a}", "]x1"),
            ("[{.a}[{.b}]", "1[x"),
            ("{.a", "{.a"),
        ] {
            assert_eq!(Template::parse(template).unwrap().fill(&item, &CellMeter::of(0)), filled, "{template}");
        }
        assert!(Template::parse("{.a[}").is_err());
    }
}
