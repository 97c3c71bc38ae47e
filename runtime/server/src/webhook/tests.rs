//! Tests of calls: their limits, and webhooks that cannot be called.
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::kind::{Convert, convert::ByWebhook};

/// A certificate for tests, in PEM.
fn authority() -> String {
    use base64::Engine;
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    base64::engine::general_purpose::STANDARD.encode(certificate.pem())
}

fn conversion(webhook: Webhook) -> ByWebhook {
    let version = |name: &str| GroupVersion { group: "g".to_owned(), version: name.to_owned() };
    let (here, stored) = (version("v2"), version("v1"));
    ByWebhook { webhook: webhook.into(), definition: "ks.g".into(), kind: "K".to_owned(), here, stored }
}

fn at(url: String, ca_bundle: String) -> Webhook {
    Webhook { url: Some(url), ca_bundle, review_versions: vec!["v1".to_owned()], ..Webhook::default() }
}

async fn failure(webhooks: &Webhooks, webhook: Webhook) -> String {
    let conversion = conversion(webhook);
    webhooks.resolve(|answers| conversion.read_with(json!({"metadata": {}}), answers)).await.unwrap_err()
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_in_time_has_failed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/convert", listener.local_addr().unwrap());
    let webhooks = Webhooks::within(Duration::from_millis(50));
    let failed = failure(&webhooks, at(url.clone(), authority())).await;
    let expected = "context deadline exceeded";
    assert_eq!(failed, format!("conversion webhook for g/v1, Kind=K failed: Post \"{url}?timeout=30s\": {expected}"));
    let durations = webhooks.durations();
    assert_eq!(durations.len(), 1);
    assert_eq!(durations[0].0, ("ks.g".into(), "v1".to_owned(), "v2".to_owned(), false));
}

#[tokio::test]
async fn a_webhook_of_other_reviews_or_without_authorities_is_not_called() {
    let webhooks = Webhooks::default();
    let old = Webhook { review_versions: vec!["v2".to_owned()], ..Webhook::default() };
    assert_eq!(failure(&webhooks, old).await, "no supported conversion review versions");
    let failed = failure(&webhooks, at("https://127.0.0.1:1/".to_owned(), "Q0E=".to_owned())).await;
    assert!(failed.ends_with("unable to load root certificates: unable to parse bytes as PEM block"), "{failed}");
    for (url, why) in [
        ("https://127.0.0.1:99999/", "dial tcp: address 99999: invalid port"),
        ("https://127.0.0.1:x/", "invalid port \":x\" after host"),
        ("https://a..b/", "invalid host: invalid dns name"),
        ("http://127.0.0.1/", "unsupported protocol scheme"),
    ] {
        let failed = failure(&webhooks, at(url.to_owned(), authority())).await;
        assert!(failed.ends_with(why), "{failed}");
    }
}

#[test]
fn questions_are_batches_by_versions_and_size() {
    let conversion = conversion(Webhook::default());
    let ask = |bytes: usize, count: usize| {
        let text = "x".repeat(bytes);
        let object = |index: usize| json!({"index": index, "text": text});
        let all = |answers: &Answers| {
            (0..count).map(|index| conversion.read_with(object(index), answers)).collect::<Vec<_>>()
        };
        let mut open = Answers::default().attempt(all).unwrap_err();
        open.extend(Answers::default().attempt(|answers| conversion.write_with(json!({}), answers)).unwrap_err());
        batches(open).iter().map(|batch| (batch.of().to.version.clone(), batch.len())).collect::<Vec<_>>()
    };
    let of = |version: &str, count| (version.to_owned(), count);
    assert_eq!(ask(10, 1_200), [of("v2", 500), of("v2", 500), of("v2", 200), of("v1", 1)]);
    assert_eq!(ask(1 << 20, 6), [of("v2", 4), of("v2", 2), of("v1", 1)]);
}

#[test]
fn a_response_that_is_nested_too_deeply_is_an_error() {
    let mut open =
        Answers::default().attempt(|answers| conversion(Webhook::default()).read_with(json!({}), answers)).unwrap_err();
    let batch = Batch::of_one(open.remove(0));
    let why = batch.converted(review::decode(&"[".repeat(8 << 20).into()), "u").unwrap_err();
    assert!(why.contains("the response cannot be decoded"), "{why}");
}

#[tokio::test]
async fn a_list_waits_only_once_for_a_webhook_that_does_not_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let conversion = conversion(at(format!("https://{}/", listener.local_addr().unwrap()), authority()));
    let webhooks = Webhooks::within(Duration::from_millis(50));
    let all = |answers: &Answers| {
        let object = |index: usize| json!({"index": index});
        (0..3 * MOST_OBJECTS).map(|index| conversion.read_with(object(index), answers)).collect::<Vec<_>>()
    };
    let failed = webhooks.resolve(all).await;
    assert!(failed.iter().all(|one| one.is_err() && *one == failed[0]));
    assert_eq!(webhooks.durations()[0].1.count(), 1);
}

