//! The size of a pattern when compiled, estimated from its syntax tree: an upper bound of what the Thompson automata take that
//! `regex-automata` builds, forwards and backwards.
use regex_syntax::{
    hir::{Class, Hir, HirKind, Repetition},
    utf8::Utf8Sequences,
};

/// The bytes of a state.
const STATE: u64 = 32;
/// The bytes of a transition of a state with several.
const TRANSITION: u64 = 8;
/// The bytes of an alternative of a state.
const ALTERNATIVE: u64 = 4;
/// The states around every pattern, which find it anywhere in a text.
const AROUND: u64 = 16;

/// The size of a pattern, or of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// The bytes of its automaton.
    pub(super) bytes: u64,
    /// How many of its states can be active at once, and what it takes to look at them.
    pub(super) positions: u64,
}

impl Size {
    /// The size of a whole pattern.
    pub(super) fn of(pattern: &Hir) -> Self {
        part(pattern).and(Self { bytes: AROUND * STATE, positions: 2 })
    }

    const fn new(states: u64, more: u64, positions: u64) -> Self {
        Self { bytes: states.saturating_mul(STATE).saturating_add(more), positions }
    }

    fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            positions: self.positions.saturating_add(other.positions),
        }
    }

    fn times(self, count: u32) -> Self {
        let count = u64::from(count);
        Self { bytes: self.bytes.saturating_mul(count), positions: self.positions.saturating_mul(count) }
    }
}

/// The size of a part. The parser bounds how deep parts nest.
fn part(hir: &Hir) -> Size {
    let sum = |parts: &[Hir]| parts.iter().map(part).fold(Size::default(), Size::and);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Size::new(1, 0, 1),
        HirKind::Literal(literal) => {
            let bytes = literal.0.len() as u64;
            Size::new(bytes, 0, bytes)
        }
        HirKind::Class(of) => class(of),
        HirKind::Repetition(repetition) => repeated(repetition),
        HirKind::Capture(capture) => part(&capture.sub).and(Size::new(2, 0, 2)),
        HirKind::Concat(parts) => sum(parts).and(Size::new(1, 0, 0)),
        // Alternatives that are all literals become a tree, in which each byte may be a state, a choice, and an end.
        HirKind::Alternation(parts) => {
            let literals = |part: &Hir| if let HirKind::Literal(literal) = part.kind() { literal.0.len() } else { 0 };
            let bytes = parts.iter().map(literals).sum::<usize>() as u64;
            let choices = Size::new(2, 2 * ALTERNATIVE * parts.len() as u64, 1);
            sum(parts).and(choices).and(Size::new(2 * bytes, (TRANSITION + 2 * ALTERNATIVE) * bytes, 0))
        }
    }
}

fn class(class: &Class) -> Size {
    let Class::Unicode(class) = class else {
        return Size::new(2, 256 * TRANSITION, 2);
    };
    let ranges = class.ranges();
    if class.is_ascii() {
        return Size::new(2, TRANSITION * ranges.len() as u64, 1 + ranges.len() as u64 / 8);
    }
    let sequences = ranges.iter().flat_map(|range| Utf8Sequences::new(range.start(), range.end()));
    // A tree of the sequences, which have their beginnings in common. Backwards, a few are built anew.
    let (mut count, mut bytes, mut before) = (0, 0, Vec::new());
    for sequence in sequences {
        let common = sequence.as_slice().iter().zip(&before).take_while(|(one, other)| one == other).count();
        count += 1;
        bytes += (sequence.len() - common) as u64;
        before = sequence.as_slice().to_vec();
    }
    bytes += bytes / 8;
    Size::new(3 + bytes, TRANSITION * bytes + ALTERNATIVE * count, 2 + ranges.len().min(64) as u64 / 8)
}

fn repeated(repetition: &Repetition) -> Size {
    let (once, least) = (part(&repetition.sub), repetition.min);
    let choice = Size::new(1, 2 * ALTERNATIVE, 1);
    match repetition.max {
        // Two choices and an end, or a choice after each.
        Some(most) => once.times(most).and(choice.times(most.saturating_sub(least))).and(Size::new(2, 0, 1)),
        None => once.times(least.max(1)).and(choice.times(2)).and(Size::new(1, ALTERNATIVE, 1)),
    }
}
