//! Lists, watches and deletions that an index answers select what a scan selects.
use std::time::Duration;

use serde_json::json;

use super::fixture::{World, at, names, selecting};
use crate::{
    cache::{Condition, Scope, Term},
    meta::{
        Revision,
        options::{DeleteOptions, ListOptions, VersionMatch},
    },
    verbs::Request,
};

const OBJECTS: usize = 600;

async fn world() -> World {
    let world = World::new().await;
    world.create(&world.namespaces, "", json!({"metadata": {"name": "other"}})).await.unwrap();
    for n in 0..OBJECTS {
        let namespace = if n % 5 == 0 { "other" } else { "ns" };
        let mut labels = json!({"tier": (n % 40).to_string(), "id": n.to_string()});
        if n % 60 == 0 {
            labels["rare"] = json!(["a", "b"][n / 60 % 2]);
        }
        let body = json!({"metadata": {"name": format!("c-{n:03}"), "labels": labels}});
        world.create(&world.configs, namespace, body).await.unwrap();
    }
    world
}

/// Every selector, in a namespace and in all, whole and in pages, now and at a revision.
async fn answers(world: &World, then: Revision) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let requests = ["", "ns", "other"].map(|namespace| at(&world.configs, namespace, ""));
    for request in &requests {
        for labels in [
            "id=7",
            "id=700",
            "tier=3",
            "tier in (3,4,9)",
            "tier=3,id=43",
            "tier=3,id!=43",
            "rare",
            "rare=a",
            "rare,tier=0",
            "!rare,tier=20",
            "rare in (a,b,c)",
        ] {
            let options = selecting(labels, "");
            all.push(names(&world.list(request, &options).await));
            all.push(pages(world, request, ListOptions { limit: 2, ..options.clone() }).await);
            let exact = Some(VersionMatch::Exact);
            let past = ListOptions { resource_version: Some(then), resource_version_match: exact, ..options };
            all.push(names(&world.list(request, &past).await));
        }
    }
    all
}

async fn pages(world: &World, request: &Request, mut options: ListOptions) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let page = world.list(request, &options).await;
        assert!(page.items.len() <= options.limit && page.remaining.is_none());
        all.extend(names(&page));
        let Some(token) = page.continue_token else { return all };
        options.continue_token = token;
    }
}

fn is_indexed(world: &World, term: Term) -> bool {
    let none = [Condition { term, values: Some(vec!["none".into()]) }];
    world.configs.objects.snapshot().search(&none, Scope::default()).is_some()
}

/// Scans in vain until there is an index.
async fn index(world: &World, label: &str) {
    let request = at(&world.configs, "", "");
    let asked = tokio::time::timeout(Duration::from_secs(30), async {
        while !is_indexed(world, Term::Label(label.into())) {
            assert_eq!(world.list(&request, &selecting(&format!("{label}=none"), "")).await.items.len(), 0);
            tokio::task::yield_now().await;
        }
    });
    asked.await.expect("an index");
}

#[tokio::test]
async fn lists_are_the_same_with_and_without_an_index() {
    let world = world().await;
    let then = world.api.cache.revision();
    for n in (1..40).chain([43, 83]) {
        match n % 3 {
            0 => drop(world.delete(&world.config(&format!("c-{n:03}"))).await),
            1 => drop(world.merge(&world.config(&format!("c-{n:03}")), json!({"data": {"k": "v"}})).await),
            _ => {
                let labels = json!({"metadata": {"labels": {"tier": "3", "rare": "b"}}});
                drop(world.merge(&world.config(&format!("c-{n:03}")), labels).await);
            }
        }
    }
    let request = world.config("");
    let scanned = answers(&world, then).await;
    for label in ["id", "tier", "rare"] {
        index(&world, label).await;
    }
    assert_eq!(answers(&world, then).await, scanned);

    let watch_result = world.api.watch(&request, &selecting("id=7", "")).await.unwrap();
    assert_eq!(watch_result.initial.iter().map(|object| object.name().to_owned()).collect::<Vec<_>>(), ["c-007"]);
    let gone =
        world.api.delete_collection(&request, &selecting("tier=9", ""), &DeleteOptions::default()).await.unwrap();
    assert!(gone.items.len() > 5);
    assert_eq!(world.list(&request, &selecting("tier=9", "")).await.items.len(), 0);
    assert!(is_indexed(&world, Term::Label("tier".into())));
}
