//! Invalid requests as bytes.

use kindsmith_tests::Random;

use super::body::{self, Thing};

/// Served collections, each with its content.
const SERVED: [(&str, Thing); 7] = [
    ("/api/v1/namespaces/default/configmaps", Thing::ConfigMap),
    ("/api/v1/namespaces/default/secrets", Thing::Secret),
    ("/api/v1/namespaces/default/events", Thing::Event),
    ("/api/v1/namespaces", Thing::Namespace),
    ("/apis/coordination.k8s.io/v1/namespaces/default/leases", Thing::Lease),
    ("/apis/wire.example.com/v1/namespaces/default/leaves", Thing::Leaf),
    ("/apis/wire.example.com/v1/namespaces/kube-public/leaves", Thing::Leaf),
];
/// Other collections: across namespaces, under old watch paths, missing.
const OTHERS: [&str; 7] = [
    "/api/v1/configmaps",
    "/apis/wire.example.com/v1/leaves",
    "/api/v1/watch/namespaces/default/configmaps",
    "/apis/wire.example.com/v1/watch/leaves",
    "/api/v1/namespaces/nowhere/configmaps",
    "/api/v1/namespaces/default/pods",
    "/apis/no.example.com/v1/things",
];
const PLACES: [&str; 16] = [
    "/",
    "/api",
    "/apis",
    "/api/v1",
    "/apis/wire.example.com",
    "/apis/wire.example.com/v1",
    "/version",
    "/healthz",
    "/readyz/ping",
    "/livez/nope",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
    "/openapi/v3/apis/wire.example.com/v1",
    "/metrics",
    "/api/v1/namespaces//configmaps/",
];
const NAMES: [&str; 12] =
    ["a", "b", "a", "A", "..", "%2e%2e", "%00", "%ff%fe", "a%2Fb", "a b", "\u{fc}nicode", "a/status/more"];
const PARAMETERS: [&str; 24] = [
    "watch",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "labelSelector",
    "fieldSelector",
    "timeoutSeconds",
    "allowWatchBookmarks",
    "sendInitialEvents",
    "pretty",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "gracePeriodSeconds",
    "propagationPolicy",
    "orphanDependents",
    "force",
    "includeObject",
    "timeout",
    "verbose",
    "exclude",
    "nonsense",
    "",
];
const VALUES: [&str; 40] = [
    "1",
    "0",
    "-1",
    "true",
    "false",
    "abc",
    "",
    "99999999999999999999",
    "18446744073709551615",
    "2",
    "500",
    "1e3",
    "NotOlderThan",
    "Exact",
    "Background",
    "Foreground",
    "Orphan",
    "All",
    "Strict",
    "Warn",
    "Ignore",
    "None",
    "Object",
    "a=b",
    "a!=b,c in (d,e)",
    "a in (",
    "!",
    "=,=",
    "a notin (b),!c",
    "metadata.name=a",
    "spec.color=Red",
    "metadata.namespace!=default",
    "status.nope=1",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
    "%",
    "%zz",
    "%00",
    "\u{1f4a9}",
    "../../etc/passwd",
    "((((((((((((((((((((",
];
const ACCEPTS: [&str; 12] = [
    "application/json",
    "*/*",
    "",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;as=Nothing;v=v9;g=x",
    "application/vnd.kubernetes.protobuf",
    "text/html",
    ";;;,,,",
    "application/json;q=2;;=",
    "application/yaml",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
];
const CONTENT_TYPES: [&str; 12] = [
    "application/json",
    "application/json",
    "application/merge-patch+json",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/yaml",
    "text/plain",
    "application/json; charset=latin1",
    "\u{fc}",
];

/// A request that is mostly valid, with some unusual parts.
pub(crate) fn random(random: &mut Random, token: &str) -> Vec<u8> {
    if random.one_in(60) {
        return noise(random);
    }
    let (collection, thing) = *random.pick(&SERVED);
    let name = if random.one_in(8) { *random.pick::<&str>(&NAMES) } else { *random.pick(&["a", "b", "c", "d", "e"]) };
    let (method, mut path, sent) = match random.below(10) {
        0 | 1 => ("GET", collection.to_owned(), Sent::Nothing),
        2 => ("GET", format!("{collection}/{name}"), Sent::Nothing),
        3 | 4 => ("POST", collection.to_owned(), Sent::Object(thing)),
        5 => ("PUT", format!("{collection}/{name}"), Sent::Object(thing)),
        6 | 7 => ("PATCH", format!("{collection}/{name}"), Sent::Patch(*random.pick(&PATCHES))),
        8 => ("DELETE", format!("{collection}/{name}"), Sent::Options),
        _ => (*random.pick::<&str>(&["DELETE", "HEAD", "OPTIONS", "BREW", "GET"]), odd_path(random), Sent::Options),
    };
    if random.one_in(8) {
        path = odd_path(random);
    } else if random.one_in(10) && path != collection {
        path += random.pick::<&str>(&["/status", "/scale", "/finalize", "/log", "/", "//", "/status/"]);
    }
    // The namespaces of the other objects must not be deleted.
    if method == "DELETE" && collection == "/api/v1/namespaces" && !path.ends_with(name) {
        path = collection.to_owned() + "/a";
    }
    let target = path + &query(random);
    assemble(random, method, &target, sent, name, token)
}