#[test]
fn a_webhook_is_sent_the_first_version_of_reviews_that_is_known() {
    let of = |versions: &[&str]| {
        let versions = versions.iter().map(|version| (*version).to_owned()).collect();
        let conversion = conversion(Webhook { review_versions: versions, ..Webhook::default() });
        Batch::of_one(
            Answers::default()
                .attempt(|answers| conversion.read_with(json!({"metadata": {}}), answers))
                .unwrap_err()
                .remove(0),
        )
    };
    let sent = |batch: &Batch| -> Document { serde_json::from_slice(&batch.request("u").unwrap()).unwrap() };
    let converted = json!({"apiVersion": "g/v2", "kind": "K", "metadata": {}});
    let response = |version: &str, uid: &str| {
        let response = json!({"uid": uid, "result": {"status": "Success"}, "convertedObjects": [converted]});
        let version = format!("apiextensions.k8s.io/{version}");
        Ok(json!({"apiVersion": version, "kind": "ConversionReview", "response": response}))
    };
    let old = of(&["v2", "v1beta1", "v1"]);
    assert_eq!(sent(&old)["apiVersion"], "apiextensions.k8s.io/v1beta1");
    assert_eq!(sent(&old)["request"]["desiredAPIVersion"], "g/v2");
    assert_eq!(old.converted(response("v1beta1", "another"), "u"), Ok(vec![converted.clone()]));
    let new = of(&["v1", "v1beta1"]);
    assert_eq!(sent(&new)["apiVersion"], "apiextensions.k8s.io/v1");
    assert!(new.converted(response("v1", "another"), "u").unwrap_err().contains("expected response.uid"));
    assert!(new.converted(response("v1beta1", "u"), "u").unwrap_err().contains("expected webhook response of"));
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_is_not_called_for_a_while_and_the_error_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let webhooks = Webhooks::within(Duration::from_millis(300));
    let webhook = at(url.clone(), authority());
    for _ in 0..3 {
        assert!(failure(&webhooks, webhook.clone()).await.ends_with("context deadline exceeded"));
    }
    let begun = Instant::now();
    let expected = format!(
        "conversion webhook for g/v1, Kind=K failed: Post \"{url}?timeout=30s\": it is not called for 1 s after 3 timeouts in a \
         row: context deadline exceeded"
    );
    assert_eq!(failure(&webhooks, webhook.clone()).await, expected);
    assert!(begun.elapsed() < Duration::from_millis(150), "{:?}", begun.elapsed());
    drop(listener);
    sleep(Duration::from_millis(20)).await;
    assert!(failure(&webhooks, webhook).await.contains("dial tcp"), "it is called again");
}

#[tokio::test]
async fn calls_are_cancelled_when_the_server_stops() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let webhook = at(format!("https://{}/", listener.local_addr().unwrap()), authority());
    let (webhooks, begun) = (Webhooks::default(), Instant::now());
    let stop = async {
        sleep(Duration::from_millis(100)).await;
        webhooks.stop();
    };
    let (failed, ()) = tokio::join!(failure(&webhooks, webhook.clone()), stop);
    assert!(failed.ends_with("the server is stopping"), "{failed}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(failure(&webhooks, webhook).await.ends_with("the server is stopping"), "later ones have their second, too");
}

#[test]
fn code_that_blocks_its_thread_calls_within_a_runtime_and_outside_of_one() {
    let authority = authority();
    let webhook = |port: u16| conversion(at(format!("https://127.0.0.1:{port}/"), authority.clone()));
    let webhooks = Webhooks::default();
    let failed = webhooks.resolve_blocking(|answers| webhook(1).read_with(json!({}), answers));
    assert!(failed.unwrap_err().contains("dial tcp"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let failed = webhooks.resolve_blocking(|answers| webhook(2).read_with(json!({}), answers));
        assert!(failed.unwrap_err().contains("dial tcp"));
        drop(webhooks);
    });
}

#[test]
fn what_a_webhook_says_is_cut() {
    let mut open =
        Answers::default().attempt(|answers| conversion(Webhook::default()).read_with(json!({}), answers)).unwrap_err();
    let batch = Batch::of_one(open.remove(0));
    let long = "m".repeat(10 << 20);
    let review = |response: Document| {
        Ok(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}))
    };
    for review in [
        review(json!({"uid": "u", "result": {"status": "Failure", "message": long}})),
        review(json!({"uid": "u", "result": {"status": long}})),
        review(json!({"uid": long})),
        review(json!({"uid": "u", "result": {"status": "Success"}, "convertedObjects": [{"apiVersion": long}]})),
        Ok(json!({"apiVersion": long})),
    ] {
        let why = batch.converted(review, "u").unwrap_err();
        assert!(why.len() < 5_000, "{}", why.len());
    }
}
