//! Tests of the typed client through a version that is not the stored one.
use serde::{Deserialize, Serialize};

use super::*;
use crate::{
    ApiType, ObjectMeta, Resource,
    cache::{Cache, Limits},
    kind::Registry,
    storage::Memory,
};

/// A bell.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v2", cluster)]
struct Bell {
    metadata: ObjectMeta,
    spec: BellSpec,
}

/// How a bell sounds.
#[derive(ApiType, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BellSpec {
    /// Its tone.
    tone: String,
}

/// A bell, as it was declared before.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(version = "v1", storage = Bell, convert = from)]
struct OldBell {
    metadata: ObjectMeta,
    spec: OldBellSpec,
}

/// How a bell sounded.
#[derive(ApiType, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OldBellSpec {
    /// Its sound.
    sound: String,
}

impl From<OldBell> for Bell {
    fn from(OldBell { metadata, spec }: OldBell) -> Self {
        Self { metadata, spec: BellSpec { tone: spec.sound } }
    }
}

impl TryFrom<Bell> for OldBell {
    type Error = String;

    fn try_from(Bell { metadata, spec }: Bell) -> std::result::Result<Self, String> {
        match spec.tone.as_str() {
            "infrasound" => Err("nobody heard it then".to_owned()),
            _ => Ok(Self { metadata, spec: OldBellSpec { sound: spec.tone } }),
        }
    }
}

fn bell(name: &str, tone: &str) -> Bell {
    Bell { metadata: ObjectMeta::named(name), spec: BellSpec { tone: tone.to_owned() } }
}

#[tokio::test]
async fn a_type_of_another_version_than_the_stored_one_is_a_type_like_others() {
    let store = Arc::new(Memory::new());
    let cache = Cache::new(store.clone(), Limits::default());
    let registry = Registry::new(cache.clone());
    registry.register([OldBell::kind(), Bell::kind()]).expect("two versions");
    let client = Client::new(Api::new(Arc::new(registry), cache, store), "test");
    let (new, old) = (client.of::<Bell>(""), client.of::<OldBell>(""));
    let sounds = |bells: Vec<OldBell>| bells.into_iter().map(|bell| bell.spec.sound).collect::<Vec<_>>();

    new.create(&bell("a", "ding")).await.unwrap();
    new.create(&bell("b", "dong")).await.unwrap();
    assert_eq!(sounds(old.list().await.unwrap()), ["ding", "dong"]);
    let mut states = old.states("a").await.unwrap();
    assert_eq!(states.next().await.unwrap().map(|bell| bell.spec.sound).as_deref(), Some("ding"));
    let changed = old.change("a", |bell| {
        bell.spec.sound.push('!');
        Ok(())
    });
    assert_eq!(changed.await.unwrap().spec.sound, "ding!");
    assert_eq!(states.next().await.unwrap().map(|bell| bell.spec.sound).as_deref(), Some("ding!"));
    assert_eq!(new.get("a").await.unwrap().spec.tone, "ding!");

    let lower = async |name| {
        let change = |bell: &mut Bell| {
            bell.spec.tone = "infrasound".to_owned();
            Ok(())
        };
        new.change(name, change).await.unwrap()
    };
    lower("b").await;
    let refused = old.list().await.unwrap_err().to_string();
    assert!(refused.contains("/registry/example.com/bells/b") && refused.contains("nobody heard it then"), "{refused}");
    assert_eq!(new.list().await.unwrap().len(), 2);
    lower("a").await;
    assert!(states.next().await.unwrap_err().to_string().contains("nobody heard it then"));
}
