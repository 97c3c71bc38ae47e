//! The file that names the issuers of ID tokens and says who may be anonymous. It is followed, so that changes hold without a restart.

use std::{path::PathBuf, sync::Arc};

use super::{Error, Result, files::FileWatcher};
use crate::{
    auth::{
        AnonymousAccess, CurrentAnonymousAccess,
        oidc::{Fetch, IdTokens},
    },
    files::{self, Limits},
    webhook::Getter,
};

/// Reads the file. ID tokens and anonymous access change with it once it is watched. `set` is what the builder says about anonymous
/// access.
pub(super) fn open(
    path: PathBuf,
    set: Option<AnonymousAccess>,
    anonymous: &Arc<CurrentAnonymousAccess>,
) -> Result<(Arc<IdTokens>, FileWatcher)> {
    let id_tokens = Arc::new(IdTokens::default());
    let (current, anonymous, paths) = (Arc::clone(&id_tokens), Arc::clone(anonymous), vec![path.clone()]);
    let watcher = FileWatcher::open("authentication configuration", paths, move || {
        let failed = |why: String| Error::AuthenticationConfiguration(path.clone(), why);
        let text = files::read_text(&path, &Limits::default()).map_err(|error| failed(error.to_string()))?;
        let access = current.replace(&text, set.is_some(), &connect).map_err(failed)?;
        anonymous.replace(access.or_else(|| set.clone()).unwrap_or_default());
        Ok(())
    })?;
    Ok((id_tokens, watcher))
}

fn connect(authorities: &str) -> Result<Arc<dyn Fetch>, String> {
    Getter::new(authorities).map(|client| Arc::new(client) as Arc<dyn Fetch>)
}
