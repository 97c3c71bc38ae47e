//! Lease and ConfigMap in Protobuf, as Go programs use it: with kube-apiserver's messages, compiled by prost from its
//! definitions, through the client's connection. The same objects are also read as JSON into the client's own types.

mod kinds;
mod wire;

use k8s_pb::{
    api::autoscaling::v1::Scale,
    apimachinery::pkg::apis::meta::v1::{
        DeleteOptions, PartialObjectMetadata, PartialObjectMetadataList, Preconditions, Status,
    },
};
use kindsmith::kube::Kube;
use kube::{Api, Client, api::PostParams};
use library::Book;
use prost::Message;
use serde_json::json;

use self::wire::{open, seal_raw, watch};
pub use self::{
    kinds::Kind,
    wire::{Answer, PROTOBUF, accepting, raw, seal, send},
};
use crate::{Failure, kinds::book};

/// A body in Protobuf.
pub fn body<K: Kind>(object: &K) -> Option<(&'static str, Vec<u8>)> {
    Some((PROTOBUF, seal(K::API_VERSION, K::KIND, object)))
}

fn options(options: &DeleteOptions) -> Option<(&'static str, Vec<u8>)> {
    Some((PROTOBUF, seal("v1", "DeleteOptions", options)))
}

fn sample<K: Kind>(name: &str) -> K {
    let mut sample = K::sample();
    sample.metadata().name = Some(name.to_owned());
    sample.metadata().labels = [("set".to_owned(), "messages".to_owned())].into();
    sample
}

/// Objects are created, read, listed, updated, patched and deleted, and equal what the client reads as JSON.
pub async fn objects<K: Kind>(client: Client) -> Result<(), Failure> {
    let api: Api<K::Json> = Api::namespaced(client.clone(), "default");
    let object = format!("{}/message", K::COLLECTION);
    let one = |answer: Answer| answer.message::<K>(K::API_VERSION, K::KIND);

    let made = one(send(&client, "POST", K::COLLECTION, body(&sample::<K>("message"))).await?)?;
    assert_eq!(made.clone().json()?, api.get("message").await?);
    assert_eq!(one(send(&client, "GET", &object, None).await?)?, made);
    let sent = sample::<K>("message").json()?;
    let stripped = |mut found: K| {
        *found.metadata() = sample::<K>("message").metadata().clone();
        found.json()
    };
    assert_eq!(stripped(made.clone())?, sent, "what was sent is what there is");

    let mut changed = made.clone();
    changed.change();
    let updated = one(send(&client, "PUT", &object, body(&changed)).await?)?;
    assert_eq!(stripped(updated.clone())?, stripped(changed)?);
    assert_eq!(updated.clone().json()?, api.get("message").await?);
    let stale = send(&client, "PUT", &object, body(&made)).await?.refused(409, "Conflict")?;
    assert_eq!(stale.details.as_ref().map(|details| details.name()), Some("message"));

    let patch = K::patch().to_string().into_bytes();
    let patched = one(send(&client, "PATCH", &object, Some(("application/merge-patch+json", patch.clone()))).await?)?;
    assert_ne!(patched, updated);
    assert_eq!(patched.clone().json()?, api.get("message").await?);
    let again = one(send(&client, "PATCH", &object, Some(("application/strategic-merge-patch+json", patch))).await?)?;
    assert_eq!(again, patched, "a patch that changes nothing");

    send(&client, "POST", K::COLLECTION, body(&sample::<K>("second"))).await?;
    let list = send(&client, "GET", &format!("{}?labelSelector=set%3Dmessages", K::COLLECTION), None).await?;
    let (metadata, items) = K::items(list.message(K::API_VERSION, &format!("{}List", K::KIND))?);
    let revision = metadata.resource_version().parse::<u64>()?;
    assert!(revision > 0 && items.len() == 2 && items[0] == patched, "{items:?}");
    deletes::<K>(&client).await
}

