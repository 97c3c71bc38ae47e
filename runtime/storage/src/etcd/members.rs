//! The members: a connection to one of them at a time, the user's token, and what is tried again.
//!
//! All calls and the watch use the same member, so that what a write did comes on the watch soon. A member is asked for
//! its status every second. One that does not answer in a second, has no leader or is a learner, is left for the next one.

use std::{
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

use prost::Message;
use tokio::time::{sleep, timeout};

use super::{
    connection::{ConnectError, Connection},
    endpoint::Endpoint,
    error::EtcdError,
    fault::Fault,
    keys::Keys,
    options::EtcdOptions,
    proto::RangeRequest,
    session::{CONNECT_WITHIN, Session, lock},
    status::Status,
    turns::Turns,
};

/// The pause between two questions for the status, and how long an answer may take.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The pause before the members are tried again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);
/// How long a call is tried again while no member takes it.
pub(super) const TRIED_FOR: Duration = Duration::from_secs(5);
/// How long a member may take to answer. etcd itself gives up after about seven seconds.
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// How often a call renews the token. Each change of etcd's users or roles makes tokens stale.
const MOST_RENEWALS: usize = 3;
/// Within which time a call ends, whatever happens.
pub(super) const ENDED_WITHIN: Duration = Duration::from_secs(15);

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
    /// The request for members that do not give this user their status.
    question: RangeRequest,
    current: Mutex<Option<Arc<Session>>>,
    /// The endpoint to try next. A session begins in a turn.
    next: Turns<usize, MemberErrors>,
    condition: Mutex<Condition>,
}

/// The known state of the cluster.
#[derive(Default)]
struct Condition {
    /// Since when there is no member, and why.
    unreachable: Option<(Instant, String)>,
    /// etcd's alarm, such as that of a full database.
    alarm: Option<String>,
    /// Since when no changes arrive, and why.
    silent: Option<(Instant, String)>,
}

/// Why no session could begin.
pub(super) enum NoSession {
    Connect(ConnectError),
    Fault(Fault),
}

