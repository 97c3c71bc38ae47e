//! Request paths. Owns their decoding: a path is decoded once, and an ambiguous one is refused. Knows the forms of
//! Kubernetes paths. Only one of them depends on the served kinds: a collection in a namespace looks like a subresource
//! of the namespace.

use std::{borrow::Cow, mem};

use crate::{meta::percent, registry::Registry};

/// A parsed path: its text and its meaning have one source, for routing and for authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Decoded, without trailing slashes.
    pub text: String,
    /// The resource in a group and version that it refers to; `None` for paths that are not below `/api/<version>` or
    /// `/apis/<group>/<version>`: discovery, health and similar ones.
    pub resource: Option<ResourcePath>,
}

/// A segment contains a slash, once decoded.
const ENCODED_SLASH: &str = "it contains an encoded slash (%2F)";
const NULL: &str = "it contains the character U+0000";
/// Some programs resolve such segments.
const DOT_SEGMENT: &str = "it contains a segment \".\" or \"..\"";
/// Some programs drop empty segments.
const EMPTY_SEGMENT: &str = "it contains an empty segment (\"//\")";

/// A path below a group and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourcePath {
    /// The group; empty for the core group.
    pub group: String,
    pub version: String,
    /// The namespace; empty if the path has none. For `namespaces/x` it is `x`, as authorizers expect.
    pub namespace: String,
    /// True if the resource is in the namespace, false if it is the namespace itself.
    pub scoped: bool,
    /// The plural name of the resource.
    pub resource: String,
    /// The object's name; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// The path has too many segments and refers to nothing.
    pub excess: bool,
    /// The path has the old `watch/` prefix.
    pub watch: bool,
}

/// The segment before a namespace's name.
const NAMESPACES: &str = "namespaces";

impl ResourcePath {
    /// The namespace of the resource; empty if it has none.
    pub(super) fn scope(&self) -> &str {
        if self.scoped { &self.namespace } else { "" }
    }

    /// Interprets `namespaces/<name>/<segment>` as a subresource if the namespace has one of that name. Parsing treats
    /// it as a collection in the namespace.
    pub(super) fn resolve(&mut self, registry: &Registry) {
        if !self.scoped || !self.name.is_empty() {
            return;
        }
        let namespaces = registry.find(&self.group, &self.version, NAMESPACES);
        if namespaces.is_some_and(|served| served.endpoint(&self.resource).is_some()) {
            self.scoped = false;
            self.subresource = mem::replace(&mut self.resource, NAMESPACES.to_owned());
            self.name.clone_from(&self.namespace);
        }
    }
}

/// Parses a path.
///
/// # Errors
/// The message of a 400.
pub(super) fn parse(path: &str) -> Result<Path, String> {
    parsed(path).map_err(|why| format!("the path of the request is refused: {why}"))
}

fn parsed(path: &str) -> Result<Path, Cow<'static, str>> {
    let given = path.strip_prefix('/').unwrap_or(path).trim_end_matches('/');
    let mut text = String::with_capacity(given.len() + 1);
    text.push('/');
    if given.contains('%') {
        for (at, segment) in given.split('/').enumerate() {
            let decoded = percent::decode(segment).map_err(|why| why.to_string())?;
            if decoded.contains('/') {
                return Err(ENCODED_SLASH.into());
            }
            text += if at == 0 { "" } else { "/" };
            text += &decoded;
        }
    } else {
        text += given;
    }
    if text.contains('\0') {
        return Err(NULL.into());
    }
    // The longest resource path has nine segments; one more is excess.
    let (mut segments, mut count, mut begin) = ([""; 10], 0, 1);
    // Segments are too short for the search that `split` begins in each.
    while begin <= text.len() && !given.is_empty() {
        let rest = &text[begin..];
        let segment = &rest[..rest.as_bytes().iter().position(|byte| *byte == b'/').unwrap_or(rest.len())];
        begin += segment.len() + 1;
        match segment {
            "" => return Err(EMPTY_SEGMENT.into()),
            "." | ".." => return Err(DOT_SEGMENT.into()),
            _ => {}
        }
        if let Some(slot) = segments.get_mut(count) {
            *slot = segment;
            count += 1;
        }
    }
    let resource = resource(&segments[..count]);
    Ok(Path { text, resource })
}

