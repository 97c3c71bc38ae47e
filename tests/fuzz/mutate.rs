//! Changes bytes at random.
use kindsmith_tests::Random;

const BYTES: &[u8] = b"\x00\x01\x7f\x80\xbf\xff\"\\/{}[]:,.-+eE0129 \n\t\r'#&*!|>%@`~$=()";

/// Mutates an input in one to six places. `other` is another input to copy parts from.
pub(crate) fn change(input: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    for _ in 0..=random.below(6) {
        change_once(input, other, words, random);
    }
}

fn change_once(input: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let most = 1 << random.below(8);
    let end = (at + random.below(most)).min(input.len());
    match random.below(10) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = *random.pick(BYTES),
        2 => input.insert(at, *random.pick(BYTES)),
        3 => drop(input.drain(at..end)),
        4 => input.truncate(at),
        5 => {
            let part = input[at..end].to_vec();
            let most = 1 << random.below(8);
            let times = 1 + random.below(most);
            insert(input, at, &part.repeat(times.min((32 << 10) / part.len().max(1))));
        }
        6 => {
            let part = part_of(other, random).to_vec();
            insert(input, at, &part);
        }
        7 if end > at => {
            let part = input.drain(at..end).collect::<Vec<_>>();
            let to = random.below(input.len() + 1);
            insert(input, to, &part);
        }
        _ if !words.is_empty() => {
            let word = random.pick(words).as_bytes();
            if random.one_in(2) {
                input.drain(at..end);
            }
            insert(input, at, word);
        }
        _ => insert(input, at, random.number().to_le_bytes().get(..1 + at % 8).unwrap_or_default()),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, part: &[u8]) {
    input.splice(at..at, part.iter().copied());
}

fn part_of<'o>(other: &'o [u8], random: &mut Random) -> &'o [u8] {
    let start = random.below(other.len() + 1);
    let end = start + random.below(other.len() - start + 1);
    &other[start..end]
}
