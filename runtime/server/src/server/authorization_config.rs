//! The authorizers of an AuthorizationConfiguration, in its order. Members of `system:masters` are allowed everything before it. The
//! file is read again when it changes.

mod read;

use std::{path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;

use super::{AuthorizationWebhook, Error, Result, files::FileWatcher};
use crate::{
    auth::{AllowAll, Attributes, Authorize, Decision, Rules, Soon, Union, User, roles::Roles},
    files::{self, Limits},
};

/// An authorizer of the file.
#[derive(Clone, Debug)]
enum Authorizer {
    Rbac,
    Webhook(Box<AuthorizationWebhook>),
    AlwaysAllow,
    AlwaysDeny,
}

/// The authorizers of the file as it was read last.
pub(super) struct ConfiguredAuthorizers(ArcSwap<Union>);

impl ConfiguredAuthorizers {
    /// Reads the file. Returns the authorizers, and the file to watch.
    pub(super) fn open(path: PathBuf, roles: Arc<Roles>) -> Result<(Arc<Self>, FileWatcher)> {
        let authorizers = Arc::new(Self(ArcSwap::from_pointee(Union::default())));
        let (current, paths) = (authorizers.clone(), vec![path.clone()]);
        let watcher = FileWatcher::open("authorizers", paths, move || {
            let failed = |why: String| Error::Authorization(path.clone(), why);
            let text = files::read_text(&path, &Limits::of_file(1 << 20)).map_err(|error| failed(error.to_string()))?;
            let configured = read::authorizers(&text).map_err(|errors| failed(errors.join("; ")))?;
            let opened = configured.iter().map(|one| one.open(&roles)).collect::<Result<Vec<_>>>();
            let opened = opened.map_err(|error| failed(error.to_string()))?;
            current.0.store(Arc::new(Union::new(opened)));
            Ok(())
        })?;
        Ok((authorizers, watcher))
    }
}

impl Authorizer {
    fn open(&self, roles: &Arc<Roles>) -> Result<Box<dyn Authorize>> {
        Ok(match self {
            Self::Rbac => Box::new(roles.clone()),
            Self::Webhook(webhook) => Box::new(webhook.open()?),
            Self::AlwaysAllow => Box::new(AllowAll),
            Self::AlwaysDeny => Box::new(AlwaysDeny),
        })
    }
}

impl Authorize for ConfiguredAuthorizers {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let authorizers = self.0.load_full();
        // Most decisions are made at once. Others are made again in the future that keeps the authorizers; nothing was sent yet.
        if let Soon::Now(decision) = authorizers.authorize(attributes) {
            return Soon::Now(decision);
        }
        Soon::later(async move { authorizers.authorize(attributes).await })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> Soon<'a, Rules> {
        let authorizers = self.0.load_full();
        Soon::later(async move { authorizers.rules(user, namespace).await })
    }
}

/// Allows nothing. Authorizers after it may, as in kube-apiserver.
struct AlwaysDeny;

impl Authorize for AlwaysDeny {
    fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(Decision::NoOpinion("Everything is forbidden.".to_owned()))
    }

    fn rules<'a>(&'a self, _user: &'a User, _namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(Rules::default())
    }
}
