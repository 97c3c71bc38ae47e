//! Tests of `kindsmith import`: what it writes of a running server is served as it was there.
use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use kindsmith_tests::Folder;
use serde_json::Value;

use super::{PROGRAM, Served, gears};

/// A document with wheels, which have a subresource and descriptions.
const WHEELS: &str = include_str!("../../../schemas/marina.example.com/openapi.yaml");

fn json(served: &Served, path: &str) -> Value {
    let (status, text) = served.call("GET", path, "");
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}

fn import(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(PROGRAM).arg("import").args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_api_of_a_running_server_is_imported_and_served() {
    let folder = Folder::new("import");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("gears.yaml"), gears("teeth")).unwrap();
    fs::write(path("openapi.yaml"), WHEELS).unwrap();
    let original = Served::start(&[&path("gears.yaml"), &path("openapi.yaml")], path("data"));
    // Of the server: one definition more, which it does not have from a file.
    let third = gears("size").replace("gears", "cogs").replace("Gear", "Cog");
    fs::write(path("cogs.yaml"), third).unwrap();
    let cogs = fs::read_to_string(path("cogs.yaml")).unwrap();
    let applied = original.ask(
        &["-X", "POST", "-H", "Content-Type: application/yaml"],
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &cogs,
    );
    assert_eq!(applied.0, 201, "{}", applied.1);
    original.until("/apis/example.com/v1/cogs", |status, _| status == 200);

    let (kubeconfig, output) = (path("data/kubeconfig"), path("imported"));
    let arguments = ["--kubeconfig", kubeconfig.to_str().unwrap(), "--output", output.to_str().unwrap()];
    let (done, text) = import(&arguments);
    assert!(done && text.contains("definitions\n"), "{text}");
    assert!(output.join("cogs.example.com.yaml").is_file(), "{text}");
    let description = fs::read_to_string(output.join("api.json")).unwrap();
    assert!(!description.contains("cogs"), "its definition says it");
    assert!(description.contains("\"description\""));
    // Again, over what was written.
    let (done, text) = import(&arguments);
    assert!(done, "{text}");

    let served = Served::start(&[&output], path("again"));
    let groups = |served: &Served| {
        let groups = json(served, "/apis");
        let names = groups["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    assert_eq!(groups(&served), groups(&original));
    for group in groups(&original).iter().filter(|name| name.ends_with("example.com")) {
        let version = json(&original, &format!("/apis/{group}"))["preferredVersion"]["groupVersion"].clone();
        let path = format!("/apis/{}", version.as_str().unwrap());
        assert_eq!(json(&served, &path), json(&original, &path));
        let path = format!("/openapi/v3{path}");
        assert_eq!(json(&served, &path), json(&original, &path), "{path}");
    }
    // What other people wrote there is left alone.
    fs::write(output.join("notes.txt"), "mine").unwrap();
    let (done, text) = import(&arguments);
    assert!(!done && text.contains("has the file notes.txt, which no import wrote; nothing was written"), "{text}");
}

#[test]
fn what_cannot_be_imported_is_said() {
    let folder = Folder::new("import-errors");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let output = path("out");
    let (done, text) = import(&["--output", &output]);
    assert!(!done && text.contains("or a running server with --kubeconfig or --kubectl"), "{text}");
    let (done, text) = import(&["--kubeconfig", &path("none"), "--output", &output]);
    assert!(!done && text.contains("none") && text.contains("--kubectl"), "{text}");
    let (done, text) = import(&["--kubectl", &path("no-kubectl"), "--output", &output]);
    assert!(!done && text.contains("no-kubectl cannot be run"), "{text}");
    fs::write(path("broken.yaml"), "openapi: 3.0.0\npaths: [").unwrap();
    let (done, text) = import(&[&path("broken.yaml"), "--output", &output]);
    assert!(!done && text.contains("broken.yaml:2"), "{text}");
    // Others beside definitions are no part of the API, and lists stand for their items.
    let mixed = format!("kind: Namespace\napiVersion: v1\nmetadata: {{name: team}}\n---\n{}", gears("teeth"));
    fs::write(path("mixed.yaml"), mixed).unwrap();
    let listed = gears("teeth").replace("gears", "cogs").replace("Gear", "Cog").replace('\n', "\n  ");
    fs::write(path("list.yaml"), format!("apiVersion: v1\nkind: List\nitems:\n- {}", listed.trim_end())).unwrap();
    let (done, text) = import(&[&path("mixed.yaml"), &path("list.yaml"), "--output", &path("mixed")]);
    assert!(done && text.contains("0 versions of resources, and 2 definitions"), "{text}");
    let mut written: Vec<_> = fs::read_dir(path("mixed")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    written.sort();
    assert_eq!(written, [".kindsmith-import", "cogs.example.com.yaml", "gears.example.com.yaml"]);
    // A name that would leave the folder.
    let hostile = gears("teeth").replace("metadata: {name: gears.example.com}", "metadata: {name: ../../evil}");
    fs::write(path("hostile.yaml"), hostile).unwrap();
    let (done, text) = import(&[&path("hostile.yaml"), "--output", &output]);
    assert!(!done && text.contains("../../evil"), "{text}");
    assert!(!folder.path().join("out").exists(), "nothing was written");
}

#[test]
fn kubernetes_is_served_from_the_command_alone() {
    let folder = Folder::new("serve-kubernetes");
    fs::write(folder.path().join("gears.yaml"), gears("teeth")).unwrap();
    let crds = folder.path().join("gears.yaml");
    let served = Served::start(&["kubernetes", "--crds", crds.to_str().unwrap()], folder.path().join("data"));
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"web","image":"nginx"}]}}"#;
    assert_eq!(served.call("POST", "/api/v1/namespaces/default/pods", pod).0, 201);
    assert_eq!(served.call("GET", "/apis/example.com/v1/gears", "").0, 200);
    let table = served.accepting("application/json;as=Table;g=meta.k8s.io;v=v1", "/api/v1/pods");
    assert!(table.contains("\"Restarts\""), "the overlay has columns: {table}");
    let protobuf =
        served.ask(&["-o", "/dev/null", "-H", "Accept: application/vnd.kubernetes.protobuf"], "/api/v1/pods", "");
    assert_eq!(protobuf.0, 200, "the definitions have numbers");
    // What kube-apiserver creates is there.
    let service = served.call("GET", "/api/v1/namespaces/default/services/kubernetes", "");
    assert!(service.0 == 200 && service.1.contains("\"10.96.0.1\""), "{service:?}");
    assert_eq!(served.call("GET", "/api/v1/namespaces/kube-node-lease", "").0, 200);
    assert_eq!(served.call("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical", "").0, 200);
}

