//! Opening: the connection to a member, what the user may do, and the present revisions.

use std::{sync::Arc, time::Instant};

use super::{
    OPENED_WITHIN,
    connection::ConnectError,
    copy_note,
    engine::Engine,
    error::EtcdError,
    history,
    members::{NoSession, PAUSE, TRIED_FOR, texts},
};
use crate::ReadError;

/// Connects to a member.
pub(super) async fn connect(engine: &Engine) -> Result<(), EtcdError> {
    let start = Instant::now();
    while let Err(failed) = engine.members.session().await {
        let error = cannot_connect(&engine.members.user(), &failed);
        // etcd may be starting, too.
        if !matches!(error, EtcdError::Unreachable(_)) || start.elapsed() > TRIED_FOR {
            return Err(error);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Connects, and learns the present revisions.
pub(super) async fn begin(engine: Arc<Engine>) -> Result<(), EtcdError> {
    let start = Instant::now();
    loop {
        let learned = learn(&engine).await;
        // A cluster that has just lost its leader answers with errors until it has elected another.
        if !matches!(learned, Err(EtcdError::Failed(_))) || start.elapsed() + TRIED_FOR > OPENED_WITHIN {
            return learned;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Connects, and learns the present revisions, without a second try.
async fn learn(engine: &Arc<Engine>) -> Result<(), EtcdError> {
    connect(engine).await?;
    let (user, prefix) = (engine.members.user(), engine.keys.prefix().to_owned());
    match copy_note::read(Arc::clone(engine)).await {
        Ok(None) => {}
        Ok(Some(_)) => return Err(EtcdError::Unfinished { prefix }),
        Err(fault) if fault.is_forbidden() => return Err(EtcdError::Forbidden { user, prefix }),
        Err(fault) if fault.lacks_user() => return Err(EtcdError::UserRequired),
        Err(fault) => return Err(EtcdError::Failed(fault.to_string())),
    }
    match engine.mark().await {
        Ok(_) => {}
        Err(fault) if fault.is_forbidden() => return Err(EtcdError::Forbidden { user, prefix }),
        Err(fault) if fault.lacks_user() => return Err(EtcdError::UserRequired),
        // It can be read.
        Err(fault) if fault.is_full() => tracing::error!(%fault, "etcd is full: nothing can be written"),
        Err(fault) => return Err(EtcdError::Failed(fault.to_string())),
    }
    let failed = |error: ReadError| EtcdError::Failed(error.to_string());
    engine.newest().await.map_err(failed)?;
    let compacted = history::compacted(engine).await.map_err(failed)?;
    engine.position.saw_compaction(compacted);
    Ok(())
}

/// The reason why no member could be used.
fn cannot_connect(user: &str, failed: &[(String, NoSession)]) -> EtcdError {
    for (url, why) in failed {
        match why {
            NoSession::Connect(ConnectError::Certificate(why)) => {
                return EtcdError::Certificate(format!("{url}: {why}"));
            }
            NoSession::Fault(fault) if fault.is_wrong_password() => {
                return EtcdError::Password { user: user.to_owned(), message: fault.to_string() };
            }
            NoSession::Fault(fault) if fault.lacks_user() => return EtcdError::UserRequired,
            NoSession::Fault(fault) if fault.is_alert() => {
                return EtcdError::Certificate(format!("{url}: {fault}"));
            }
            _ => {}
        }
    }
    EtcdError::Unreachable(texts(failed))
}
