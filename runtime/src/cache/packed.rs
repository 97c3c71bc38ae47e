//! An object's key, labels and selectable fields in one allocation, since a list keeps millions of such texts.
//! Each text is preceded by its length, written as one character, so that the whole stays a valid `str`.

/// Key, labels and fields, packed.
#[derive(Clone)]
pub(super) struct Packed {
    text: Box<str>,
    /// How many labels there are; fields follow them.
    labels: u32,
}

impl Packed {
    /// Packs texts in order.
    pub(super) fn new(key: &str, labels: &[(Box<str>, Box<str>)], fields: &[Box<str>]) -> Self {
        let texts = || {
            let labels = labels.iter().flat_map(|(name, value)| [&**name, &**value]);
            std::iter::once(key).chain(labels).chain(fields.iter().map(|field| &**field)).map(clip)
        };
        let mut text = String::with_capacity(texts().map(|part| length_mark(part).len_utf8() + part.len()).sum());
        for part in texts() {
            text.push(length_mark(part));
            text.push_str(part);
        }
        let labels = u32::try_from(labels.len()).expect("an object has fewer than 2^32 labels");
        Self { text: text.into_boxed_str(), labels }
    }

    /// The key.
    pub(super) fn key(&self) -> &str {
        split_first(&self.text).map_or("", |(key, _)| key)
    }

    /// Labels as they were given.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.texts().skip(1);
        (0..self.labels).map_while(move |_| Some((texts.next()?, texts.next()?)))
    }

    /// Fields as they were given.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.texts().skip(1 + 2 * self.labels as usize)
    }

    /// Bytes taken.
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

/// Longer texts are cut. Keys and labels are bounded far below; a selectable field may be any string of an object, but
/// no selector is that long.
const LONGEST: usize = 1 << 20;

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// The length of a text as a character. Surrogates are no characters, so that lengths from there on are shifted past
/// them.
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
    fn texts_of_every_length_come_back() {
        let long: Box<str> = "é".repeat(40_000).into();
        let edge: Box<str> = "x".repeat(0xD800).into();
        let cut: Box<str> = "é".repeat(LONGEST).into();
        let labels = [("a".into(), "".into()), ("b".into(), long.clone())];
        let packed = Packed::new("ns/name", &labels, &[edge.clone(), "".into(), cut, "z".into()]);
        assert_eq!(packed.key(), "ns/name");
        assert_eq!(packed.labels().collect::<Vec<_>>(), [("a", ""), ("b", &*long)]);
        assert_eq!(packed.fields().collect::<Vec<_>>(), [&*edge, "", &"é".repeat(LONGEST / 2), "z"]);
        let empty = Packed::new("", &[], &[]);
        assert_eq!((empty.key(), empty.labels().count(), empty.fields().count()), ("", 0, 0));
    }
}