const PODS: &str = "/api/v1/namespaces/default/pods";

#[test]
fn a_scheduler_binds_pods() {
    let folder = Folder::new("serve-binding");
    let served = Served::start(&["kubernetes"], folder.path().join("data"));
    let pod = |name: &str, more: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{{more}"containers":[{{"name":"web","image":"nginx"}}]}}}}"#
        )
    };
    let bind = |name: &str, target: &str| {
        let binding = format!(
            r#"{{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{name}","annotations":{{"why":"room"}}}},"target":{target}}}"#
        );
        served.call("POST", &format!("{PODS}/{name}/binding"), &binding)
    };
    let node = r#"{"kind":"Node","name":"sea"}"#;
    assert_eq!(served.call("POST", PODS, &pod("web", "")).0, 201);
    let (status, answer) = bind("web", node);
    assert!(status == 201 && answer.contains("\"Success\""), "{status} {answer}");
    let bound: Value = serde_json::from_str(&served.call("GET", &format!("{PODS}/web"), "").1).unwrap();
    assert_eq!((&bound["spec"]["nodeName"], &bound["metadata"]["annotations"]["why"]), (&"sea".into(), &"room".into()));
    let condition = &bound["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&"PodScheduled".into(), &"True".into()));
    // What kube-apiserver refuses, with its messages.
    let (status, text) = bind("web", node);
    assert_eq!(status, 409);
    let message = "Operation cannot be fulfilled on pods/binding \\\"web\\\": pod web is already assigned to node";
    assert!(text.contains(message), "{text}");
    assert_eq!(bind("none", node).0, 404);
    assert_eq!(served.call("POST", PODS, &pod("again", "")).0, 201);
    let old = r#"{"apiVersion":"v1","kind":"Binding","metadata":{"name":"again","uid":"old"},"target":{"kind":"Node","name":"sea"}}"#;
    let (status, text) = served.call("POST", &format!("{PODS}/again/binding"), old);
    assert!(status == 409 && text.contains("UID in precondition: old, UID in object meta: "), "{status} {text}");
    assert_eq!(bind("again", node).0, 201);
    assert_eq!(bind("web", r#"{"kind":"Pod","name":""}"#).0, 422);
    assert_eq!(served.call("POST", PODS, &pod("gated", r#""schedulingGates":[{"name":"example.com/wait"}],"#)).0, 201);
    let (status, text) = bind("gated", node);
    assert!(status == 409 && text.contains("pod gated has non-empty .spec.schedulingGates"), "{status} {text}");
}

/// The status of a pod that is ready.
const READY: &str = r#"{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}"#;

#[test]
fn evictions_keep_to_budgets() {
    let folder = Folder::new("serve-eviction");
    let served = Served::start(&["kubernetes"], folder.path().join("data"));
    let pod = |name: &str| {
        let pod = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","labels":{{"app":"web"}}}},"spec":{{"terminationGracePeriodSeconds":0,"containers":[{{"name":"web","image":"nginx"}}]}}}}"#
        );
        assert_eq!(served.call("POST", PODS, &pod).0, 201);
    };
    let report = |path: &str, status: &str| {
        let mut object: Value = serde_json::from_str(&served.call("GET", path, "").1).unwrap();
        object["status"] = serde_json::from_str(status).unwrap();
        let (code, answer) = served.call("PUT", &format!("{path}/status"), &object.to_string());
        assert_eq!(code, 200, "{answer}");
    };
    let evict = |name: &str, more: &str| {
        let eviction =
            format!(r#"{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{name}"}}{more}}}"#);
        served.call("POST", &format!("{PODS}/{name}/eviction"), &eviction)
    };
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget = r#"{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}"#;
    assert_eq!(served.call("POST", budgets, budget).0, 201);

    // A pod that does not run may always go, and nothing happens in a dry run.
    pod("waits");
    assert_eq!(evict("waits", r#","deleteOptions":{"dryRun":["All"]}"#).0, 201);
    let (status, answer) = evict("waits", "");
    assert!(status == 201 && answer.contains("\"Success\""), "{status} {answer}");
    assert_eq!(evict("waits", "").0, 404);

    // What the budget allows is not known before a controller has reported it.
    for name in ["a", "b"] {
        pod(name);
        report(&format!("{PODS}/{name}"), READY);
    }
    let (status, answer) = evict("a", "");
    assert!(
        status == 429 && answer.contains("The disruption budget web is still being processed"),
        "{status} {answer}"
    );
    let allow =
        r#"{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}"#;
    report(&format!("{budgets}/web"), allow);
    assert_eq!(evict("a", r#","deleteOptions":{"preconditions":{"uid":"another"}}"#).0, 409);
    report(&format!("{budgets}/web"), allow);
    assert_eq!(evict("a", "").0, 201);
    let budget: Value = serde_json::from_str(&served.call("GET", &format!("{budgets}/web"), "").1).unwrap();
    let status = &budget["status"];
    let allowed = status["disruptionsAllowed"].as_i64().unwrap_or_default();
    assert!(allowed == 0 && status["disruptedPods"]["a"].is_string(), "{budget}");
    let (status, answer) = evict("b", "");
    assert!(status == 429 && answer.contains("needs 1 healthy pods and has 2 currently"), "{status} {answer}");
    // One that is not ready may go, since there are enough others.
    report(&format!("{PODS}/b"), r#"{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}"#);
    assert_eq!(evict("b", "").0, 201);
}

#[test]
fn a_command_runs_beside_a_server() {
    let folder = Folder::new("test-command");
    let crds = folder.path().join("gears.yaml");
    fs::write(&crds, gears("teeth")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let output = command.arg("test").args(arguments).env_remove("RUST_LOG").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    // The kubeconfig is that of a server, which has the definition and the API of Kubernetes.
    let script = "echo $USE_EXISTING_CLUSTER; dir=$(dirname \"$KUBECONFIG\"); server=$(sed -n 's/ *\"*server\"*: *\"*\\([^\",]*\\).*/\\1/p' \"$KUBECONFIG\"); \
                  for path in /apis/example.com/v1 /apis/apps/v1; do curl -sS --cacert \"$dir/ca.crt\" -H \"Authorization: Bearer $(cat \"$dir/admin.token\")\" \"$server$path\"; done; \
                  echo \"in $dir\"; exit 7";
    let (code, text) = run(&["--crds", crds.to_str().unwrap(), "--", "sh", "-c", script]);
    assert_eq!(code, Some(7), "{text}");
    assert!(text.contains("true\n") && text.contains("\"gears\"") && text.contains("\"deployments\""), "{text}");
    let dir = text.rsplit_once("in ").unwrap().1.trim();
    assert!(dir.starts_with('/') && !fs::exists(dir).unwrap(), "{dir} stayed");
    let (code, text) = run(&["--", "true"]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let (code, text) = run(&["--", "/no/such/program"]);
    assert_eq!(code, Some(127), "{text}");
    assert!(text.contains("/no/such/program cannot be run: No such file"), "{text}");
    assert_eq!(run(&["--", "sh", "-c", "kill -9 $$"]).0, Some(128 + 9));
    // SIGTERM is passed on to the command, which ends the server, too.
    let mut running = Command::new(PROGRAM);
    running.args([
        "test",
        "--",
        "sh",
        "-c",
        "trap 'echo ended; exit 3' TERM; echo began; while :; do sleep 0.05; done",
    ]);
    let mut running = running.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stdout.take().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "began");
    assert!(Command::new("kill").arg(running.id().to_string()).status().unwrap().success());
    assert_eq!(lines.next().unwrap().unwrap(), "ended");
    assert_eq!(running.wait().unwrap().code(), Some(3));
    assert_eq!(run(&[]).0, Some(2));
}

/// Waits for a file.
fn until_there(path: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fs::exists(path).unwrap() {
        assert!(Instant::now() < deadline, "no {path}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_stops_with_its_standard_input() {
    let folder = Folder::new("stop-with-stdin");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("gears.yaml"), gears("teeth")).unwrap();
    fs::create_dir(path("temporary")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["serve", &path("gears.yaml"), "--memory", "--listen", "127.0.0.1:0", "--ready-file", &path("ready")]);
    command.arg("--stop-with-stdin").env("TMPDIR", path("temporary")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    until_there(&path("ready"));
    // What is written to it does not matter.
    input.write_all(b"a line\n").unwrap();
    sleep(Duration::from_millis(100));
    assert_eq!(server.try_wait().unwrap(), None);
    drop(input);
    assert!(server.wait().unwrap().success());
    assert_eq!(fs::read_dir(path("temporary")).unwrap().count(), 0, "temporary files stay");
}

#[test]
fn files_say_that_the_server_answers() {
    let folder = Folder::new("ready-file");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("gears.yaml"), gears("teeth")).unwrap();
    let arguments =
        [&path("gears.yaml"), "--write-kubeconfig", &path("conf"), "--ready-file", &path("ready")].map(str::to_owned);
    let served = Served::start(&arguments, folder.path().join("data"));
    until_there(&path("ready"));
    assert_eq!(fs::read_to_string(path("ready")).unwrap().trim(), served.server.url());
    assert_eq!(fs::read_to_string(path("conf")).unwrap(), fs::read_to_string(path("data/kubeconfig")).unwrap());
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path("conf")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_was_logged_until_the_files_are_there_is_written() {
    let folder = Folder::new("ready-log");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("gears.yaml"), gears("teeth")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["serve", &path("gears.yaml"), "--memory", "--listen", "127.0.0.1:0", "--ready-file", &path("ready")]);
    command.stdout(Stdio::null()).stderr(fs::File::create(path("log")).unwrap());
    let mut server = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fs::exists(path("ready")).unwrap() {
        assert!(Instant::now() < deadline, "no ready file");
        // Without a pause, so that it is seen as soon as it is there.
        std::thread::yield_now();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let log = fs::read_to_string(path("log")).unwrap();
    assert!(log.contains("listening"), "{log:?}");
}
