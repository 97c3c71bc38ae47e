//! An object's key, labels and selectable fields in one allocation, because a list keeps millions of such texts. Each
//! text follows its length, encoded as one character, so that the whole is a valid `str`.

use std::sync::Arc;

/// Labels and selectable fields, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    /// The number of labels; the fields follow them.
    labels: u32,
}

impl Texts {
    /// The maximum length; longer texts are cut. Labels are far shorter. A selectable field may be any string, but no
    /// selector is that long.
    pub const LONGEST: usize = 1 << 20;

    /// Packs labels, and the values of selectable fields, in order.
    pub fn new<'t>(
        labels: impl IntoIterator<Item = (&'t str, &'t str)>,
        fields: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut texts = Self::default();
        for (name, value) in labels.into_iter().take(Self::LONGEST) {
            push(&mut texts.text, name);
            push(&mut texts.text, value);
            texts.labels += 1;
        }
        fields.into_iter().for_each(|field| push(&mut texts.text, field));
        texts
    }
}

/// Key, labels and fields, packed behind the number of labels. Shared by the versions of an object that have the same, and
/// by indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedTexts(Arc<str>);

impl PackedTexts {
    /// Packs a key with labels and fields.
    pub(super) fn new(key: &str, texts: &Texts) -> Self {
        let mut text = String::with_capacity(8 + key.len() + texts.text.len());
        text.push(number_mark(texts.labels));
        push(&mut text, key);
        text.push_str(&texts.text);
        Self(text.into())
    }

    /// The key.
    pub(super) fn key(&self) -> &str {
        split_first(self.split_labels().1).map_or("", |(key, _)| key)
    }

    /// Labels in the given order.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let (labels, texts) = self.split_labels();
        let mut texts = unpack(texts).skip(1);
        (0..labels).map_while(move |_| Some((texts.next()?, texts.next()?)))
    }

    /// Fields in the given order.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        let (labels, texts) = self.split_labels();
        unpack(texts).skip(1 + 2 * labels as usize)
    }

    /// The size in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of labels, and the texts.
    fn split_labels(&self) -> (u32, &str) {
        let mut rest = self.0.chars();
        (rest.next().map_or(0, marked_number), rest.as_str())
    }
}

fn unpack(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (text, after) = split_first(rest)?;
        rest = after;
        Some(text)
    })
}

fn push(packed: &mut String, text: &str) {
    let text = &text[..text.floor_char_boundary(Texts::LONGEST)];
    packed.push(number_mark(u32::try_from(text.len()).unwrap_or(u32::MAX)));
    packed.push_str(text);
}

/// A number as a character. Surrogates are not characters, so numbers from there on are shifted past them.
fn number_mark(number: u32) -> char {
    let shifted = if number < 0xD800 { number } else { number.saturating_add(0x800) };
    char::from_u32(shifted).expect("texts are cut to what a character can count, and an object has fewer labels")
}

fn marked_number(mark: char) -> u32 {
    match u32::from(mark) {
        plain @ ..0xD800 => plain,
        shifted => shifted - 0x800,
    }
}

fn split_first(packed: &str) -> Option<(&str, &str)> {
    let mut rest = packed.chars();
    let length = marked_number(rest.next()?);
    rest.as_str().split_at_checked(length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_round_trip() {
        let long = "é".repeat(40_000);
        let edge = "x".repeat(0xD800);
        let cut = "é".repeat(Texts::LONGEST);
        let texts = Texts::new([("a", ""), ("b", &*long)], [&*edge, "", &*cut, "z"]);
        let packed = PackedTexts::new("ns/name", &texts);
        assert_eq!(packed.key(), "ns/name");
        assert_eq!(packed.labels().collect::<Vec<_>>(), [("a", ""), ("b", &*long)]);
        assert_eq!(packed.fields().collect::<Vec<_>>(), [&*edge, "", &"é".repeat(Texts::LONGEST / 2), "z"]);
        let empty = PackedTexts::new("", &Texts::default());
        assert_eq!((empty.key(), empty.labels().count(), empty.fields().count()), ("", 0, 0));
    }
}
