//! `TokenRequest`: the subresource `token` of service accounts, which `kubectl create token` uses.
use std::sync::{Arc, OnceLock, Weak};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Accounts, ObjectIdentity, bound_resource,
    claims::{BoundObject, Claims, ObjectReference},
};
use crate::{
    ApiType, ObjectMeta, Resource,
    auth::authenticate::AUDIENCE as ISSUER,
    builtin::ServiceAccount,
    handlers::{Parent, Refusal, Result, Subresource, post},
    meta::{FieldError, FieldErrorKind, FieldPath, GroupKind, Status, Time, uid::uid},
};

/// TokenRequest requests a token for a given service account.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authentication.k8s.io", version = "v1", builtin, unstored)]
pub struct TokenRequest {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Information about the request being evaluated.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: TokenRequestSpec,
    /// Filled in by the server: the token.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: TokenRequestStatus,
}

/// TokenRequestSpec contains client provided parameters of a token request.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct TokenRequestSpec {
    /// The intended audiences of the token. A recipient of a token must identify itself with an identifier in the list of
    /// audiences of the token, and otherwise should reject the token. A token issued for multiple audiences may be used to
    /// authenticate against any of the audiences listed but implies a high degree of trust between the target audiences.
    #[serde(default)]
    #[api(proto = 1)]
    pub audiences: Vec<String>,
    /// The requested duration of validity of the request in seconds. The issuer may return a token with a different validity
    /// duration, so a client needs to check the `expiration` field in a response.
    #[api(proto = 4)]
    pub expiration_seconds: Option<i64>,
    /// A reference to an object that the token will be bound to. The token will only be valid for as long as the bound object
    /// exists.
    #[api(proto = 3, nullable)]
    pub bound_object_ref: Option<BoundObjectReference>,
}

/// BoundObjectReference is a reference to an object that a token is bound to.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct BoundObjectReference {
    /// The kind of the referent: `Pod`, `Secret` or `Node`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub kind: String,
    /// The API version of the referent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub api_version: String,
    /// The name of the referent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub name: String,
    /// The uid of the referent.
    #[serde(default, skip_serializing_if = "String::is_empty", rename = "uid")]
    #[api(proto = 4)]
    pub uid: String,
}

/// TokenRequestStatus is the result of a token request.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct TokenRequestStatus {
    /// The opaque bearer token.
    #[serde(default)]
    #[api(proto = 1)]
    pub token: String,
    /// The time of expiration of the token.
    #[api(proto = 2, proto_zero)]
    pub expiration_timestamp: Option<Time>,
}

/// The seconds of validity if nothing is said, and the shortest and longest that may be said.
const USUAL: i64 = 60 * 60;
const SHORTEST: i64 = 10 * 60;
const LONGEST: i64 = 1 << 32;

/// The issuer of tokens, once the server has its keys, and as long as it runs.
pub(crate) type Issuer = Arc<OnceLock<Weak<Accounts>>>;

/// The subresource.
pub(crate) fn subresource(issuer: &Issuer) -> Subresource<ServiceAccount> {
    let issuer = issuer.clone();
    post(move |account: Parent<ServiceAccount>, request: TokenRequest| {
        let issuer = issuer.clone();
        async move {
            let accounts = issuer.get().ok_or_else(|| Refusal::internal("the server is starting"))?;
            let accounts = accounts.upgrade().ok_or_else(|| Refusal::internal("the server is stopping"))?;
            issue(&accounts, &account, request)
        }
    })
}

fn issue(accounts: &Accounts, account: &Parent<ServiceAccount>, mut request: TokenRequest) -> Result<TokenRequest> {
    let seconds = *request.spec.expiration_seconds.get_or_insert(USUAL);
    check(seconds)?;
    if request.spec.audiences.is_empty() {
        request.spec.audiences.push(ISSUER.to_owned());
    }
    let identity = account.identity();
    let bound = request.spec.bound_object_ref.as_ref().map(|reference| bound(accounts, &identity, reference));
    let now = Time::now();
    let claims = Claims {
        namespace: identity.namespace.clone(),
        account: ObjectReference { name: identity.name.clone(), uid: identity.uid.clone() },
        bound: bound.transpose()?,
        audiences: request.spec.audiences.clone(),
        issued: now.parts().0,
        expires: now.parts().0.saturating_add(seconds),
        id: uid().map_err(Refusal::internal)?,
    };
    request.metadata = ObjectMeta { creation_timestamp: Some(now), resource_version: String::new(), ..identity };
    let expiration_timestamp = Some(now.plus_seconds(seconds));
    // Nothing is signed in a dry run, as in kube-apiserver.
    let token = if account.context().dry_run { String::new() } else { accounts.sign(&claims) };
    request.status = TokenRequestStatus { token, expiration_timestamp };
    Ok(request)
}

/// Checks the seconds of validity.
fn check(seconds: i64) -> Result<()> {
    let why = match seconds {
        ..SHORTEST => "may not specify a duration less than 10 minutes",
        LONGEST.. if seconds > LONGEST => "may not specify a duration larger than 2^32 seconds",
        _ => return Ok(()),
    };
    let path = FieldPath::new("spec.expirationSeconds");
    let errors = [FieldError::new(&path, FieldErrorKind::Invalid(json!(seconds)), why)];
    let kind = GroupKind { group: "authentication.k8s.io".to_owned(), kind: "TokenRequest".to_owned() };
    Err(Status::invalid(&kind, "", &errors).into())
}

/// The object that a token shall be bound to, which must exist.
fn bound(accounts: &Accounts, account: &ObjectMeta, reference: &BoundObjectReference) -> Result<BoundObject> {
    let BoundObjectReference { kind, api_version, name, uid } = reference;
    let api = accounts.api.upgrade().ok_or_else(|| Refusal::internal("the server is stopping"))?;
    let resource = bound_resource(&api, kind).filter(|_| api_version == "v1");
    let Some(resource) = resource else {
        let what = format!("{api_version}, Kind={kind}");
        return Err(Refusal::bad_request(format!("cannot bind token for serviceaccount to object of type {what}")));
    };
    let key = if kind == "Node" { name.clone() } else { format!("{}/{name}", account.namespace) };
    let Some(object) = resource.objects.snapshot().get(&key) else {
        return Err(Refusal::not_found(format!("{} {name:?} not found", resource.kind.group_resource())));
    };
    let found = ObjectIdentity::of(&object).uid;
    if !uid.is_empty() && *uid != found {
        return Err(Refusal::conflict(format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted \
             and then recreated"
        )));
    }
    if kind == "Pod" {
        let pod: Value = serde_json::from_slice(object.json_bytes()).unwrap_or_default();
        if pod["spec"]["serviceAccountName"].as_str().unwrap_or_default() != account.name {
            return Err(Refusal::bad_request(format!(
                "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
                account.name
            )));
        }
    }
    Ok(BoundObject { kind: kind.clone(), object: ObjectReference { name: name.clone(), uid: found } })
}
