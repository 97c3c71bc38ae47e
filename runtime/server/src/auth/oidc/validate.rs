//! Checks the file by kube-apiserver's rules, in its words and order, and compiles its expressions.
use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Connect,
    configuration::{
        ClaimMappings, ClaimValidationRule, Configuration, IssuerSettings, JwtAuthenticator, PrefixedClaimOrExpression,
        UserValidationRule,
    },
    expression::{Environments, Expression},
    issuer::{CheckedIssuer, KeySource},
    mapping::{Mapping, Rule, Selector},
};
use crate::{
    auth::authenticate::AUDIENCE,
    meta::{FieldError, FieldErrorKind, FieldPath, url::Url, validate::subdomain},
};

/// The most issuers of a file.
const MOST_ISSUERS: usize = 64;
/// Signs the tokens of service accounts itself, so that no other issuer may have its name.
const DISALLOWED: [&str; 1] = [AUDIENCE];

const BOTH: &str = "claim and expression can't both be set";
const NEITHER: &str = "claim or expression is required";
const NO_PREFIX: &str = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
const WITH_EXPRESSION: &str = "may not be specified when expression is set";
const UNVERIFIED_EMAIL: &str = "claims.email_verified must be used in claimMappings.username.expression or \
     claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in \
     claimMappings.username.expression";
const INVALID_PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/// The errors found so far.
#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn required(&mut self, path: &FieldPath, detail: &str) {
        self.0.push(FieldError::new(path, FieldErrorKind::Required, detail));
    }

    fn invalid(&mut self, path: &FieldPath, value: impl Into<Value>, detail: impl Into<String>) {
        self.0.push(FieldError::new(path, FieldErrorKind::Invalid(value.into()), detail));
    }

    fn duplicate(&mut self, path: &FieldPath, value: &str) {
        self.0.push(FieldError::new(path, FieldErrorKind::Duplicate(value.into()), ""));
    }

    /// A compiled expression, or none if it has errors.
    fn compiled(&mut self, path: &FieldPath, text: &str, result: Result<Expression, String>) -> Option<Expression> {
        result.map_err(|detail| self.invalid(path, text, detail)).ok()
    }
}

/// Checks a file; returns what it says of issuers.
///
/// # Errors
/// All errors.
pub(super) fn check(
    configuration: &Configuration,
    connect: Connect<'_>,
) -> Result<Vec<CheckedIssuer>, Vec<FieldError>> {
    let (root, given) = (FieldPath::new("jwt"), configuration.jwt.len());
    if given > MOST_ISSUERS {
        return Err(vec![FieldError::new(&root, FieldErrorKind::TooMany { given, limit: 64 }, "")]);
    }
    let (mut errors, environments) = (Errors::default(), Environments::default());
    let (mut urls, mut discovery_urls, mut checked) = (HashSet::new(), HashSet::new(), Vec::new());
    for (index, authenticator) in configuration.jwt.iter().enumerate() {
        let path = root.index(index);
        checked.extend(check_authenticator(&environments, authenticator, &path, connect, &mut errors));
        let (issuer, path) = (&authenticator.issuer, path.child("issuer"));
        if !urls.insert(&issuer.url) {
            errors.duplicate(&path.child("url"), &issuer.url);
        }
        if !issuer.discovery_url.is_empty() && !discovery_urls.insert(&issuer.discovery_url) {
            errors.duplicate(&path.child("discoveryURL"), &issuer.discovery_url);
        }
    }
    if let Some(anonymous) = configuration.anonymous.as_ref().filter(|anonymous| !anonymous.enabled)
        && !anonymous.conditions.is_empty()
    {
        let conditions: Vec<Value> = anonymous.conditions.iter().map(|one| json!({"path": one.path})).collect();
        let detail = "enabled should be set to true when conditions are defined";
        errors.invalid(&FieldPath::new("anonymous.conditions"), conditions, detail);
    }
    if errors.0.is_empty() { Ok(checked) } else { Err(errors.0) }
}

fn check_authenticator(
    environments: &Environments,
    authenticator: &JwtAuthenticator,
    path: &FieldPath,
    connect: Connect<'_>,
    errors: &mut Errors,
) -> Option<CheckedIssuer> {
    let JwtAuthenticator { issuer, claim_validation_rules, claim_mappings, user_validation_rules } = authenticator;
    let source = check_issuer(issuer, &path.child("issuer"), connect, errors);
    let mut mapping = Mapping::default();
    let at = path.child("claimValidationRules");
    check_claim_rules(environments, claim_validation_rules, &at, &mut mapping, errors);
    check_mappings(environments, claim_mappings, &path.child("claimMappings"), &mut mapping, errors);
    let at = path.child("userValidationRules");
    mapping.user_rules = check_user_rules(environments, user_validation_rules, &at, errors);
    Some(CheckedIssuer { source: source?, audiences: issuer.audiences.clone(), mapping })
}

