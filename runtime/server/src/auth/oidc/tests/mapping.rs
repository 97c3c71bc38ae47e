//! Users of claims, by all ways of mapping, and rules.
use super::*;

/// What a file with these mappings makes of claims: the user as `name uid groups extra`, or why there is none.
async fn user(change: Value, more: &Value) -> String {
    let (documents, key) = (Documents::default(), Key::p256("a"));
    documents.publish(ISSUER, &[&key]);
    let mut authenticator = json!({
        "issuer": {"url": ISSUER, "audiences": ["us"]},
        "claimMappings": {"username": {"claim": "sub", "prefix": ""}},
    });
    for (name, value) in change.as_object().unwrap() {
        if let (Some(mappings), Value::Object(value)) = (authenticator[name].as_object_mut(), value) {
            mappings.extend(value.clone());
        } else {
            authenticator[name] = value.clone();
        }
    }
    let tokens = id_tokens(&json!([authenticator]), &documents);
    let mut claims = claims("ann");
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    match sign_in(&tokens, &key.sign(&claims)).await {
        Ok(Some(user)) => {
            let User { name, uid, groups, extra } = &*user;
            format!("{name} {uid:?} {groups:?} {extra:?}")
        }
        Ok(None) => "no opinion".to_owned(),
        Err(why) => why,
    }
}

async fn mapped(mappings: Value, more: Value) -> String {
    user(json!({"claimMappings": mappings}), &more).await
}

