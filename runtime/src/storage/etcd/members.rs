//! The members: a connection to one of them at a time, the user's token, and what is tried again.
//!
//! All calls and the watch use the same member, so that what a write did comes on the watch soon. A member is asked for
//! its status every second. One that does not answer in a second, or has no leader, is left for the next one.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use hyper::header::HeaderValue;
use prost::Message;
use tokio::{sync, time::sleep};

use super::{
    connection::{ConnectError, Connection},
    endpoint::Endpoint,
    error::EtcdError,
    fault::Fault,
    options::EtcdOptions,
    proto::{AuthenticateRequest, AuthenticateResponse, StatusRequest, StatusResponse, path},
};

/// How long a connection, and each call while it is made, may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// The pause between two questions for the status, and how long an answer may take.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The pause before the members are tried again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);
/// How long a call is tried again while no member takes it.
pub(super) const TRIED_FOR: Duration = Duration::from_secs(5);
/// How long a member may take to answer. etcd itself gives up after about seven seconds.
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// Which calls are made again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The calls that certainly had no effect.
    Unsent,
    /// All that got no answer: a read, or a write whose repetition does no harm.
    Always,
}

/// The members of a cluster.
pub(super) struct Members {
    endpoints: Vec<Endpoint>,
    user: Option<(String, String)>,
    current: Mutex<Option<Arc<Session>>>,
    /// The endpoint to try next. Locked while a session begins.
    next: sync::Mutex<usize>,
    condition: Mutex<Condition>,
}

/// What is known of the cluster.
#[derive(Default)]
struct Condition {
    /// Since when there is no member, and why.
    unreachable: Option<(Instant, String)>,
    /// etcd's alarm, such as that of a full database.
    alarm: Option<String>,
    /// Since when no changes arrive, and why.
    silent: Option<(Instant, String)>,
}

/// A connection to a member that has a leader.
pub(super) struct Session {
    pub connection: Connection,
    token: Mutex<Option<HeaderValue>>,
    /// True if the member answers a request for progress only after it has sent all changes.
    pub reports_progress: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(super) fn token(&self) -> Option<HeaderValue> {
        lock(&self.token).clone()
    }

    /// Gets a token. It is empty without a user.
    async fn authenticate(&self, user: Option<&(String, String)>) -> Result<(), Fault> {
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

    async fn status(&self, within: Duration) -> Result<StatusResponse, Fault> {
        let token = self.token();
        self.connection.call(path::STATUS, &StatusRequest {}, token.as_ref(), within).await
    }
}

/// Why no session could begin.
pub(super) enum NoSession {
    Connect(ConnectError),
    Fault(Fault),
}

impl NoSession {
    fn text(&self) -> String {
        match self {
            Self::Connect(ConnectError::Certificate(why) | ConnectError::Unreachable(why)) => why.clone(),
            Self::Fault(fault) => fault.to_string(),
        }
    }
}

impl Members {
    pub(super) fn new(options: EtcdOptions) -> Result<Self, EtcdError> {
        let endpoints = Endpoint::all(&options)?;
        let next = sync::Mutex::new(random_below(endpoints.len()));
        Ok(Self { endpoints, user: options.user, current: Mutex::default(), next, condition: Mutex::default() })
    }

    /// The name of the user, or an empty string.
    pub(super) fn user(&self) -> String {
        self.user.as_ref().map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// Why writes fail at present, if they do.
    pub(super) fn refusal(&self) -> Option<String> {
        let condition = lock(&self.condition);
        let lasting = |(since, why): &(Instant, String)| (since.elapsed() > HEARTBEAT).then(|| why.clone());
        let unreachable = condition.unreachable.as_ref().and_then(lasting);
        let unreachable = unreachable.map(|why| format!("etcd cannot be reached: {why}"));
        let silent = || condition.silent.as_ref().and_then(lasting);
        let silent = || silent().map(|why| format!("changes in etcd do not arrive: {why}"));
        unreachable.or_else(|| condition.alarm.clone()).or_else(silent)
    }

    /// The watch has broken.
    pub(super) fn changes_stop(&self, why: String) {
        let mut condition = lock(&self.condition);
        let since = condition.silent.take().map_or_else(Instant::now, |(since, _)| since);
        condition.silent = Some((since, why));
    }

    /// The watch serves.
    pub(super) fn changes_arrive(&self) {
        lock(&self.condition).silent = None;
    }

    fn live(&self) -> Option<Arc<Session>> {
        lock(&self.current).clone().filter(|session| !session.connection.is_closed())
    }

    /// A session with a member, begun if necessary. Tries each member once.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Vec<(String, NoSession)>> {
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let mut next = self.next.lock().await;
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let mut failed = Vec::new();
        for _ in 0..self.endpoints.len() {
            let endpoint = &self.endpoints[*next % self.endpoints.len()];
            *next += 1;
            match self.begin(endpoint).await {
                Ok(session) => {
                    *lock(&self.current) = Some(Arc::clone(&session));
                    tokio::spawn(heartbeat(Arc::downgrade(self), Arc::downgrade(&session)));
                    return Ok(session);
                }
                Err(why) => failed.push((endpoint.url.clone(), why)),
            }
        }
        let mut condition = lock(&self.condition);
        let since = condition.unreachable.take().map_or_else(Instant::now, |(since, _)| since);
        condition.unreachable = Some((since, texts(&failed)));
        Err(failed)
    }

