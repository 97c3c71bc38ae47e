//! The dynamic Api: kinds from discovery, and untyped objects.

use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
        Preconditions,
    },
    core::ObjectList,
    discovery::{self, Discovery, Scope, verbs},
};
use serde_json::{Value, json};

use crate::{Failure, refused::refused};

/// Both forms of discovery list the kinds with all their verbs.
pub async fn discovers(client: Client) -> Result<(), Failure> {
    let by_group = Discovery::new(client.clone()).run().await?;
    let aggregated = Discovery::new(client.clone()).run_aggregated().await?;
    for found in [by_group, aggregated] {
        let (books, capabilities) = found.resolve_gvk(&kind("Book")).ok_or("there are no books")?;
        assert_eq!((books.plural.as_str(), books.api_version.as_str()), ("books", "library.example.com/v1"));
        assert!(matches!(capabilities.scope, Scope::Namespaced));
        for verb in [
            verbs::CREATE,
            verbs::GET,
            verbs::LIST,
            verbs::WATCH,
            verbs::UPDATE,
            verbs::PATCH,
            verbs::DELETE,
            verbs::DELETE_COLLECTION,
        ] {
            assert!(capabilities.supports_operation(verb), "{verb} is not in {capabilities:?}");
        }
        let mut parts: Vec<_> = capabilities.subresources.iter().map(|(part, _)| part.plural.as_str()).collect();
        parts.sort_unstable();
        assert_eq!(parts, ["lend", "log", "return", "scale", "status"]);
        let (_, shelves) = found.resolve_gvk(&kind("Shelf")).ok_or("there are no shelves")?;
        assert!(matches!(shelves.scope, Scope::Cluster));
        for group in ["", "coordination.k8s.io"] {
            assert!(found.has_group(group), "the group {group:?} is missing");
        }
    }
    Ok(())
}

/// Objects are created and found: by name, by selectors, in chunks, and by their metadata only.
pub async fn creates_gets_and_lists(client: Client) -> Result<(), Failure> {
    let (books, resource) = dynamic_books(client).await?;
    for number in 0..5 {
        let genre = if number % 2 == 0 { "Science" } else { "Poetry" };
        let labels = [("set", "lists"), ("parity", if number % 2 == 0 { "even" } else { "odd" })];
        let mut book = DynamicObject::new(&format!("list-{number}"), &resource);
        book.metadata.labels = Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        let spec = json!({"spec": {"author": "Someone", "genre": genre}});
        let made = books.create(&PostParams::default(), &book.data(spec)).await?;
        assert_eq!(made.data["spec"]["copies"], 1, "the default is filled in");
        assert!(made.uid().is_some() && made.resource_version().is_some() && made.creation_timestamp().is_some());
        assert_eq!(books.get(&made.name_any()).await?, made);
    }
    let all = ListParams::default().labels("set=lists");
    for (selector, wanted) in [
        (all.clone(), vec!["list-0", "list-1", "list-2", "list-3", "list-4"]),
        (all.clone().fields("spec.genre=Poetry"), vec!["list-1", "list-3"]),
        (all.clone().fields("metadata.name=list-2"), vec!["list-2"]),
        (ListParams::default().labels("set=lists,parity notin (odd)"), vec!["list-0", "list-2", "list-4"]),
    ] {
        assert_eq!(names(&books.list(&selector).await?), wanted, "{selector:?}");
    }
    let first = books.list(&all.clone().limit(2)).await?;
    let token = first.metadata.continue_.as_deref().ok_or("there is more to come")?;
    let rest = books.list(&all.clone().continue_token(token)).await?;
    assert_eq!((names(&first), names(&rest)), (vec!["list-0", "list-1"], vec!["list-2", "list-3", "list-4"]));
    assert_eq!(first.metadata.resource_version, rest.metadata.resource_version, "one list, one revision");

    let partial = books.get_metadata("list-0").await?;
    assert_eq!(partial.types.map(|types| types.kind).as_deref(), Some("PartialObjectMetadata"));
    assert_eq!(partial.metadata, books.get("list-0").await?.metadata);
    assert_eq!(books.list_metadata(&all).await?.items.len(), 5);
    Ok(())
}

