//! Each setting by each source, what counts more, and what is wrong.
use std::{collections::HashMap, ffi::OsString, fs, path::Path, time::Duration};

use clap::Command;

use super::{effect::Effect, print, table::Setting, *};
use crate::server::{Server, state::StateDir, stores::Keep};

/// The settings of a command line, an environment and a file.
fn settings(arguments: &[&str], variables: &[(&str, &str)], config: Option<&Path>) -> Result<Settings, String> {
    let variables: HashMap<String, OsString> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
    let command = Arguments::augment_args(Command::new("server"));
    let words = ["server"].iter().chain(arguments);
    let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
    let mut arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.to_string())?;
    if let Some(config) = config {
        arguments.config = Some(config.to_owned());
    }
    Settings::of(arguments, &|name| variables.get(name).cloned()).map_err(|error| error.to_string())
}

fn plan(arguments: &[&str], variables: &[(&str, &str)], config: Option<&Path>) -> String {
    let mut plan = settings(arguments, variables, config).unwrap_or_else(|error| panic!("{error}")).plan;
    forget_descriptors(&mut plan.limits);
    format!("{plan:?}")
}

/// By default, numbers of connections depend on the descriptors that are free at the time.
fn forget_descriptors(limits: &mut Limits) {
    let connections = &mut limits.connections;
    for count in [&mut connections.open, &mut connections.greetings, &mut connections.lingering] {
        *count = if *count == 77 { 77 } else { 0 };
    }
}

/// Values that differ from the default.
fn example(setting: &Setting) -> Vec<&'static str> {
    match setting.effect {
        Effect::Flag(_) => vec!["true"],
        Effect::Count(_) => vec!["77"],
        Effect::Size(_) => vec!["77Ki"],
        Effect::Time(_) => vec!["77s"],
        Effect::Filter(_) => vec!["debug"],
        Effect::Text(_) => vec!["/text"],
        Effect::Texts(_) => vec!["one", "two"],
        Effect::Choice(known, _) => vec![known.last().expect("there is a choice")],
        Effect::Path(_) => vec!["/folder/file"],
        Effect::Paths(_) => vec!["/one", "/two"],
    }
}

/// What a setting needs beside it.
fn beside(key: &str) -> &'static [&'static str] {
    match key {
        "tls.certFile" => &["tls.privateKeyFile"],
        "tls.privateKeyFile" => &["tls.certFile"],
        "etcd.user" => &["etcd.endpoints", "etcd.passwordFile"],
        "etcd.passwordFile" => &["etcd.endpoints", "etcd.user"],
        "etcd.cert" => &["etcd.endpoints", "etcd.key"],
        "etcd.key" => &["etcd.endpoints", "etcd.cert"],
        "etcd.prefix" | "etcd.ca" | "etcd.historyAge" => &["etcd.endpoints"],
        "frontProxy.allowedNames" => &["frontProxy.ca"],
        _ => &[],
    }
}