#[tokio::test(start_paused = true)]
async fn claims_are_mapped_with_prefixes() {
    for (mappings, more, expected) in [
        (json!({}), json!({}), r#"ann "" [] {}"#),
        (json!({"username": {"claim": "sub", "prefix": "acme:"}}), json!({}), r#"acme:ann "" [] {}"#),
        (
            json!({"username": {"claim": "login", "prefix": ""}}),
            json!({}),
            r#"oidc: parse username claims "login": claim not present"#,
        ),
        (
            json!({"username": {"claim": "sub", "prefix": "x:"}}),
            json!({"sub": ""}),
            "oidc: empty username is not allowed",
        ),
        (
            json!({"username": {"claim": "sub", "prefix": ""}}),
            json!({"sub": 7}),
            r#"oidc: parse username claims "sub": it is not a string"#,
        ),
        (json!({"username": {"claim": "email", "prefix": ""}}), json!({"email": "a@b.c"}), r#"a@b.c "" [] {}"#),
        (
            json!({"username": {"claim": "email", "prefix": ""}}),
            json!({"email": "a@b.c", "email_verified": true}),
            r#"a@b.c "" [] {}"#,
        ),
        (
            json!({"username": {"claim": "email", "prefix": ""}}),
            json!({"email": "a@b.c", "email_verified": false}),
            "oidc: email not verified",
        ),
        (
            json!({"username": {"claim": "email", "prefix": ""}}),
            json!({"email": "a@b.c", "email_verified": "true"}),
            "oidc: email not verified",
        ),
        (
            json!({"groups": {"claim": "groups", "prefix": "g:"}}),
            json!({"groups": ["a", "b"]}),
            r#"ann "" ["g:a", "g:b"] {}"#,
        ),
        (json!({"groups": {"claim": "role", "prefix": ""}}), json!({"role": "dev"}), r#"ann "" ["dev"] {}"#),
        (json!({"groups": {"claim": "role", "prefix": ""}}), json!({}), r#"ann "" [] {}"#),
        (
            json!({"groups": {"claim": "role", "prefix": ""}}),
            json!({"role": ["a", 1]}),
            r#"oidc: parse groups claim "role": it is neither a string nor a list of strings"#,
        ),
        (
            json!({"groups": {"claim": "role", "prefix": ""}}),
            json!({"_claim_names": {"role": "s"}, "_claim_sources": {"s": {"endpoint": "https://x/"}}}),
            "oidc: distributed claims are not supported",
        ),
        (json!({"uid": {"claim": "oid"}}), json!({"oid": "77"}), r#"ann "77" [] {}"#),
        (json!({"uid": {"claim": "oid"}}), json!({}), r#"oidc: parse uid claim "oid": claim not present"#),
    ] {
        assert_eq!(mapped(mappings.clone(), more).await, expected, "{mappings}");
    }
}

#[tokio::test(start_paused = true)]
async fn expressions_map_claims() {
    let nested = json!({"org": {"team.io/name": "core", "roles": [{"name": "dev"}, {"name": "ops"}]}, "level": 3});
    let name = |expression: &str| json!({"username": {"expression": expression}});
    for (mappings, expected) in [
        (name("'acme:' + claims.sub"), r#"acme:ann "" [] {}"#),
        (name("claims.org.roles[0].name"), r#"dev "" [] {}"#),
        (name("claims.org.team__dot__io__slash__name"), r#"core "" [] {}"#),
        (name("claims['org']['team.io/name']"), r#"core "" [] {}"#),
        (name("claims.?login.orValue(claims.sub)"), r#"ann "" [] {}"#),
        (name("claims.level == 3 && type(claims.level) == double ? claims.sub : 'x'"), r#"ann "" [] {}"#),
        (name("''"), "oidc: empty username is not allowed"),
        (
            name("claims.level"),
            "oidc: error evaluating username claim expression: username claim expression must return a string",
        ),
        (
            name("claims.login"),
            "oidc: error evaluating username claim expression: expression 'claims.login' resulted in error: no such key: login",
        ),
        (
            json!({"groups": {"expression": "claims.org.roles.map(r, 'o:' + r.name) + ['', 'all']"}}),
            r#"ann "" ["o:dev", "o:ops", "all"] {}"#,
        ),
        (json!({"groups": {"expression": "claims.sub"}}), r#"ann "" ["ann"] {}"#),
        (json!({"groups": {"expression": "null"}}), r#"ann "" [] {}"#),
        (
            json!({"groups": {"expression": "[claims.level]"}}),
            "oidc: error evaluating group claim expression: expression must return a string or a list of strings",
        ),
        (
            json!({"groups": {"expression": "claims.org"}}),
            "oidc: error evaluating group claim expression: expression must return a string or a list of strings",
        ),
        (json!({"uid": {"expression": "claims.sub + '-1'"}}), r#"ann "ann-1" [] {}"#),
        (
            json!({"uid": {"expression": "1"}}),
            "oidc: error evaluating uid claim expression: uid claim expression must return a string",
        ),
        (
            json!({"extra": [
                {"key": "example.com/team", "valueExpression": "claims.org['team.io/name']"},
                {"key": "example.com/roles", "valueExpression": "claims.org.roles.map(r, r.name)"},
                {"key": "example.com/none", "valueExpression": "''"},
            ]}),
            r#"ann "" [] {"example.com/roles": ["dev", "ops"], "example.com/team": ["core"]}"#,
        ),
        (
            json!({"extra": [{"key": "example.com/team", "valueExpression": "claims.level"}]}),
            "oidc: error evaluating extra claim expression: expression must return a string or a list of strings",
        ),
    ] {
        assert_eq!(mapped(mappings.clone(), nested.clone()).await, expected, "{mappings}");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_of_claims_and_users_must_hold() {
    let system = json!({"userValidationRules": [
        {"expression": "!user.username.startsWith('system:')", "message": "system: is reserved"},
        {"expression": "user.groups.all(group, !group.startsWith('system:'))", "message": "groups, too"},
        {"expression": "user.uid == '' && user.extra.size() == 0"},
    ], "claimMappings": {"groups": {"claim": "groups", "prefix": ""}}});
    let claim = |rule: Value| json!({"claimValidationRules": [rule]});
    let good = r#"ann "" [] {}"#;
    for (change, more, expected) in [
        (claim(json!({"claim": "hd", "requiredValue": "acme"})), json!({"hd": "acme"}), good),
        (
            claim(json!({"claim": "hd", "requiredValue": "acme"})),
            json!({"hd": "evil"}),
            "oidc: required claim hd value does not match",
        ),
        (
            claim(json!({"claim": "hd", "requiredValue": "1"})),
            json!({"hd": 1}),
            "oidc: required claim hd value does not match",
        ),
        (claim(json!({"claim": "hd"})), json!({}), "oidc: required claim hd not present in ID token"),
        (claim(json!({"claim": "hd"})), json!({"hd": ""}), good),
        (
            claim(json!({"expression": "claims.exp - claims.iat <= 86400.0", "message": "at most a day"})),
            json!({}),
            good,
        ),
        (
            claim(json!({"expression": "claims.hd == 'acme'", "message": "only acme"})),
            json!({"hd": "x"}),
            "oidc: error evaluating claim validation expression: validation expression 'claims.hd == 'acme'' failed: only acme",
        ),
        (
            claim(json!({"expression": "claims.hd == 'acme'"})),
            json!({}),
            "oidc: error evaluating claim validation expression: expression 'claims.hd == 'acme'' resulted in error: no such key: hd",
        ),
        (system.clone(), json!({}), r#"ann "" ["staff"] {}"#),
        (
            system.clone(),
            json!({"sub": "system:admin"}),
            "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('system:')' failed: system: is reserved",
        ),
        (
            system,
            json!({"groups": ["system:masters"]}),
            "oidc: error evaluating user info validation rule: validation expression 'user.groups.all(group, !group.startsWith('system:'))' failed: groups, too",
        ),
    ] {
        assert_eq!(user(change.clone(), &more).await, expected, "{change} {more}");
    }
}

#[tokio::test(start_paused = true)]
async fn expressions_that_cost_too_much_are_stopped() {
    let list = format!("[{}]", vec!["1"; 100].join(", "));
    let expression = format!("{list}.all(a, {list}.all(b, {list}.all(c, a + b + c > 0))) ? claims.sub : ''");
    let why = mapped(json!({"username": {"expression": expression}}), json!({})).await;
    assert!(why.contains("cost"), "{why}");
}
