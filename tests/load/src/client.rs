//! A small HTTP/1.1 client: sends a request and reads an answer of known length, or the lines of a watch.
use std::{io::ErrorKind, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::{Outcome, Target};

/// A kept connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    token: String,
}

/// An answer: its status and, if its length is known, its body.
pub(crate) struct Answer {
    /// The status code.
    pub status: u16,
    /// The body; empty for a chunked answer, which is read by lines.
    pub body: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(target: &Target) -> Outcome<Self> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(64 << 10, stream), token: target.token.clone() })
    }

    /// Sends a request and reads the head of the answer, and its body if its length is known.
    pub(crate) async fn send(&mut self, method: &str, path: &str, content_type: &str, body: &str) -> Outcome<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: application/json\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes()).await?;
        self.read_answer().await
    }

    /// Gets a path with further headers, reads the answer to its end without keeping it, and returns its length. A slow
    /// reader reads one buffer at a time with pauses.
    pub(crate) async fn fetch(&mut self, path: &str, headers: &str, wait: Option<Duration>) -> Outcome<u64> {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{headers}\r\n", self.token);
        self.stream.get_mut().write_all(head.as_bytes()).await?;
        let (mut length, mut line) = (None, String::new());
        loop {
            self.line(&mut line).await?;
            if let Some(rest) = line.strip_prefix("http/1.1 ").filter(|rest| !rest.starts_with("200")) {
                return Err(format!("{path} answered {rest}").into());
            } else if let Some(rest) = line.strip_prefix("content-length:") {
                length = Some(rest.trim().parse()?);
            } else if line.is_empty() {
                break;
            }
        }
        if let Some(length) = length {
            self.skip(length, wait).await?;
            return Ok(length);
        }
        let mut total = 0;
        loop {
            self.line(&mut line).await?;
            let length = u64::from_str_radix(&line, 16)?;
            self.skip(length, wait).await?;
            self.line(&mut line).await?;
            if length == 0 {
                return Ok(total);
            }
            total += length;
        }
    }

    async fn line(&mut self, line: &mut String) -> Outcome<()> {
        line.clear();
        if self.stream.read_line(line).await? == 0 {
            return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        *line = line.trim_end().to_ascii_lowercase();
        Ok(())
    }

    async fn skip(&mut self, mut length: u64, wait: Option<Duration>) -> Outcome<()> {
        while length > 0 {
            let there = self.stream.fill_buf().await?.len();
            if there == 0 {
                return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
            }
            let taken = there.min(usize::try_from(length)?);
            self.stream.consume(taken);
            length -= taken as u64;
            if let Some(wait) = wait {
                tokio::time::sleep(wait).await;
            }
        }
        Ok(())
    }

    async fn read_answer(&mut self) -> Outcome<Answer> {
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            self.line(&mut line).await?;
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest.get(..3).unwrap_or("").parse()?;
            } else if let Some(rest) = line.strip_prefix("content-length:") {
                length = rest.trim().parse()?;
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok(Answer { status, body })
    }

    /// Reads until this many watch events have arrived. An event ends with a brace and a line end, and nothing else
    /// does: chunk headers end with a carriage return before the line end.
    pub(crate) async fn count_events(&mut self, mut wanted: usize) -> Outcome<()> {
        let mut last = 0;
        while wanted > 0 {
            let read = self.stream.fill_buf().await?;
            if read.is_empty() {
                return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
            }
            for &byte in read {
                wanted -= usize::from(byte == b'\n' && last == b'}').min(wanted);
                last = byte;
            }
            let length = read.len();
            self.stream.consume(length);
        }
        Ok(())
    }
}
