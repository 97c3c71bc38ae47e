//! go-yaml's order of keys: numbers in them by value, and letters after everything else.
use std::cmp::Ordering;

/// go-yaml sorts runs of this length by insertion and merges them.
const RUN: usize = 12;

/// Sorts keys.
///
/// The order is not transitive for all keys (`a9 < a10b < a1c < a9`), so that the standard library's sorts may panic.
/// This one then returns some order.
pub(super) fn sorted<'k>(keys: impl Iterator<Item = &'k String>) -> Vec<&'k String> {
    let mut keys: Vec<&String> = keys.collect();
    for run in keys.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && less(run[at], run[at - 1]) {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut width = RUN;
    while width < keys.len() {
        keys = keys.chunks(width * 2).flat_map(|pair| merged(pair, width)).collect();
        width *= 2;
    }
    keys
}

/// Merges the two sorted halves of a list, the first of which is `width` long.
fn merged<'k>(pair: &[&'k String], width: usize) -> Vec<&'k String> {
    let (mut left, mut right) = pair.split_at(width.min(pair.len()));
    let mut all = Vec::with_capacity(pair.len());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        if less(second, first) {
            all.push(*second);
            right = &right[1..];
        } else {
            all.push(*first);
            left = &left[1..];
        }
    }
    all.extend_from_slice(left);
    all.extend_from_slice(right);
    all
}

fn less(a: &str, b: &str) -> bool {
    // The common prefix may end within a character.
    let mut same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(same) {
        same -= 1;
    }
    let (Some(first), Some(second)) = (a[same..].chars().next(), b[same..].chars().next()) else {
        return a.len() < b.len();
    };
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first < second,
        (false, false) => {}
        (_, second_is_letter) => return second_is_letter,
    }
    // A leading zero is not part of the number.
    let before = a[..same].bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let start = u64::from((first == '0' || second == '0') && before);
    let (value_a, length_a) = digits(&a[same..], start);
    let (value_b, length_b) = digits(&b[same..], start);
    match value_a.cmp(&value_b).then(length_a.cmp(&length_b)) {
        Ordering::Equal => first < second,
        unequal => unequal.is_lt(),
    }
}

/// The number at the beginning of a text, and its number of digits.
fn digits(text: &str, start: u64) -> (u64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((start, 0), |(value, length), digit| {
        (value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')), length + 1)
    })
}
