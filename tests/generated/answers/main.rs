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

use kindsmith::{Server, kind::Kind, server::Builder};
use kindsmith_tests::Random;
use pair::Pair;

/// How many differences are shown.
const MOST_SHOWN: usize = 40;

/// A kind without what generated kinds do not say, of which the generator warns: other subresources.
fn without_what_is_warned_of(kind: Kind) -> Kind {
    kind.with(|_, version, _| version.subresources.clear())
}

#[tokio::test]
async fn the_server_of_the_generated_kinds_answers_as_that_of_the_files() {
    read::say_what_is_missing();
    let kinds: Vec<Kind> = read::kinds().into_iter().map(without_what_is_warned_of).collect();
    let start = |kinds: Vec<Kind>| {
        let bare = |server: Builder| server.without_builtins().without_builtin_controllers();
        Server::test().configure(|server| kinds.into_iter().fold(bare(server), Builder::model)).start()
    };
    let mut pair = Pair::new(start(kinds.clone()).await, start(generated::kinds()).await);
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