fn check_issuer(
    issuer: &IssuerSettings,
    path: &FieldPath,
    connect: Connect<'_>,
    errors: &mut Errors,
) -> Option<KeySource> {
    let IssuerSettings { url, discovery_url, certificate_authority, audiences, .. } = issuer;
    let at = path.child("url");
    if url.is_empty() {
        errors.required(&at, "");
    } else {
        if DISALLOWED.contains(&url.as_str()) {
            let detail = format!("URL must not overlap with disallowed issuers: [{}]", DISALLOWED.join(" "));
            errors.invalid(&at, url.as_str(), detail);
        }
        check_url(url, &at, errors);
    }
    let at = path.child("discoveryURL");
    if !discovery_url.is_empty() {
        if !url.is_empty() && url.trim_end_matches('/') == discovery_url.trim_end_matches('/') {
            errors.invalid(&at, discovery_url.as_str(), "discoveryURL must be different from URL");
        }
        check_url(discovery_url, &at, errors);
    }
    check_audiences(audiences, &issuer.audience_match_policy, path, errors);
    let client = connect(certificate_authority);
    if client.is_err() {
        let detail = "data does not contain any valid RSA or ECDSA certificates";
        errors.invalid(&path.child("certificateAuthority"), "<omitted>", detail);
    }
    if !issuer.egress_selector_type.is_empty() {
        let detail = "egress selectors are not supported by this server; leave the field out";
        errors.invalid(&path.child("egressSelectorType"), issuer.egress_selector_type.as_str(), detail);
    }
    let (issuer, discovery_url) = (url.clone(), discovery_url.clone());
    Some(KeySource {
        issuer,
        discovery_url,
        certificate_authority: certificate_authority.clone(),
        client: client.ok()?,
    })
}

fn check_url(url: &str, path: &FieldPath, errors: &mut Errors) {
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(why) => return errors.invalid(path, url, format!("parse {url:?}: {why}")),
    };
    let rules = [
        (parsed.scheme != "https", "URL scheme must be https"),
        (parsed.user.is_some(), "URL must not contain a username or password"),
        (!parsed.query.is_empty(), "URL must not contain a query"),
        (!parsed.fragment.is_empty(), "URL must not contain a fragment"),
    ];
    for (_, detail) in rules.into_iter().filter(|(is_wrong, _)| *is_wrong) {
        errors.invalid(path, url, detail);
    }
}

fn check_audiences(audiences: &[String], policy: &str, path: &FieldPath, errors: &mut Errors) {
    let at = path.child("audiences");
    if audiences.is_empty() {
        return errors.required(&at, &format!("at least one {at} is required"));
    }
    let mut seen = HashSet::new();
    for (index, audience) in audiences.iter().enumerate() {
        if audience.is_empty() {
            errors.required(&at.index(index), "");
        }
        if !seen.insert(audience) {
            errors.duplicate(&at.index(index), audience);
        }
    }
    let at = path.child("audienceMatchPolicy");
    if audiences.len() > 1 && policy != "MatchAny" {
        errors.invalid(&at, policy, "audienceMatchPolicy must be MatchAny for multiple audiences");
    }
    if audiences.len() == 1 && !matches!(policy, "" | "MatchAny") {
        errors.invalid(&at, policy, "audienceMatchPolicy must be empty or MatchAny for single audience");
    }
}

fn check_claim_rules(
    environments: &Environments,
    rules: &[ClaimValidationRule],
    path: &FieldPath,
    mapping: &mut Mapping,
    errors: &mut Errors,
) {
    let (mut claims, mut expressions) = (HashSet::new(), HashSet::new());
    for (index, rule) in rules.iter().enumerate() {
        let (at, ClaimValidationRule { claim, required_value, expression, message }) = (path.index(index), rule);
        match (claim.is_empty(), expression.is_empty()) {
            (false, false) => errors.invalid(&at, claim.as_str(), BOTH),
            (true, true) => errors.required(&at, NEITHER),
            (false, true) => {
                if !message.is_empty() {
                    errors.invalid(&at.child("message"), message.as_str(), "may not be specified when claim is set");
                }
                if !claims.insert(claim) {
                    errors.duplicate(&at.child("claim"), claim);
                }
                mapping.required.push((claim.clone(), required_value.clone()));
            }
            (true, false) => {
                if !required_value.is_empty() {
                    errors.invalid(&at.child("requiredValue"), required_value.as_str(), WITH_EXPRESSION);
                }
                let at = at.child("expression");
                if !expressions.insert(expression) {
                    errors.duplicate(&at, expression);
                    continue;
                }
                let compiled = errors.compiled(&at, expression, environments.claims_condition(expression));
                mapping.claim_rules.extend(compiled.map(|condition| Rule { condition, message: message.clone() }));
            }
        }
    }
}

