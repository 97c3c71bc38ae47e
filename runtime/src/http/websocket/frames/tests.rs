use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

fn pair() -> (DuplexStream, WebSocket<DuplexStream>) {
    let (client, server) = duplex(1 << 21);
    (client, WebSocket::new(server))
}

/// A frame of a client, with its first byte.
fn frame(first: u8, data: &[u8]) -> Vec<u8> {
    let mask = [1, 2, 3, 250];
    let mut frame = vec![first];
    match data.len() {
        length @ ..126 => frame.push(MASKED | u8::try_from(length).unwrap()),
        length @ ..65_536 => {
            frame.push(MASKED | 126);
            frame.put_u16(u16::try_from(length).unwrap());
        }
        length => {
            frame.push(MASKED | 127);
            frame.put_u64(length as u64);
        }
    }
    frame.extend(mask);
    frame.extend(data.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Everything that is received from a client that sends these bytes and hangs up, and the error at the end.
async fn received(sent: &[u8]) -> (Vec<Received>, String) {
    let (mut client, mut server) = pair();
    client.write_all(sent).await.unwrap();
    client.shutdown().await.unwrap();
    let mut all = Vec::new();
    loop {
        match server.receive().await {
            Ok(received) => all.push(received),
            Err(error) => return (all, error.to_string()),
        }
    }
}

#[tokio::test]
async fn messages_of_every_length_are_read_and_written() {
    for length in [0, 1, 125, 126, 65_535, 65_536, MESSAGE_BYTES] {
        let data: Vec<u8> = (0..=255).cycle().take(length).collect();
        let sent = Message::Binary(data.clone().into());
        let (all, _) = received(&frame(LAST | BINARY, &data)).await;
        assert!(all == [Received::Message(sent.clone())], "{length} bytes are read");
        let (mut client, mut server) = pair();
        server.send(sent).await.unwrap();
        drop(server);
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).await.unwrap();
        // A server's frame is a client's without the bit and the four bytes of the mask.
        let mut expected = frame(LAST | BINARY, &data);
        expected[1] &= !MASKED;
        let head = expected.len() - length;
        expected.splice(head - 4.., data);
        assert!(bytes == expected, "{length} bytes are written");
    }
}

#[tokio::test]
async fn a_message_in_pieces_is_joined_around_control_frames() {
    let sent =
        [frame(TEXT, b"be"), frame(LAST | PONG, b""), frame(CONTINUATION, b""), frame(LAST, "d\u{e4}".as_bytes())];
    let (all, _) = received(&sent.concat()).await;
    assert_eq!(all, [Received::Alive, Received::Message(Message::Text("bed\u{e4}".into()))]);
}

#[tokio::test]
async fn frames_that_arrive_in_single_bytes_are_the_same() {
    let (client, server) = duplex(1);
    let mut server = WebSocket::new(server);
    let sending = async move {
        let mut client = client;
        client.write_all(&frame(LAST | BINARY, &[7; 300])).await.unwrap();
        client
    };
    let (received, _client) = tokio::join!(server.receive(), sending);
    assert_eq!(received.unwrap(), Received::Message(Message::Binary(Bytes::from_static(&[7; 300]))));
}

#[tokio::test]
async fn pings_and_a_close_are_answered() {
    let (mut client, mut server) = pair();
    client.write_all(&[frame(LAST | PING, b"yes"), frame(LAST | CLOSE, b"\x03\xe8bye")].concat()).await.unwrap();
    assert_eq!(server.receive().await.unwrap(), Received::Alive);
    assert_eq!(server.receive().await.unwrap(), Received::Close);
    drop(server);
    let mut answers = Vec::new();
    client.read_to_end(&mut answers).await.unwrap();
    assert_eq!(answers, [LAST | PONG, 3, b'y', b'e', b's', LAST | CLOSE, 2, 3, 0xe8]);
}

#[tokio::test]
async fn pings_of_a_peer_that_reads_nothing_take_no_memory() {
    let (mut client, server) = duplex(64);
    let mut server = WebSocket::new(server);
    let flood = async {
        for number in 0..1000_u32 {
            client.write_all(&frame(LAST | PING, &[number.to_be_bytes(); 10].concat())).await.unwrap();
        }
    };
    let reading = async { while server.receive().await.is_ok() {} };
    tokio::select! {
        () = flood => {}
        () = reading => panic!("the connection ended"),
    }
    assert!(server.unsent.len() < 100, "{} bytes are kept", server.unsent.len());
}

#[tokio::test]
async fn a_violation_of_the_protocol_ends_the_connection() {
    let unmasked = vec![LAST | TEXT, 1, b'x'];
    let huge = [vec![LAST | BINARY, MASKED | 127], u64::MAX.to_be_bytes().to_vec()].concat();
    let half = vec![0; MESSAGE_BYTES / 2 + 1];
    let halves = [frame(BINARY, &half), frame(LAST, &half)].concat();
    for (sent, why) in [
        (unmasked, "without a mask"),
        (huge, "a frame that is too large"),
        (halves, "a message that is too large"),
        (frame(LAST | 0x40 | TEXT, b"x"), "an extension"),
        (frame(LAST, b"x"), "without a beginning"),
        ([frame(TEXT, b"x"), frame(TEXT, b"y")].concat(), "within another"),
        (frame(PING, b""), "in pieces"),
        (frame(LAST | PING, &[0; 126]), "a control frame that is too large"),
        (frame(LAST | 3, b""), "unknown opcode"),
        (frame(LAST | TEXT, b"\xff"), "not UTF-8"),
    ] {
        let (all, error) = received(&sent).await;
        assert!(all.is_empty() && error.contains(why), "{why}: {error}");
    }
    let (all, error) = received(&frame(LAST | TEXT, b"x")[..3]).await;
    assert!(all.is_empty() && error.contains("end of file"), "{error}");
}
