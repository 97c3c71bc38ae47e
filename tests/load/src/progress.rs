//! A line with the progress of a run, if standard error is a terminal.
use std::{
    io::{IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The interval between two updates.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: u128 = 30;

/// A line about one round; erased when dropped.
pub(crate) struct Bar {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Shows how much of a round's time has passed, and how many operations succeeded.
    pub(crate) fn show(title: String, count: Arc<AtomicU64>, duration: Duration) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if !std::io::stderr().is_terminal() {
            return Self { done, thread: None };
        }
        let (ended, start) = (done.clone(), Instant::now());
        let thread = thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                write(&format!("\r\x1b[K{}", line(&title, start.elapsed(), duration, count.load(Ordering::Relaxed))));
                thread::park_timeout(PAUSE);
            }
            write("\r\x1b[K");
        });
        Self { done, thread: Some(thread) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn write(text: &str) {
    // An error of the terminal does not end the run.
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn line(title: &str, elapsed: Duration, duration: Duration, count: u64) -> String {
    let (done, total) = (elapsed.min(duration).as_millis(), duration.as_millis().max(1));
    let full = done * WIDTH / total;
    let bar: String = (0..WIDTH).map(|cell| if cell < full { '#' } else { '.' }).collect();
    format!("{title} [{bar}] {:3}%, {count} done", done * 100 / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_how_much_time_has_passed() {
        let at = |ms| line("get A, 1 of 3", Duration::from_millis(ms), Duration::from_secs(4), 1234);
        let half = format!("get A, 1 of 3 [{}{}]  50%, 1234 done", "#".repeat(15), ".".repeat(15));
        assert_eq!(at(2_000), half);
        assert!(at(9_000).contains("] 100%,"), "{}", at(9_000));
    }
}