fn check_user_rules(
    environments: &Environments,
    rules: &[UserValidationRule],
    path: &FieldPath,
    errors: &mut Errors,
) -> Vec<Rule> {
    let (mut expressions, mut compiled) = (HashSet::new(), Vec::new());
    for (index, UserValidationRule { expression, message }) in rules.iter().enumerate() {
        let at = path.index(index).child("expression");
        if expression.is_empty() {
            errors.required(&at, "");
        } else if !expressions.insert(expression) {
            errors.duplicate(&at, expression);
        } else {
            let condition = errors.compiled(&at, expression, environments.user_condition(expression));
            compiled.extend(condition.map(|condition| Rule { condition, message: message.clone() }));
        }
    }
    compiled
}

fn check_mappings(
    environments: &Environments,
    mappings: &ClaimMappings,
    path: &FieldPath,
    mapping: &mut Mapping,
    errors: &mut Errors,
) {
    let ClaimMappings { username, groups, uid, extra } = mappings;
    mapping.username = check_prefixed(environments, username, &path.child("username"), true, errors);
    mapping.groups = check_prefixed(environments, groups, &path.child("groups"), false, errors);
    let at = path.child("uid");
    mapping.uid = match (uid.claim.is_empty(), uid.expression.is_empty()) {
        (false, false) => {
            errors.invalid(&at, "", BOTH);
            None
        }
        (true, true) => None,
        (false, true) => Some(Selector::Claim { name: uid.claim.clone(), prefix: String::new() }),
        (true, false) => {
            let compiled = environments.mapping(&uid.expression);
            errors.compiled(&at.child("expression"), &uid.expression, compiled).map(Selector::Expression)
        }
    };
    let mut keys = HashSet::new();
    for (index, one) in extra.iter().enumerate() {
        let (at, key) = (path.child("extra").index(index), &one.key);
        check_extra_key(key, &at.child("key"), errors);
        if !keys.insert(key) {
            errors.duplicate(&at.child("key"), key);
            continue;
        }
        let (at, text) = (at.child("valueExpression"), &one.value_expression);
        if text.is_empty() {
            errors.required(&at, "");
            continue;
        }
        let compiled = errors.compiled(&at, text, environments.mapping(text));
        mapping.extra.extend(compiled.map(|expression| (key.clone(), expression)));
    }
    let Some(Selector::Expression(name)) = &mapping.username else { return };
    let rules = mapping.claim_rules.iter().map(|rule| &rule.condition);
    let mut checking = rules.chain(mapping.extra.iter().map(|(_, value)| value)).chain([name]);
    if name.uses_email && !checking.any(|expression| expression.uses_email_verified) {
        errors.invalid(&path.child("username").child("expression"), name.text.as_str(), UNVERIFIED_EMAIL);
    }
}

fn check_prefixed(
    environments: &Environments,
    mapping: &PrefixedClaimOrExpression,
    path: &FieldPath,
    is_required: bool,
    errors: &mut Errors,
) -> Option<Selector> {
    let PrefixedClaimOrExpression { claim, prefix, expression } = mapping;
    match (claim.is_empty(), expression.is_empty()) {
        (false, false) => errors.invalid(path, "", BOTH),
        (true, true) if is_required => errors.required(path, NEITHER),
        (true, true) => {}
        (true, false) => {
            if let Some(prefix) = prefix {
                errors.invalid(&path.child("prefix"), prefix.as_str(), WITH_EXPRESSION);
            }
            let compiled = environments.mapping(expression);
            return errors.compiled(&path.child("expression"), expression, compiled).map(Selector::Expression);
        }
        (false, true) => {
            let Some(prefix) = prefix else {
                errors.required(&path.child("prefix"), NO_PREFIX);
                return None;
            };
            return Some(Selector::Claim { name: claim.clone(), prefix: prefix.clone() });
        }
    }
    None
}

/// A key is a path with the domain of its owner, such as `example.com/team`, in lower case.
fn check_extra_key(key: &str, path: &FieldPath, errors: &mut Errors) {
    let domain = match key.split_once('/') {
        _ if key.is_empty() => {
            errors.required(path, "");
            ""
        }
        Some((domain, rest)) if !domain.is_empty() && !rest.is_empty() => {
            for problem in subdomain(domain, false) {
                errors.invalid(path, domain, problem);
            }
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
            if !rest.bytes().all(is_allowed) {
                errors.invalid(path, rest, INVALID_PATH);
            }
            domain
        }
        _ => {
            errors.invalid(path, key, "must be a domain-prefixed path (such as \"acme.io/foo\")");
            ""
        }
    };
    if key != key.to_lowercase() {
        errors.invalid(path, key, "must be lowercase");
    }
    let is_reserved = |of: &str| domain == of || domain.strip_suffix(of).is_some_and(|rest| rest.ends_with('.'));
    if ["k8s.io", "kubernetes.io"].into_iter().any(is_reserved) {
        let detail = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
        errors.invalid(path, key, detail);
    }
}
