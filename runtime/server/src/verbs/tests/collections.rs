//! list: selectors, pages of one state, versions.
use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::fixture::{World, at, names, selecting, version};
use crate::{
    cache::Limits,
    meta::{
        Revision,
        options::{GetOptions, ListOptions, VersionMatch},
    },
    storage::Memory,
    verbs::{Error, ItemPosition, List},
};

async fn with_configs(count: usize) -> World {
    let world = World::new().await;
    for n in 0..count {
        let labels = json!({"tier": (n % 3).to_string()});
        world.create_config(json!({"metadata": {"name": format!("c-{n:02}"), "labels": labels}})).await;
    }
    world
}

fn page(limit: usize, token: Option<&String>) -> ListOptions {
    ListOptions { limit, continue_token: token.cloned().unwrap_or_default(), ..ListOptions::default() }
}

fn of(revision: u64, how: Option<VersionMatch>) -> ListOptions {
    ListOptions { resource_version: Some(Revision(revision)), resource_version_match: how, ..ListOptions::default() }
}

#[tokio::test]
async fn selectors_pick_by_label_name_namespace_and_declared_field() {
    let world = with_configs(6).await;
    world.create(&world.namespaces, "", json!({"metadata": {"name": "other"}})).await.unwrap();
    world.create(&world.configs, "other", json!({"metadata": {"name": "c-00"}})).await.unwrap();
    let (here, all) = (world.config(""), at(&world.configs, "", ""));

    assert_eq!(names(&world.list(&here, &selecting("tier=1", "")).await), ["c-01", "c-04"]);
    assert_eq!(names(&world.list(&here, &selecting("", "metadata.name=c-02")).await), ["c-02"]);
    assert_eq!(names(&world.list(&here, &selecting("tier=0", "metadata.name!=c-03")).await), ["c-00"]);
    assert_eq!(names(&world.list(&here, &selecting("tier=0", "metadata.name=c-01")).await), [""; 0]);
    assert_eq!(names(&world.list(&all, &selecting("", "metadata.namespace=other")).await), ["c-00"]);
    assert_eq!(world.list(&all, &selecting("", "metadata.name=c-00")).await.items.len(), 2);
    assert_eq!(world.list(&here, &selecting("", "metadata.namespace=other")).await.items.len(), 0);
    assert_eq!(world.list(&all, &ListOptions::default()).await.items.len(), 7);

    world.create_widget(json!({"metadata": {"name": "r"}, "spec": {"size": 1}})).await;
    world.create_widget(json!({"metadata": {"name": "b"}, "spec": {"size": 1, "color": "Blue"}})).await;
    assert_eq!(names(&world.list(&world.widget(""), &selecting("", "spec.color=Blue")).await), ["b"]);
    assert_eq!(names(&world.list(&world.widget(""), &selecting("", "spec.color!=Blue")).await), ["r"]);
}

#[tokio::test]
async fn unknown_fields_are_reported_in_the_wording_of_the_kind() {
    let world = World::new().await;
    let refused = |error: Result<List, Error>| match error {
        Err(Error::BadRequest(message)) => message,
        _ => panic!("not refused"),
    };
    let by = selecting("", "data.k=v");
    assert_eq!(
        refused(world.api.list(&world.config(""), &by).await),
        "\"data.k\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    assert_eq!(refused(world.api.list(&world.widget(""), &by).await), "field label not supported: data.k");
}

#[tokio::test]
async fn pages_show_one_state_despite_concurrent_writes() {
    let world = with_configs(7).await;
    let request = world.config("");
    let first = world.list(&request, &page(3, None)).await;
    assert_eq!((names(&first), first.remaining), (vec!["c-00".into(), "c-01".into(), "c-02".into()], Some(4)));
    world.delete(&world.config("c-04")).await.unwrap();
    world.create_config(json!({"metadata": {"name": "c-09"}})).await;
    world.merge(&world.config("c-05"), json!({"data": {"k": "v"}})).await.unwrap();

    let second = world.list(&request, &page(3, first.continue_token.as_ref())).await;
    assert_eq!(names(&second), ["c-03", "c-04", "c-05"]);
    assert_eq!((second.revision, second.remaining), (first.revision, Some(1)));
    let third = world.list(&request, &page(3, second.continue_token.as_ref())).await;
    assert_eq!((names(&third), third.continue_token, third.remaining), (vec!["c-06".into()], None, None));
    let fresh = world.list(&request, &page(100, None)).await;
    assert_eq!((fresh.items.len(), fresh.continue_token), (7, None));
}

#[tokio::test]
async fn pages_with_selectors_have_no_remaining_count() {
    let world = with_configs(9).await;
    let options = ListOptions { limit: 2, ..selecting("tier=1", "") };
    let first = world.list(&world.config(""), &options).await;
    assert_eq!((names(&first), first.remaining), (vec!["c-01".into(), "c-04".into()], None));
    let options = ListOptions { continue_token: first.continue_token.unwrap(), ..options };
    assert_eq!(names(&world.list(&world.config(""), &options).await), ["c-07"]);
}

#[tokio::test]
async fn tokens_are_not_trusted() {
    let world = with_configs(3).await;
    let token = |json: &str| {
        use base64::Engine;
        Some(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json))
    };
    for bad in [
        Some("garbage".to_owned()),
        Some("%%%".to_owned()),
        token("{}"),
        token(r#"{"v":"v9","rv":1,"start":"c-00\u0000"}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":0,"start":"c-00\u0000"}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":""}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../other/c\u0000"}"#),
        token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"no zero"}"#),
    ] {
        let refused = world.api.list(&world.config(""), &page(1, bad.as_ref())).await;
        assert!(matches!(refused, Err(Error::BadRequest(m)) if m.starts_with("invalid continue token")), "{bad:?}");
    }
    let first = world.list(&world.config(""), &page(1, None)).await;
    let both = ListOptions { resource_version: Some(first.revision), ..page(1, first.continue_token.as_ref()) };
    assert!(matches!(world.api.list(&world.config(""), &both).await, Err(Error::BadRequest(_))));
    let zero = ListOptions { resource_version: Some(Revision(0)), ..page(1, first.continue_token.as_ref()) };
    assert_eq!(names(&world.list(&world.config(""), &zero).await), ["c-01", "c-02"], "zero takes no limit");
    // A token of another namespace gives no access to it.
    let elsewhere = world.list(&at(&world.configs, "empty", ""), &page(1, first.continue_token.as_ref())).await;
    assert!(elsewhere.items.is_empty());
}

