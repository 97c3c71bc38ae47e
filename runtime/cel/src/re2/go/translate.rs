//! The translation: reads a pattern as Go's parser does, and writes it in the syntax of the `regex` crate.
//!
//! The two differ in what classes such as `\\d` hold (ASCII in Go), in operators within classes, in what a brace without a count is,
//! in the flags, and in escapes. Groups capture only where they are asked for.
use std::{fmt::Write, mem};

use super::class::{self, Refusal};

/// How often at most something may be repeated, also by repetitions within each other.
const MOST_REPEATED: u64 = 1_000;

/// The pattern in the syntax of the `regex` crate.
///
/// # Errors
/// Why the pattern is no regular expression, in Go's words.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    write(Translator { whole: pattern, rest: pattern, ..Translator::default() })
}

/// The pattern in the syntax of the `regex` crate, with groups that capture.
///
/// # Errors
/// As [`translate`].
pub(super) fn translate_with_groups(pattern: &str) -> Result<String, String> {
    write(Translator { whole: pattern, rest: pattern, captures: true, ..Translator::default() })
}

fn write(mut translator: Translator<'_>) -> Result<String, String> {
    translator.run().map_err(|(what, text)| format!("error parsing regexp: {what}: `{text}`"))?;
    Ok(translator.out)
}

/// The flags that decide what matches.
#[derive(Clone, Copy, Default, PartialEq)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_all: bool,
}

/// What a repetition operator repeats.
#[derive(Clone, Copy)]
struct Operand {
    /// Its start in the output.
    start: usize,
    is_repeated: bool,
    /// How often nested counts repeat its content at most.
    repeated: u64,
}

/// A group that is not closed yet, or the whole pattern.
#[derive(Default)]
struct Group {
    /// Its start in the output.
    start: usize,
    /// The flags around it, as read and as written.
    around: [Flags; 2],
    /// The same as [`Translator::is_lazy`], around it.
    is_lazy: bool,
    /// The same as [`Operand::repeated`], for the content before the last operand.
    repeated: u64,
    /// The last operand; `None` at the beginning of an alternative.
    operand: Option<Operand>,
}

impl Group {
    /// Ends an alternative. Returns `repeated` for all content so far.
    fn settle(&mut self) -> u64 {
        let last = self.operand.take().map_or(0, |operand| operand.repeated);
        self.repeated = self.repeated.max(last);
        self.repeated
    }
}

#[derive(Default)]
struct Translator<'p> {
    whole: &'p str,
    rest: &'p str,
    out: String,
    /// Groups capture.
    captures: bool,
    flags: Flags,
    /// Repetitions are lazy unless they end in `?`. This flag is written at each of them.
    is_lazy: bool,
    /// The flags in force where the next text is written.
    written: Flags,
    /// The innermost group; those around it are in `groups`.
    group: Group,
    groups: Vec<Group>,
    /// The repetition operator that was read last, and the text after it, if nothing came after it.
    repetition: Option<&'p str>,
}

impl<'p> Translator<'p> {
    fn run(&mut self) -> Result<(), Refusal<'p>> {
        while let Some(next) = self.rest.chars().next() {
            let before = mem::take(&mut self.repetition);
            let here = self.rest;
            match next {
                '*' | '+' | '?' => self.repeat(here, &here[1..], before, None)?,
                '{' if let Some((counts, after)) = counts(here) => self.counted(here, after, before, counts)?,
                '(' if here.starts_with("(?") => self.flags_or_group()?,
                '(' => {
                    self.open(self.captures);
                    self.skip(1);
                }
                '|' => {
                    self.group.settle();
                    self.skip(1);
                    self.out.push('|');
                }
                ')' => self.close()?,
                '^' | '$' | '.' => {
                    self.skip(1);
                    self.operand(|out| out.push(next));
                }
                '[' => {
                    let (class, after) = class::class(here)?;
                    self.rest = after;
                    self.operand(|out| out.push_str(&class));
                }
                '\\' => self.escape()?,
                other => {
                    self.skip(other.len_utf8());
                    self.literal(other);
                }
            }
        }
        if self.groups.is_empty() { Ok(()) } else { Err(("missing closing )", self.whole)) }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// Writes something that a repetition operator after it repeats, under the flags that were read.
    fn operand(&mut self, write: impl FnOnce(&mut String)) {
        self.write_flags();
        self.group.settle();
        self.group.operand = Some(Operand { start: self.out.len(), is_repeated: false, repeated: 0 });
        write(&mut self.out);
    }

    fn literal(&mut self, c: char) {
        self.operand(|out| class::literal(c, out));
    }

    /// Brings the flags in force up to date. It is done late: flags before an operator do not come between it and its operand.
    fn write_flags(&mut self) {
        let (wanted, written) = (self.flags, self.written);
        if wanted == written {
            return;
        }
        let flags = [
            ('i', wanted.fold_case, written.fold_case),
            ('m', wanted.multi_line, written.multi_line),
            ('s', wanted.dot_all, written.dot_all),
        ];
        let changed = |to: bool| flags.iter().filter(move |(_, wanted, written)| wanted != written && *wanted == to);
        let set: String = changed(true).map(|(flag, ..)| *flag).collect();
        let unset: String = changed(false).map(|(flag, ..)| *flag).collect();
        let minus = if unset.is_empty() { "" } else { "-" };
        write!(self.out, "(?{set}{minus}{unset})").expect("writing to a String cannot fail");
        self.written = wanted;
    }

    fn open(&mut self, captures: bool) {
        let group = Group {
            start: self.out.len(),
            around: [self.flags, self.written],
            is_lazy: self.is_lazy,
            ..Group::default()
        };
        self.groups.push(mem::replace(&mut self.group, group));
        self.out.push_str(if captures { "(" } else { "(?:" });
    }

