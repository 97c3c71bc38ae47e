//! Forwarded ports over a WebSocket: each port has a data channel and an error channel, which both start with the
//! port's number in two bytes, little-endian.

use std::{future::poll_fn, io, task::Poll};

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncReadExt, DuplexStream, WriteHalf, duplex, split},
    sync::mpsc,
    task::JoinSet,
};

use super::{
    channels::{CHANNELS, ChannelMessage, Channels},
    guard,
    session::write,
    websocket::{End, Socket},
};
use crate::{handlers::Serve, tasks};

/// The buffer size in each direction of a port.
const WAITING: usize = 64 << 10;
/// The maximum size of a message.
const PIECE: usize = 32 << 10;
/// The maximum number of ports of one connection, with two channels each.
pub(super) const PORTS: usize = CHANNELS as usize / 2;

/// The connection's side of the ports.
struct Ports {
    /// The input of each port; `None` once its handler no longer reads.
    inputs: Vec<Option<WriteHalf<DuplexStream>>>,
    /// The output of the handlers, by channel.
    outputs: mpsc::Receiver<(u8, Bytes)>,
    /// The handlers, which are cancelled when this is dropped.
    _work: JoinSet<()>,
}

/// Serves ports until the client disconnects or all handlers have ended.
pub(super) async fn run(mut socket: Socket, channels: Channels, serve: Serve, ports: Vec<u16>) {
    let end = converse(&mut socket, channels, open(&serve, &ports), &ports).await.err();
    socket.close(None, end).await;
}

fn open(serve: &Serve, ports: &[u16]) -> Ports {
    let (tell, outputs) = mpsc::channel(ports.len());
    let mut work = JoinSet::new();
    let inputs = ports.iter().zip((0..).step_by(2)).map(|(port, data)| {
        let (theirs, ours) = duplex(WAITING);
        let (mut output, input) = split(ours);
        let (serving, errors, tell) = (guarded(serve, *port, theirs), tell.clone(), tell.clone());
        work.spawn(tasks::boxed(async move {
            if let Err(error) = serving.await {
                // If the connection is gone, the error does not matter.
                let _ = errors.send((data + 1, error.to_string().into())).await;
            }
        }));
        work.spawn(tasks::boxed(async move {
            let mut piece = vec![0; PIECE];
            while let Ok(count @ 1..) = output.read(&mut piece).await {
                if tell.send((data, Bytes::copy_from_slice(&piece[..count]))).await.is_err() {
                    return;
                }
            }
        }));
        Some(input)
    });
    let inputs = inputs.collect();
    Ports { inputs, outputs, _work: work }
}

/// A port's handler; its panic is an error of this port only.
fn guarded(serve: &Serve, port: u16, stream: DuplexStream) -> impl Future<Output = io::Result<()>> + Send + use<> {
    let mut serving = guard::attempt(|| serve(port, stream));
    let panicked = || Poll::Ready(Err(io::Error::other("the server failed at this port; its log says why")));
    poll_fn(move |cx| {
        let polled = serving.as_mut().and_then(|serving| guard::attempt(|| serving.as_mut().poll(cx)));
        polled.unwrap_or_else(panicked)
    })
}

async fn converse(socket: &mut Socket, channels: Channels, mut ports: Ports, numbers: &[u16]) -> Result<(), End> {
    for (number, data) in numbers.iter().zip((0..).step_by(2)) {
        for channel in [data, data + 1] {
            socket.send(channels.write(channel, &number.to_le_bytes())).await?;
        }
    }
    let (mut waiting, mut target) = (Bytes::new(), 0);
    loop {
        let reading = waiting.is_empty();
        tokio::select! {
            message = socket.receive(reading) => {
                if let Some(ChannelMessage::Data(channel, bytes)) = message?.map(|message| channels.read(message))
                    && channel % 2 == 0
                    && usize::from(channel / 2) < numbers.len()
                {
                    (waiting, target) = (bytes, usize::from(channel / 2));
                }
            }
            written = write(&mut ports.inputs[target], &waiting), if !reading => if let Ok(count) = written {
                waiting.advance(count);
            } else {
                waiting.clear();
                ports.inputs[target] = None;
            },
            output = ports.outputs.recv() => match output {
                Some((channel, bytes)) => socket.send(channels.write(channel, &bytes)).await?,
                None => return Ok(()),
            },
        }
    }
}