#[tokio::test]
async fn an_expired_token_is_answered_with_one_to_continue() {
    let limits = Limits { history_bytes: 1, ..Limits::default() };
    let world = World::with_limits(Arc::new(Memory::new()), limits).await;
    for n in 0..5 {
        world.create_config(json!({"metadata": {"name": format!("c-{n:02}")}})).await;
    }
    let first = world.list(&world.config(""), &page(2, None)).await;
    world.delete(&world.config("c-03")).await.unwrap();
    // Other changes push the first state out of memory.
    for n in 0..100 {
        world.create_config(json!({"metadata": {"name": format!("d-{n:02}")}})).await;
        world.list(&world.config(""), &page(1, None)).await;
    }

    let expired = world.api.list(&world.config(""), &page(2, first.continue_token.as_ref())).await;
    let Err(Error::Expired { message, continue_token }) = expired else { panic!("it has not expired") };
    assert!(message.starts_with("The provided continue parameter is too old"));
    let rest = world.list(&world.config(""), &page(3, continue_token.as_ref())).await;
    assert_eq!(names(&rest), ["c-02", "c-04", "d-00"]);
    assert!(rest.revision > first.revision);
    let more = world.list(&world.config(""), &page(1, rest.continue_token.as_ref())).await;
    assert_eq!((names(&more), more.revision), (vec!["d-01".into()], rest.revision), "consistent again from here");

    let exact = of(first.revision.0, Some(VersionMatch::Exact));
    assert!(matches!(
        world.api.list(&world.config(""), &exact).await,
        Err(Error::Expired { continue_token: None, .. })
    ));
    let watch = ListOptions { resource_version: Some(first.revision), ..ListOptions::default() };
    assert!(matches!(
        world.api.watch(&world.config(""), &watch).await,
        Err(Error::Expired { message, .. }) if message.starts_with("too old resource version: ")
    ));
}

#[tokio::test]
async fn versions_select_a_state() {
    let world = World::new().await;
    let first = world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "1"}})).await;
    let second = world.merge(&world.config("a"), json!({"data": {"k": "2"}})).await.unwrap();
    world.create_config(json!({"metadata": {"name": "b"}})).await;
    let (rv1, rv2): (u64, u64) = (version(&first).parse().unwrap(), version(&second).parse().unwrap());
    let request = world.config("");
    let listed = |options: ListOptions| {
        let (world, request) = (&world, &request);
        async move {
            let list = world.list(request, &options).await;
            list.items.iter().map(|object| object.revision().0).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed(of(rv1, Some(VersionMatch::Exact))).await, [rv1]);
    assert_eq!(listed(of(rv2, Some(VersionMatch::Exact))).await, [rv2]);
    assert_eq!(listed(ListOptions { limit: 10, ..of(rv1, None) }).await, [rv1], "a limit makes it exact");
    assert_eq!(listed(of(rv1, Some(VersionMatch::NotOlderThan))).await, [rv2, rv2 + 1]);
    assert_eq!(listed(of(rv1, None)).await, [rv2, rv2 + 1]);
    assert_eq!(listed(ListOptions { limit: 1, ..of(0, None) }).await, [rv2, rv2 + 1], "zero takes no limit");
}

#[tokio::test(start_paused = true)]
async fn a_future_version_is_awaited_and_then_refused() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let before = tokio::time::Instant::now();
    let far = GetOptions { resource_version: Some(Revision(999)) };
    let refused = world.api.get(&world.config("a"), &far).await;
    assert!(matches!(refused, Err(Error::TooLargeRevision { asked: Revision(999), .. })));
    assert!(before.elapsed() >= Duration::from_secs(3));
    for how in [VersionMatch::Exact, VersionMatch::NotOlderThan] {
        let refused = world.api.list(&world.config(""), &of(999, Some(how))).await;
        assert!(matches!(refused, Err(Error::TooLargeRevision { .. })));
    }
}

#[tokio::test]
async fn a_walk_continues_from_its_place_despite_concurrent_writes() {
    let world = with_configs(30).await;
    let options = ListOptions { limit: 7, ..selecting("tier=1", "") };
    let list = world.list(&world.config(""), &options).await;
    let all = names(&list);
    assert_eq!((all.len(), list.items.len(), list.items.iter().count()), (7, 7, 7));
    let (mut position, mut found) = (ItemPosition::default(), Vec::new());
    loop {
        let mut iter = list.items.iter_from(position);
        found.extend(iter.by_ref().take(2).map(|object| object.name().to_owned()));
        position = iter.position();
        if iter.next().is_none() {
            break;
        }
        let labels = json!({"tier": "1"});
        let name = format!("b-{:02}", found.len());
        world.create_config(json!({"metadata": {"name": name, "labels": labels}})).await;
    }
    assert_eq!(found, all);
}
