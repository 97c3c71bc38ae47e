//! A proxy in front of a member, whose connections a test breaks.

use std::{
    io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
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
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    thread::spawn(move || io::copy(&mut from, &mut to));
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

    /// Lets connections through again.
    pub(super) fn mend(&self) {
        self.state.lock().unwrap().is_cut = false;
    }
}
