//! Generates texts that match a pattern.
use regex_syntax::hir::{Class, Hir, HirKind};

use super::random::Random;

/// A text that probably matches the pattern. Anchors and word boundaries are assumed to hold.
pub(super) fn text(random: &mut Random, pattern: &str) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut bytes = Vec::new();
    write(random, &hir, &mut bytes);
    String::from_utf8(bytes).ok()
}

fn write(random: &mut Random, hir: &Hir, out: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend_from_slice(&literal.0),
        HirKind::Class(class) => character(random, class, out),
        HirKind::Repetition(repetition) => {
            let least = repetition.min;
            let most = repetition.max.unwrap_or(least + 3).clamp(least, least + 8);
            for _ in 0..random.between(least.into(), most.into()) {
                write(random, &repetition.sub, out);
            }
        }
        HirKind::Capture(capture) => write(random, &capture.sub, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(random, part, out)),
        HirKind::Alternation(parts) => {
            let part = random.pick(parts);
            write(random, part, out);
        }
    }
}

fn character(random: &mut Random, class: &Class, out: &mut Vec<u8>) {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    };
    if ranges.is_empty() {
        return;
    }
    let (start, end) = *random.pick(&ranges);
    let code = u32::try_from(random.between(start.into(), end.into())).unwrap_or(start);
    // The range may include surrogates, which are not characters.
    let chosen = char::from_u32(code).or_else(|| char::from_u32(start)).unwrap_or('a');
    out.extend_from_slice(chosen.encode_utf8(&mut [0; 4]).as_bytes());
}
