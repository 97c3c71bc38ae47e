//! What a file may not say, in kube-apiserver's words.
use super::*;

fn refused(text: &str) -> String {
    let documents = Documents::default();
    replace(&IdTokens::default(), text, &documents).err().unwrap_or_default()
}

/// What is wrong with a file whose only authenticator is changed: members of `change` replace those of a good one, by their paths.
fn wrong(change: &[(&str, Value)]) -> String {
    let mut authenticator = simple(ISSUER);
    for (path, value) in change {
        let mut place = &mut authenticator;
        for name in path.split('.') {
            place = &mut place[name];
        }
        *place = value.clone();
    }
    refused(&file(&json!([authenticator])))
}

#[tokio::test]
async fn unknown_and_repeated_fields_and_other_types_are_refused_by_their_paths() {
    let mut wrong = Vec::new();
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
    for (text, expected) in [
        ("{", "yaml: did not find expected node content"),
        (
            "apiVersion: v1\nkind: Config",
            r#"apiVersion: Unsupported value: "v1": supported values: "apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"; kind: Unsupported value: "Config": supported values: "AuthenticationConfiguration""#,
        ),
        (
            "",
            "apiVersion: Required value: such as apiserver.config.k8s.io/v1; kind: Required value: such as AuthenticationConfiguration",
        ),
        (&format!("{head}jwts: []"), r#"unknown field "jwts""#),
        (&format!("{head}jwt:\n- issuer: {{URL: x}}\n  claimMapping: {{}}"), r#"unknown field "jwt[0].claimMapping""#),
        (&format!("{head}jwt:\n- issuer: {{URL: x}}"), r#"unknown field "jwt[0].issuer.URL""#),
        (&format!("{head}jwt: []\njwt: []"), "already "),
        (&format!("{head}jwt: {{}}"), r#"jwt: Invalid value: "object": must be of type array: "object""#),
        (&format!("{head}jwt: [null]"), r#"jwt[0]: Invalid value: "null": must be of type object: "null""#),
        (
            &format!("{head}anonymous: {{enabled: \"yes\"}}"),
            r#"anonymous.enabled: Invalid value: "string": must be of type boolean: "string""#,
        ),
        (
            &format!("{head}anonymous: {{enabled: false, conditions: [{{path: /livez}}]}}"),
            "anonymous.conditions: Invalid value: [{\"path\":\"/livez\"}]: enabled should be set to true when conditions are defined",
        ),
        (&format!("{head}jwt: null\nanonymous: null"), ""),
    ] {
        let found = refused(text);
        if found.is_empty() != expected.is_empty() || !found.contains(expected) {
            wrong.push(format!("{text}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(refused(&file(&json!(vec![simple(ISSUER); 65]))), "jwt: Too many: 65: must have at most 64 items");
    let twice = file(&json!([simple(ISSUER), simple(ISSUER)]));
    assert_eq!(refused(&twice), format!("jwt[1].issuer.url: Duplicate value: {ISSUER:?}"));
}

#[tokio::test]
async fn issuers_are_checked() {
    for (change, expected) in [
        (vec![], ""),
        (vec![("issuer.url", json!(""))], "jwt[0].issuer.url: Required value"),
        (
            vec![("issuer.url", json!("https://issuer-url:invalid-port"))],
            r#"jwt[0].issuer.url: Invalid value: "https://issuer-url:invalid-port": parse "https://issuer-url:invalid-port": invalid port ":invalid-port" after host"#,
        ),
        (
            vec![("issuer.url", json!("http://a"))],
            r#"jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https"#,
        ),
        (
            vec![("issuer.url", json!("https://u:p@a"))],
            r#"jwt[0].issuer.url: Invalid value: "https://u:p@a": URL must not contain a username or password"#,
        ),
        (
            vec![("issuer.url", json!("https://a?q"))],
            r#"jwt[0].issuer.url: Invalid value: "https://a?q": URL must not contain a query"#,
        ),
        (
            vec![("issuer.url", json!("https://a#f"))],
            r#"jwt[0].issuer.url: Invalid value: "https://a#f": URL must not contain a fragment"#,
        ),
        (
            vec![("issuer.url", json!("https://kubernetes.default.svc"))],
            r#"jwt[0].issuer.url: Invalid value: "https://kubernetes.default.svc": URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]"#,
        ),
        (
            vec![("issuer.discoveryURL", json!("https://issuer.example.com//"))],
            r#"jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example.com//": discoveryURL must be different from URL"#,
        ),
        (
            vec![("issuer.audiences", json!([]))],
            "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required",
        ),
        (vec![("issuer.audiences", json!([""]))], "jwt[0].issuer.audiences[0]: Required value"),
        (
            vec![("issuer.audiences", json!(["a", "a"])), ("issuer.audienceMatchPolicy", json!("MatchAny"))],
            r#"jwt[0].issuer.audiences[1]: Duplicate value: "a""#,
        ),
        (
            vec![("issuer.audiences", json!(["a", "b"]))],
            r#"jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences"#,
        ),
        (
            vec![("issuer.audienceMatchPolicy", json!("MatchExact"))],
            r#"jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchExact": audienceMatchPolicy must be empty or MatchAny for single audience"#,
        ),
        (
            vec![("issuer.certificateAuthority", json!("broken"))],
            r#"jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates"#,
        ),
        (
            vec![("issuer.egressSelectorType", json!("cluster"))],
            r#"jwt[0].issuer.egressSelectorType: Invalid value: "cluster": egress selectors are not supported by this server; leave the field out"#,
        ),
    ] {
        assert_eq!(wrong(&change), expected, "{change:?}");
    }
}

const UNVERIFIED: &str = "claims.email_verified must be used in claimMappings.username.expression or \
    claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in \
    claimMappings.username.expression";

#[tokio::test]
async fn mappings_are_checked() {
    let extra = |key: &str| vec![("claimMappings.extra", json!([{"key": key, "valueExpression": "claims.sub"}]))];
    let name = |value: Value| vec![("claimMappings.username", value)];
    let at = "jwt[0].claimMappings";
    for (change, expected) in [
        (name(json!({})), "username: Required value: claim or expression is required".to_owned()),
        (name(json!({"claim": "sub"})), "username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing".into()),
        (name(json!({"claim": "sub", "expression": "claims.sub"})), "username: Invalid value: \"\": claim and expression can't both be set".into()),
        (name(json!({"prefix": "", "expression": "claims.sub"})), "username.prefix: Invalid value: \"\": may not be specified when expression is set".into()),
        (vec![("claimMappings.uid", json!({"claim": "sub", "expression": "claims.sub"}))], "uid: Invalid value: \"\": claim and expression can't both be set".into()),
        (extra(""), "extra[0].key: Required value".into()),
        (extra("team"), r#"extra[0].key: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")"#.into()),
        (extra("example.com/Team"), r#"extra[0].key: Invalid value: "example.com/Team": must be lowercase"#.into()),
        (extra("example.com/a b"), r#"extra[0].key: Invalid value: "a b": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')"#.into()),
        (extra("my.k8s.io/team"), r#"extra[0].key: Invalid value: "my.k8s.io/team": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"#.into()),
        (vec![("claimMappings.extra", json!([{"key": "a.b/c", "valueExpression": "'x'"}, {"key": "a.b/c", "valueExpression": "'y'"}]))], r#"extra[1].key: Duplicate value: "a.b/c""#.into()),
        (vec![("claimMappings.extra", json!([{"key": "a.b/c"}]))], "extra[0].valueExpression: Required value".into()),
        (name(json!({"expression": "claims.email"})), format!("username.expression: Invalid value: \"claims.email\": {UNVERIFIED}")),
        (name(json!({"expression": "{claims.?email: \"panda\"}"})), format!("username.expression: Invalid value: \"{{claims.?email: \\\"panda\\\"}}\": {UNVERIFIED}")),
        (name(json!({"expression": "[\"a\"].map(i, i + claims.email)"})), format!("username.expression: Invalid value: \"[\\\"a\\\"].map(i, i + claims.email)\": {UNVERIFIED}")),
    ] {
        assert_eq!(wrong(&change), format!("{at}.{expected}"), "{change:?}");
    }
    let broken = wrong(&name(json!({"expression": "claims.sub +"})));
    let beginning = r#"jwt[0].claimMappings.username.expression: Invalid value: "claims.sub +": compilation failed: ERROR: <input>:1:13: Syntax error"#;
    assert!(broken.starts_with(beginning), "{broken}");
    let email = |more: (&'static str, Value)| {
        let mut change = name(json!({"expression": "claims.email"}));
        change.push(more);
        wrong(&change)
    };
    let verified = "claims.?email_verified.orValue(true) == true";
    assert_eq!(email(("claimValidationRules", json!([{"expression": verified}]))), "");
    let as_text = json!([{"key": "example.com/verified", "valueExpression": "string(claims.email_verified)"}]);
    assert_eq!(email(("claimMappings.extra", as_text)), "");
    assert_eq!(wrong(&name(json!({"expression": "claims.email_verified ? claims.email : claims.sub"}))), "");
}

#[tokio::test]
async fn rules_are_checked() {
    let claim = |rules: Value| vec![("claimValidationRules", rules)];
    let user = |rules: Value| vec![("userValidationRules", rules)];
    for (change, expected) in [
        (
            claim(json!([{"claim": "a", "expression": "true"}])),
            r#"claimValidationRules[0]: Invalid value: "a": claim and expression can't both be set"#,
        ),
        (claim(json!([{}])), "claimValidationRules[0]: Required value: claim or expression is required"),
        (
            claim(json!([{"claim": "a", "message": "m"}])),
            r#"claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set"#,
        ),
        (claim(json!([{"claim": "a"}, {"claim": "a"}])), r#"claimValidationRules[1].claim: Duplicate value: "a""#),
        (
            claim(json!([{"expression": "true", "requiredValue": "v"}])),
            r#"claimValidationRules[0].requiredValue: Invalid value: "v": may not be specified when expression is set"#,
        ),
        (
            claim(json!([{"expression": "true"}, {"expression": "true"}])),
            r#"claimValidationRules[1].expression: Duplicate value: "true""#,
        ),
        (
            claim(json!([{"expression": "claims.?email_verified.orValue(true)"}])),
            r#"claimValidationRules[0].expression: Invalid value: "claims.?email_verified.orValue(true)": must evaluate to bool"#,
        ),
        (
            claim(json!([{"expression": "claims.sub"}])),
            r#"claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool"#,
        ),
        (user(json!([{}])), "userValidationRules[0].expression: Required value"),
        (
            user(json!([{"expression": "user.username == 'foo'"}, {"expression": "user.username == 'foo'"}])),
            r#"userValidationRules[1].expression: Duplicate value: "user.username == 'foo'""#,
        ),
        (
            user(json!([{"expression": "user.username"}])),
            r#"userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool"#,
        ),
    ] {
        assert_eq!(wrong(&change), format!("jwt[0].{expected}"), "{change:?}");
    }
    for (change, expected) in [
        (user(json!([{"expression": "user.name == ''"}])), "undefined field 'name'"),
        (user(json!([{"expression": "claims.sub == ''"}])), "undeclared reference to 'claims'"),
        (claim(json!([{"expression": "user.uid == ''"}])), "undeclared reference to 'user'"),
    ] {
        let found = wrong(&change);
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test]
async fn the_file_says_who_may_be_anonymous() {
    let access = |anonymous: Value, set: bool| {
        let text = json!({"apiVersion": "apiserver.config.k8s.io/v1beta1", "kind": "AuthenticationConfiguration", "anonymous": anonymous});
        IdTokens::default().replace(&text.to_string(), set, &|_| Ok(Arc::new(Documents::default())))
    };
    assert_eq!(access(Value::Null, true), Ok(None));
    assert_eq!(access(json!({"enabled": true}), false), Ok(Some(AnonymousAccess::Allowed)));
    assert_eq!(access(json!({"enabled": false}), false), Ok(Some(AnonymousAccess::Refused)));
    let paths = AnonymousAccess::Paths(["/livez", "/readyz"].map(str::to_owned).into());
    let conditions = json!({"enabled": true, "conditions": [{"path": "/readyz"}, {"path": "/livez"}]});
    assert_eq!(access(conditions.clone(), false), Ok(Some(paths)));
    assert!(access(conditions, true).unwrap_err().starts_with("anonymous: Forbidden"));
}
