//! Refusals, which the client distinguishes by code and reason.

use std::fmt::Debug;

use kindsmith::kube::Kube;
use kube::{
    Api, Client, Config, Error,
    api::{DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, Status},
};
use library::Book;
use serde_json::json;

use crate::{Failure, kinds::book};

/// The Status of an answer that must be a refusal.
pub fn refused<T: Debug>(answer: Result<T, Error>, code: u16, reason: &str) -> Box<Status> {
    match answer {
        Err(Error::Api(status)) => {
            assert_eq!((status.code, status.reason.as_str()), (code, reason), "{status:?}");
            assert!(status.is_failure() && !status.message.is_empty(), "{status:?}");
            status
        }
        other => panic!("not refused with {code} {reason}: {other:?}"),
    }
}

/// Each kind of refusal has its code, its reason and its details.
pub async fn reasons(client: Client) -> Result<(), Failure> {
    let books: Api<Kube<Book>> = Api::default_namespaced(client.clone());
    let create = PostParams::default();
    let missing = refused(books.get("missing").await, 404, "NotFound");
    assert!(missing.is_not_found());
    let about = missing.details.as_ref().ok_or("it says what is missing")?;
    assert_eq!(
        (about.name.as_str(), about.kind.as_str(), about.group.as_str()),
        ("missing", "books", "library.example.com")
    );
    assert_eq!(missing.message, "books.library.example.com \"missing\" not found");
    let patch = Patch::Merge(json!({"spec": {"copies": 1}}));
    refused(books.patch("missing", &PatchParams::default(), &patch).await, 404, "NotFound");

    books.create(&create, &book("refused", 1)).await?;
    assert!(refused(books.create(&create, &book("refused", 1)).await, 409, "AlreadyExists").is_already_exists());

    let invalid = refused(books.create(&create, &book("negative", -1)).await, 422, "Invalid");
    let about = invalid.details.as_ref().ok_or("it says what is invalid")?;
    let fields: Vec<_> = about.causes.iter().map(|cause| cause.field.as_str()).collect();
    // The second one is of its Scale.
    let expected = ("negative", "Book", vec!["spec.copies", ".spec.copies"]);
    assert_eq!((about.name.as_str(), about.kind.as_str(), fields), expected);
    refused(books.create(&create, &book("No Name", 1)).await, 422, "Invalid");
    let patch = Patch::Merge(json!({"spec": {"genre": "Crime"}}));
    let invalid = refused(books.patch("refused", &PatchParams::default(), &patch).await, 422, "Invalid");
    assert!(invalid.message.contains("spec.genre"), "{invalid:?}");

    refused(books.list(&ListParams::default().labels("a in (")).await, 400, "BadRequest");
    refused(books.list(&ListParams::default().fields("spec.author=A")).await, 400, "BadRequest");
    refused(books.list(&ListParams::default().continue_token("no token")).await, 400, "BadRequest");
    let unknown = ApiResource::from_gvk(&GroupVersionKind::gvk("library.example.com", "v1", "Journal"));
    let journals: Api<DynamicObject> = Api::default_namespaced_with(client, &unknown);
    refused(journals.list(&ListParams::default()).await, 404, "NotFound");
    Ok(())
}

/// Requests without a token, or with a wrong one, are refused.
pub async fn strangers(config: Result<Config, Failure>) -> Result<(), Failure> {
    let mut config = config?;
    config.auth_info.token = Some("wrong".to_owned().into());
    let books: Api<Kube<Book>> = Api::default_namespaced(Client::try_from(config.clone())?);
    refused(books.get("refused").await, 401, "Unauthorized");
    config.auth_info.token = None;
    let books: Api<Kube<Book>> = Api::default_namespaced(Client::try_from(config)?);
    match books.get("refused").await {
        Err(Error::Api(status)) if status.code == 401 || status.code == 403 => Ok(()),
        other => Err(format!("who has no token was answered {other:?}").into()),
    }
}
