//! WebSockets: handshakes with any subprotocols, and arbitrary messages.
use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use kindsmith::{
    Server,
    handlers::{self, ExecOptions, Exit, Forward, ForwardOptions, Parent, Result, Session},
    server::TestServer,
};
use kindsmith_tests::Random;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
};

use crate::{engine::Target, json, sample::Sample};

const OBJECTS: &str = "/apis/fuzz.example.com/v1/namespaces/default/samples";
const PATHS: [&str; 3] = ["/a/exec?", "/a/portforward?", "?watch=true&"];

/// Connections to a server. The lines of an input: the path's number and the query, the subprotocols, then one message
/// each, whose first letter selects its type.
pub(crate) struct Sockets {
    runtime: Runtime,
    server: TestServer,
}

async fn exec(_sample: Parent<Sample>, _options: ExecOptions) -> Result<Session> {
    Ok(Session::new(|mut io| async move {
        tokio::io::copy(&mut io.stdin, &mut io.stdout).await?;
        io.stderr.write_all(b"that was all").await?;
        Ok(Exit::code(3))
    }))
}

async fn forward(_sample: Parent<Sample>, _options: ForwardOptions) -> Result<Forward> {
    Ok(Forward::new(|port, stream| async move {
        let (mut from, mut to) = tokio::io::split(stream);
        if port == 9 {
            Err(std::io::Error::other("closed"))
        } else {
            tokio::io::copy(&mut from, &mut to).await.map(drop)
        }
    }))
}

impl Sockets {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let server = Server::test().kind::<Sample>().configure(|server| {
            server.subresource("exec", handlers::exec(exec)).subresource("portforward", handlers::port_forward(forward))
        });
        let server = runtime.block_on(async {
            let server = server.start().await;
            let sample = json!({"metadata": {"name": "a"}, "spec": {}});
            let (status, answer) = server.call("POST", OBJECTS, sample).await;
            assert_eq!(status, 201, "{answer}");
            server
        });
        Self { runtime, server }
    }

    /// The server's answer to a handshake and messages, until the connection ends.
    async fn converse(&self, head: &str, messages: &[u8]) -> std::io::Result<Vec<u8>> {
        let host = self.server.url().strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(host).await?;
        stream.write_all(head.as_bytes()).await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { break };
            answer.push(byte);
        }
        if answer.starts_with(b"HTTP/1.1 101") {
            // The server may close before everything is written.
            let _ = stream.write_all(messages).await;
        }
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut answer).await;
        Ok(answer)
    }
}

/// A client frame. The mask is zero.
fn frame(first: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    match payload.len() {
        short @ 0..126 => out.push(0x80 | u8::try_from(short).expect("few bytes")),
        long => {
            out.push(0xfe);
            out.extend_from_slice(&u16::try_from(long).unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
}

/// The frames of an input's messages.
fn frames(lines: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        match line.split_first() {
            Some((b't', rest)) => frame(0x81, rest, &mut out),
            Some((b'b', rest)) => frame(0x82, rest, &mut out),
            Some((b'p', rest)) => frame(0x89, rest, &mut out),
            Some((b'o', rest)) => frame(0x8a, rest, &mut out),
            Some((b'c', rest)) => frame(0x88, rest, &mut out),
            Some((b'f', rest)) => frame(0x02, rest, &mut out),
            Some((b'g', rest)) => frame(0x80, rest, &mut out),
            Some((_, rest)) => out.extend_from_slice(rest),
            None => {}
        }
    }
    out
}

impl Target for Sockets {
    const WORDS: &'static [&'static str] = &[
        "v5.channel.k8s.io",
        "v4.channel.k8s.io",
        "v4.base64.channel.k8s.io",
        "base64.channel.k8s.io",
        "channel.k8s.io",
        ",",
        "base64url.bearer.authorization.k8s.io.",
        "\nb\u{0}",
        "\nb\u{4}{\"Width\":80,\"Height\":24}",
        "\nt0aGk=",
        "\nt4e30=",
        "\nc\u{3}",
        "\np",
        "\nf",
        "\ng",
        "\nr",
        "stdin=true&",
        "stdout=true&",
        "tty=true&",
        "ports=7&",
        "ports=9&",
        "command=a&",
    ];
    const LONGEST: usize = 4 << 10;
    const PATIENCE: Duration = Duration::from_secs(2);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let which = random.below(PATHS.len());
        let query = ["stdin=true&stdout=true&stderr=true", "ports=7&ports=80", "stdout=true&tty=true", "ports=7", ""]
            [random.below(5)];
        let protocol = *random.pick(&Self::WORDS[..5]);
        let mut input = format!("{which}{query}\n{protocol}").into_bytes();
        for _ in 0..random.below(6) {
            let channel = *random.pick(&[0, 0, 1, 2, 3, 4, 5, 255]);
            if protocol.contains("base64") {
                input.extend_from_slice(
                    format!("\nt{}{}", channel % 10, STANDARD.encode(json::text(random))).as_bytes(),
                );
            } else {
                input.extend_from_slice(&[b'\n', b'b', channel]);
                input.extend_from_slice(json::text(random).as_bytes());
            }
        }
        input
    }

    fn attempt(&self, input: &[u8]) -> String {
        let mut lines = input.splitn(3, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let printable = |bytes: &[u8]| {
            bytes.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect::<String>()
        };
        let (path, protocols, messages) = (line(), printable(line()), frames(line()));
        let (which, query) = path.split_first().map_or((0, &[][..]), |(which, query)| (usize::from(*which), query));
        let (path, query) = (PATHS[which % PATHS.len()], printable(query));
        if query.contains('#') {
            return "no request".to_owned();
        }
        let head = format!(
            "GET {OBJECTS}{path}{query} HTTP/1.1\r\nhost: server\r\nauthorization: Bearer {}\r\nconnection: Upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             sec-websocket-protocol: {protocols}\r\n\r\n",
            self.server.token()
        );
        let answer = self.runtime.block_on(self.converse(&head, &messages)).expect("a connection");
        let status = answer.get(9..12).and_then(|code| std::str::from_utf8(code).ok()).unwrap_or_default();
        assert!(
            matches!(status, "101" | "400" | "401" | "403" | "404" | "405" | "406" | "410" | "422"),
            "{}",
            answer.escape_ascii()
        );
        let said = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(&[][..], |at| &answer[at + 4..]);
        format!("{status} {path} {}", said.escape_ascii())
    }
}