fn file(folder: &StateDir, text: &str) -> PathBuf {
    let path = folder.files.file("server.yaml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn each_setting_has_an_argument_a_variable_and_a_place_in_the_file_with_the_same_effect() {
    let (folder, default) = (StateDir::temporary().unwrap(), plan(&[], &[], None));
    for setting in table::all() {
        let needed = beside(setting.key).iter().map(|key| table::find(key).unwrap());
        let all: Vec<&Setting> = [setting].into_iter().chain(needed).collect();
        let mut lines = Vec::new();
        let (mut words, mut variables) = (Vec::new(), Vec::new());
        for one in &all {
            words.extend(example(one).iter().map(|value| format!("--{}={value}", one.flag())));
            variables.push((one.variable(), example(one).join(",")));
            let values: Vec<_> = example(one).iter().map(|value| one.effect.document(value).to_string()).collect();
            let value = if one.effect.is_list() { format!("[{}]", values.join(", ")) } else { values[0].clone() };
            lines.push((one.key.split('.').collect::<Vec<_>>(), value));
        }
        let nested = lines.iter().fold(serde_json::json!({}), |mut document, (path, value)| {
            let parsed: serde_json::Value = serde_json::from_str(value).unwrap();
            let place = path.iter().fold(&mut document, |at, name| &mut at[*name]);
            *place = parsed;
            document
        });
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let by_argument = plan(&words, &[], None);
        assert_ne!(by_argument, default, "{} has no effect", setting.key);
        assert_eq!(plan(&[], &variables, None), by_argument, "{}", setting.variable());
        let path = file(&folder, &nested.to_string());
        assert_eq!(plan(&[], &[], Some(&path)), by_argument, "{}", setting.key);
    }
}

/// The page of the guide.
const PAGE: &str = include_str!("../../../../docs/settings.md");

#[test]
fn the_guide_has_every_setting() {
    let row = |setting: &Setting| {
        let Setting { key, placeholder, about, is_live, .. } = setting;
        let default = setting.default.map_or(String::new(), |default| format!("`{default}`"));
        let live = if *is_live { " *" } else { "" };
        format!("| `{key}`{live} | `--{} {placeholder}` | {default} | {about} |\n", setting.flag())
    };
    let table: String = table::all().map(row).collect();
    let (before, rows) = PAGE.split_once("|---|---|---|---|\n").expect("the page has a table");
    let page = format!("{before}|---|---|---|---|\n{table}");
    if env::var_os("BLESS").is_some() && rows != table {
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md"), &page).unwrap();
    } else {
        assert_eq!(PAGE, page, "BLESS=1 writes it");
    }
}

#[test]
fn defaults_are_those_of_the_builder() {
    let mut plan = Plan::new();
    for setting in table::all() {
        if let Some(default) = setting.default {
            setting
                .effect
                .apply(&mut plan, &[default.to_owned()])
                .unwrap_or_else(|why| panic!("{}: {why}", setting.key));
        }
    }
    let (mut limits, mut default) = (plan.limits.clone(), Limits::default());
    forget_descriptors(&mut limits);
    forget_descriptors(&mut default);
    assert_eq!(format!("{limits:?}"), format!("{default:?}"));
    let none = Plan::new();
    assert_eq!((plan.listen, plan.log.filter, plan.log.format), (none.listen, none.log.filter, none.log.format));
    let builder = Server::builder();
    assert_eq!((plan.stop_within, plan.stop_delay), (Some(builder.stop.within), Some(builder.stop.delay)));
    let names: std::collections::BTreeSet<_> = table::all().map(Setting::flag).collect();
    assert_eq!(names.len(), table::all().count(), "each argument is one setting's");
}

#[test]
fn what_is_not_set_is_as_the_program_says() {
    let builder = || {
        let builder = Server::builder().memory().stop_within(Duration::from_mins(2));
        builder.limits(|limits| limits.requests.body_bytes = 10 << 20)
    };
    let unset = settings(&[], &[], None).unwrap().builder(builder()).unwrap();
    assert_eq!((unset.limits.requests.body_bytes, unset.stop.within), (10 << 20, Duration::from_mins(2)));
    assert!(matches!(unset.core.store.keep, Keep::Memory));
    let arguments = ["--limits-requests-long-running=7", "--stop-within=1s", "--data-dir=/x"];
    let set = settings(&arguments, &[], None).unwrap().builder(builder()).unwrap();
    assert_eq!((set.limits.requests.body_bytes, set.limits.requests.long_running), (10 << 20, 7));
    assert_eq!(set.stop.within, Duration::from_secs(1));
    assert!(matches!(set.core.store.keep, Keep::Disk(_)));
    let unsaid = settings(&[], &[], None).unwrap().builder(Server::builder()).unwrap();
    assert!(matches!(unsaid.core.store.keep, Keep::Disk(path) if path == Path::new("./data")));
}

#[test]
fn a_source_that_counts_more_unsets_what_it_excludes() {
    let plan = settings(&["--memory"], &[("KINDSMITH_DATA_DIR", "/data")], None).unwrap().plan;
    assert!(plan.memory && plan.data_dir.is_none());
    let folder = StateDir::temporary().unwrap();
    let path = file(&folder, "memory: true\n");
    let plan = settings(&["--data-dir=/data"], &[], Some(&path)).unwrap().plan;
    assert!(!plan.memory && plan.data_dir.is_some());
}

#[test]
fn a_filter_that_would_silence_the_log_is_refused() {
    for filter in ["warning", "info,x=loud", "verbose", "info,fatal"] {
        let error = settings(&[], &[("KINDSMITH_LOG_LEVEL", filter)], None).err().unwrap();
        assert!(error.starts_with("KINDSMITH_LOG_LEVEL: expected error, warn"), "{error}");
    }
    for filter in ["info", "WARN", "off", "info,kindsmith_server=debug", "kindsmith=trace", "error,[span]=debug"] {
        assert!(settings(&[], &[("KINDSMITH_LOG_LEVEL", filter)], None).is_ok(), "{filter}");
    }
    // A variable of all programs keeps none from starting.
    let log = settings(&["--stop-delay=1s"], &[("RUST_LOG", "info,x=loud")], None).unwrap().plan.log;
    assert_eq!((&*log.filter, &*log.otherwise), ("info,x=loud", "info"));
}

#[test]
fn arguments_count_before_variables_and_these_before_the_file() {
    let folder = StateDir::temporary().unwrap();
    let path = file(&folder, "listen: file:1\nlog: {level: debug}\nhostNames: [a, b]\n");
    let of = |arguments: &[&str], variables: &[(&str, &str)]| {
        let settings = settings(arguments, variables, Some(&path)).unwrap();
        (settings.plan.listen.clone(), settings.plan.log.filter.clone(), settings.plan.host_names.join(" "))
    };
    let texts = |listen: &str, filter: &str, names: &str| (listen.to_owned(), filter.to_owned(), names.to_owned());
    assert_eq!(of(&[], &[]), texts("file:1", "debug", "a b"));
    let variables = [("KINDSMITH_LISTEN", "variable:1"), ("RUST_LOG", "warn"), ("KINDSMITH_HOST_NAMES", "c, d")];
    assert_eq!(of(&[], &variables), texts("variable:1", "warn", "c d"));
    let own = [&variables[..], &[("KINDSMITH_LOG_LEVEL", "trace")]].concat();
    assert_eq!(of(&["--listen", "argument:1", "--host-name", "e"], &own), texts("argument:1", "trace", "e"));
    assert_eq!(of(&[], &[("KINDSMITH_LISTEN", "")]), texts("file:1", "debug", "a b"), "empty is not set");
}

#[test]
fn paths_in_the_file_are_relative_to_its_folder() {
    let folder = StateDir::temporary().unwrap();
    let path = file(&folder, "tokenFile: tokens.csv\ncrds: [crds, /etc/crds]\n");
    let plan = settings(&[], &[], Some(&path)).unwrap().plan;
    assert_eq!(plan.token_file, Some(folder.files.file("tokens.csv")));
    assert_eq!(plan.crds, [folder.files.file("crds"), PathBuf::from("/etc/crds")]);
}

#[test]
fn what_is_wrong_is_said_with_its_line_variable_or_argument() {
    let folder = StateDir::temporary().unwrap();
    let path = file(
        &folder,
        "# A comment.\nlisten: 8080\nlimits:\n  requests:\n    bodyByte: 3Mi\n    longRunning: -1\nlog: debug\nstopWithin: 30\n",
    );
    let name = path.display();
    let error = settings(&[], &[("KINDSMITH_MEMORY", "yes")], Some(&path)).err().unwrap();
    let expected = [
        format!("{name}:2: listen: expected a string, found 8080"),
        format!("{name}:5: limits.requests.bodyByte is not a setting; did you mean limits.requests.bodyBytes?"),
        format!("{name}:6: limits.requests.longRunning: expected a whole number above zero, found -1"),
        format!("{name}:7: log: expected an object, found \"debug\""),
        format!("{name}:8: stopWithin: expected a duration, such as 1m30s, found 30"),
        "KINDSMITH_MEMORY: expected true or false, found \"yes\"".to_owned(),
    ];
    assert_eq!(error.lines().collect::<Vec<_>>(), expected);
    for (text, expected) in [
        ("listen: a\nlisten: b\n", "key \"listen\" already set in map"),
        ("listen: a\n---\nlisten: b\n", "it has 2 documents; expected one"),
        ("listen: [a\n", "server.yaml: "),
        ("[]\n", ":1: the configuration: expected an object"),
    ] {
        let error = settings(&[], &[], Some(&file(&folder, text))).err().unwrap();
        assert!(error.contains(expected), "{error}");
    }
    assert!(settings(&[], &[], Some(&file(&folder, "# nothing\n"))).is_ok());
    let missing = settings(&[], &[("KINDSMITH_CONFIG", "/no/such.yaml")], None).err().unwrap();
    assert!(missing.starts_with("/no/such.yaml: "), "{missing}");
}

#[test]
fn settings_that_exclude_or_need_each_other_are_said() {
    for (arguments, expected) in [
        (&["--memory", "--data-dir=x"][..], "memory (--memory) and dataDir (--data-dir) exclude each other"),
        (&["--tls-cert-file=x"], "tls.certFile (--tls-cert-file) needs tls.privateKeyFile"),
        (&["--etcd-user=x", "--etcd-endpoint=y"], "etcd.user (--etcd-user) needs etcd.passwordFile"),
        (&["--delegate=x", "--delegate-in-cluster"], "exclude each other"),
    ] {
        let error = settings(arguments, &[], None).err().unwrap();
        assert!(error.contains(expected), "{error}");
    }
    assert!(settings(&["--memory=false", "--data-dir=x"], &[], None).is_ok());
}

#[test]
fn what_is_printed_is_a_file_with_the_same_settings() {
    let folder = StateDir::temporary().unwrap();
    let arguments = ["--memory", "--limits-requests-body-bytes=5Mi", "--host-name=a", "--host-name=b: #", "--crds=/x"];
    let before = settings(&arguments, &[("KINDSMITH_STOP_DELAY", "5s")], None).unwrap();
    let text = print::print(&before.values);
    for line in ["stopDelay: 5s", "    bodyBytes: 5Mi", "memory: true", "# tokenFile:", "    longRunning: 20000"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("(--host-name)\nhostNames:\n") && text.contains("(KINDSMITH_STOP_DELAY)"), "{text}");
    let after = settings(&[], &[], Some(&file(&folder, &text))).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(before.values.changes(&after.values).is_empty());
}