/// Options of deletions are read from Protobuf, and their answers are Protobuf.
async fn deletes<K: Kind>(client: &Client) -> Result<(), Failure> {
    let object = format!("{}/message", K::COLLECTION);
    let only = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    let only = DeleteOptions { preconditions: Some(only), ..DeleteOptions::default() };
    send(client, "DELETE", &object, options(&only)).await?.refused(409, "Conflict")?;
    let tried = DeleteOptions { dry_run: vec!["All".to_owned()], ..DeleteOptions::default() };
    send(client, "DELETE", &object, options(&tried)).await?.message::<Status>("v1", "Status")?;
    assert_eq!(send(client, "GET", &object, None).await?.code, 200, "the deletion was only tried");
    let deleted: Status = send(client, "DELETE", &object, None).await?.message("v1", "Status")?;
    assert_eq!((deleted.status(), deleted.details.is_some()), ("Success", true));
    let missing = send(client, "GET", &object, None).await?.refused(404, "NotFound")?;
    assert!(missing.message().contains("\"message\" not found"), "{missing:?}");
    let many = format!("{}?labelSelector=set%3Dmessages", K::COLLECTION);
    let deleted: K::List =
        send(client, "DELETE", &many, None).await?.message(K::API_VERSION, &format!("{}List", K::KIND))?;
    assert_eq!(K::items(deleted).1.len(), 1);
    Ok(())
}

/// A watch sends each change since a revision in frames, and errors about its start.
pub async fn watches<K: Kind>(client: Client) -> Result<(), Failure> {
    let list = send(&client, "GET", K::COLLECTION, None).await?;
    let (metadata, _) = K::items(list.message(K::API_VERSION, &format!("{}List", K::KIND))?);
    let object = format!("{}/followed", K::COLLECTION);
    let made = send(&client, "POST", K::COLLECTION, body(&sample::<K>("followed"))).await?;
    let mut made: K = made.message(K::API_VERSION, K::KIND)?;
    let first = made.clone();
    made.change();
    let changed: K = send(&client, "PUT", &object, body(&made)).await?.message(K::API_VERSION, K::KIND)?;
    send(&client, "DELETE", &object, None).await?.message::<Status>("v1", "Status")?;
    let since = metadata.resource_version();
    let path = format!("{}?watch=1&timeoutSeconds=1&resourceVersion={since}", K::COLLECTION);
    let events = watch(&client, &path).await?;
    let told: Vec<_> = events.iter().map(|(event, _)| event.as_str()).collect();
    assert_eq!(told, ["ADDED", "MODIFIED", "DELETED"]);
    for ((_, object), wanted) in events[..2].iter().zip([first, changed.clone()]) {
        assert_eq!(open::<K>(object, K::API_VERSION, K::KIND)?, wanted);
    }
    let mut last: K = open(&events[2].1, K::API_VERSION, K::KIND)?;
    assert_ne!(last.metadata().resource_version, changed.clone().metadata().resource_version);
    last.metadata().resource_version.clone_from(&changed.clone().metadata().resource_version);
    assert_eq!(last, changed, "the same except for the revision of the deletion");

    let bookmarks = format!(
        "{}?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
        K::COLLECTION
    );
    let events = watch(&client, &bookmarks).await?;
    let mut ends = 0;
    for (event, object) in events {
        let mut object: K = open(&object, K::API_VERSION, K::KIND)?;
        let annotations = &object.metadata().annotations;
        ends += usize::from(event == "BOOKMARK" && annotations.contains_key("k8s.io/initial-events-end"));
    }
    assert_eq!(ends, 1, "what was there before ends with a bookmark");
    Ok(())
}

/// Invalid Protobuf, and kinds without numbers, are refused with errors in Protobuf.
pub async fn refusals(client: Client) -> Result<(), Failure> {
    const MAPS: &str = <k8s_pb::api::core::v1::ConfigMap as Kind>::COLLECTION;
    type Map = k8s_pb::api::core::v1::ConfigMap;
    let unsound = send(&client, "POST", MAPS, Some((PROTOBUF, b"k8s".to_vec()))).await?;
    unsound.refused(400, "BadRequest")?;
    let other = send(&client, "POST", MAPS, body(&sample::<k8s_pb::api::coordination::v1::Lease>("other"))).await?;
    other.refused(400, "BadRequest")?;
    let invalid = send(&client, "POST", MAPS, body(&sample::<Map>("No Name"))).await?.refused(422, "Invalid")?;
    let causes = invalid.details.map(|details| details.causes).unwrap_or_default();
    assert_eq!(
        causes.first().map(|cause| (cause.field(), cause.reason())),
        Some(("metadata.name", "FieldValueInvalid"))
    );
    // Patches are not objects and have no Protobuf form.
    let patch = send(&client, "PATCH", &format!("{MAPS}/kube-root"), body(&sample::<Map>("m"))).await?;
    patch.refused(415, "UnsupportedMediaType")?;
    strangers(&client, MAPS).await?;

    let books: Api<Kube<Book>> = Api::default_namespaced(client.clone());
    books.create(&PostParams::default(), &book("unnumbered", 2)).await?;
    let books = "/apis/library.example.com/v1/namespaces/default/books";
    send(&client, "GET", books, None).await?.refused(406, "NotAcceptable")?;
    send(&client, "GET", &format!("{books}?watch=1"), None).await?.refused(406, "NotAcceptable")?;
    let unread = accepting(&client, "POST", books, "application/json", body(&sample::<Map>("m"))).await?;
    assert_eq!(unread.code, 415);
    let answer = accepting(&client, "GET", books, &format!("{PROTOBUF}, application/json"), None).await?;
    assert_eq!((answer.code, answer.media_type.as_str()), (200, "application/json"), "the next best");
    Ok(())
}

