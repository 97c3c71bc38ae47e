//! Tests of which indexes are built and dropped, and of searches by them.

use super::{
    super::{DecodedValue, Limits, Object, Scope, tests::World},
    *,
};
use crate::meta::Revision;

fn equal(term: Term, value: &str) -> Condition {
    Condition { term, values: Some(vec![value.into()]) }
}

fn app(value: &str) -> Condition {
    equal(Term::Label("app".into()), value)
}

fn color(value: &str) -> Condition {
    equal(Term::Field(0), value)
}

/// Objects in two namespaces; a label that splits them into three, and a color for a tenth.
async fn world(count: usize, limits: Limits) -> World {
    let world = World::new(limits);
    for number in 0..count {
        let color = if number % 10 == 0 { ["red", "green"][number / 10 % 2] } else { "" };
        world.put(&format!("{}/{number:04}", ["a", "b"][number % 2]), ["x", "y", "z"][number % 3], color).await;
    }
    world
}

fn has_index(world: &World, of: &Condition) -> bool {
    world.things.snapshot().has_index(of)
}

/// Waits until the tasks of all indexes sleep. The clock stands still, so sleeping waits for all other work.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn scan(world: &World, condition: &Condition) {
    let snapshot = world.things.snapshot();
    world.things.scanned(&snapshot, std::slice::from_ref(condition), snapshot.len(), 0);
    settle().await;
}

async fn ask_for(world: &World, condition: &Condition) {
    for _ in 0..SCANS {
        scan(world, condition).await;
    }
    assert!(has_index(world, condition));
}

/// The keys that a search finds, each of which a scan must find, too.
fn search(snapshot: &Snapshot, condition: &Condition, scope: Scope<'_>) -> Option<Vec<String>> {
    let keys: Vec<_> = snapshot.search(std::slice::from_ref(condition), scope)?.map(|o| o.key().to_owned()).collect();
    let value = |object: &Object| match &condition.term {
        Term::Field(at) => Some(object.field(*at).to_owned()).filter(|value| !value.is_empty()),
        Term::Label(key) => object.label(key).map(str::to_owned),
    };
    let meets = |object: &Object| {
        value(object).is_some_and(|value| condition.values.as_ref().is_none_or(|all| all.contains(&value.into())))
    };
    let scanned = snapshot.range(scope.prefix, scope.after).filter(|object| meets(object));
    assert_eq!(keys, scanned.map(|object| object.key().to_owned()).collect::<Vec<_>>(), "{condition:?} {scope:?}");
    Some(keys)
}

#[tokio::test(start_paused = true)]
async fn a_label_gets_its_index_after_some_scans_and_a_field_after_one() {
    let world = world(600, Limits::default()).await;
    for scans in 1..=SCANS {
        assert!(!has_index(&world, &app("x")), "{scans}");
        scan(&world, &app("none")).await;
    }
    assert!(has_index(&world, &app("x")));
    scan(&world, &color("none")).await;
    assert!(has_index(&world, &color("red")));
    // Scans that found what they examined were not in vain.
    let (snapshot, other) = (world.things.snapshot(), equal(Term::Label("other".into()), ""));
    for _ in 0..100 {
        world.things.scanned(&snapshot, std::slice::from_ref(&other), 600, 200);
    }
    settle().await;
    assert!(!has_index(&world, &other));
}

