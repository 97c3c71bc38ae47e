//! Request paths: what a request is about, read from its path alone.
//! Knows the shapes of Kubernetes paths, not which kinds are served.

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Not below `/api/<version>` or `/apis/<group>/<version>`: discovery, health and the like. Without a trailing slash.
    Other(String),
    /// Something of a group and version.
    Resource(ResourcePath),
    /// The path cannot be read at all: a bad percent-encoding.
    Malformed,
}

/// A path below a group and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace; empty where the path has none. For `namespaces/x` it is `x`, as authorizers expect.
    pub namespace: String,
    /// The plural name of the resource.
    pub resource: String,
    /// The object's name; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// Segments were left over, or one was empty: nothing is served there.
    pub excess: bool,
    /// The path has the old `watch/` prefix.
    pub watch: bool,
}

/// Subresources of a namespace, which `namespaces/<name>/<segment>` means rather than a resource in the namespace.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

/// Reads a path.
pub fn parse(path: &str) -> Target {
    let Some(path) = decode(path) else { return Target::Malformed };
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, version, rest) = match segments.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Target::Other(format!("/{}", path.trim_matches('/'))),
    };
    let mut found = ResourcePath { group: group.to_owned(), version: version.to_owned(), ..ResourcePath::default() };
    found.excess = rest.iter().any(|segment| segment.is_empty());
    let rest = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => {
            found.watch = true;
            rest
        }
        rest => rest,
    };
    let rest = match rest {
        ["namespaces", namespace, below @ ..] => {
            (*namespace).clone_into(&mut found.namespace);
            match below.first() {
                Some(segment) if !NAMESPACE_SUBRESOURCES.contains(segment) => below,
                _ => rest,
            }
        }
        rest => rest,
    };
    for (at, segment) in rest.iter().enumerate() {
        match at {
            0 => (*segment).clone_into(&mut found.resource),
            1 => (*segment).clone_into(&mut found.name),
            2 => (*segment).clone_into(&mut found.subresource),
            _ => found.excess = true,
        }
    }
    Target::Resource(found)
}

/// Decodes percent-encoding; `None` where it is broken or not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The pairs of a query, decoded, in order. Pairs that cannot be decoded are left out, as the reference does.
pub fn query(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains(';'))
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(&name.replace('+', " "))?, decode(&value.replace('+', " "))?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(path: &str) -> ResourcePath {
        match parse(path) {
            Target::Resource(found) => found,
            other => panic!("{path} was read as {other:?}"),
        }
    }

    fn parts(path: &str) -> (String, String, String, String, String, String) {
        let r = resource(path);
        (r.group, r.version, r.namespace, r.resource, r.name, r.subresource)
    }

    fn owned(p: (&str, &str, &str, &str, &str, &str)) -> (String, String, String, String, String, String) {
        (p.0.into(), p.1.into(), p.2.into(), p.3.into(), p.4.into(), p.5.into())
    }

    #[test]
    fn paths_of_objects_and_collections() {
        for (path, want) in [
            ("/api/v1/namespaces", ("", "v1", "", "namespaces", "", "")),
            ("/api/v1/namespaces/x", ("", "v1", "x", "namespaces", "x", "")),
            ("/api/v1/namespaces/x/", ("", "v1", "x", "namespaces", "x", "")),
            ("/api/v1/namespaces/x/status", ("", "v1", "x", "namespaces", "x", "status")),
            ("/api/v1/namespaces/x/finalize", ("", "v1", "x", "namespaces", "x", "finalize")),
            ("/api/v1/namespaces/x/configmaps", ("", "v1", "x", "configmaps", "", "")),
            ("/api/v1/namespaces/x/configmaps/a/", ("", "v1", "x", "configmaps", "a", "")),
            ("/api/v1/configmaps", ("", "v1", "", "configmaps", "", "")),
            ("/apis/e.com/v2/namespaces/x/ws/a/scale", ("e.com", "v2", "x", "ws", "a", "scale")),
            ("/apis/e.com/v2/gs/a/status", ("e.com", "v2", "", "gs", "a", "status")),
            ("/api/v1/namespaces/status/configmaps", ("", "v1", "status", "configmaps", "", "")),
            ("/api/v1/namespaces/x/configmaps/a%20b", ("", "v1", "x", "configmaps", "a b", "")),
        ] {
            assert_eq!(parts(path), owned(want), "{path}");
            assert!(!resource(path).watch && !resource(path).excess, "{path}");
        }
    }

    #[test]
    fn the_old_watch_prefix() {
        let found = resource("/api/v1/watch/namespaces/x/configmaps/a");
        assert!(found.watch);
        assert_eq!((found.namespace.as_str(), found.resource.as_str(), found.name.as_str()), ("x", "configmaps", "a"));
        let alone = resource("/api/v1/watch");
        assert_eq!((alone.watch, alone.resource.as_str()), (false, "watch"));
    }

    #[test]
    fn what_is_left_over_is_marked() {
        assert!(resource("/api/v1/namespaces/x/configmaps/a/status/more").excess);
        assert!(resource("/api/v1/namespaces//configmaps").excess);
        assert!(!resource("/api/v1/namespaces/x/configmaps//").excess, "slashes at the end do not count");
    }

    #[test]
    fn paths_that_name_no_resource() {
        for path in ["/", "/api", "/api/v1", "/api/v1/", "/apis", "/apis/g", "/apis/g/v1", "/healthz", "/readyz/ping"] {
            let want = format!("/{}", path.trim_matches('/'));
            assert_eq!(parse(path), Target::Other(want), "{path}");
        }
        assert_eq!(parse("/api/v1/%zz/x"), Target::Malformed);
        assert_eq!(parse("/api/%ff/x"), Target::Malformed);
        assert_eq!(parse("/api/%f"), Target::Malformed);
    }

    #[test]
    fn queries() {
        let pairs = query("a=1&b=x%20y+z&c&=&bad=%zz&a=2&q;r=1");
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("a", "1"), ("b", "x y z"), ("c", ""), ("", ""), ("a", "2")]);
    }
}
