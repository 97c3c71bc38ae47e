//! A connection to one member, and the user's token there.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::header::HeaderValue;

use super::{
    connection::Connection,
    fault::Fault,
    proto::{AuthenticateRequest, AuthenticateResponse, path},
};

/// How long a connection, and each call while it is made, may take.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// A connection to a member that serves.
pub(super) struct Session {
    pub connection: Connection,
    token: Mutex<Option<HeaderValue>>,
    /// True if the member answers a request for progress only after it has sent all changes.
    pub reports_progress: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session without a token.
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, token: Mutex::default(), reports_progress: false }
    }

    pub(super) fn token(&self) -> Option<HeaderValue> {
        lock(&self.token).clone()
    }

    /// Gets a token. It is empty without a user.
    pub(super) async fn authenticate(&self, user: Option<&(String, String)>) -> Result<(), Fault> {
        let Some((name, password)) = user else { return Ok(()) };
        let request = AuthenticateRequest { name: name.clone(), password: password.clone() };
        let answer: Result<AuthenticateResponse, Fault> =
            self.connection.call(path::AUTHENTICATE, &request, None, CONNECT_WITHIN).await;
        let token = match answer {
            Ok(answer) => {
                let token = HeaderValue::from_str(&answer.token);
                Some(token.map_err(|error| Fault::Unsent(format!("the token is invalid: {error}")))?)
            }
            // The user is not asked for.
            Err(fault) if fault.is_without_users() => None,
            Err(fault) => return Err(fault),
        };
        *lock(&self.token) = token;
        Ok(())
    }
}