#[tokio::test(start_paused = true)]
async fn searches_find_what_scans_find_now_and_in_the_past() {
    let world = world(600, Limits::default()).await;
    ask_for(&world, &app("none")).await;
    ask_for(&world, &color("none")).await;
    let before = world.things.snapshot();
    for number in 0..200 {
        match number % 3 {
            0 => drop(world.delete(&format!("a/{:04}", number * 2)).await),
            1 => drop(world.put(&format!("b/{:04}", number * 2 + 1), "w", "blue").await),
            _ => drop(world.put(&format!("c/{number:04}"), "x", "red").await),
        }
    }
    let undone = world.things.snapshot_at(Revision(world.cache.revision().0 - 100)).await.unwrap();
    for snapshot in [&world.things.snapshot(), &before, &undone] {
        let mut found = 0;
        for condition in [app("w"), app("none"), color("blue"), color("red")] {
            for (prefix, after) in
                [("", None), ("b/", None), ("c/", Some("c/0050")), ("", Some("b/0100")), ("d/", None)]
            {
                found += search(snapshot, &condition, Scope { prefix, after, limit: 0 }).map_or(0, |keys| keys.len());
            }
        }
        assert!(found >= 30, "{found}");
        let several = Condition { term: Term::Field(0), values: Some(vec!["green".into(), "none".into()]) };
        for (prefix, after) in [("", None), ("", Some("a/0100"))] {
            assert!(search(snapshot, &several, Scope { prefix, after, limit: 0 }).is_some());
        }
    }
    let any = Condition { term: Term::Field(0), values: None };
    assert_eq!(search(&before, &any, Scope::default()).map(|keys| keys.len()), Some(60));
    let of_most = Condition { term: Term::Label("app".into()), values: None };
    assert!(world.things.snapshot().search(&[of_most], Scope::default()).is_none(), "a scan is cheaper");
    let both = [app("x"), color("red")];
    let hits = world.things.snapshot().search(&both, Scope::default()).map(|hits| hits.len());
    assert_eq!(
        hits,
        world.things.snapshot().search(&both[1..], Scope::default()).map(|hits| hits.len()),
        "the smaller"
    );
}

#[tokio::test(start_paused = true)]
async fn an_index_that_nobody_searches_is_dropped() {
    let world = world(600, Limits::default()).await;
    ask_for(&world, &app("none")).await;
    for _ in 0..3 {
        assert!(world.things.snapshot().search(&[app("none")], Scope::default()).is_some());
        tokio::time::sleep(IDLE).await;
        assert!(has_index(&world, &app("x")));
    }
    tokio::time::sleep(IDLE * 2).await;
    assert!(!has_index(&world, &app("x")));
    ask_for(&world, &app("none")).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_built_past_the_budget_or_for_few_objects() {
    let world = world(600, Limits { index_bytes: 700 * ENTRY_BYTES, ..Limits::default() }).await;
    ask_for(&world, &app("none")).await;
    for _ in 0..3 {
        scan(&world, &color("none")).await;
        assert!(!has_index(&world, &color("red")));
    }
    let few = self::world(FEW - 1, Limits::default()).await;
    for _ in 0..100 {
        scan(&few, &color("none")).await;
    }
    assert!(!has_index(&few, &color("red")));
}

#[tokio::test]
async fn an_index_built_beside_writers_has_all_they_wrote() {
    let world = world(2_000, Limits::default()).await;
    let snapshot = world.things.snapshot();
    for round in 0..100 {
        if round == 10 {
            world.things.scanned(&snapshot, &[color("none")], snapshot.len(), 0);
        }
        for number in 0..20 {
            let number = (round * 37 + number * 101) % 2_000;
            world
                .put(
                    &format!("{}/{number:04}", ["a", "b"][number % 2]),
                    "x",
                    ["", "", "", "", "red", "blue"][round % 6],
                )
                .await;
        }
        tokio::task::yield_now().await;
    }
    let built = tokio::time::timeout(Duration::from_secs(30), async {
        while !has_index(&world, &color("red")) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    built.await.unwrap();
    for value in ["red", "blue"] {
        assert!(
            search(&world.things.snapshot(), &color(value), Scope { limit: 0, prefix: "b/", after: None }).is_some()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn objects_that_cannot_be_read_may_meet_any_condition() {
    let world = world(600, Limits::default()).await;
    ask_for(&world, &app("none")).await;
    let mut snapshot = world.things.snapshot();
    let broken = DecodedValue::plain(Err("no".to_owned()));
    snapshot.tree.insert(Arc::new(Object::compose("a/broken", Revision(1), "", broken)));
    assert!(snapshot.search(&[app("none")], Scope::default()).is_none());
}