/// The URL of each member, and why it could not be used.
pub(super) type MemberErrors = Arc<[(String, NoSession)]>;

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
        let next = Turns::new(random_below(endpoints.len()));
        let question =
            RangeRequest { key: Keys::new(&options.prefix)?.marker(), keys_only: true, ..RangeRequest::default() };
        Ok(Self {
            endpoints,
            user: options.user,
            question,
            current: Mutex::default(),
            next,
            condition: Mutex::default(),
        })
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

    /// True if calls use this session.
    pub(super) fn is_in_use(&self, session: &Arc<Session>) -> bool {
        self.live().is_some_and(|live| Arc::ptr_eq(&live, session))
    }

    /// A session with a member, begun if necessary.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, MemberErrors> {
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let members = Arc::clone(self);
        // It goes on without a caller that gives up, for the others.
        let begun = tokio::spawn(async move { members.begin().await });
        begun.await.unwrap_or_else(|error| {
            let fault = Fault::Unsent(error.to_string());
            Err(Arc::new([("etcd".to_owned(), NoSession::Fault(fault))]))
        })
    }

    /// Begins a session, unless another caller does so. Tries each member once.
    async fn begin(self: Arc<Self>) -> Result<Arc<Session>, MemberErrors> {
        let mut next = self.next.wait().await?;
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let mut errors = Vec::new();
        for _ in 0..self.endpoints.len() {
            let endpoint = &self.endpoints[*next % self.endpoints.len()];
            *next += 1;
            match self.begin_with(endpoint).await {
                Ok(session) => {
                    *lock(&self.current) = Some(Arc::clone(&session));
                    tokio::spawn(heartbeat(Arc::downgrade(&self), Arc::downgrade(&session)));
                    return Ok(session);
                }
                Err(why) => errors.push((endpoint.url.clone(), why)),
            }
            self.is_unreachable(texts(&errors));
        }
        Err(next.fail(errors.into()))
    }

    fn is_unreachable(&self, why: String) {
        let mut condition = lock(&self.condition);
        let since = condition.unreachable.take().map_or_else(Instant::now, |(since, _)| since);
        condition.unreachable = Some((since, why));
    }

    async fn begin_with(&self, endpoint: &Endpoint) -> Result<Arc<Session>, NoSession> {
        let connection = Connection::open(endpoint, CONNECT_WITHIN).await.map_err(NoSession::Connect)?;
        let mut session = Session::new(connection);
        session.authenticate(self.user.as_ref()).await.map_err(NoSession::Fault)?;
        // It is answered through the majority: a learner refuses it.
        let status = session.status(&self.question, CONNECT_WITHIN).await.map_err(NoSession::Fault)?;
        session.reports_progress = status.reports_progress;
        self.observe(status);
        Ok(Arc::new(session))
    }

    fn observe(&self, status: Status) {
        let mut condition = lock(&self.condition);
        (condition.unreachable, condition.alarm) = (None, status.alarm);
    }

    /// Calls a method. While no member takes the call, it is made again for a few seconds. Ends within [`ENDED_WITHIN`].
    pub(super) async fn call<A: Message + Default>(
        self: &Arc<Self>,
        path: &str,
        message: &impl Message,
        again: Again,
    ) -> Result<A, Fault> {
        let (start, mut renewals) = (Instant::now(), 0);
        let rest = || ENDED_WITHIN.saturating_sub(start.elapsed());
        loop {
            let session = match timeout(TRIED_FOR.saturating_sub(start.elapsed()), self.session()).await {
                Ok(Ok(session)) => session,
                Ok(Err(_)) => {
                    sleep(PAUSE).await;
                    continue;
                }
                Err(_) => return Err(Fault::Unsent(self.no_session())),
            };
            let token = session.token();
            let (header, within) = (token.header.as_ref(), ANSWERED_WITHIN.min(rest()));
            let answer = session.connection.call(path, message, header, within).await;
            let Err(mut fault) = answer else { return answer };
            if fault.is_stale_token() && self.user.is_some() && renewals < MOST_RENEWALS {
                match timeout(rest(), session.renew(self.user.as_ref(), &token)).await {
                    Ok(Ok(())) => {
                        renewals += 1;
                        continue;
                    }
                    Ok(Err(why)) => fault = why,
                    Err(_) => return Err(Fault::Unsent("the token was not renewed in time".to_owned())),
                }
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

    /// Why a call found no session in its time.
    fn no_session(&self) -> String {
        let why = lock(&self.condition).unreachable.as_ref().map(|(_, why)| why.clone());
        why.unwrap_or_else(|| format!("no connection to a member within {TRIED_FOR:?}"))
    }

    /// Gets a new token, as the present one was refused.
    pub(super) async fn authenticate(&self, session: &Session) -> Result<(), Fault> {
        session.renew(self.user.as_ref(), &session.token()).await
    }
}

/// Asks a member whether it serves as long as the session is used, and ends the session if it does not.
async fn heartbeat(members: Weak<Members>, session: Weak<Session>) {
    loop {
        sleep(HEARTBEAT).await;
        let (Some(members), Some(session)) = (members.upgrade(), session.upgrade()) else { return };
        if session.connection.is_closed() {
            return;
        }
        // From the member's own state: a cluster that is slow to agree is not better served by another member.
        let question = RangeRequest { serializable: true, ..members.question.clone() };
        let token = session.token();
        let mut served = session.status(&question, HEARTBEAT).await.map(|status| members.observe(status));
        if let Err(fault) = &served
            && fault.is_stale_token()
            && members.user.is_some()
        {
            served = session.renew(members.user.as_ref(), &token).await;
        }
        let Err(fault) = served else { continue };
        tracing::warn!(%fault, "a member of etcd does not serve any more; connecting to the next one");
        session.connection.close();
    }
}

/// The reasons why no member could be used.
pub(super) fn texts(errors: &[(String, NoSession)]) -> String {
    let texts: Vec<_> = errors.iter().map(|(url, why)| format!("{url}: {}", why.text())).collect();
    texts.join("; ")
}

/// A random number, so that the servers of a cluster use different members.
fn random_below(count: usize) -> usize {
    let number = getrandom::u32().unwrap_or_default();
    usize::try_from(number).unwrap_or_default() % count.max(1)
}
