//! The channel subprotocols: several streams over one WebSocket. Each message starts with its channel's number.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::{BufMut, Bytes, BytesMut};

use super::websocket::Message;

/// The number before the number of a channel that its sender closes.
const CLOSE: u8 = 255;
/// The maximum number of channels of a connection. In text, their numbers are the characters after `0`.
pub(super) const CHANNELS: u8 = 64;

/// A version of the channel subprotocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channels {
    /// Messages are text: the number as a digit, and the bytes in base64.
    base64: bool,
    /// Errors are sent as a Status in JSON instead of text.
    pub statuses: bool,
    /// A single channel can be closed.
    closes: bool,
}

/// The subprotocols of sessions, by their names; a client may name none.
pub(super) const SESSIONS: [&str; 6] = [
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "",
];
/// The subprotocols of forwarded ports.
pub(super) const FORWARDS: [&str; 3] = ["v4.channel.k8s.io", "v4.base64.channel.k8s.io", ""];

/// A parsed message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChannelMessage {
    /// Bytes of a channel.
    Data(u8, Bytes),
    /// A channel was closed.
    Closed(u8),
    /// A meaningless message.
    Nothing,
}

impl Channels {
    /// The version of a subprotocol.
    pub(super) fn of(protocol: &str) -> Self {
        Self {
            base64: protocol.contains("base64"),
            statuses: protocol.starts_with("v4.") || protocol.starts_with("v5."),
            closes: protocol.starts_with("v5."),
        }
    }

    /// Bytes on a channel.
    pub(super) fn write(self, channel: u8, bytes: &[u8]) -> Message {
        if self.base64 {
            let mut text = String::with_capacity(1 + bytes.len().div_ceil(3) * 4);
            text.push(char::from(b'0' + channel));
            STANDARD.encode_string(bytes, &mut text);
            return Message::text(text);
        }
        let mut message = BytesMut::with_capacity(1 + bytes.len());
        message.put_u8(channel);
        message.put_slice(bytes);
        Message::binary(message)
    }

    /// Parses a message.
    pub(super) fn read(self, message: Message) -> ChannelMessage {
        let bytes = Bytes::from(message.into_payload());
        let Some((&number, rest)) = bytes.split_first() else { return ChannelMessage::Nothing };
        if self.base64 {
            let decoded = STANDARD.decode(rest.trim_ascii()).ok();
            let channel = number.checked_sub(b'0').filter(|channel| *channel < CHANNELS);
            return match (channel, decoded) {
                (Some(channel), Some(decoded)) => ChannelMessage::Data(channel, decoded.into()),
                _ => ChannelMessage::Nothing,
            };
        }
        match (number, rest) {
            (CLOSE, [channel]) if self.closes => ChannelMessage::Closed(*channel),
            (CLOSE, _) => ChannelMessage::Nothing,
            (channel, _) => ChannelMessage::Data(channel, bytes.slice(1..)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_in_bytes_and_in_base64() {
        let (v5, v4, text) = (
            Channels::of("v5.channel.k8s.io"),
            Channels::of("v4.channel.k8s.io"),
            Channels::of("v4.base64.channel.k8s.io"),
        );
        let written = v4.write(1, b"hi");
        assert_eq!((written.is_binary(), &**written.as_payload()), (true, &b"\x01hi"[..]));
        assert_eq!(text.write(1, b"hi").as_text(), Some("1aGk="));
        assert_eq!(v4.read(Message::binary(&b"\x00x"[..])), ChannelMessage::Data(0, Bytes::from_static(b"x")));
        assert_eq!(text.read(Message::text("0eA==")), ChannelMessage::Data(0, Bytes::from_static(b"x")));
        assert_eq!(v5.read(Message::binary(&[255, 0][..])), ChannelMessage::Closed(0));
        assert_eq!(v4.read(Message::binary(&[255, 0][..])), ChannelMessage::Nothing);
        for nonsense in ["", "x", "0***", "\u{e4}"] {
            assert_eq!(text.read(Message::text(nonsense)), ChannelMessage::Nothing, "{nonsense}");
        }
        assert_eq!(
            (v5.statuses, Channels::of("channel.k8s.io").statuses, Channels::of("").statuses),
            (true, false, false)
        );
    }
}
