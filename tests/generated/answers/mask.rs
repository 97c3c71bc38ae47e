//! What differs between two servers that do the same: generated UIDs, the time, and ages in Tables.
use kindsmith::Time;
use regex::bytes::{Captures, Regex};

/// For how many seconds after its start the tests run at most.
const LASTS: i64 = 3_600;

/// Replaces generated values by what is the same in both.
pub(super) struct Mask {
    uid: Regex,
    age: Regex,
    time: Regex,
    start: i64,
}

impl Mask {
    /// For servers that start from now on.
    pub(super) fn new() -> Self {
        let regex = |text| Regex::new(text).expect("a regular expression");
        Self {
            uid: regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"),
            age: regex("\"[0-9]{1,4}s\""),
            time: regex(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z"),
            start: Time::now().timestamp().as_second(),
        }
    }

    fn is_now(&self, second: i64) -> bool {
        (self.start..self.start + LASTS).contains(&second)
    }

    /// A body in any encoding, masked.
    pub(super) fn apply(&self, body: &[u8]) -> Vec<u8> {
        let body = self.uid.replace_all(body, |found: &Captures<'_>| vec![b'u'; found[0].len()]);
        let body = self.age.replace_all(&body, b"\"an age\"".as_slice());
        let body = self.time.replace_all(&body, |found: &Captures<'_>| {
            let time = str::from_utf8(&found[0]).ok().and_then(|text| text.parse::<Time>().ok());
            match time {
                Some(time) if self.is_now(time.timestamp().as_second()) => vec![b't'; found[0].len()],
                _ => found[0].to_vec(),
            }
        });
        let mut body = body.into_owned();
        // In Protobuf, a time is a number of seconds, of five bytes.
        for at in 0..body.len().saturating_sub(4) {
            let bytes = &body[at..at + 5];
            let ends = bytes.iter().position(|byte| byte & 0x80 == 0);
            let number = bytes.iter().rev().fold(0, |number, byte| number << 7 | i64::from(byte & 0x7f));
            if ends == Some(4) && self.is_now(number) {
                body[at..at + 5].fill(b't');
            }
        }
        body
    }
}
