//! The order of groups in discovery: that of kube-apiserver for the groups of Kubernetes, and that of CustomResourceDefinitions for
//! others.
/// The priorities of a group, and of a version inside of it; the highest comes first.
pub(crate) type Priority = (i32, i32);

/// The groups of Kubernetes with the priorities that kube-apiserver gives them.
const GROUPS: [(&str, i32); 23] = [
    ("", 18_000),
    ("apps", 17_800),
    ("events.k8s.io", 17_750),
    ("authentication.k8s.io", 17_700),
    ("authorization.k8s.io", 17_600),
    ("autoscaling", 17_500),
    ("batch", 17_400),
    ("certificates.k8s.io", 17_300),
    ("networking.k8s.io", 17_200),
    ("policy", 17_100),
    ("rbac.authorization.k8s.io", 17_000),
    ("storage.k8s.io", 16_800),
    ("storagemigration.k8s.io", 16_800),
    ("apiextensions.k8s.io", 16_700),
    ("admissionregistration.k8s.io", 16_700),
    ("scheduling.k8s.io", 16_600),
    ("coordination.k8s.io", 16_500),
    ("node.k8s.io", 16_300),
    ("discovery.k8s.io", 16_200),
    ("resource.k8s.io", 16_200),
    ("flowcontrol.apiserver.k8s.io", 16_100),
    ("internal.apiserver.k8s.io", 16_000),
    (crate::builtin::api_services::GROUP, FIRST),
];

/// The priority of APIServices themselves, above all that an object can have.
const FIRST: i32 = 20_001;

/// The priorities of a group and version that this server serves itself, and true if it is one of Kubernetes.
pub(crate) fn of_local(group: &str, version: &str) -> (Priority, bool) {
    let known = GROUPS.iter().find(|(name, _)| *name == group);
    // kube-apiserver has a number for each version. Theirs are in this order, too.
    let of_version = match version {
        _ if known.is_none() => 100,
        "v1" if group.is_empty() => 1,
        stable if !stable.contains("alpha") && !stable.contains("beta") => 15,
        beta if beta.contains("beta") => 9,
        _ => 1,
    };
    ((known.map_or(1_000, |(_, priority)| *priority), of_version), known.is_some())
}
