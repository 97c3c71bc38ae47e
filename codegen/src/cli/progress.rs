//! A line with the progress of a long operation, if standard error is a terminal.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use kindsmith::tools::Progress;

use super::style::{bytes, grouped};

/// The interval between two updates.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

/// The line; erased when dropped.
pub(super) struct Bar {
    terminal: bool,
    drawn: Option<Instant>,
    step: Option<Step>,
}

/// The current step, as it was first shown: rates are counted from there.
struct Step {
    doing: String,
    since: Instant,
    done: u64,
    bytes: u64,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), drawn: None, step: None }
    }

    /// Erases the line.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            write("\r\x1b[K");
        }
    }

    /// Updates the line, unless that was done a moment ago.
    pub(super) fn show(&mut self, progress: Progress<'_>) {
        if !self.terminal || self.drawn.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(Instant::now());
        let Progress { doing, done, bytes, .. } = progress;
        if self.step.as_ref().is_none_or(|step| step.doing != doing) {
            self.step = Some(Step { doing: doing.to_owned(), since: Instant::now(), done, bytes });
        }
        let rate = self.step.as_ref().map_or_else(String::new, |step| step.rate(&progress, step.since.elapsed()));
        write(&format!("\r\x1b[K{}{rate}", line(progress)));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

fn write(text: &str) {
    // An error of the terminal does not end the operation.
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

impl Step {
    /// Rates and the time left; nothing in the first second, which tells little.
    fn rate(&self, now: &Progress<'_>, elapsed: Duration) -> String {
        let ms = elapsed.as_millis();
        let done = now.done.saturating_sub(self.done);
        if ms < 1_000 || done == 0 || now.total == 0 {
            return String::new();
        }
        let a_second = |amount: u64| u64::try_from(u128::from(amount) * 1_000 / ms).unwrap_or(u64::MAX);
        let left = u128::from(now.total.saturating_sub(now.done)) * ms / u128::from(done) / 1_000;
        let size = match now.bytes.saturating_sub(self.bytes) {
            0 => String::new(),
            moved => format!(", {} ({}/s)", bytes(now.bytes), bytes(a_second(moved))),
        };
        format!("{size}, {}/s, {}:{:02} left", grouped(a_second(done)), left / 60, left % 60)
    }
}

fn line(Progress { doing, done, total, .. }: Progress<'_>) -> String {
    if total == 0 {
        return format!("{doing}: {}", grouped(done));
    }
    let done = done.min(total);
    let part = |whole: u64| u64::try_from(u128::from(done) * u128::from(whole) / u128::from(total)).unwrap_or(whole);
    let full = part(WIDTH);
    let bar: String = (0..WIDTH).map(|cell| if cell < full { '#' } else { '.' }).collect();
    format!("{doing} [{bar}] {:3}% of {}", part(100), grouped(total))
}

#[cfg(test)]
mod tests;
