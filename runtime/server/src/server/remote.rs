//! The API of a running server, which commands read by a kubeconfig. It needs no declared kinds.
use std::{path::Path, time::Duration};

use bytes::Bytes;
use hyper::Method;

use crate::upstream::{client::Client, kubeconfig::Endpoint};

/// How long a request may take.
const WITHIN: Duration = Duration::from_mins(1);
/// The maximum size of an answer in bytes.
const LARGEST: usize = 64 << 20;

/// A running server.
pub struct RemoteServer(Client);

impl RemoteServer {
    /// The server of the current context of a kubeconfig. Does not connect.
    ///
    /// # Errors
    /// The field or the file that cannot be used, and why.
    pub fn of_kubeconfig(file: &Path) -> Result<Self, String> {
        Ok(Self(Client::new(Endpoint::from_file(file)?)?))
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        self.0.url()
    }

    /// Gets a path. Returns the status and the body, of 64 MiB at most.
    ///
    /// # Errors
    /// If there is no answer within a minute.
    pub async fn get(&self, path: &str) -> Result<(u16, Bytes), String> {
        self.0.exchange(&Method::GET, path, Bytes::new(), (WITHIN, LARGEST)).await
    }
}
