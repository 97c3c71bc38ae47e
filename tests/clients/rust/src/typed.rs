//! The typed Api, with the kinds' own root types.

use std::time::Duration;

use kindsmith::kube::Kube;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::wait::{await_condition, conditions::is_deleted},
};
use library::{Book, BookStatus, Genre, Shelf, ShelfSpec};
use serde_json::json;
use tokio::{join, time::timeout};

use crate::{Failure, kinds::book, refused::refused};

/// The maximum wait for a condition.
const SOON: Duration = Duration::from_secs(20);

fn books(client: Client) -> Api<Kube<Book>> {
    Api::default_namespaced(client)
}

/// Objects are returned as the types that were sent, in a namespace and at cluster scope.
pub async fn objects(client: Client) -> Result<(), Failure> {
    let shelves: Api<Kube<Shelf>> = Api::all(client.clone());
    let spec = ShelfSpec { room: "Cellar".to_owned(), capacity: Some(3) };
    let shelf = Shelf { metadata: kindsmith::ObjectMeta::named("deep"), spec };
    shelves.create(&PostParams::default(), &shelf.into()).await?;
    let found = shelves.get("deep").await?;
    assert_eq!((found.spec.room.as_str(), found.spec.capacity), ("Cellar", Some(3)));
    assert_eq!(found.namespace(), None);

    let books = books(client);
    let mut wanted = book("typed", 3);
    wanted.spec.genre = Genre::Science;
    let made = books.create(&PostParams::default(), &wanted).await?;
    assert_eq!((made.namespace().as_deref(), made.metadata.generation), (Some("default"), Some(1)));
    assert_eq!((made.spec.genre, made.spec.copies), (Genre::Science, 3));
    assert_eq!(Book::clone(&made).metadata.uid, made.uid().unwrap_or_default(), "both metadata are of one object");
    let mut changed = made.clone();
    changed.spec.copies = 4;
    changed.annotations_mut().insert("example.com/note".to_owned(), "n".to_owned());
    let replaced = books.replace("typed", &PostParams::default(), &changed).await?;
    assert_eq!((replaced.spec.copies, replaced.metadata.generation), (4, Some(2)));
    assert_eq!(replaced.annotations()["example.com/note"], "n");
    refused(books.replace("typed", &PostParams::default(), &made).await, 409, "Conflict");

    let science = books.list(&ListParams::default().fields("spec.genre=Science,metadata.name=typed")).await?;
    assert_eq!(science.items.len(), 1);
    assert_eq!(serde_json::to_value(&science.items[0])?, serde_json::to_value(&replaced)?);
    assert!(books.delete("typed", &DeleteParams::default()).await?.is_right());
    Ok(())
}

/// The status can be written only through its subresource, and the spec cannot.
pub async fn status(client: Client) -> Result<(), Failure> {
    let books = books(client);
    let mut sent = book("stated", 2);
    let state = |copies| Some(BookStatus { copies, ..BookStatus::default() });
    sent.status = state(Some(9));
    let made = books.create(&PostParams::default(), &sent).await?;
    assert!(made.status.is_none(), "a create takes no status");

    let mut told = made.clone();
    told.status = state(Some(1));
    told.spec.copies = 50;
    let replaced = books.replace_status("stated", &PostParams::default(), &told).await?;
    assert_eq!((copies(&replaced), replaced.spec.copies), (Some(1), 2));
    refused(books.replace_status("stated", &PostParams::default(), &told).await, 409, "Conflict");

    let patch = Patch::Merge(json!({"status": {"copies": 2, "selector": "shelf=a"}, "spec": {"copies": 60}}));
    let patched = books.patch_status("stated", &PatchParams::default(), &patch).await?;
    assert_eq!((copies(&patched), patched.spec.copies), (Some(2), 2));
    assert_eq!(patched.metadata.generation, Some(1), "the status is no part of what is wanted");
    let patch = Patch::Merge(json!({"status": {"copies": 5}, "spec": {"copies": 3}}));
    let patched = books.patch("stated", &PatchParams::default(), &patch).await?;
    assert_eq!((copies(&patched), patched.spec.copies, patched.metadata.generation), (Some(2), 3, Some(2)));
    assert_eq!(copies(&books.get_status("stated").await?), Some(2));
    Ok(())
}

