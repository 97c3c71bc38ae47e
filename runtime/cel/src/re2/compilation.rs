//! Compiled patterns: the most recently used ones, up to a number of bytes for the whole process, with what matching them needs.
//!
//! Matching keeps caches for each thread. Long texts and large patterns leave none behind.
use std::{
    collections::VecDeque,
    fmt::{self, Write},
    mem,
    sync::{
        Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockReadGuard, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind, Repetition, print::Printer};

use super::Program;

/// The most bytes that the compiled patterns take together.
const MOST_BYTES: u64 = 128 << 20;

/// The caches of a small pattern for one thread, in bytes.
const CACHE: usize = 32 << 10;
/// The caches of a large pattern while it is matched, in bytes.
const LARGE_CACHE: usize = 1 << 20;

/// The size from which a pattern is large, in bytes.
const LARGE: u64 = 32 << 10;
/// The states by bytes of text from which a match leaves no caches behind.
const LONG: u64 = 128 << 10;

/// How deep a pattern nests when it is written anew, which takes a group or two more than it had.
const NESTED: u32 = 1_000;

/// A pattern that is compiled, or can be.
#[derive(Default)]
pub(super) struct Compilation {
    state: RwLock<State>,
    /// It was matched since it was last looked at.
    is_used: AtomicBool,
}

#[derive(Default)]
enum State {
    #[default]
    Uncompiled,
    Ready(Regex),
    Failed(String),
}

/// The compiled patterns, the oldest first.
#[derive(Default)]
struct CompiledPatterns {
    order: VecDeque<Weak<Program>>,
    /// How many of them are compiled: the others are no longer declared.
    count: usize,
    bytes: u64,
}

static COMPILED_PATTERNS: LazyLock<Mutex<CompiledPatterns>> = LazyLock::new(Mutex::default);

/// Keeps a compiled pattern, and drops others that were not used for long.
fn keep(program: &Arc<Program>, regex: Regex) {
    {
        let mut state = program.compilation.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Ready(_)) {
            return; // Another thread compiled it, too.
        }
        *state = State::Ready(regex);
    }
    let mut patterns = COMPILED_PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    patterns.order.push_back(Arc::downgrade(program));
    patterns.count += 1;
    patterns.bytes += program.weight();
    let looked_at = patterns.make_room();
    drop(patterns);
    // The last owner of a pattern releases it, for which `COMPILED_PATTERNS` is to be free.
    drop(looked_at);
}

impl CompiledPatterns {
    /// Drops what was not used since it was last looked at, the oldest first. Returns the patterns that it looked at.
    fn make_room(&mut self) -> Vec<Arc<Program>> {
        if self.order.len() > 2 * self.count + 64 {
            self.order.retain(|program| program.strong_count() > 0);
        }
        let mut looked_at = Vec::new();
        for _ in 0..2 * self.order.len() {
            if self.bytes <= MOST_BYTES {
                break;
            }
            let Some(oldest) = self.order.pop_front() else { break };
            let Some(program) = oldest.upgrade() else { continue };
            let is_used = program.compilation.is_used.swap(false, Ordering::Relaxed);
            match program.compilation.state.try_write() {
                Ok(mut state) if !is_used => {
                    drop(mem::take(&mut *state));
                    self.count -= 1;
                    self.bytes = self.bytes.saturating_sub(program.weight());
                }
                _ => self.order.push_back(oldest),
            }
            looked_at.push(program);
        }
        looked_at
    }
}

