//! Tokens of users that etcd does not take any more.

use std::sync::atomic::{AtomicUsize, Ordering};

use prost::Message;
use tokio::task::JoinSet;

use super::{
    fake::{Answer, Call, Fake, well},
    fault::Fault,
    members::Again,
    *,
};

#[test]
fn users_are_enabled_and_disabled_while_a_server_runs() {
    let Some(member) = Member::start() else { return };
    let options = EtcdOptions::new([member.url()]).prefix("/shop").user("ann", "pass");
    let store = Etcd::open(options).expect("etcd asks for no user");
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    enable_users(&member);
    put(&store, "/things/a", "2");
    assert!(store.get("/registry/things/a").expect("a read").is_some());
    member.control(&["--user", "root:secret", "auth", "disable"]);
    put(&store, "/things/a", "3");
    member.control(&["auth", "enable"]);
    put(&store, "/things/a", "4");
    until("the sink has all changes", || numbers(&seen) == [1, 2, 3, 4]);
}

/// A member that takes only the newest token, of which it gives one for each password. The first is stale at once.
fn strict(given: &Arc<AtomicUsize>, authenticate: fn(usize) -> Answer) -> Fake {
    let given = Arc::clone(given);
    Fake::start(move |call: &Call| match &*call.path {
        proto::path::AUTHENTICATE => {
            // As long as a password takes.
            thread::sleep(Duration::from_millis(60));
            authenticate(given.fetch_add(1, Ordering::Relaxed) + 1)
        }
        proto::path::STATUS => well(call),
        _ if call.token != "token2" => Err((16, "etcdserver: invalid auth token")),
        proto::path::TXN => Ok(proto::TxnResponse::default().encode_to_vec()),
        path => panic!("{path} is not expected"),
    })
}

fn token(number: usize) -> Vec<u8> {
    proto::AuthenticateResponse { token: format!("token{number}") }.encode_to_vec()
}

/// Makes calls side by side, and returns their faults.
async fn calls(member: &Fake) -> Vec<Fault> {
    let members = Members::new(EtcdOptions::new([member.url()]).user("ann", "pass")).map(Arc::new);
    let (members, mut calls) = (members.expect("valid options"), JoinSet::new());
    for _ in 0..200 {
        let members = Arc::clone(&members);
        calls.spawn(async move {
            let request = proto::TxnRequest::default();
            members.call::<proto::TxnResponse>(proto::path::TXN, &request, Again::Unsent).await
        });
    }
    calls.join_all().await.into_iter().filter_map(Result::err).collect()
}

#[test]
fn a_stale_token_is_renewed_once_for_all_calls() {
    let given = Arc::default();
    let member = strict(&given, |number| Ok(token(number)));
    let faults = block_on(calls(&member));
    assert!(faults.is_empty(), "{:?}", faults[0]);
    assert_eq!(given.load(Ordering::Relaxed), 2, "one when the session begins, and one for all calls");
}

#[test]
fn a_call_whose_token_cannot_be_renewed_has_no_effect() {
    let given = Arc::default();
    let member = strict(&given, |number| match number {
        1 => Ok(token(1)),
        _ => Err((14, "etcdserver: request timed out")),
    });
    let faults = block_on(calls(&member));
    assert_eq!(faults.len(), 200);
    assert!(faults.iter().all(|fault| matches!(fault, Fault::Unsent(why) if why.contains("timed out"))), "{faults:?}");
}
