//! Requests that no client should send, as bytes.

use kindsmith_tests::Random;

use super::body;

const METHODS: [&str; 12] =
    ["GET", "GET", "GET", "POST", "POST", "PUT", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const RESOURCES: [&str; 14] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces/default/events",
    "/api/v1/namespaces/default/serviceaccounts",
    "/api/v1/namespaces",
    "/api/v1/configmaps",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/wire.example.com/v1/namespaces/default/leaves",
    "/apis/wire.example.com/v1/leaves",
    "/api/v1/watch/namespaces/default/configmaps",
    "/api/v1/namespaces/nowhere/configmaps",
    "/apis/wire.example.com/v1/watch/leaves",
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

/// A request: a sound one in most of its parts, and odd in some.
pub fn random(random: &mut Random, token: &str) -> Vec<u8> {
    if random.one_in(60) {
        return noise(random);
    }
    let method = if random.one_in(50) { "BREW" } else { *random.pick(&METHODS) };
    let mut bytes = format!("{method} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", target(random)).into_bytes();
    if !random.one_in(40) {
        bytes.extend(format!("Authorization: Bearer {token}\r\n").into_bytes());
    }
    if !random.one_in(4) {
        header(&mut bytes, "Accept", random.pick::<&str>(&ACCEPTS));
    }
    if random.one_in(6) {
        odd_header(random, &mut bytes);
    }
    let body = if method == "GET" || method == "HEAD" { Vec::new() } else { body::random(random) };
    if !body.is_empty() || random.one_in(5) {
        header(&mut bytes, "Content-Type", random.pick::<&str>(&CONTENT_TYPES));
    }
    if random.one_in(100) {
        // A length that is not the body's: the rest never comes, or is another request.
        let length = random.below(body.len() + 2);
        header(&mut bytes, "Content-Length", &length.min(body.len()).to_string());
    } else {
        header(&mut bytes, "Content-Length", &body.len().to_string());
    }
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

/// A path and a query, as they stand in the first line.
fn target(random: &mut Random) -> String {
    let mut target = if random.one_in(8) {
        (*random.pick(&PLACES)).to_owned()
    } else {
        let mut path = (*random.pick(&RESOURCES)).to_owned();
        if !random.one_in(3) {
            path = format!("{path}/{}", random.pick(&NAMES));
            if random.one_in(6) {
                path += random.pick::<&str>(&["/status", "/scale", "/finalize", "/log", "/", "//", "/status/"]);
            }
        }
        path
    };
    if random.one_in(30) {
        let at = random.below(target.len());
        target.truncate(at.max(1));
    }
    let count = [0, 0, 1, 1, 2, 3, 6][random.below(7)];
    for at in 0..count {
        target += if at == 0 { "?" } else { "&" };
        target += random.pick::<&str>(&PARAMETERS);
        target += if random.one_in(15) { "" } else { "=" };
        target += random.pick::<&str>(&VALUES);
    }
    // A space would end the target; the rest of what is odd may stay.
    target.replace(' ', if random.one_in(2) { "+" } else { "%20" })
}

/// Bytes that are no HTTP, or hardly.
fn noise(random: &mut Random) -> Vec<u8> {
    match random.below(5) {
        0 => (0..random.below(300)).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect::<Vec<_>>(),
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
