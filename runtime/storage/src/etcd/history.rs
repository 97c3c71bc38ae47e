//! Past changes, read with a watch that ends.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    engine::Engine,
    fault::Fault,
    members::Again,
    proto::{RangeRequest, RangeResponse, path},
    watch::{PreviousValues, Watch, WatchError},
};
use crate::{Change, ReadError, meta::Revision};

/// How long the next changes may take.
const NEXT_WITHIN: Duration = Duration::from_secs(10);
/// How often a watch that breaks is begun again.
const TRIES: usize = 3;

/// At most `limit` changes after a revision. Changes of one revision stay together.
pub(super) async fn changes(engine: &Arc<Engine>, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
    let compacted = engine.position.compacted();
    if after < compacted {
        return Err(ReadError::Compacted(compacted));
    }
    // A state that was read may be newer than what the sink has, and then its changes must not be missing here.
    let known = engine.position.known();
    engine.position.want(known);
    let late =
        |_| ReadError::Unreachable(format!("changes up to revision {known} have not come within {NEXT_WITHIN:?}"));
    timeout(NEXT_WITHIN, engine.position.delivered(known)).await.map_err(late)?;
    let end = match engine.position.changed() {
        Some(changed) => changed,
        None => engine.mark().await.map_err(|fault| fault.of_read())?,
    };
    let (mut found, mut at) = (Vec::new(), after);
    for tries in 1.. {
        match read(engine, &mut found, &mut at, end, limit).await {
            Ok(()) => break,
            Err(WatchError::Compacted(compacted)) => {
                return Err(ReadError::Compacted(engine.position.saw_compaction(compacted.max(after.next()))));
            }
            Err(WatchError::Broken(why)) if tries == TRIES => return Err(ReadError::Unreachable(why)),
            Err(WatchError::Broken(_)) => {}
        }
    }
    if let Some(cut) = found.get(limit).map(|change| change.revision) {
        let whole = found.partition_point(|change| change.revision < cut);
        let first = found.first().map_or(cut, |change| change.revision);
        let first = found.partition_point(|change| change.revision <= first);
        found.truncate(whole.max(first));
    }
    Ok(found)
}

/// Reads on from `at` until there are enough changes, or the end is reached.
async fn read(
    engine: &Arc<Engine>,
    found: &mut Vec<Change>,
    at: &mut Revision,
    end: Revision,
    limit: usize,
) -> Result<(), WatchError> {
    if *at >= end || limit == 0 {
        return Ok(());
    }
    let mut watch = Watch::open(engine, *at, PreviousValues::Read, None).await?;
    while *at < end && found.len() <= limit {
        let news = timeout(NEXT_WITHIN, watch.next()).await;
        let news = news.map_err(|_| WatchError::Broken(format!("no changes within {NEXT_WITHIN:?}")))??;
        found.extend(news.changes);
        *at = news.upto.max(*at);
    }
    Ok(())
}

/// The revision up to which history is compacted, as etcd says at present.
pub(super) async fn compacted(engine: &Arc<Engine>) -> Result<Revision, ReadError> {
    let request = RangeRequest { key: engine.keys.marker(), revision: 1, ..RangeRequest::default() };
    let answer: Result<RangeResponse, Fault> = engine.members.call(path::RANGE, &request, Again::Always).await;
    match answer {
        Ok(_) => Ok(Revision(0)),
        Err(fault) if fault.is_compacted() => find_compacted(engine).await,
        Err(fault) => Err(fault.of_read()),
    }
}

/// The revision up to which history is compacted, if it is compacted at all: etcd ends a watch from the
/// beginning with it.
pub(super) async fn find_compacted(engine: &Arc<Engine>) -> Result<Revision, ReadError> {
    let found = async {
        let mut watch = Watch::open(engine, Revision(0), PreviousValues::LeftOut, None).await?;
        loop {
            watch.next().await?;
        }
    };
    let found: Result<Result<Revision, WatchError>, _> = timeout(NEXT_WITHIN, found).await;
    match found {
        Ok(Err(WatchError::Compacted(compacted))) => Ok(engine.position.saw_compaction(compacted)),
        Ok(Err(WatchError::Broken(why))) => Err(ReadError::Unreachable(why)),
        Ok(Ok(_)) | Err(_) => Err(ReadError::Unreachable("etcd has not said which revisions are compacted".to_owned())),
    }
}
