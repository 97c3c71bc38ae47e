//! Every scenario succeeds, over each version of HTTP, with and without TLS.
use kindsmith::{Server, server::TestServer};
use serde_json::Value;

use super::{load, side, target};
use crate::{
    client::{Connection, Request},
    drive::Load,
    scenario::{self, objects},
    session::{self, Measured},
    target::Http,
};

fn start(tls: bool) -> TestServer {
    let server = Server::test().configure(kindsmith::server::Builder::definitions);
    let server = if tls { server.tls() } else { server };
    crate::runtime().unwrap().block_on(server.start())
}

fn run(side: &session::Side, name: &str, load: Load) -> Measured {
    let scenario = scenario::named(&[name.to_owned()]).unwrap()[0];
    session::round(side, scenario, load, name.to_owned()).unwrap()
}

fn get(server: &TestServer, path: &str) -> Value {
    crate::runtime().unwrap().block_on(server.call("GET", path, Value::Null)).1
}

#[test]
fn every_scenario_succeeds() {
    let server = start(false);
    let side = side(&server, Http::One);
    for scenario in &scenario::ALL {
        let Measured { measure, usage } = run(&side, scenario.name, load());
        assert!(measure.count() > 0, "{}: nothing succeeded: {:?}", scenario.name, measure.first);
        assert_eq!(measure.first, None, "{}: {:?} {:?}", scenario.name, measure.refused, measure.errors);
        assert!(measure.bytes > measure.count(), "{}", scenario.name);
        assert!(usage.is_some_and(|usage| usage.most_kib > 0), "{}: this process has memory", scenario.name);
    }
}

#[test]
fn http_2_and_tls_carry_several_streams_and_the_watches() {
    for (tls, http, streams) in [(true, Http::One, 1), (true, Http::Two, 2), (false, Http::Two, 2)] {
        let server = start(tls);
        let side = side(&server, http);
        for name in ["get", "create", "fanout", "controller"] {
            let Measured { measure, .. } = run(&side, name, Load { streams, ..load() });
            assert!(measure.count() > 0, "{name}: {:?}", measure.first);
            assert_eq!(measure.first, None, "{name} over {http:?}");
        }
    }
}

#[test]
fn scenarios_do_what_they_say() {
    let server = start(false);
    let side = side(&server, Http::One);
    let items = |namespace: &str| get(&server, &objects::config_maps(namespace))["items"].as_array().unwrap().len();
    assert_eq!(items(objects::READ), load().objects);

    // Each creation is one object; lists are of the objects to read, whatever else was written.
    let created = run(&side, "create", load()).measure;
    assert_eq!(items(objects::CREATED) as u64, created.count());
    let size = |name: &str| {
        let measure = run(&side, name, load()).measure;
        measure.bytes / measure.count()
    };
    let (one, all) = (size("get"), size("list-all"));
    assert!((1_900..2_200).contains(&one), "an object has about 2 KB, not {one} bytes");
    assert!(all > 18 * one && all < 22 * one, "{all} bytes of {} objects of {one}", load().objects);
    assert!(size("list-label") < all / 5 && size("list-label-none") < 500, "selectors select");
    assert!(size("list-metadata") < all / 3 && size("list-pretty") > all, "forms differ");

    // Every change reaches every watcher; a controller leaves nothing but its Lease.
    let events = run(&side, "fanout", load()).measure;
    assert_eq!(events.count() % load().watchers as u64, 0);
    run(&side, "controller", load());
    assert_eq!(items(objects::RECONCILED), 0);

    // An apply that changes nothing leaves the resourceVersion, the other writes do not.
    let written = || get(&server, &objects::config_maps(objects::WRITTEN))["metadata"]["resourceVersion"].to_string();
    run(&side, "apply-same", load());
    let before = written();
    run(&side, "apply-same", load());
    assert_eq!(written(), before, "an apply that changes nothing");
    for name in ["update", "patch-json", "patch-merge", "patch-strategic", "apply"] {
        let before = written();
        run(&side, name, load());
        assert_ne!(written(), before, "{name}");
    }
}

#[test]
fn pages_continue_to_the_end_and_cleaning_removes_all() {
    let server = start(false);
    let target = target(&server, Http::One);
    let runtime = crate::runtime().unwrap();
    runtime.block_on(objects::prepare(&target, 1_100, 1)).unwrap();
    let mut worker = scenario::Worker::new(runtime.block_on(Connection::open(&target, false)).unwrap(), 0);
    let paging = scenario::named(&["paging".to_owned()]).unwrap()[0];
    let position =
        scenario::Position { run: "r", number: 0, worker: 0, objects: 1_100, due: std::time::Instant::now() };
    let bytes = runtime.block_on(worker.operate(paging, &position)).unwrap();
    let mut connection = runtime.block_on(Connection::open(&target, false)).unwrap();
    let whole = runtime.block_on(connection.send(&Request::get(objects::config_maps(objects::READ)))).unwrap().length;
    assert!(bytes > whole && bytes < whole + 2_000, "three pages have {bytes} bytes, the list {whole}");

    let gzip = Request { gzip: true, ..Request::get(objects::config_maps(objects::READ)) };
    assert!(runtime.block_on(connection.send(&gzip)).unwrap().length < whole / 5, "a long list is compressed");

    let fewer = runtime.block_on(objects::prepare(&target, 20, 1)).unwrap_err().to_string();
    assert!(fewer.contains("--objects 1100") && fewer.contains("load clean"), "{fewer}");
    runtime.block_on(objects::clean(&target)).unwrap();
    assert_eq!(get(&server, &objects::config_maps(objects::READ))["items"].as_array().map(Vec::len), Some(0));
    runtime.block_on(objects::clean(&target)).unwrap();
}

#[test]
fn refusals_are_counted_and_no_success() {
    let server = start(false);
    let stranger =
        crate::target::Access { url: server.url().into(), token: Some("wrong".into()), ..Default::default() };
    let target = crate::target::Target::new(&stranger, Http::One).unwrap();
    let Measured { measure, .. } = run(&session::Side { label: "A".into(), target, pid: None }, "get", load());
    assert_eq!(measure.count(), 0);
    assert!(measure.refused[&401] > 0 && measure.refused.len() == 1, "{:?}", measure.refused);
    assert!(measure.first.is_some_and(|first| first.contains("401") && first.contains("Unauthorized")));
    let unknown = scenario::named(&["gett".to_owned()]).err().unwrap().to_string();
    assert!(unknown.contains("\"gett\"") && unknown.contains("get-protobuf"), "{unknown}");
}
