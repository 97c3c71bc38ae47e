//! A controller in the process: the file with its reconciler and a test, and what it depends on.

use super::{declarations::KindVersion, manifest::Dependency, names, templates};

/// Names that the file imports or declares.
const NAMES: [&str; 15] = [
    "Action",
    "Api",
    "Arc",
    "Client",
    "Config",
    "Controller",
    "ControllerContext",
    "Infallible",
    "Kube",
    "ObjectRef",
    "PostParams",
    "ResourceExt",
    "Shutdown",
    "StreamExt",
    "WatchEvent",
];
/// Variables that the file has.
const VARIABLES: [&str; 12] = [
    "api",
    "changed",
    "client",
    "context",
    "error",
    "events",
    "failures",
    "ready",
    "reconciled",
    "shutdown",
    "status",
    "written",
];

/// The feature of Kindsmith that controllers need.
pub(crate) const FEATURE: &str = "kube";

/// What controllers depend on.
pub(crate) const DEPENDENCIES: [Dependency; 3] = [
    Dependency { name: "futures-util", value: r#"{ version = "0.3", default-features = false }"#, reason: "" },
    Dependency {
        name: "k8s-openapi",
        value: r#"{ version = "0.29", features = ["latest"] }"#,
        reason: "kube leaves the version of Kubernetes' types to the program.",
    },
    Dependency {
        name: "kube",
        value: r#"{ version = "5", default-features = false, features = ["client", "runtime"] }"#,
        reason: "",
    },
];

/// The file of a kind's controller.
pub(crate) fn source(kind: &KindVersion) -> String {
    let name = &kind.name;
    let variable = match names::module(name) {
        name if VARIABLES.contains(&&*name) => "object".to_owned(),
        name => name,
    };
    // A kind with the name of something else in the file is named with its module.
    let is_taken = NAMES.contains(&&**name);
    let root = if is_taken { format!("super::{name}") } else { name.clone() };
    let api = if kind.is_cluster {
        "Api::all((*client).clone())".to_owned()
    } else {
        format!("Api::namespaced((*client).clone(), &{variable}.namespace().unwrap_or_default())")
    };
    templates::filled(
        include_str!("templates/controller.txt"),
        &[
            ("root", &root),
            ("import", &if is_taken { String::new() } else { format!("use super::{name};\n\n") }),
            ("tested", &format!("crate::{}::{name}", kind.module)),
            ("words", &names::phrase(name)),
            ("one", &names::one(name)),
            ("several", &names::phrase(&names::plural(name))),
            ("variable", &variable),
            ("api", &api),
            ("module", &kind.module),
            ("objects", &kind.objects()),
            ("test", &names::one_in_test(name)),
        ],
    )
}
