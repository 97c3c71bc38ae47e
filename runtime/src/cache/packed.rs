//! An object's key, labels and selectable fields in one allocation, because a list keeps millions of such texts. Each
//! text follows its length, encoded as one character, so that the whole is a valid `str`.

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
        for (name, value) in labels {
            push(&mut texts.text, name);
            push(&mut texts.text, value);
            texts.labels += 1;
        }
        fields.into_iter().for_each(|field| push(&mut texts.text, field));
        texts
    }
}

/// Key, labels and fields, packed.
#[derive(Clone)]
pub(super) struct Packed {
    text: Box<str>,
    labels: u32,
}

impl Packed {
    /// Packs a key with labels and fields.
    pub(super) fn new(key: &str, texts: &Texts) -> Self {
        let mut text = String::with_capacity(4 + key.len() + texts.text.len());
        push(&mut text, key);
        text.push_str(&texts.text);
        Self { text: text.into_boxed_str(), labels: texts.labels }
    }

    /// The key.
    pub(super) fn key(&self) -> &str {
        split_first(&self.text).map_or("", |(key, _)| key)
    }

    /// Labels in the given order.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.texts().skip(1);
        (0..self.labels).map_while(move |_| Some((texts.next()?, texts.next()?)))
    }

    /// Fields in the given order.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.texts().skip(1 + 2 * self.labels as usize)
    }

    /// The size in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.text;
        std::iter::from_fn(move || {
            let (text, after) = split_first(rest)?;
            rest = after;
            Some(text)
        })
    }
}

fn push(packed: &mut String, text: &str) {
    let text = &text[..text.floor_char_boundary(Texts::LONGEST)];
    packed.push(length_mark(text));
    packed.push_str(text);
}

/// The length of a text as a character. Surrogates are not characters, so lengths from there on are shifted past them.
fn length_mark(text: &str) -> char {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let shifted = if length < 0xD800 { length } else { length.saturating_add(0x800) };
    char::from_u32(shifted).expect("texts are cut to what a character can count")
}

fn split_first(packed: &str) -> Option<(&str, &str)> {
    let mark = packed.chars().next()?;
    let length = match u32::from(mark) {
        plain @ ..0xD800 => plain,
        shifted => shifted - 0x800,
    };
    packed[mark.len_utf8()..].split_at_checked(length as usize)
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
        let packed = Packed::new("ns/name", &texts);
        assert_eq!(packed.key(), "ns/name");
        assert_eq!(packed.labels().collect::<Vec<_>>(), [("a", ""), ("b", &*long)]);
        assert_eq!(packed.fields().collect::<Vec<_>>(), [&*edge, "", &"é".repeat(Texts::LONGEST / 2), "z"]);
        let empty = Packed::new("", &Texts::default());
        assert_eq!((empty.key(), empty.labels().count(), empty.fields().count()), ("", 0, 0));
    }
}