/// Unknown fields of newer clients are dropped, unless the client asks for strict validation.
async fn strangers(client: &Client, maps: &str) -> Result<(), Failure> {
    type Map = k8s_pb::api::core::v1::ConfigMap;
    // The field 1000, of text.
    const STRANGER: &[u8] = b"\xc2\x3e\x03new";
    let strict = format!("{maps}?fieldValidation=Strict");
    let around = [seal("v1", "ConfigMap", &sample::<Map>("around")), STRANGER.to_vec()].concat();
    send(client, "POST", &strict, Some((PROTOBUF, around))).await?.message::<Map>("v1", "ConfigMap")?;
    let inside = [sample::<Map>("inside").encode_to_vec(), STRANGER.to_vec()].concat();
    let inside = || Some((PROTOBUF, seal_raw("v1", "ConfigMap", inside.clone())));
    let told = send(client, "POST", &strict, inside()).await?.refused(400, "BadRequest")?;
    assert!(told.message().ends_with("strict decoding error: unknown field \"1000\""), "{told:?}");
    send(client, "POST", maps, inside()).await?.message::<Map>("v1", "ConfigMap")?;
    Ok(())
}

/// Metadata and the scale have numbers, whatever the kind.
pub async fn of_any_kind(client: Client) -> Result<(), Failure> {
    let books: Api<Kube<Book>> = Api::default_namespaced(client.clone());
    let made = books.create(&PostParams::default(), &book("any", 3)).await?;
    let path = "/apis/library.example.com/v1/namespaces/default/books";
    let form = |name: &str| format!("{PROTOBUF};as={name};g=meta.k8s.io;v=v1");
    let one = accepting(&client, "GET", &format!("{path}/any"), &form("PartialObjectMetadata"), None).await?;
    let one: PartialObjectMetadata = one.message("meta.k8s.io/v1", "PartialObjectMetadata")?;
    let metadata = one.metadata.clone().unwrap_or_default();
    assert_eq!((metadata.name(), Some(metadata.uid())), ("any", made.metadata.uid.as_deref()));
    let many = accepting(&client, "GET", path, &form("PartialObjectMetadataList"), None).await?;
    let many: PartialObjectMetadataList = many.message("meta.k8s.io/v1", "PartialObjectMetadataList")?;
    assert!(many.items.contains(&one) && !many.metadata.unwrap_or_default().resource_version().is_empty());

    let path = format!("{path}/any/scale");
    let mut scale: Scale = send(&client, "GET", &path, None).await?.message("autoscaling/v1", "Scale")?;
    assert_eq!(scale.spec.as_ref().map(|spec| spec.replicas()), Some(3));
    scale.spec.get_or_insert_default().replicas = Some(5);
    let sent = Some((PROTOBUF, seal("autoscaling/v1", "Scale", &scale)));
    let scaled: Scale = send(&client, "PUT", &path, sent).await?.message("autoscaling/v1", "Scale")?;
    assert_eq!(scaled.spec.as_ref().map(|spec| spec.replicas()), Some(5));
    assert_eq!(books.get("any").await?.spec.copies, 5);
    let patch = json!({"spec": {"replicas": 6}}).to_string().into_bytes();
    let patched = send(&client, "PATCH", &path, Some(("application/merge-patch+json", patch))).await?;
    assert_eq!(patched.message::<Scale>("autoscaling/v1", "Scale")?.spec.unwrap_or_default().replicas(), 6);
    Ok(())
}
