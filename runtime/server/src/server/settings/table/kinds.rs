//! What is served.
use super::Setting;
use crate::server::settings::effect::Effect::{Flag, Paths, Size, Time};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "kubernetes",
        "BOOL",
        Flag(|plan, value| plan.kubernetes = value),
        "Serve the API of Kubernetes itself, without nodes and controllers.",
    )
    .or("false"),
    Setting::new(
        "definitions",
        "FILE-OR-FOLDER",
        Paths(|plan, value| plan.definitions = value),
        "CustomResourceDefinitions, OpenAPI documents and overlays to serve. Changed files are read again.",
    ),
    Setting::new(
        "crds",
        "FILE-OR-FOLDER",
        Paths(|plan, value| plan.crds = value),
        "CustomResourceDefinitions to create as objects at the start, as kubectl apply does. Changed files are applied again.",
    ),
    Setting::new(
        "maxFileSize",
        "SIZE",
        Size(|plan, value| plan.max_file_size = Some(value)),
        "The size up to which such a file is read; all files together may be sixteen times as large.",
    )
    .or("16Mi"),
    Setting::new(
        "aggregation",
        "BOOL",
        Flag(|plan, value| plan.aggregation = value),
        "Serve APIServices, and pass requests on to the API servers that they name.",
    )
    .or("false"),
    Setting::new(
        "eventLifetime",
        "TIME",
        Time(|plan, value| plan.event_lifetime = Some(value)),
        "How long Events live; 0s for ever.",
    )
    .or("1h"),
];
