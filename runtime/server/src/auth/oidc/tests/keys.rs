//! Keys of issuers: their kinds, and how they are fetched and change.
use super::*;

#[tokio::test(start_paused = true)]
async fn tokens_of_all_kinds_of_keys_are_good() {
    let documents = Documents::default();
    let rsa = |algorithm| Key::rsa(algorithm, algorithm);
    let keys = [Key::p256("a"), Key::of_curve("b", 384), Key::ed25519("c"), rsa("RS256"), rsa("RS512"), rsa("PS256")];
    documents.publish(ISSUER, &keys.iter().collect::<Vec<_>>());
    let tokens = id_tokens(&json!([simple(ISSUER)]), &documents);
    for key in &keys {
        let user = sign_in(&tokens, &key.sign(&with(claims("ann"), "jti", json!("7")))).await.unwrap().unwrap();
        assert_eq!((user.name.as_str(), &user.groups[..]), ("ann", &["o:staff".to_owned()][..]), "{}", key.algorithm);
        assert_eq!(user.extra["authentication.kubernetes.io/credential-id"], ["JTI=7"]);
        // Without the id of the key, each is tried.
        let header = json!({"alg": key.algorithm}).to_string();
        assert_eq!(name(&tokens, &key.with_header(&header, &claims("bob"))).await, Ok(Some("bob".to_owned())));
    }
    assert_eq!(documents.fetched(), 2, "keys are kept");
}

#[tokio::test(start_paused = true)]
async fn new_keys_are_fetched_when_a_token_needs_them_and_not_more_often_than_allowed() {
    let (documents, old, new) = (Documents::default(), Key::p256("old"), Key::p256("new"));
    documents.publish(ISSUER, &[&old]);
    let tokens = id_tokens(&json!([simple(ISSUER)]), &documents);
    assert_eq!(name(&tokens, &old.sign(&claims("ann"))).await, Ok(Some("ann".to_owned())));
    documents.publish(ISSUER, &[&new]);
    assert_eq!(name(&tokens, &new.sign(&claims("bob"))).await, Ok(Some("bob".to_owned())));
    let refused = name(&tokens, &old.sign(&claims("cid"))).await.unwrap_err();
    assert!(refused.starts_with("oidc: failed to verify signature"), "{refused}");
    // Many forged tokens at once share an attempt.
    let (fetched, tokens) = (documents.fetched(), Arc::new(tokens));
    let forged = (0..100).map(|one| Key::p256("x").sign(&claims(&one.to_string())));
    let waiting: Vec<_> = forged
        .map(|token| {
            let tokens = tokens.clone();
            tokio::spawn(async move { name(&tokens, &token).await })
        })
        .collect();
    for one in waiting {
        assert!(one.await.unwrap().is_err());
    }
    // The discovery document and the keys: once at most for those that wait already, and once for the others.
    assert!(documents.fetched() - fetched <= 4, "{}", documents.fetched() - fetched);
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_gone_are_forgotten_without_a_token_that_needs_others() {
    let (documents, old, new) = (Documents::default(), Key::p256("old"), Key::p256("new"));
    documents.publish(ISSUER, &[&old]);
    let tokens = id_tokens(&json!([simple(ISSUER)]), &documents);
    assert!(name(&tokens, &old.sign(&claims("ann"))).await.is_ok());
    documents.publish(ISSUER, &[&new]);
    tokio::time::sleep(std::time::Duration::from_secs(601)).await;
    let fetched = documents.fetched();
    assert_eq!(fetched, 3);
    assert!(name(&tokens, &old.sign(&claims("bob"))).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_away_at_first_is_tried_again() {
    let (documents, key) = (Documents::default(), Key::p256("a"));
    let tokens = id_tokens(&json!([simple(ISSUER)]), &documents);
    let token = key.sign(&claims("ann"));
    let refused = name(&tokens, &token).await.unwrap_err();
    assert!(refused.contains("authenticator not initialized"), "{refused}");
    documents.publish(ISSUER, &[&key]);
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    assert_eq!(name(&tokens, &token).await, Ok(Some("ann".to_owned())));
    // Its keys stay when it is away later.
    documents.by_url.lock().unwrap().clear();
    tokio::time::sleep(std::time::Duration::from_secs(700)).await;
    assert_eq!(name(&tokens, &key.sign(&claims("bob"))).await, Ok(Some("bob".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_discovery_document_of_another_issuer_is_not_trusted() {
    let (documents, key) = (Documents::default(), Key::p256("a"));
    documents.publish(OTHER, &[&key]);
    let mut authenticator = simple(ISSUER);
    let elsewhere = format!("{OTHER}/.well-known/openid-configuration");
    authenticator["issuer"]["discoveryURL"] = json!(elsewhere);
    let tokens = id_tokens(&json!([authenticator]), &documents);
    assert!(name(&tokens, &key.sign(&claims("ann"))).await.is_err());
    documents.put(&elsewhere, &json!({"issuer": ISSUER, "jwks_uri": format!("{OTHER}/keys")}));
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    assert_eq!(name(&tokens, &key.sign(&claims("ann"))).await, Ok(Some("ann".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_keeps_the_keys_of_issuers_that_stay_and_forgets_users() {
    let (documents, key) = (Documents::default(), Key::p256("a"));
    documents.publish(ISSUER, &[&key]);
    let tokens = id_tokens(&json!([simple(ISSUER)]), &documents);
    let token = key.sign(&claims("ann"));
    assert_eq!(name(&tokens, &token).await, Ok(Some("ann".to_owned())));
    let mut prefixed = simple(ISSUER);
    prefixed["claimMappings"]["username"]["prefix"] = json!("acme:");
    replace(&tokens, &file(&json!([prefixed])), &documents).unwrap();
    assert_eq!(name(&tokens, &token).await, Ok(Some("acme:ann".to_owned())));
    assert_eq!(documents.fetched(), 2);
    // A broken file changes nothing.
    assert!(replace(&tokens, "jwt: {", &documents).is_err());
    assert_eq!(name(&tokens, &token).await, Ok(Some("acme:ann".to_owned())));
    replace(&tokens, &file(&json!([])), &documents).unwrap();
    assert_eq!(name(&tokens, &token).await, Ok(None));
}
