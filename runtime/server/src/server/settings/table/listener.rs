//! Where the server listens, how it is known, how it stops, and its log.
use super::Setting;
use crate::server::{
    logging::Format,
    settings::effect::Effect::{Choice, Filter, Flag, Path, Text, Texts, Time},
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("listen", "ADDRESS", Text(|plan, value| plan.listen = value), "Address to listen on; port 0 chooses a free one.")
        .or("127.0.0.1:8080"),
    Setting::new("hostNames", "NAME", Texts(|plan, value| plan.host_names = value), "Further names in the server's certificate."),
    Setting::new(
        "pathPrefix",
        "PATH",
        Text(|plan, value| plan.path_prefix = Some(value)),
        "Serve the API below this path, such as /library; health checks are there and at the root.",
    ),
    Setting::new(
        "tls.certFile",
        "FILE",
        Path(|plan, value| plan.cert_file = Some(value)),
        "Certificate of the server in PEM with its chain, instead of one by its own authority. Read again when it changes.",
    ),
    Setting::new("tls.privateKeyFile", "FILE", Path(|plan, value| plan.private_key_file = Some(value)), "Key of that certificate in PEM."),
    Setting::new("http", "BOOL", Flag(|plan, value| plan.http = value), "Plain HTTP instead of TLS, on loopback only. kubectl sends no token over it.")
        .or("false"),
    Setting::new("serverVersion", "VERSION", Text(|plan, value| plan.version = Some(value)), "Answer of /version, such as v1.33.0+library-2."),
    Setting::new("stopWithin", "TIME", Time(|plan, value| plan.stop_within = Some(value)), "How long a stop waits for controllers and running requests.")
        .or("30s"),
    Setting::new(
        "stopDelay",
        "TIME",
        Time(|plan, value| plan.stop_delay = Some(value)),
        "How long a server that stops is not ready but still accepts connections, so that load balancers can notice.",
    )
    .or("0s"),
    Setting::new(
        "writeKubeconfig",
        "FILE",
        Path(|plan, value| plan.write_kubeconfig = Some(value)),
        "Write a copy of the administrator's kubeconfig to this file when the server listens.",
    ),
    Setting::new("readyFile", "FILE", Path(|plan, value| plan.ready_file = Some(value)), "Write the URL to this file when the server answers."),
    Setting::new(
        "stopWithStdin",
        "BOOL",
        Flag(|plan, value| plan.stop_with_stdin = value),
        "Stop when standard input ends, as it does when the process that started this one ends.",
    )
    .or("false"),
    Setting::new(
        "log.level",
        "FILTER",
        Filter(|plan, value| plan.log.filter = value),
        "What is logged: error, warn, info, debug or trace, or a filter such as kindsmith=debug. RUST_LOG counts before the file.",
    )
    .or("info")
    .live(),
    Setting::new(
        "log.format",
        "FORMAT",
        Choice(&["text", "json"], |plan, value| plan.log.format = if value == "json" { Format::Json } else { Format::Text }),
        "Lines for people, or a JSON object a line.",
    )
    .or("text"),
];
