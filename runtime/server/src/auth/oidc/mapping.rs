//! From the claims of a verified token to the user: names, groups, uid and extra by claims or expressions, and the rules that claims and
//! user must fulfil.
use std::collections::BTreeMap;

use kindsmith_cel::Value as CelValue;
use serde_json::{Value, json};

use super::expression::Expression;
use crate::auth::User;

/// The key under which users show which token they have.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
const NO_TEXTS: &str = "expression must return a string or a list of strings";

/// Where a value comes from.
#[derive(Debug)]
pub(super) enum Selector {
    Claim {
        name: String,
        /// Stands before the value; may be empty.
        prefix: String,
    },
    Expression(Expression),
}

/// A condition that must hold, and what is said if it does not.
#[derive(Debug)]
pub(super) struct Rule {
    pub condition: Expression,
    pub message: String,
}

/// How users are made of claims.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    /// There is one in a file without errors.
    pub username: Option<Selector>,
    pub groups: Option<Selector>,
    pub uid: Option<Selector>,
    /// By keys.
    pub extra: Vec<(String, Expression)>,
    /// Claims that must be there, and their values.
    pub required: Vec<(String, String)>,
    /// Conditions over the claims.
    pub claim_rules: Vec<Rule>,
    /// Conditions over the user.
    pub user_rules: Vec<Rule>,
}

impl Mapping {
    /// The user of claims, which are those of a verified token.
    ///
    /// # Errors
    /// Why there is none. Shows no claims.
    pub(super) fn user(&self, claims: &Value) -> Result<User, String> {
        let user = User {
            name: self.name(claims)?,
            groups: self.groups(claims)?,
            uid: self.uid(claims)?,
            extra: self.extra(claims)?,
        };
        for (claim, value) in &self.required {
            match claims.get(claim) {
                None => return Err(format!("required claim {claim} not present in ID token")),
                Some(Value::String(found)) if found == value => {}
                Some(_) => return Err(format!("required claim {claim} value does not match")),
            }
        }
        check(&self.claim_rules, claims)
            .map_err(|why| format!("error evaluating claim validation expression: {why}"))?;
        if !self.user_rules.is_empty() {
            let shown = json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
            check(&self.user_rules, &shown)
                .map_err(|why| format!("error evaluating user info validation rule: {why}"))?;
        }
        Ok(user)
    }

    fn name(&self, claims: &Value) -> Result<String, String> {
        let name = match self.username.as_ref().ok_or("no claim is mapped to the username")? {
            Selector::Claim { name, prefix } => {
                if name == "email"
                    && claims.get("email_verified").is_some_and(|verified| *verified != Value::Bool(true))
                {
                    return Err("email not verified".to_owned());
                }
                let value = text(claims, name).map_err(|why| format!("parse username claims {name:?}: {why}"))?;
                // kube-apiserver lets users without a name in.
                if value.is_empty() { value } else { format!("{prefix}{value}") }
            }
            Selector::Expression(expression) => single(expression, claims, "username")?,
        };
        if name.is_empty() { Err("empty username is not allowed".to_owned()) } else { Ok(name) }
    }

    fn groups(&self, claims: &Value) -> Result<Vec<String>, String> {
        match &self.groups {
            None => Ok(Vec::new()),
            Some(Selector::Claim { name, prefix }) => {
                let of = |group: &Value| group.as_str().map(|group| format!("{prefix}{group}"));
                let groups = match claims.get(name) {
                    None if is_distributed(claims, name) => {
                        return Err("distributed claims are not supported".to_owned());
                    }
                    None | Some(Value::Null) => Some(Vec::new()),
                    Some(Value::Array(groups)) => groups.iter().map(of).collect(),
                    Some(group) => of(group).map(|group| vec![group]),
                };
                groups
                    .ok_or_else(|| format!("parse groups claim {name:?}: it is neither a string nor a list of strings"))
            }
            Some(Selector::Expression(expression)) => {
                let failed = |why| format!("error evaluating group claim expression: {why}");
                expression.evaluate(claims).and_then(|value| texts(&value)).map_err(failed)
            }
        }
    }

    fn uid(&self, claims: &Value) -> Result<String, String> {
        match &self.uid {
            None => Ok(String::new()),
            Some(Selector::Claim { name, .. }) => {
                text(claims, name).map_err(|why| format!("parse uid claim {name:?}: {why}"))
            }
            Some(Selector::Expression(expression)) => single(expression, claims, "uid"),
        }
    }

    fn extra(&self, claims: &Value) -> Result<BTreeMap<String, Vec<String>>, String> {
        let mut extra = BTreeMap::new();
        if let Some(id) = claims["jti"].as_str().filter(|id| !id.is_empty()) {
            extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
        }
        for (key, expression) in &self.extra {
            let failed = |why| format!("error evaluating extra claim expression: {why}");
            let values = expression.evaluate(claims).and_then(|value| texts(&value)).map_err(failed)?;
            if !values.is_empty() {
                extra.insert(key.clone(), values);
            }
        }
        Ok(extra)
    }
}

/// A claim that is text.
fn text(claims: &Value, name: &str) -> Result<String, &'static str> {
    match claims.get(name) {
        None => Err("claim not present"),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err("it is not a string"),
    }
}

/// The text that an expression gives.
fn single(expression: &Expression, claims: &Value, what: &str) -> Result<String, String> {
    let failed = |why: String| format!("error evaluating {what} claim expression: {why}");
    match expression.evaluate(claims).map_err(failed)? {
        CelValue::String(text) => Ok((*text).to_owned()),
        _ => Err(failed(format!("{what} claim expression must return a string"))),
    }
}

/// The texts of a value: of a text or a list of texts, without empty ones. Null has none.
fn texts(value: &CelValue<'_>) -> Result<Vec<String>, String> {
    let one = |value: &CelValue<'_>| match value {
        CelValue::String(text) => Ok((**text).to_owned()),
        _ => Err(NO_TEXTS.to_owned()),
    };
    let mut texts = match value {
        CelValue::Null => Vec::new(),
        CelValue::List(list) => {
            let items = list.iter().map(|item| one(&item.map_err(|error| error.to_string())?));
            items.collect::<Result<_, _>>()?
        }
        value => vec![one(value)?],
    };
    texts.retain(|text: &String| !text.is_empty());
    Ok(texts)
}

/// True if the claim is to be fetched from somewhere else (OpenID Connect Core 1.0, section 5.6.2). A user without such groups could do
/// what a rule denies to them.
fn is_distributed(claims: &Value, claim: &str) -> bool {
    let source = claims["_claim_names"][claim].as_str();
    source.is_some_and(|source| claims["_claim_sources"][source].get("JWT").is_none())
}

fn check(rules: &[Rule], variable: &Value) -> Result<(), String> {
    for Rule { condition, message } in rules {
        if !condition.holds(variable)? {
            return Err(format!("validation expression '{}' failed: {message}", condition.text));
        }
    }
    Ok(())
}
