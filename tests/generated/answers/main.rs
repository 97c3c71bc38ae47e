//! A server of the generated kinds answers as one that serves the files as they stand: the same requests to both.

mod inlined;
mod kinds;
mod mask;
mod pair;
mod published;
#[path = "../read.rs"]
mod read;
mod reading;
mod writing;

use kindsmith::{Server, kind::Kind, schema::Schema, server::Builder};
use kindsmith_tests::Random;
use mask::Mask;
use pair::Pair;

/// How many differences are shown.
const MOST_SHOWN: usize = 40;

/// A kind without what generated kinds do not say: other subresources, of which the generator warns, and that items of lists may repeat.
fn as_generated(kind: Kind) -> Kind {
    kind.with(|_, version, _| {
        version.subresources.clear();
        version.schema = without_repetition(&version.schema).into();
    })
}

/// A schema whose lists have no item twice.
fn without_repetition(schema: &Schema) -> Schema {
    let mut changed = Schema { may_repeat: false, ..schema.clone() };
    let below = |schema: &Schema| without_repetition(schema);
    changed.properties = schema.properties.iter().map(|(name, property)| (name.clone(), below(property))).collect();
    changed.items = schema.items.as_deref().map(|items| below(items).into());
    changed.additional = schema.additional.as_deref().map(|values| below(values).into());
    changed.definitions = schema.definitions.as_deref().map(|all| all.iter().map(below).collect::<Vec<_>>().into());
    changed
}

#[tokio::test]
async fn the_server_of_the_generated_kinds_answers_as_that_of_the_files() {
    read::say_what_is_missing();
    let kinds: Vec<Kind> = read::kinds().into_iter().map(as_generated).collect();
    let start = |kinds: Vec<Kind>| {
        let bare = |server: Builder| server.without_builtins().without_builtin_controllers();
        Server::test().configure(|server| kinds.into_iter().fold(bare(server), Builder::model)).start()
    };
    let mask = Mask::new();
    let mut pair = Pair::new(mask, start(kinds.clone()).await, start(generated::kinds()).await);
    let mut random = Random::from_seed(11);
    published::ask(&mut pair).await;
    for kind in kinds.iter().filter(|kind| kind.version.served) {
        kinds::ask(&mut pair, kind, &mut random).await;
        // After a difference, the servers may be at different revisions, and requests wait for them.
        if pair.differences.len() >= MOST_SHOWN {
            break;
        }
    }
    println!("{} requests, {} of them done", pair.asked, pair.done);
    let shown: Vec<_> = pair.differences.iter().take(MOST_SHOWN).map(String::as_str).collect();
    assert!(shown.is_empty(), "{} of {} answers differ:\n{}", pair.differences.len(), pair.asked, shown.join("\n"));
    assert!(pair.done > 20 * kinds.len(), "only {} of {} requests were done", pair.done, pair.asked);
}
