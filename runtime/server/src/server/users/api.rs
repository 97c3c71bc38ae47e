//! The API of a server: a running one over HTTPS, or a stopped one whose store is opened in this process.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use serde_json::Value;

use super::{Result, Target, UserError, credential::Issued, kubeconfig};
use crate::{
    App, Error, Server,
    auth::User,
    http::{self, Caller},
    storage::OpenError,
    upstream::{client::Client, kubeconfig::Endpoint},
};

/// How long a request may take.
const WITHIN: Duration = Duration::from_secs(30);
/// The maximum size of an answer in bytes.
const LARGEST: usize = 16 << 20;
/// The file of the store.
const STORE: &str = "store.redb";

pub(super) enum Api {
    Running(Box<Client>),
    Stopped(Box<App>),
}

impl Api {
    /// The server of a target. A data directory that no other process has locked belongs to a stopped server.
    pub(super) async fn open(target: &Target) -> Result<Self> {
        if let Some(file) = &target.kubeconfig {
            return Self::running(kubeconfig::read(file)?);
        }
        let dir = target.data_dir.as_ref().ok_or("neither a data directory nor a kubeconfig is named")?;
        if dir.join(STORE).is_file() {
            let stopped = Server::builder().definitions().without_builtin_controllers().data_dir(dir).build().await;
            match stopped {
                Ok(app) => return Ok(Self::Stopped(Box::new(app))),
                Err(Error::Store(OpenError::InUse { .. })) => {}
                Err(error) => return Err(error.to_string().into()),
            }
        }
        Self::running(kubeconfig::of_data_dir(dir)?)
    }

    fn running(endpoint: Endpoint) -> Result<Self> {
        let failed = |why: String| format!("the server of the kubeconfig cannot be used: {why}");
        Ok(Self::Running(Box::new(Client::new(endpoint).map_err(failed)?)))
    }

    /// Sends a request with a JSON body, or without one for null. Returns the status and the body.
    pub(super) async fn call(&self, method: &str, path: &str, body: Value) -> Result<(u16, Value)> {
        match self {
            Self::Running(client) => call(client, method, path, &body).await,
            Self::Stopped(app) => {
                let user = User::system();
                let answer = http::call(&app.service(), Caller::User(&user), method, path, &body).await;
                Ok((answer.code, answer.body))
            }
        }
    }

    /// Asks a running server who it takes the user for.
    pub(super) async fn check_login(&self, issued: &Issued) -> Result<()> {
        let Self::Running(client) = self else { return Ok(()) };
        let untrusted = |found: &str| {
            format!(
                "the server does not accept the new credentials ({found}); a program whose client_ca() names another file does not \
                 trust client-ca.crt: sign certificates with that authority, or use a token"
            )
        };
        let client = client.with_user(&issued.entry)?;
        let review = serde_json::json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let asked = call(&client, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", &review).await;
        let (code, answer) = asked.map_err(|error| untrusted(&error.to_string()))?;
        match answer["status"]["userInfo"]["username"].as_str() {
            Some(found) if found == issued.user => Ok(()),
            // It may serve no such reviews.
            _ if code == 404 => Ok(()),
            Some(found) => Err(untrusted(&format!("it takes the user for {found:?}")).into()),
            None => Err(untrusted(&message(code, &answer)).into()),
        }
    }

    /// Closes the store, if it was opened.
    pub(super) async fn close(self) {
        if let Self::Stopped(app) = self {
            app.stop().await;
        }
    }
}

/// Sends a request to a running server.
pub(super) async fn call(client: &Client, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
    let failed = |why: String| format!("the server at {} cannot be reached: {why}; is it running?", client.url());
    let method = Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let (code, text) = client.exchange(&method, path, body, (WITHIN, LARGEST)).await.map_err(failed)?;
    Ok((code, serde_json::from_slice(&text).unwrap_or_else(|_| String::from_utf8_lossy(&text).into())))
}

/// What a server says of a request that failed.
pub(super) fn message(code: u16, answer: &Value) -> String {
    answer["message"].as_str().map_or_else(|| format!("it answered with status {code}"), str::to_owned)
}

/// The error for a request that failed.
pub(super) fn refused(doing: &str, code: u16, answer: &Value) -> UserError {
    let way_out = if code == 403 { "; use the kubeconfig of an administrator" } else { "" };
    format!("{doing}: {}{way_out}", message(code, answer)).into()
}
