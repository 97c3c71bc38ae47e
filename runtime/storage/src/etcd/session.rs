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
    turns::Turns,
};

/// How long a connection, and each call while it is made, may take.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// The user's token, which calls have as a header; none without a user.
#[derive(Clone, Default)]
pub(super) struct Token {
    pub header: Option<HeaderValue>,
    /// How many there were before it in the session.
    number: usize,
}

/// A connection to a member that serves.
pub(super) struct Session {
    pub connection: Connection,
    token: Mutex<Token>,
    /// The token is renewed in a turn.
    renewals: Turns<(), Fault>,
    /// True if the member answers a request for progress only after it has sent all changes.
    pub reports_progress: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session without a token.
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, token: Mutex::default(), renewals: Turns::new(()), reports_progress: false }
    }

    pub(super) fn token(&self) -> Token {
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
        let mut present = lock(&self.token);
        *present = Token { header: token, number: present.number + 1 };
        Ok(())
    }

    /// Gets another token in place of one that was refused, once for all whose calls had it: etcd takes a tenth of a second
    /// to check a password.
    pub(super) async fn renew(&self, user: Option<&(String, String)>, refused: &Token) -> Result<(), Fault> {
        let turn = self.renewals.wait().await?;
        if self.token().number != refused.number {
            return Ok(());
        }
        match self.authenticate(user).await {
            Ok(()) => Ok(()),
            Err(fault) => Err(turn.fail(fault.before_request())),
        }
    }
}
