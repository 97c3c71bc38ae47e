//! A queue of log lines between loggers, which never wait, and a writer thread. Written lines are complete and in
//! order, and the number of dropped ones is written after them.

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// The maximum size of the queue in bytes. The writer thread may hold as much again.
const LIMIT: usize = 1 << 20;
/// How long to wait for lines that may not be read.
const FLUSH: Duration = Duration::from_secs(1);

/// The queue.
#[derive(Default)]
struct QueueState {
    text: Vec<u8>,
    /// Lines dropped after the last one in `text`.
    dropped: u64,
    /// True while the thread has taken lines that are not written yet.
    writing: bool,
    /// True if all writers are gone.
    closed: bool,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all lines are written, for a limited time: lines that are not read hold nobody up for longer.
    fn wait(&self) {
        let unwritten = |state: &mut QueueState| !state.text.is_empty() || state.dropped > 0 || state.writing;
        let _ = self.changed.wait_timeout_while(self.lock(), FLUSH, unwritten);
    }

    /// Writes until all writers are gone.
    fn write_to(&self, mut sink: impl Write) {
        let mut state = self.lock();
        loop {
            while state.text.is_empty() && state.dropped == 0 {
                if state.closed {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let mut text = std::mem::take(&mut state.text);
            let dropped = std::mem::take(&mut state.dropped);
            state.writing = true;
            drop(state);
            if dropped > 0 {
                text.extend(format!("{dropped} log lines were dropped because the log was not read\n").into_bytes());
            }
            // The log itself failed, so the error cannot be reported.
            let _ = sink.write_all(&text).and_then(|()| sink.flush());
            state = self.lock();
            state.writing = false;
            self.changed.notify_all();
        }
    }
}

/// Starts the writer thread.
pub(super) fn start(sink: impl Write + Send + 'static) -> (Writer, Flush) {
    let queue = Arc::new(Queue::default());
    let writes = Arc::clone(&queue);
    let thread = thread::Builder::new().name("log".to_owned()).spawn(move || writes.write_to(sink));
    thread.expect("the system has a thread left for the log");
    (Writer(Arc::new(Handle(Arc::clone(&queue)))), Flush(queue))
}

/// Queues log lines. Each call of `write` is a line, which is queued completely, or dropped and counted.
#[derive(Clone)]
pub struct Writer(Arc<Handle>);

#[cfg(feature = "logging")]
impl Writer {
    /// Waits at most a second until all lines are written.
    pub(super) fn wait(&self) {
        self.0.0.wait();
    }
}

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Handle(queue) = &*self.0;
        let mut state = queue.lock();
        // After a dropped line, all lines are dropped until the queue is taken: their number belongs between them.
        if state.dropped > 0 || state.text.len() + line.len() > LIMIT {
            state.dropped += 1;
        } else {
            state.text.extend_from_slice(line);
        }
        drop(state);
        queue.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Dropping the last writer ends the thread.
struct Handle(Arc<Queue>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

/// On drop, waits at most a second until all lines are written.
#[must_use = "dropped at once, it does not wait for the lines of the program's end"]
pub struct Flush(Arc<Queue>);

impl Drop for Flush {
    fn drop(&mut self) {
        // Lines that are not read are lost; a program that ends does not wait for a reader.
        self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A sink that passes each write on, and waits until it is taken.
    struct RendezvousSink(SyncSender<Vec<u8>>);

    impl Write for RendezvousSink {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.send(text.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn started() -> (Writer, Flush, Receiver<Vec<u8>>) {
        let (sink, read) = sync_channel(0);
        let (writer, flush) = start(RendezvousSink(sink));
        (writer, flush, read)
    }

    #[test]
    fn an_unread_log_takes_bounded_memory_and_counts_dropped_lines() {
        let (mut writer, flush, read) = started();
        let lines: Vec<String> = (0..200_000).map(|number| format!("line {number}\n")).collect();
        for line in &lines {
            writer.write_all(line.as_bytes()).unwrap();
        }
        assert!(flush.0.lock().text.len() <= LIMIT);
        drop(writer);
        let mut text = String::new();
        while let Ok(more) = read.recv() {
            text.push_str(std::str::from_utf8(&more).unwrap());
        }
        let (mut written, mut dropped) = (Vec::new(), 0);
        for line in text.lines() {
            match line.strip_suffix(" log lines were dropped because the log was not read") {
                Some(count) => dropped += count.parse::<usize>().unwrap(),
                None => written.push(format!("{line}\n")),
            }
        }
        assert!(dropped > 0 && written.len() + dropped == lines.len(), "{} and {dropped}", written.len());
        assert_eq!(written, lines[..written.len()], "whole and in order");
        assert!(
            text.ends_with("dropped because the log was not read\n"),
            "the number comes after the lines that were there"
        );
    }

    #[test]
    fn the_end_waits_for_the_last_line_for_a_limited_time() {
        let (mut writer, flush, read) = started();
        let reader = thread::spawn(move || read.recv().unwrap());
        writer.write_all(b"the last words\n").unwrap();
        drop(flush);
        assert_eq!(reader.join().unwrap(), b"the last words\n");

        let (mut writer, flush, _read) = started();
        writer.write_all(b"unread\n").unwrap();
        drop(flush);
    }

    #[test]
    fn a_closed_log_is_ignored() {
        let (mut writer, flush, read) = started();
        drop(read);
        for _ in 0..3 {
            writer.write_all(b"text\n").unwrap();
        }
        drop(flush);
        writer.write_all(b"text\n").unwrap();
    }
}