/// Both types of patches, dry runs, and a replace with an outdated resourceVersion.
pub async fn patches_and_replaces(client: Client) -> Result<(), Failure> {
    let (books, resource) = dynamic_books(client).await?;
    let params = PatchParams::default();
    let made = books.create(&PostParams::default(), &untitled("patched", &resource)).await?;

    let merge = Patch::Merge(json!({"spec": {"copies": 8, "genre": "Poetry"}, "metadata": {"labels": {"a": "b"}}}));
    let merged = books.patch("patched", &params, &merge).await?;
    assert_eq!((&merged.data["spec"]["copies"], &merged.data["spec"]["genre"]), (&json!(8), &json!("Poetry")));
    assert_eq!((merged.labels()["a"].as_str(), merged.metadata.generation), ("b", Some(2)));

    let operations = json!([
        {"op": "test", "path": "/spec/copies", "value": 8},
        {"op": "replace", "path": "/spec/copies", "value": 9},
        {"op": "add", "path": "/spec/title", "value": "T"},
        {"op": "remove", "path": "/metadata/labels/a"},
    ]);
    let pointed = books.patch("patched", &params, &Patch::<Value>::Json(serde_json::from_value(operations)?)).await?;
    assert_eq!((&pointed.data["spec"]["copies"], &pointed.data["spec"]["title"]), (&json!(9), &json!("T")));
    assert!(pointed.labels().is_empty());
    let failing = serde_json::from_value(json!([{"op": "test", "path": "/spec/copies", "value": 1}]))?;
    refused(books.patch("patched", &params, &Patch::<Value>::Json(failing)).await, 422, "Invalid");

    let tried = books.patch("patched", &params.dry_run(), &Patch::Merge(json!({"spec": {"copies": 70}}))).await?;
    assert_eq!(tried.data["spec"]["copies"], 70);
    assert_eq!(books.get("patched").await?, pointed, "what was only tried left no trace");

    let stale = refused(books.replace("patched", &PostParams::default(), &made).await, 409, "Conflict");
    assert!(stale.message.contains("the object has been modified"), "{stale:?}");
    let mut newest = pointed;
    newest.data["spec"]["author"] = json!("Else");
    let replaced = books.replace("patched", &PostParams::default(), &newest).await?;
    assert_eq!((&replaced.data["spec"]["author"], replaced.metadata.generation), (&json!("Else"), Some(4)));
    Ok(())
}

/// Deletions of one object, of one with a finalizer, and of many by a selector.
pub async fn deletes(client: Client) -> Result<(), Failure> {
    let (books, resource) = dynamic_books(client).await?;
    for name in ["gone", "held", "many-1", "many-2", "many-3"] {
        let mut book = untitled(name, &resource);
        book.metadata.labels = Some([("set".to_owned(), name[..4].to_owned())].into());
        book.metadata.finalizers = (name == "held").then(|| vec!["example.com/hold".to_owned()]);
        books.create(&PostParams::default(), &book).await?;
    }
    let other = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    refused(books.delete("gone", &DeleteParams::default().preconditions(other)).await, 409, "Conflict");
    let done = books.delete("gone", &DeleteParams::default()).await?;
    assert!(done.right().ok_or("a deletion that is done answers a Status")?.is_success());
    assert!(books.get_opt("gone").await?.is_none());

    let waiting = books.delete("held", &DeleteParams::default()).await?.left().ok_or("it is held")?;
    assert!(waiting.metadata.deletion_timestamp.is_some());
    books.patch("held", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await?;
    assert!(books.get_opt("held").await?.is_none());

    let many = ListParams::default().labels("set=many");
    let deleted = books.delete_collection(&DeleteParams::default(), &many).await?;
    let deleted = deleted.left().ok_or("a deletion of many answers what it deleted")?;
    assert_eq!(names(&deleted), ["many-1", "many-2", "many-3"]);
    assert!(books.list(&many).await?.items.is_empty());
    assert!(!books.list(&ListParams::default()).await?.items.is_empty(), "what was not selected stays");
    Ok(())
}

/// The books of the default namespace, from discovery.
async fn dynamic_books(client: Client) -> Result<(Api<DynamicObject>, ApiResource), Failure> {
    let (resource, _) = discovery::pinned_kind(&client, &kind("Book")).await?;
    Ok((Api::namespaced_with(client, "default", &resource), resource))
}

fn kind(name: &str) -> GroupVersionKind {
    GroupVersionKind::gvk("library.example.com", "v1", name)
}

fn untitled(name: &str, resource: &ApiResource) -> DynamicObject {
    DynamicObject::new(name, resource).data(json!({"spec": {"author": "Someone"}}))
}

fn names(list: &ObjectList<DynamicObject>) -> Vec<&str> {
    list.items.iter().filter_map(|object| object.metadata.name.as_deref()).collect()
}