    fn close(&mut self) -> Result<(), Refusal<'p>> {
        let around = self.groups.pop().ok_or(("unexpected )", self.whole))?;
        let mut group = mem::replace(&mut self.group, around);
        [self.flags, self.written] = group.around;
        self.is_lazy = group.is_lazy;
        self.skip(1);
        self.out.push(')');
        self.group.settle();
        let repeated = group.settle();
        self.group.operand = Some(Operand { start: group.start, is_repeated: false, repeated });
        Ok(())
    }

    /// A group with a name, a change of flags, or a group with such a change.
    fn flags_or_group(&mut self) -> Result<(), Refusal<'p>> {
        let whole = self.rest;
        let named = ["(?P<", "(?<"].iter().find_map(|start| whole.strip_prefix(start)).filter(|name| !name.is_empty());
        if let Some(name) = named {
            let (name, after) = name.split_once('>').ok_or(("invalid named capture", whole))?;
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(("invalid named capture", &whole[..whole.len() - after.len()]));
            }
            self.open(self.captures);
            self.rest = after;
            return Ok(());
        }
        let (mut flags, mut is_lazy) = (self.flags, self.is_lazy);
        let (mut is_set, mut is_said) = (true, false);
        let mut chars = whole[2..].chars();
        while let Some(c) = chars.next() {
            match c {
                'i' => flags.fold_case = is_set,
                'm' => flags.multi_line = is_set,
                's' => flags.dot_all = is_set,
                'U' => is_lazy = is_set,
                '-' if is_set => {
                    (is_set, is_said) = (false, false);
                    continue;
                }
                ':' | ')' if is_set || is_said => {
                    if c == ':' {
                        self.open(false);
                    }
                    (self.flags, self.is_lazy) = (flags, is_lazy);
                    self.rest = chars.as_str();
                    return Ok(());
                }
                _ => break,
            }
            is_said = true;
        }
        Err(("invalid or unsupported Perl syntax", &whole[..whole.len() - chars.as_str().len()]))
    }

    fn counted(
        &mut self,
        here: &'p str,
        after: &'p str,
        before: Option<&'p str>,
        (least, most): Counts,
    ) -> Result<(), Refusal<'p>> {
        if least.max(most.unwrap_or(0)) > MOST_REPEATED || most.is_some_and(|most| most < least) {
            return Err(("invalid repeat count", &here[..here.len() - after.len()]));
        }
        self.repeat(here, after, before, Some((least, most)))
    }

    /// A repetition operator, from which the text begins, and what is after it.
    fn repeat(
        &mut self,
        here: &'p str,
        after: &'p str,
        before: Option<&'p str>,
        counts: Option<Counts>,
    ) -> Result<(), Refusal<'p>> {
        let written = &here[..here.len() - after.len()];
        let (is_marked, after) = after.strip_prefix('?').map_or((false, after), |after| (true, after));
        let read = &here[..here.len() - after.len()];
        if let Some(before) = before {
            return Err(("invalid nested repetition operator", &before[..before.len() - after.len()]));
        }
        let operand = self.group.operand.as_mut().ok_or(("missing argument to repetition operator", read))?;
        if let Some((least, most)) = counts {
            operand.repeated = match most.unwrap_or(least) {
                0 if most.is_some() => 0,
                count => count.max(1) * operand.repeated.clamp(1, MOST_REPEATED + 1),
            };
            if least.max(most.unwrap_or(0)) >= 2 && operand.repeated > MOST_REPEATED {
                return Err(("invalid repeat count", read));
            }
        }
        if operand.is_repeated {
            self.out.insert_str(operand.start, "(?:");
            self.out.push(')');
        }
        operand.is_repeated = true;
        self.out.push_str(written);
        if is_marked != self.is_lazy {
            self.out.push('?');
        }
        self.rest = after;
        self.repetition = Some(here);
        Ok(())
    }

    /// An escape outside of classes.
    fn escape(&mut self) -> Result<(), Refusal<'p>> {
        let here = self.rest;
        match here[1..].chars().next() {
            Some('Q') => {
                let quoted = &here[2..];
                let (text, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                text.chars().for_each(|c| self.literal(c));
                self.rest = after;
            }
            Some('b') => {
                self.skip(2);
                self.operand(|out| out.push_str(r"(?-u:\b)"));
            }
            Some('B') => {
                self.skip(2);
                self.operand(|out| out.push_str(r"(?-u:\B)"));
            }
            Some(c @ ('A' | 'z')) => {
                self.skip(2);
                self.operand(|out| out.extend(['\\', c]));
            }
            _ => {
                if let Some((set, after)) = class::set(here)? {
                    self.rest = after;
                    self.operand(|out| out.push_str(&set));
                } else {
                    let (code, after) = class::character(here)?;
                    self.rest = after;
                    match char::from_u32(code) {
                        Some(c) => self.literal(c),
                        // No text has half of a surrogate pair.
                        None => self.operand(|out| out.push_str(class::NOTHING)),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The least and the most of a count such as `{2,5}`, without the most for `{2,}`.
type Counts = (u64, Option<u64>);

/// A count, and the text after it; `None` for a brace that stands for itself.
fn counts(text: &str) -> Option<(Counts, &str)> {
    let (least, rest) = count(&text[1..])?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (most, rest) = count(rest)?;
            (Some(most), rest)
        }
    };
    Some(((least, most), rest.strip_prefix('}')?))
}

/// A number without leading zeros, and the rest.
fn count(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    let is_number = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
    is_number.then(|| (digits.parse().unwrap_or(u64::MAX), rest))
}