    async fn begin(&self, endpoint: &Endpoint) -> Result<Arc<Session>, NoSession> {
        let connection = Connection::open(endpoint, CONNECT_WITHIN).await.map_err(NoSession::Connect)?;
        let mut session = Session { connection, token: Mutex::default(), reports_progress: false };
        session.authenticate(self.user.as_ref()).await.map_err(NoSession::Fault)?;
        let status = session.status(CONNECT_WITHIN).await.map_err(NoSession::Fault)?;
        if status.leader == 0 {
            return Err(NoSession::Fault(Fault::Unsent("the member has no leader".to_owned())));
        }
        session.reports_progress = reports_progress(&status.version);
        self.observe(&status);
        Ok(Arc::new(session))
    }

    fn observe(&self, status: &StatusResponse) {
        let mut condition = lock(&self.condition);
        (condition.unreachable, condition.alarm) = (None, alarm(&status.errors));
    }

    /// Calls a method. While no member takes the call, it is made again for a few seconds.
    pub(super) async fn call<A: Message + Default>(
        self: &Arc<Self>,
        path: &str,
        message: &impl Message,
        again: Again,
    ) -> Result<A, Fault> {
        let (start, mut renewed) = (Instant::now(), false);
        loop {
            let session = match self.session().await {
                Ok(session) => session,
                Err(failed) if start.elapsed() > TRIED_FOR => return Err(Fault::Unsent(texts(&failed))),
                Err(_) => {
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let token = session.token();
            let answer = session.connection.call(path, message, token.as_ref(), ANSWERED_WITHIN).await;
            let Err(fault) = answer else { return answer };
            if fault.is_stale_token() && !renewed && self.user.is_some() {
                renewed = true;
                session.authenticate(self.user.as_ref()).await?;
                continue;
            }
            if fault.is_without_leader() {
                session.connection.close();
            }
            let repeats = match fault {
                Fault::Unsent(_) => true,
                Fault::Lost(_) => again == Again::Always,
                Fault::Status { .. } => fault.is_without_leader() || again == Again::Always && !fault.is_refusal(),
            };
            if !repeats || start.elapsed() > TRIED_FOR {
                return Err(fault);
            }
            sleep(PAUSE).await;
        }
    }

    /// Gets a new token, as the present one was refused.
    pub(super) async fn authenticate(&self, session: &Session) -> Result<(), Fault> {
        session.authenticate(self.user.as_ref()).await
    }
}

/// Asks a member for its status as long as the session is used, and ends the session if it does not answer.
async fn heartbeat(members: Weak<Members>, session: Weak<Session>) {
    loop {
        sleep(HEARTBEAT).await;
        let (Some(members), Some(session)) = (members.upgrade(), session.upgrade()) else { return };
        if session.connection.is_closed() {
            return;
        }
        let why = match session.status(HEARTBEAT).await {
            Ok(status) if status.leader != 0 => {
                members.observe(&status);
                continue;
            }
            Ok(_) => "the member has lost its leader".to_owned(),
            // Newer versions want a valid token here; the next call gets one.
            Err(fault) if fault.is_stale_token() => continue,
            Err(fault) => fault.to_string(),
        };
        tracing::warn!(why, "a member of etcd does not serve any more; connecting to the next one");
        session.connection.close();
    }
}

/// What to do about an alarm that a member's status has.
fn alarm(errors: &[String]) -> Option<String> {
    let error = |part: &str| errors.iter().find(|error| error.contains(part));
    let corrupt = error("CORRUPT").map(|alarm| {
        format!(
            "etcd has found that its members differ, and answers nothing ({alarm}); restore the member that is wrong"
        )
    });
    corrupt.or_else(|| {
        error("NOSPACE").map(|alarm| {
            format!("etcd's database has reached its quota ({alarm}); compact and defragment it, and disarm the alarm")
        })
    })
}

/// True for versions that answer a request for progress only after all changes before. Others may be ahead of the changes
/// (https://github.com/etcd-io/etcd/issues/15220).
fn reports_progress(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse::<u32>().unwrap_or_default());
    let mut part = || parts.next().unwrap_or_default();
    match (part(), part(), part()) {
        (3, 4, patch) => patch >= 25,
        (3, 5, patch) => patch >= 8,
        version => version >= (3, 6, 0),
    }
}

/// The reasons why no member could be used.
pub(super) fn texts(failed: &[(String, NoSession)]) -> String {
    let texts: Vec<_> = failed.iter().map(|(url, why)| format!("{url}: {}", why.text())).collect();
    texts.join("; ")
}

/// A random number, so that the servers of a cluster use different members.
fn random_below(count: usize) -> usize {
    let number = getrandom::u32().unwrap_or_default();
    usize::try_from(number).unwrap_or_default() % count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_of_the_status_is_reported_with_what_to_do() {
        let of = |errors: &[&str]| alarm(&errors.iter().map(|&error| error.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["etcdserver: no leader"]), None);
        assert!(of(&["memberID:1 alarm:NOSPACE "]).is_some_and(|text| text.contains("defragment")));
        let both = of(&["memberID:1 alarm:NOSPACE ", "memberID:2 alarm:CORRUPT "]);
        assert!(both.is_some_and(|text| text.contains("memberID:2 alarm:CORRUPT")));
    }

    #[test]
    fn progress_is_trusted_from_the_versions_that_report_it_correctly() {
        let trusted = ["3.4.25", "3.5.8", "3.5.21", "3.6.0-rc.1", "3.6.0", "4.0.0"];
        assert!(trusted.iter().all(|version| reports_progress(version)));
        let untrusted = ["3.4.23", "3.4.24", "3.5.1", "3.5.7", "3.3.10", "", "x"];
        assert!(untrusted.iter().all(|version| !reports_progress(version)));
    }
}
