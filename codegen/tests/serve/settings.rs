//! `kindsmith serve` by a configuration file alone: own certificates, limits, the log as JSON, and changes under load.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle, sleep},
    time::{Duration, Instant},
};

use kindsmith_tests::{Folder, ServerProcess};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::Value;

use super::{PROGRAM, gears};

#[cfg(feature = "etcd")]
#[allow(dead_code, unreachable_pub, reason = "tests of other packages include it, too")]
#[path = "../../../tests/support/etcd.rs"]
mod member;

/// How long something may take on a loaded machine.
const SOON: Duration = Duration::from_secs(30);
const ITEMS: &str = "/apis/example.com/v1/namespaces/default/gears";

/// A server with its log.
struct Deployed {
    server: ServerProcess,
    log: Arc<Mutex<Vec<String>>>,
    reading: JoinHandle<()>,
}

impl Deployed {
    /// Starts a server with a configuration file, in another folder.
    fn start(config: &Path) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--config"]).arg(config).current_dir("/").stderr(Stdio::piped());
        let mut server = ServerProcess::spawn(&mut command);
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stderr, lines): (ChildStderr, _) = (server.errors().expect("standard error is piped"), log.clone());
        let reading = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        Self { server, log, reading }
    }

    /// Waits for a line of the log with these texts.
    fn until_logged(&self, texts: &[&str]) -> Value {
        let is_expected = |line: &&String| texts.iter().all(|text| line.contains(text));
        let until = Instant::now() + SOON;
        loop {
            let log = self.log.lock().unwrap();
            if let Some(line) = log.iter().find(is_expected) {
                return serde_json::from_str(line).unwrap_or_else(|_| panic!("{line} is not JSON"));
            }
            assert!(Instant::now() < until, "{texts:?} is not in {log:#?}");
            drop(log);
            sleep(Duration::from_millis(50));
        }
    }
}

/// A folder with certificates, tokens and definitions.
struct Site(Folder);

impl Site {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Other than that of the certificates it signs.
        params.distinguished_name.push(DnType::CommonName, "the site's authority");
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let own = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&own, &issuer).unwrap();
        for (name, text) in [
            ("ca.crt", authority.pem()),
            ("tls.crt", certificate.pem()),
            ("tls.key", own.serialize_pem()),
            ("tokens.csv", "secret,ada,1,\"system:masters\"\n".to_owned()),
            ("gears.yaml", gears("teeth")),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    /// Writes the configuration file of a server.
    fn configure(&self, name: &str, store: &str, further: &str) -> PathBuf {
        let path = self.0.path().join(format!("{name}.yaml"));
        let text = format!(
            "listen: 127.0.0.1:0\nhostNames: [localhost]\npathPrefix: /gears\ntls: {{certFile: tls.crt, privateKeyFile: tls.key}}\n\
             dataDir: {name}\ndefinitions: [gears.yaml]\ntokenFile: tokens.csv\n{store}\n{further}"
        );
        // As a whole, so that no half of it is read.
        let draft = path.with_extension("draft");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, &path).unwrap();
        path
    }

    /// Sends a request by curl. Returns the status and the body.
    fn call(&self, server: &Deployed, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut command = Command::new("curl");
        command.args(["-sS", "-X", method, "-w", "\n%{http_code}", "--cacert"]).arg(self.0.path().join("ca.crt"));
        command.args(["-H", "Authorization: Bearer secret", "-H", "Content-Type: application/json"]);
        if !body.is_empty() {
            command.args(["-d", body]);
        }
        let output = command.arg(format!("{}{path}", server.server.url())).output().expect("curl runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let (body, status) = text.rsplit_once('\n').unwrap_or_default();
        let errors = String::from_utf8_lossy(&output.stderr);
        (status.parse().unwrap_or_default(), format!("{body}{errors}"))
    }

    fn until(&self, server: &Deployed, path: &str, expected: u16, body: &str) {
        let until = Instant::now() + SOON;
        loop {
            let (status, found) = self.call(server, if body.is_empty() { "GET" } else { "POST" }, path, body);
            if status == expected {
                return;
            }
            assert!(Instant::now() < until, "{path}: {status} {found}");
            sleep(Duration::from_millis(100));
        }
    }
}

fn gear(name: &str, note: usize) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Gear","metadata":{{"name":"{name}","annotations":{{"a":"{}"}}}},"spec":{{"teeth":7}}}}"#,
        "x".repeat(note)
    )
}