impl Compilation {
    /// True if it is compiled.
    pub(super) fn is_ready(&self) -> bool {
        matches!(*self.read(), State::Ready(_))
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program {
    /// Searches a text. Compiles the pattern, if it is not compiled.
    ///
    /// # Errors
    /// The pattern cannot be compiled.
    pub(super) fn with<T>(self: &Arc<Self>, text: &str, search: impl FnOnce(&Regex) -> T) -> Result<T, String> {
        match &*self.compilation.read() {
            State::Ready(regex) => {
                if !self.compilation.is_used.load(Ordering::Relaxed) {
                    self.compilation.is_used.store(true, Ordering::Relaxed);
                }
                return Ok(self.search(regex, text, search));
            }
            State::Failed(error) => return Err(error.clone()),
            State::Uncompiled => {}
        }
        match self.compile() {
            Ok(regex) => {
                let answer = self.search(&regex, text, search);
                keep(self, regex);
                Ok(answer)
            }
            Err(error) => {
                *self.compilation.state.write().unwrap_or_else(PoisonError::into_inner) = State::Failed(error.clone());
                Err(error)
            }
        }
    }

    fn is_large(&self) -> bool {
        self.size.bytes > LARGE
    }

    pub(super) fn compile(&self) -> Result<Regex, String> {
        let limit = usize::try_from(self.size.bytes).unwrap_or(usize::MAX);
        let cache = if self.is_large() { LARGE_CACHE } else { CACHE };
        let hir = regex_syntax::parse(&self.syntax).map_err(|error| error.to_string())?;
        let mut syntax = String::new();
        write(&without_captures(&hir), &mut syntax).map_err(|error| error.to_string())?;
        let regex = RegexBuilder::new(&syntax).nest_limit(NESTED).size_limit(limit).dfa_size_limit(cache).build();
        regex.map_err(|error| error.to_string())
    }

    fn search<T>(&self, regex: &Regex, text: &str, search: impl FnOnce(&Regex) -> T) -> T {
        let states = self.size.positions.saturating_mul(text.len() as u64);
        if self.is_large() || states > LONG {
            // A clone has caches of its own.
            search(&regex.clone())
        } else {
            search(regex)
        }
    }

    /// The bytes that it takes when compiled: programs for both directions and for a part, and caches for two threads.
    fn weight(&self) -> u64 {
        let caches = if self.is_large() { 0 } else { 2 * (CACHE as u64 + 2 * self.size.bytes) };
        self.size.bytes.saturating_mul(3).saturating_add(caches)
    }

    /// Forgets that it is compiled, when it is dropped.
    pub(super) fn release(&mut self) {
        let state = self.compilation.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if matches!(mem::take(state), State::Ready(_)) {
            let weight = self.weight();
            let mut patterns = COMPILED_PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
            patterns.count -= 1;
            patterns.bytes = patterns.bytes.saturating_sub(weight);
        }
    }
}

/// The same pattern without groups that capture: for those, a table of up to 1 MB is made.
pub(super) fn without_captures(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(without_captures).collect();
    match hir.kind() {
        HirKind::Capture(group) => without_captures(&group.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: without_captures(&repetition.sub).into(), ..repetition.clone() })
        }
        _ => hir.clone(),
    }
}

/// Writes a pattern. (`Printer` alone joins repetitions of repetitions, such as `(?:a{2})?`, into one.)
fn write(hir: &Hir, out: &mut String) -> fmt::Result {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            write_group(&repetition.sub, out)?;
            write_operator(repetition, out)
        }
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| match part.kind() {
            HirKind::Alternation(_) => write_group(part, out),
            _ => write(part, out),
        }),
        HirKind::Alternation(parts) => parts.iter().enumerate().try_for_each(|(index, part)| {
            out.push_str(if index > 0 { "|" } else { "" });
            write(part, out)
        }),
        _ => Printer::new().print(hir, out),
    }
}

fn write_group(hir: &Hir, out: &mut String) -> fmt::Result {
    out.push_str("(?:");
    write(hir, out)?;
    out.push(')');
    Ok(())
}

fn write_operator(repetition: &Repetition, out: &mut String) -> fmt::Result {
    match (repetition.min, repetition.max) {
        (least, None) => write!(out, "{{{least},}}")?,
        (least, Some(most)) => write!(out, "{{{least},{most}}}")?,
    }
    out.push_str(if repetition.greedy { "" } else { "?" });
    Ok(())
}

/// The bytes that compiled patterns take.
#[cfg(test)]
pub(super) fn bytes() -> u64 {
    COMPILED_PATTERNS.lock().unwrap_or_else(PoisonError::into_inner).bytes
}

/// The most bytes that they take.
#[cfg(test)]
pub(super) const MOST: u64 = MOST_BYTES;