/// The body of a request.
#[derive(Clone, Copy)]
enum Sent {
    Nothing,
    Object(Thing),
    Patch((&'static str, bool)),
    Options,
}

/// Types of patches, and whether they are lists of operations.
const PATCHES: [(&str, bool); 5] = [
    ("application/merge-patch+json", false),
    ("application/json-patch+json", true),
    ("application/merge-patch+json", true),
    ("application/strategic-merge-patch+json", false),
    ("application/apply-patch+yaml", false),
];

fn assemble(random: &mut Random, method: &str, target: &str, sent: Sent, name: &str, token: &str) -> Vec<u8> {
    // A space would end the target; other unusual characters may stay.
    let target = target.replace(' ', if random.one_in(2) { "+" } else { "%20" });
    let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n").into_bytes();
    if !random.one_in(40) {
        header(&mut bytes, "Authorization", &format!("Bearer {token}"));
    }
    if random.one_in(3) {
        header(&mut bytes, "Accept", random.pick::<&str>(&ACCEPTS));
    }
    if random.one_in(10) {
        odd_header(random, &mut bytes);
    }
    let (sound, kind) = match sent {
        Sent::Nothing => (None, "application/json"),
        Sent::Object(thing) => (Some(thing.object(name)), "application/json"),
        Sent::Patch((kind, operations)) => (Some(body::patch(random, operations)), kind),
        Sent::Options => (random.one_in(2).then(body::delete_options), "application/json"),
    };
    let body = sound.map_or_else(Vec::new, |sound| body::bent(random, sound));
    if !body.is_empty() || random.one_in(5) {
        header(&mut bytes, "Content-Type", if random.one_in(12) { random.pick::<&str>(&CONTENT_TYPES) } else { kind });
    }
    // Sometimes a wrong Content-Length: the rest of the body becomes another request.
    let length = if random.one_in(100) { random.below(body.len() + 1) } else { body.len() };
    header(&mut bytes, "Content-Length", &length.to_string());
    bytes.extend_from_slice(b"\r\n");
    bytes.extend(body);
    bytes
}

fn header(bytes: &mut Vec<u8>, name: &str, value: &str) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value.as_bytes());
    bytes.extend_from_slice(b"\r\n");
}

fn odd_header(random: &mut Random, bytes: &mut Vec<u8>) {
    match random.below(8) {
        0 => header(bytes, "Accept-Encoding", "gzip;q=nan, *;q=0"),
        1 => header(bytes, "Authorization", "Basic ===="),
        2 => header(bytes, "If-None-Match", "\"\u{fc}"),
        3 => header(bytes, "Impersonate-User", "admin"),
        4 => header(bytes, "X-Long", &"x".repeat(random.below(20_000))),
        5 => header(bytes, "Upgrade", "websocket"),
        6 => header(bytes, "Content-Encoding", "gzip"),
        _ => header(bytes, "Cookie", &"a=b; ".repeat(random.below(500))),
    }
}

/// A path that is not an object's.
fn odd_path(random: &mut Random) -> String {
    let all: &[&str] = if random.one_in(2) { &PLACES } else { &OTHERS };
    let mut path = (*random.pick(all)).to_owned();
    if random.one_in(3) {
        path = format!("{path}/{}", random.pick(&NAMES));
    }
    if random.one_in(10) {
        path = path.chars().take(random.below(path.len()).max(1)).collect();
    }
    path
}

fn query(random: &mut Random) -> String {
    let mut query = String::new();
    let count = [0, 0, 0, 0, 1, 1, 2, 3, 6][random.below(9)];
    for at in 0..count {
        query += if at == 0 { "?" } else { "&" };
        query += random.pick::<&str>(&PARAMETERS);
        query += if random.one_in(15) { "" } else { "=" };
        query += random.pick::<&str>(&VALUES);
    }
    query
}

/// Bytes that are not, or barely, HTTP.
fn noise(random: &mut Random) -> Vec<u8> {
    match random.below(5) {
        0 => (0..20 + random.below(300)).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect::<Vec<_>>(),
        1 => b"GET /api HTTP/9.9\r\n\r\n".to_vec(),
        2 => b"\r\n\r\n\r\nGET\r\n\r\n".to_vec(),
        3 => format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(100_000)).into_bytes(),
        _ => b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
            .to_vec(),
    }
    .into_iter()
    .chain(*b"\r\n\r\n")
    .collect()
}
