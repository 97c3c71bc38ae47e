//! The kinds every control plane needs, and the controllers that come with them.

use std::sync::Arc;

use crate::{kind::Kind, verbs::Api};

/// The built-in kinds, in the order in which discovery names them.
pub fn kinds() -> Vec<Kind> {
    Vec::new()
}

/// Makes what every server has where it is missing: the namespaces `default`, `kube-system` and `kube-public`.
///
/// # Errors
/// What could not be made, and why.
pub async fn bootstrap(_api: &Arc<Api>) -> Result<(), String> {
    Ok(())
}

/// The controllers that run inside a server.
pub struct Controllers {}

impl Controllers {
    /// Starts them on the current runtime.
    pub fn start(_api: Arc<Api>) -> Self {
        Self {}
    }

    /// Ends them, after what they are writing.
    pub async fn stop(self) {}
}