/// The resource that the segments of a decoded path refer to.
fn resource(segments: &[&str]) -> Option<ResourcePath> {
    let (group, version, rest) = match segments {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return None,
    };
    let mut found = ResourcePath { group: group.to_owned(), version: version.to_owned(), ..ResourcePath::default() };
    let rest = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => {
            found.watch = true;
            rest
        }
        rest => rest,
    };
    let rest = match rest {
        [NAMESPACES, namespace, below @ ..] => {
            (*namespace).clone_into(&mut found.namespace);
            found.scoped = !below.is_empty();
            if found.scoped { below } else { rest }
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
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        Resource,
        builtin::Namespace,
        cache::{Cache, Limits},
        storage::Memory,
    };

    fn resource(path: &str) -> ResourcePath {
        match parse(path) {
            Ok(Path { resource: Some(found), .. }) => found,
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
    fn a_segment_below_a_namespace_may_be_its_subresource() {
        let cache = Cache::new(Arc::new(Memory::new()), Limits::default());
        let registry = Registry::new(cache);
        let resolved = |path: &str| {
            let mut found = resource(path);
            found.resolve(&registry);
            (found.scope().to_owned(), found.namespace, found.resource, found.name, found.subresource)
        };
        let within = |resource: &str, name: &str| {
            let [resource, name] = [resource, name].map(str::to_owned);
            ("x".to_owned(), "x".to_owned(), resource, name, String::new())
        };
        let below = |name: &str| {
            let [scope, x, resource] = ["", "x", "namespaces"].map(str::to_owned);
            (scope, x.clone(), resource, x, name.to_owned())
        };
        assert_eq!(resolved("/api/v1/namespaces/x/status"), within("status", ""), "no namespaces are served");
        registry.register([Namespace::kind()]).expect("a kind");
        for name in ["status", "finalize", ""] {
            assert_eq!(resolved(&format!("/api/v1/namespaces/x/{name}")), below(name));
        }
        assert_eq!(resolved("/api/v1/watch/namespaces/x/status"), below("status"));
        assert_eq!(resolved("/api/v1/namespaces/x/scale"), within("scale", ""));
        assert_eq!(resolved("/api/v1/namespaces/x/configmaps"), within("configmaps", ""));
        assert_eq!(resolved("/api/v1/namespaces/x/status/a"), within("status", "a"));
        assert_eq!(resolved("/api/v1/namespaces/x/namespaces/x"), within("namespaces", "x"));
        assert_eq!(resolved("/apis/e.com/v1/namespaces/x/status"), within("status", ""), "of another group");
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
    fn excess_segments_are_marked() {
        assert!(resource("/api/v1/namespaces/x/configmaps/a/status/more").excess);
        assert!(!resource("/api/v1/namespaces/x/configmaps//").excess, "slashes at the end do not count");
    }

    #[test]
    fn paths_that_name_no_resource() {
        for path in ["/", "/api", "/api/v1", "/api/v1/", "/apis", "/apis/g", "/apis/g/v1", "/healthz", "/readyz/ping"] {
            let text = format!("/{}", path.trim_matches('/'));
            assert_eq!(parse(path), Ok(Path { text, resource: None }), "{path}");
        }
    }

    #[test]
    fn a_path_is_decoded_once() {
        for (path, text) in [
            ("/%6fpenapi/v2", "/openapi/v2"),
            ("/%61pi/v1/configmaps/", "/api/v1/configmaps"),
            ("/readyz/%2570ing", "/readyz/%70ing"),
            ("/a\\b/c%5cd", "/a\\b/c\\d"),
            ("/.../a.b/.c", "/.../a.b/.c"),
            ("/%252e%252e", "/%2e%2e"),
            ("/a+b", "/a+b"),
        ] {
            assert_eq!(parse(path).map(|path| path.text), Ok(text.to_owned()), "{path}");
        }
        assert_eq!(resource("/%61pi/v1/%63onfigmaps").resource, "configmaps");
    }

    #[test]
    fn an_ambiguous_path_is_refused() {
        let malformed = [percent::DecodeError::Escape, percent::DecodeError::Utf8].map(|why| why.to_string());
        let [escape, utf8] = malformed.each_ref().map(String::as_str);
        for (path, why) in [
            ("/api/v1/%zz/x", escape),
            ("/api/%f", escape),
            ("/api/%ff/x", utf8),
            ("/api/v1/namespaces/x%2fsecrets/a", ENCODED_SLASH),
            ("/api/v1/namespaces/x/configmaps%2F", ENCODED_SLASH),
            ("/%2fapi/v1/configmaps", ENCODED_SLASH),
            ("/api/v1/namespaces/x%00/configmaps", NULL),
            ("/api/v1/namespaces/../secrets", DOT_SEGMENT),
            ("/api/v1/namespaces/./secrets", DOT_SEGMENT),
            ("/api/v1/namespaces/%2e%2E/secrets", DOT_SEGMENT),
            ("/openapi/.%2e", DOT_SEGMENT),
            ("/healthz/..", DOT_SEGMENT),
            ("/api/v1/namespaces//configmaps", EMPTY_SEGMENT),
            ("//api/v1/configmaps", EMPTY_SEGMENT),
            ("/api//v1", EMPTY_SEGMENT),
        ] {
            assert_eq!(parse(path), Err(format!("the path of the request is refused: {why}")), "{path}");
        }
    }
}
