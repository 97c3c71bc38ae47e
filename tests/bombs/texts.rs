//! Long selectors, tokens, options and headers.
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{Bomb, SAMPLES};

/// The approximate maximum of a request line.
const LONG: usize = 60_000;

fn list(query: &str) -> String {
    format!("{SAMPLES}?{query}")
}

fn filled(name: &str, part: &str) -> String {
    list(&format!("{name}={}", part.repeat(LONG / part.len())))
}

pub(crate) fn all() -> Vec<Bomb> {
    let token =
        URL_SAFE_NO_PAD.encode(format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"{}\"}}", "a/".repeat(20_000)));
    let deep = URL_SAFE_NO_PAD.encode("[".repeat(40_000));
    let mut all = vec![
        Bomb::get("labels: requirements", filled("labelSelector", "a,"), 400),
        Bomb::get("labels: values", filled("labelSelector=a+in+(", "b,"), 400),
        Bomb::get("labels: parentheses", filled("labelSelector", "("), 400),
        Bomb::get("labels: exclamations", filled("labelSelector", "!"), 400),
        Bomb::get("fields: requirements", filled("fieldSelector", "metadata.name=a,"), 200),
        Bomb::get("fields: backslashes", filled("fieldSelector", "\\\\"), 400),
        Bomb::get("continue: a long key", list(&format!("limit=1&continue={token}")), 400),
        Bomb::get("continue: nested", list(&format!("limit=1&continue={deep}")), 400),
        Bomb::get("options: parameters", list(&"a&".repeat(LONG / 2)), 200),
        Bomb::get("options: dry runs", list(&"dryRun=x&".repeat(LONG / 9)), 200),
        Bomb {
            method: "DELETE",
            ..Bomb::get("options: a manager of what cannot be printed", filled("fieldManager", "%01"), 200)
        },
        Bomb::get("options: digits", filled("limit", "9"), 400),
        Bomb::get("options: percents", filled("continue", "%25"), 400),
    ];
    let headers = [
        ("accept", "commas", ","),
        ("accept", "alternatives", "a/b;q=0.5,"),
        ("accept", "parameters", "application/json;a=b;"),
        ("accept", "kinds", "application/json;as=Table;v=v1;g=meta.k8s.io,"),
        ("accept-encoding", "codings", "br,"),
        ("user-agent", "slashes", "/"),
        ("impersonate-user", "a long name", "a"),
        ("content-type", "parameters", ";a=b"),
    ];
    for (header, name, part) in headers {
        let status = match header {
            "accept" if part.contains("json") => 200,
            "accept" => 406,
            "impersonate-user" => 403,
            _ => 200,
        };
        let headers = vec![(header, part.repeat(LONG / part.len()))];
        all.push(Bomb { headers, ..Bomb::get(&format!("{header}: {name}"), list("limit=1"), status) });
    }
    all
}