/// The scale is read, patched and replaced, and carries the object's name and revision.
pub async fn scale(client: Client) -> Result<(), Failure> {
    let books = books(client);
    books.create(&PostParams::default(), &book("scaled", 2)).await?;
    let patch = Patch::Merge(json!({"status": {"copies": 1, "selector": "shelf=a"}}));
    let stated = books.patch_status("scaled", &PatchParams::default(), &patch).await?;
    let scale = books.get_scale("scaled").await?;
    assert_eq!(scale.spec.as_ref().and_then(|spec| spec.replicas), Some(2));
    assert_eq!(scale.status.as_ref().map(|status| status.replicas), Some(1));
    assert_eq!(scale.status.as_ref().and_then(|status| status.selector.as_deref()), Some("shelf=a"));
    assert_eq!(scale.metadata.resource_version, stated.resource_version());

    let patch = Patch::Merge(json!({"spec": {"replicas": 7}}));
    let patched = books.patch_scale("scaled", &PatchParams::default(), &patch).await?;
    assert_eq!(patched.spec.as_ref().and_then(|spec| spec.replicas), Some(7));
    let found = books.get("scaled").await?;
    assert_eq!((found.spec.copies, found.metadata.generation), (7, Some(2)));
    refused(books.replace_scale("scaled", &PostParams::default(), &scale).await, 409, "Conflict");
    let mut newest = patched;
    newest.spec.get_or_insert_default().replicas = Some(8);
    books.replace_scale("scaled", &PostParams::default(), &newest).await?;
    assert_eq!(books.get("scaled").await?.spec.copies, 8);
    let patch = Patch::Merge(json!({"spec": {"replicas": -1}}));
    refused(books.patch_scale("scaled", &PatchParams::default(), &patch).await, 422, "Invalid");
    Ok(())
}

/// The client's get-or-create and get-and-modify.
pub async fn entries(client: Client) -> Result<(), Failure> {
    let books = books(client);
    for wanted in [1, 11] {
        let entry = books.entry("entered").await?.and_modify(|found| found.spec.copies += 10);
        let mut entry = entry.or_insert(|| book("entered", 1));
        entry.commit(&PostParams::default()).await?;
        assert_eq!(entry.get().spec.copies, wanted);
        assert_eq!(books.get("entered").await?.spec.copies, wanted);
    }
    Ok(())
}

/// A client that waits for a state of one object is notified.
pub async fn conditions(client: Client) -> Result<(), Failure> {
    let books = books(client);
    let made = books.create(&PostParams::default(), &book("awaited", 2)).await?;
    let complete = |found: Option<&Kube<Book>>| found.is_some_and(|book| copies(book) == Some(2));
    let patch = Patch::Merge(json!({"status": {"copies": 2}}));
    let params = PatchParams::default();
    let write = books.patch_status("awaited", &params, &patch);
    let (seen, written) = join!(timeout(SOON, await_condition(books.clone(), "awaited", complete)), write);
    let (seen, written) = (seen??.ok_or("it is there")?, written?);
    assert_eq!(seen.meta().resource_version, written.meta().resource_version);

    let uid = made.uid().ok_or("it has a uid")?;
    let params = DeleteParams::default();
    let delete = books.delete("awaited", &params);
    let (gone, deleted) = join!(timeout(SOON, await_condition(books.clone(), "awaited", is_deleted(&uid))), delete);
    gone??;
    deleted?;
    Ok(())
}

fn copies(book: &Kube<Book>) -> Option<i32> {
    book.status.as_ref().and_then(|status| status.copies)
}
