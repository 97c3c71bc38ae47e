//! A queue of log lines between those who log, who never wait, and a thread that writes.
//! Guarantees that the lines written are whole and in order, and that the number of those dropped is written after them.

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// Bytes that may wait to be written. As many again may be in the hands of the thread that writes.
const LIMIT: usize = 1 << 20;
/// How long the end of a program waits for lines that nobody may be reading.
const FLUSH: Duration = Duration::from_secs(1);

/// What waits to be written.
#[derive(Default)]
struct Waiting {
    text: Vec<u8>,
    /// Lines dropped after the last one in `text`.
    dropped: u64,
    /// The thread has taken lines that it has not written yet.
    writing: bool,
    /// There is no writer left.
    closed: bool,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until there is no writer left.
    fn write_to(&self, mut sink: impl Write) {
        let mut waiting = self.lock();
        loop {
            while waiting.text.is_empty() && waiting.dropped == 0 {
                if waiting.closed {
                    return;
                }
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            }
            let mut text = std::mem::take(&mut waiting.text);
            let dropped = std::mem::take(&mut waiting.dropped);
            waiting.writing = true;
            drop(waiting);
            if dropped > 0 {
                text.extend(format!("{dropped} log lines were dropped: nobody read the log\n").into_bytes());
            }
            // The log is the place to report an error, and it is gone.
            let _ = sink.write_all(&text).and_then(|()| sink.flush());
            waiting = self.lock();
            waiting.writing = false;
            self.changed.notify_all();
        }
    }
}

/// Starts the thread that writes.
pub(super) fn start(sink: impl Write + Send + 'static) -> (Writer, Flush) {
    let queue = Arc::new(Queue::default());
    let writes = Arc::clone(&queue);
    let thread = thread::Builder::new().name("log".to_owned()).spawn(move || writes.write_to(sink));
    thread.expect("the system has a thread left for the log");
    (Writer(Arc::new(Handle(Arc::clone(&queue)))), Flush(queue))
}

/// Puts log lines into the queue. A call of `write` is a line: it is taken whole, or dropped and counted.
#[derive(Clone)]
pub struct Writer(Arc<Handle>);

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Handle(queue) = &*self.0;
        let mut waiting = queue.lock();
        // Lines after a dropped one are dropped, too, until the queue is taken: the number belongs between them.
        if waiting.dropped > 0 || waiting.text.len() + line.len() > LIMIT {
            waiting.dropped += 1;
        } else {
            waiting.text.extend_from_slice(line);
        }
        drop(waiting);
        queue.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last writer that goes ends the thread.
struct Handle(Arc<Queue>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

/// Waits, when dropped, until the lines logged so far are written: a second at most.
#[must_use = "dropped at once, it does not wait for the lines of the program's end"]
pub struct Flush(Arc<Queue>);

impl Drop for Flush {
    fn drop(&mut self) {
        let unwritten = |waiting: &mut Waiting| !waiting.text.is_empty() || waiting.dropped > 0 || waiting.writing;
        // Lines that nobody reads are lost; a program that ends does not wait for a reader.
        let _ = self.0.changed.wait_timeout_while(self.0.lock(), FLUSH, unwritten);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A sink that hands each write over, and waits for somebody to take it.
    struct Handed(SyncSender<Vec<u8>>);

    impl Write for Handed {
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
        let (writer, flush) = start(Handed(sink));
        (writer, flush, read)
    }

    #[test]
    fn a_log_that_nobody_reads_takes_bounded_memory_and_says_what_it_dropped() {
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
            match line.strip_suffix(" log lines were dropped: nobody read the log") {
                Some(count) => dropped += count.parse::<usize>().unwrap(),
                None => written.push(format!("{line}\n")),
            }
        }
        assert!(dropped > 0 && written.len() + dropped == lines.len(), "{} and {dropped}", written.len());
        assert_eq!(written, lines[..written.len()], "whole and in order");
        assert!(text.ends_with("dropped: nobody read the log\n"), "the number comes after the lines that were there");
    }

    #[test]
    fn the_end_waits_for_the_last_line_and_not_for_ever() {
        let (mut writer, flush, read) = started();
        let reader = thread::spawn(move || read.recv().unwrap());
        writer.write_all(b"the last words\n").unwrap();
        drop(flush);
        assert_eq!(reader.join().unwrap(), b"the last words\n");

        let (mut writer, flush, _read) = started();
        writer.write_all(b"nobody reads this\n").unwrap();
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
