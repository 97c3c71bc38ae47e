//! A proxy in front of a member, whose connections a test breaks.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Forwards connections to a member until they are cut.
pub(super) struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    open: Vec<TcpStream>,
    /// A text in the request whose answer is to be lost.
    losing: Option<&'static str>,
}

impl Proxy {
    /// Starts a proxy in front of a URL.
    pub(super) fn of(url: &str) -> Self {
        let target = url.split("//").last().expect("an address").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut state = of_thread.lock().unwrap();
                let server = TcpStream::connect(&target).ok().filter(|_| !state.is_cut);
                let Some(server) = server else { continue };
                let is_mute = Arc::new(AtomicBool::new(false));
                for (from, to, is_request) in [(&client, &server, true), (&server, &client, false)] {
                    let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    let (state, is_mute) = (Arc::clone(&of_thread), Arc::clone(&is_mute));
                    thread::spawn(move || forward(from, to, is_request, &state, &is_mute));
                }
                state.open.extend([client, server]);
            }
        });
        Self { port, state }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Breaks all connections, and refuses new ones.
    pub(super) fn cut(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_cut = true;
        for socket in state.open.drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Breaks the connection of the next request that has a text, after the member has got it and before it answers.
    pub(super) fn lose_answer(&self, text: &'static str) {
        self.state.lock().unwrap().losing = Some(text);
    }

    /// True once that has happened.
    pub(super) fn has_lost(&self) -> bool {
        self.state.lock().unwrap().losing.is_none()
    }

    /// Lets connections through again.
    pub(super) fn mend(&self) {
        self.state.lock().unwrap().is_cut = false;
    }
}

/// Forwards one direction of a connection until it ends.
fn forward(mut from: TcpStream, mut to: TcpStream, is_request: bool, state: &Mutex<State>, is_mute: &AtomicBool) {
    let mut bytes = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let bytes = &bytes[..count];
        let has = |text: &&str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        let loses = is_request && state.lock().unwrap().losing.take_if(|text| has(text)).is_some();
        if loses {
            is_mute.store(true, Ordering::SeqCst);
        }
        let sent = is_request || !is_mute.load(Ordering::SeqCst);
        if sent && to.write_all(bytes).is_err() {
            break;
        }
        if loses {
            // The member does what it got.
            thread::sleep(Duration::from_millis(300));
            break;
        }
    }
    for socket in [from, to] {
        let _ = socket.shutdown(Shutdown::Both);
    }
}
