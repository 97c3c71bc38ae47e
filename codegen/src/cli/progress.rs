//! A line with the progress of a long operation, if standard error is a terminal.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use kindsmith::maintenance::Progress;

use super::style::grouped;

/// The interval between two updates.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

/// The line; erased when dropped.
pub(super) struct Bar {
    terminal: bool,
    drawn: Option<Instant>,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), drawn: None }
    }

    /// Updates the line, unless that was done a moment ago.
    pub(super) fn show(&mut self, progress: Progress<'_>) {
        if !self.terminal || self.drawn.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(Instant::now());
        write(&format!("\r\x1b[K{}", line(progress)));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    // An error of the terminal does not end the operation.
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
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
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_how_far_it_is() {
        let progress = Progress::new("reading rows", 750, 1500);
        assert_eq!(line(progress), format!("reading rows [{}{}]  50% of 1,500", "#".repeat(15), ".".repeat(15)));
        assert_eq!(line(Progress::new("reading rows", 750, 0)), "reading rows: 750");
        assert!(line(Progress::new("reading rows", 9_999, 1500)).ends_with(" 100% of 1,500"));
    }
}
