//! What a token of a service account says, in kube-apiserver's form.
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::auth::{User, authenticate::AUDIENCE as ISSUER};

/// How far the clocks of servers may differ, in seconds.
pub(super) const LEEWAY: i64 = 60;

/// An object by its name and uid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectReference {
    pub name: String,
    pub uid: String,
}

/// The object that a token is bound to: it is valid as long as that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoundObject {
    /// `Secret`, `Pod` or `Node`.
    pub kind: String,
    pub object: ObjectReference,
}

/// The claims of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub namespace: String,
    pub account: ObjectReference,
    pub bound: Option<BoundObject>,
    /// Whom the token is meant for; at least one.
    pub audiences: Vec<String>,
    /// The first and the last second of its validity, since 1970.
    pub issued: i64,
    pub expires: i64,
    /// A unique id.
    pub id: String,
}

impl Claims {
    pub(super) fn to_json(&self) -> Value {
        let Self { namespace, account, bound, audiences, issued, expires, id } = self;
        let named = |object: &ObjectReference| json!({"name": object.name, "uid": object.uid});
        let mut private = json!({"namespace": namespace, "serviceaccount": named(account)});
        if let Some(bound) = bound {
            private[bound.kind.to_lowercase()] = named(&bound.object);
        }
        json!({
            "aud": audiences, "exp": expires, "iat": issued, "iss": ISSUER, "jti": id, "kubernetes.io": private, "nbf": issued,
            "sub": User::service_account_name(namespace, &account.name),
        })
    }

    /// The claims of a token that says all that ours say.
    pub(super) fn from_json(claims: &Value) -> Option<Self> {
        let private = &claims["kubernetes.io"];
        let named = |value: &Value| {
            let text = |name: &str| value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            Some(ObjectReference { name: text("name")?, uid: text("uid")? })
        };
        let (namespace, account) = (private["namespace"].as_str()?.to_owned(), named(&private["serviceaccount"])?);
        let bound = ["Secret", "Pod", "Node"].into_iter().find_map(|kind| {
            let object = private.get(kind.to_lowercase())?;
            Some(named(object).map(|object| BoundObject { kind: kind.to_owned(), object }))
        });
        let audiences = claims["aud"].as_array()?.iter().map(|one| one.as_str().map(str::to_owned));
        let claimed = Self {
            bound: match bound {
                Some(bound) => Some(bound?),
                None => None,
            },
            audiences: audiences.collect::<Option<_>>()?,
            issued: claims["nbf"].as_i64()?,
            expires: claims["exp"].as_i64()?,
            id: claims["jti"].as_str()?.to_owned(),
            namespace,
            account,
        };
        let subject = User::service_account_name(&claimed.namespace, &claimed.account.name);
        (claims["sub"].as_str() == Some(&subject)).then_some(claimed)
    }

    /// Checks that the token is valid at a time, in seconds since 1970. Fails with the reason.
    pub(super) fn check_time(&self, now: i64) -> Result<(), &'static str> {
        if now > self.expires.saturating_add(LEEWAY) {
            return Err("it has expired");
        }
        if now < self.issued.saturating_sub(LEEWAY) { Err("it is not valid yet") } else { Ok(()) }
    }

    /// The account as a user.
    pub(super) fn user(&self) -> User {
        let of = |key: &str, value: &str| (format!("authentication.kubernetes.io/{key}"), vec![value.to_owned()]);
        let mut extra = BTreeMap::from([of("credential-id", &format!("JTI={}", self.id))]);
        if let Some(BoundObject { kind, object }) = self.bound.as_ref().filter(|bound| bound.kind != "Secret") {
            let kind = kind.to_lowercase();
            extra.extend([of(&format!("{kind}-name"), &object.name), of(&format!("{kind}-uid"), &object.uid)]);
        }
        let groups = vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{}", self.namespace),
            User::AUTHENTICATED.to_owned(),
        ];
        let name = User::service_account_name(&self.namespace, &self.account.name);
        User { name, uid: self.account.uid.clone(), groups, extra }
    }
}