/// Ends the load.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Deploys servers by their files, changes these under load, and stops one.
fn deploy(name: &str, stores: &[&str]) {
    let site = Site::new(name);
    let configured = |index: usize, further: &str| {
        site.configure(
            &format!("server-{index}"),
            stores[index],
            &format!("stopDelay: 2s\nlog: {{format: json}}\n{further}"),
        )
    };
    let servers: Vec<_> = (0..stores.len()).map(|index| Deployed::start(&configured(index, ""))).collect();
    for server in &servers {
        assert!(server.server.url().starts_with("https://localhost:") && server.server.url().ends_with("/gears"));
        server.until_logged(&["listening", "\"level\":\"INFO\""]);
    }
    let (first, last) = (&servers[0], servers.last().unwrap());
    let discovery = site.call(first, "GET", "/.well-known/openid-configuration", "").1;
    assert!(discovery.contains("/gears/openid/v1/jwks\""), "{discovery}");
    let created = site.call(first, "POST", ITEMS, &gear("large", 3000));
    assert_eq!(created.0, 201, "{}", created.1);
    assert_eq!(site.call(last, "GET", &format!("{ITEMS}/large"), "").0, 200);

    let (stop, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        // Also if an assertion fails.
        let _ending = SetOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let answers = servers.iter().map(|server| site.call(server, "GET", ITEMS, "").0);
                failed.fetch_or(answers.into_iter().any(|status| status != 200), Ordering::Relaxed);
            }
        });
        for (index, server) in servers.iter().enumerate() {
            configured(index, "limits: {requests: {bodyBytes: 1Ki}}\nserverVersion: v1.36.0+gears");
            server.until_logged(&["limits.requests.bodyBytes", "changed"]);
            server.until_logged(&["\"setting\":\"serverVersion\"", "restart the server"]);
            site.until(server, ITEMS, 413, &gear(&format!("larger-{index}"), 3000));
            configured(index, "limits: {requests: {bodyByte: 1Ki}}");
            server.until_logged(&["settings are broken", "did you mean limits.requests.bodyBytes?"]);
            assert_eq!(site.call(server, "POST", ITEMS, &gear("larger", 3000)).0, 413, "the last good file counts");
            configured(index, "");
            site.until(server, ITEMS, 201, &gear(&format!("again-{index}"), 3000));
        }
    });
    assert!(!failed.load(Ordering::Relaxed), "a request failed");

    let mut servers = servers;
    let stopped = servers.remove(0);
    stopped.server.signal("TERM");
    site.until(&stopped, "/readyz", 500, "");
    assert_eq!(site.call(&stopped, "GET", ITEMS, "").0, 200, "it still answers");
    assert!(stopped.server.terminate().0, "a second signal ends it at once");
    stopped.reading.join().unwrap();
    for line in stopped.log.lock().unwrap().iter() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    for other in &servers {
        assert_eq!(site.call(other, "GET", &format!("{ITEMS}/again-0"), "").0, 200);
    }
}

#[test]
fn a_server_is_configured_by_its_file_alone_and_changed_under_load() {
    deploy("settings", &["eventLifetime: 2h"]);
}

#[cfg(feature = "etcd")]
#[test]
fn two_servers_over_etcd_are_configured_by_their_files_alone() {
    let Some(member) = member::Member::start() else { return };
    let store = format!("etcd: {{endpoints: ['{}'], prefix: /gears}}", member.url());
    deploy("settings-etcd", &[&store, &store]);
}

#[test]
fn the_settings_are_printed_and_what_is_wrong_is_said() {
    let folder = Folder::new("print-config");
    let config = folder.path().join("server.yaml");
    let run = |arguments: &[&str], text: &str| {
        fs::write(&config, text).unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("serve").args(arguments).env("KINDSMITH_CONFIG", &config).env("KINDSMITH_STOP_DELAY", "3s");
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (code, printed) = run(&["kubernetes", "--print-config", "--memory"], "limits: {cache: {indexBytes: 8Mi}}\n");
    assert_eq!(code, Some(0));
    for line in ["kubernetes: true", "memory: true", "stopDelay: 3s", "    indexBytes: 8Mi"] {
        assert!(printed.lines().any(|found| found == line), "{line} is not in {printed}");
    }
    let (code, again) = run(&["--print-config"], &printed);
    let settings = |text: &str| text.lines().filter(|line| !line.contains('#')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((code, settings(&again)), (Some(0), settings(&printed)));
    let (code, error) = run(&[], "\nlisten: 1\nmemroy: true\n");
    assert_eq!(code, Some(2));
    let name = config.display();
    assert!(error.contains(&format!("error: {name}:2: listen: expected a string, found 1\n")), "{error}");
    assert!(error.contains(&format!("{name}:3: memroy is not a setting; did you mean memory?")), "{error}");
}
