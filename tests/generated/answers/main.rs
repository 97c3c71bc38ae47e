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

use kindsmith::{Server, server::Builder};
use kindsmith_tests::Random;
use pair::Pair;

/// How many differences are shown.
const MOST_SHOWN: usize = 40;

#[tokio::test]
async fn the_server_of_the_generated_kinds_answers_as_that_of_the_files() {
    read::say_what_is_missing();
    let bare = |server: Builder| server.without_builtins().without_builtin_controllers();
    let served = Server::test().configure(|server| bare(server).definition_files(generated::FILES)).start();
    let generated = |server| generated::kinds().into_iter().fold(bare(server), Builder::model);
    let generated = Server::test().configure(generated).start();
    let mut pair = Pair::new(served.await, generated.await);
    let (kinds, mut random) = (read::kinds(), Random::from_seed(11));
    published::ask(&mut pair).await;
    for kind in kinds.iter().filter(|kind| kind.version.served) {
        kinds::ask(&mut pair, kind, &mut random).await;
    }
    println!("{} requests, {} of them done", pair.asked, pair.done);
    let shown: Vec<_> = pair.differences.iter().take(MOST_SHOWN).map(String::as_str).collect();
    assert!(shown.is_empty(), "{} of {} answers differ:\n{}", pair.differences.len(), pair.asked, shown.join("\n"));
    assert!(pair.done > 20 * kinds.len(), "only {} of {} requests were done", pair.done, pair.asked);
}
