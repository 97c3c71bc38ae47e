//! Tokens that must not let anybody in.
use ring::hmac;

use super::*;

/// Two issuers whose keys have the same id.
struct Setting {
    tokens: IdTokens,
    key: Key,
    other: Key,
}

fn setting() -> Setting {
    let (documents, key, other) = (Documents::default(), Key::p256("k"), Key::rsa("k", "RS256"));
    documents.publish(ISSUER, &[&key]);
    documents.publish(OTHER, &[&other]);
    let tokens = id_tokens(&json!([simple(ISSUER), simple(OTHER)]), &documents);
    Setting { tokens, key, other }
}

/// A token that the public key, in some form, has "signed" as a secret.
fn by_hmac(secret: &[u8], claims: &Value) -> String {
    let signed = format!("{}.{}", encoded(r#"{"alg":"HS256","kid":"k"}"#), encoded(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", encoded(tag))
}

#[tokio::test(start_paused = true)]
async fn signatures_are_not_to_be_got_around() {
    let Setting { tokens, key, other } = setting();
    let token = key.sign(&claims("ann"));
    assert_eq!(name(&tokens, &token).await, Ok(Some("ann".to_owned())));
    let parts: Vec<&str> = token.split('.').collect();
    let root = encoded(claims("root").to_string());
    let header = |value: Value| key.with_header(&value.to_string(), &claims("root"));
    let point = |name: &str| URL_SAFE_NO_PAD.decode(key.jwk[name].as_str().unwrap()).unwrap();
    let attacker = Key::p256("k");
    let unsigned = |algorithm: &str, signature: &str| {
        format!("{}.{root}.{signature}", encoded(json!({"alg": algorithm, "kid": "k"}).to_string()))
    };
    let forged = [
        ("another key", attacker.sign(&claims("root"))),
        ("other claims", format!("{}.{root}.{}", parts[0], parts[2])),
        ("no signature", format!("{}.{root}.", parts[0])),
        ("none", unsigned("none", "")),
        ("None", unsigned("None", "")),
        ("nOnE with a signature", unsigned("nOnE", parts[2])),
        ("zeros", unsigned("ES256", &encoded([0; 64]))),
        ("half a signature", unsigned("ES256", &parts[2][..40])),
        ("hmac by the point", by_hmac(&[&[4], &*point("x"), &*point("y")].concat(), &claims("root"))),
        ("hmac by the document", by_hmac(key.jwk.to_string().as_bytes(), &claims("root"))),
        ("hmac by nothing", by_hmac(b"", &claims("root"))),
        ("another algorithm", header(json!({"alg": "RS256", "kid": "k"}))),
        ("lower case", header(json!({"alg": "es256", "kid": "k"}))),
        ("a larger curve", header(json!({"alg": "ES384", "kid": "k"}))),
        ("critical extensions", header(json!({"alg": "ES256", "kid": "k", "crit": ["exp"], "exp": 1}))),
        (
            "a key of its own",
            attacker.with_header(
                &json!({"alg": "ES256", "kid": "k", "jwk": attacker.jwk, "jku": "https://evil.example.com/"})
                    .to_string(),
                &claims("root"),
            ),
        ),
        ("a key without id", attacker.with_header(r#"{"alg":"ES256"}"#, &claims("root"))),
        ("the key of another issuer", other.sign(&claims("root"))),
        ("in the name of another issuer", key.sign(&with(claims("root"), "iss", json!(OTHER)))),
    ];
    for (attack, token) in forged {
        let refused = name(&tokens, &token).await;
        assert!(refused.is_err(), "{attack}: {refused:?}");
        assert!(!format!("{refused:?}").contains("root"), "{attack}: {refused:?}");
    }
    // As nothing of ours: other authenticators are asked, and then it is refused.
    let long = with(claims("root"), "padding", json!("x".repeat(64 << 10)));
    let unknown = [
        ("a repeated header", key.with_header(r#"{"alg":"none","alg":"ES256","kid":"k"}"#, &claims("root"))),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("four parts", format!("{token}.{}", parts[2])),
        ("the form in JSON", json!({"payload": parts[1], "protected": parts[0], "signature": parts[2]}).to_string()),
        ("padding", format!("{token}=")),
        ("too long", key.sign(&long)),
        ("no object", key.with_header(r#"{"alg":"ES256"}"#, &json!("root"))),
    ];
    for (attack, token) in unknown {
        assert_eq!(name(&tokens, &token).await, Ok(None), "{attack}");
    }
}

#[tokio::test(start_paused = true)]
async fn claims_must_be_about_us_and_now() {
    let Setting { tokens, key, .. } = setting();
    let now = now();
    let of = |name: &str, value: Value| key.sign(&with(claims("ann"), name, value));
    for (good, token) in [
        ("one of several audiences", of("aud", json!(["them", "us"]))),
        ("not before now, with clocks that differ", of("nbf", json!(now + 30.0))),
        ("a whole number", of("exp", json!(crate::meta::Time::now().parts().0 + 100))),
        ("issued later", of("iat", json!(now + 1e6))),
        ("null", of("nbf", Value::Null)),
    ] {
        assert_eq!(name(&tokens, &token).await, Ok(Some("ann".to_owned())), "{good}");
    }
    let mut endless = claims("ann");
    endless.as_object_mut().unwrap().remove("exp");
    let mut public = claims("ann");
    public.as_object_mut().unwrap().remove("aud");
    for (attack, token, why) in [
        ("expired", of("exp", json!(now - 1.0)), "token is expired"),
        ("long ago", of("exp", json!(-1)), "token is expired"),
        ("without an end", key.sign(&endless), "token is expired: it has no exp"),
        ("an end in text", of("exp", json!("99999999999")), "exp is not a number"),
        ("not yet valid", of("nbf", json!(now + 90.0)), "current time is before the nbf (not before) time"),
        ("a beginning in text", of("nbf", json!("0")), "nbf is not a number"),
        ("another audience", of("aud", json!("them")), "expected audience in [\"us\"]"),
        ("a part of the audience", of("aud", json!("u")), "expected audience in [\"us\"]"),
        ("no audience", key.sign(&public), "expected audience in [\"us\"]"),
        ("no audiences", of("aud", json!([])), "expected audience in [\"us\"]"),
        ("an audience that is none", of("aud", json!([["us"], {"us": "us"}, 1])), "expected audience in [\"us\"]"),
    ] {
        assert_eq!(name(&tokens, &token).await, Err(format!("oidc: {why}")), "{attack}");
    }
    for issuer in
        [json!("https://issuer.example.com/"), json!("HTTPS://ISSUER.EXAMPLE.COM"), json!([ISSUER]), json!("")]
    {
        assert_eq!(name(&tokens, &of("iss", issuer.clone())).await, Ok(None), "{issuer}");
    }
}

#[tokio::test]
async fn a_token_is_not_good_after_its_end_because_it_was_before() {
    let Setting { tokens, key, .. } = setting();
    let end = now() + 0.5;
    let token = key.sign(&with(claims("ann"), "exp", json!(end)));
    let (mut was_good, mut refused) = (false, None);
    while refused.is_none() {
        match name(&tokens, &token).await {
            Ok(user) => was_good |= user.is_some(),
            Err(why) => refused = Some(why),
        }
        assert!(now() < end + 1.0 || refused.is_some(), "it is replayed");
    }
    assert_eq!((was_good, refused.as_deref()), (true, Some("oidc: token is expired")));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_not_among_what_is_shown() {
    let Setting { tokens, key, .. } = setting();
    let token = key.sign(&with(claims("ann"), "groups", json!({"secret": 1})));
    let why = name(&tokens, &token).await.unwrap_err();
    assert_eq!(why, "oidc: parse groups claim \"groups\": it is neither a string nor a list of strings");
}
