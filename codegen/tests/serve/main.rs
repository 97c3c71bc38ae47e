//! Tests of the command `kindsmith serve`: what it prints, what it serves, and files that change.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

use std::{
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use kindsmith_tests::{Folder, ServerProcess};

mod documents;
mod imported;
mod settings;
mod users;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kindsmith");

/// A manifest of gears, whose objects have this field.
fn gears(field: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gears.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: gears, kind: Gear}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, properties: {{{field}: {{type: integer}}}}}}
"
    )
}

struct Served {
    server: ServerProcess,
    data: PathBuf,
}

impl Served {
    fn start(arguments: &[impl AsRef<OsStr>], data: PathBuf) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("serve").args(arguments).args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(&data);
        let server = ServerProcess::spawn(command.stderr(Stdio::piped()));
        Self { server, data }
    }

    /// Calls the server with curl, as a person would. Returns the status and the body.
    fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask(&["-X", method], path, body)
    }

    /// Gets what is there in a media type, as far as it is text.
    fn accepting(&self, accept: &str, path: &str) -> String {
        self.ask(&["-H", &format!("Accept: {accept}")], path, "").1
    }

    fn ask(&self, arguments: &[&str], path: &str, body: &str) -> (u16, String) {
        let token = fs::read_to_string(self.data.join("admin.token")).unwrap();
        let mut command = Command::new("curl");
        command.args(arguments);
        command.args(["-sS", "-w", "\n%{http_code}", "--cacert"]).arg(self.data.join("ca.crt"));
        command.args([
            "-H",
            &format!("Authorization: Bearer {}", token.trim()),
            "-H",
            "Content-Type: application/json",
        ]);
        if !body.is_empty() {
            command.args(["-d", body]);
        }
        let output = command.arg(format!("{}{path}", self.server.url())).output().expect("curl runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let (body, status) = text.rsplit_once('\n').unwrap_or_default();
        (status.parse().unwrap_or_default(), body.to_owned())
    }

    fn until(&self, path: &str, is_expected: impl Fn(u16, &str) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let (status, body) = self.call("GET", path, "");
            if is_expected(status, &body) {
                return;
            }
            assert!(Instant::now() < deadline, "{path}: {status} {body}");
            sleep(Duration::from_millis(100));
        }
    }
}

const GEARS: &str = "/apis/example.com/v1/namespaces/default/gears";

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.example.com";

#[test]
fn files_and_folders_are_served_durably_and_read_again() {
    let folder = Folder::new("serve");
    let (manifests, data) = (folder.path().join("manifests"), folder.path().join("data"));
    fs::create_dir_all(manifests.join("deeper")).unwrap();
    let file = manifests.join("deeper/gears.yaml");
    fs::write(&file, gears("teeth")).unwrap();
    fs::write(manifests.join("notes.txt"), "no manifest").unwrap();
    let mut served = Served::start(&[&manifests], data.clone());
    let mut log = served.server.errors().unwrap();
    assert!(data.join("kubeconfig").is_file());
    let gear = r#"{"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"a"},"spec":{"teeth":12}}"#;
    let (status, created) = served.call("POST", GEARS, gear);
    assert_eq!(status, 201, "{created}");

    // A broken file changes nothing.
    fs::write(&file, gears("teeth").replace("Namespaced", "Everywhere")).unwrap();
    sleep(Duration::from_secs(6));
    assert_eq!(served.call("GET", &format!("{GEARS}/a"), "").0, 200);
    // A file that is mended, and a new one.
    fs::write(&file, gears("dents")).unwrap();
    fs::write(manifests.join("wheels.json"), gears("spokes").replace("gear", "wheel").replace("Gear", "Wheel"))
        .unwrap();
    served.until("/apis/example.com/v1", |_, body| body.contains("wheels"));
    served.until(&format!("{GEARS}/a"), |status, body| status == 200 && !body.contains("\"teeth\": 12"));
    // One that is gone.
    fs::remove_file(manifests.join("wheels.json")).unwrap();
    served.until("/apis/example.com/v1", |_, body| !body.contains("wheels"));
    let (well, rest) = served.server.terminate();
    assert!(well, "{rest}");
    let mut errors = String::new();
    log.read_to_string(&mut errors).unwrap();
    let broken = format!("{}:6: document 1, /spec/scope", file.display());
    assert!(
        errors.contains(&broken) && errors.contains("definitions are broken; what was read before stays valid"),
        "{errors}"
    );

    fs::write(&file, gears("teeth")).unwrap();
    let served = Served::start(&[&file], data);
    let (status, kept) = served.call("GET", &format!("{GEARS}/a"), "");
    assert!(status == 200 && kept.contains("\"teeth\": 12"), "{kept}");
}

#[test]
fn a_broken_file_stays_as_it_was_and_others_are_read_again() {
    let folder = Folder::new("serve");
    let (manifests, data) = (folder.path().join("manifests"), folder.path().join("data"));
    fs::create_dir(&manifests).unwrap();
    let mut served = Served::start(&[&manifests], data);
    let mut log = served.server.errors().unwrap();
    let wheels = |field: &str| gears(field).replace("gear", "wheel").replace("Gear", "Wheel");
    let (first, second) = (manifests.join("gears.yaml"), manifests.join("wheels.yaml"));
    fs::write(&first, gears("teeth")).unwrap();
    fs::write(&second, wheels("spokes")).unwrap();
    served.until("/apis/example.com/v1", |_, body| body.contains("gears") && body.contains("wheels"));
    fs::write(&first, gears("teeth").replace("Namespaced", "Everywhere")).unwrap();
    fs::write(&second, wheels("rays")).unwrap();
    fs::write(manifests.join("again.yaml"), wheels("more")).unwrap();
    let wheel = r#"{"apiVersion":"example.com/v1","kind":"Wheel","metadata":{"name":"a"},"spec":{"more":1}}"#;
    let wheels = "/apis/example.com/v1/namespaces/default/wheels?dryRun=All&fieldValidation=Strict";
    let deadline = Instant::now() + Duration::from_secs(30);
    while served.call("POST", wheels, wheel).0 != 201 {
        assert!(Instant::now() < deadline, "the first of two files with the same kind is served");
        sleep(Duration::from_millis(100));
    }
    assert_eq!(served.call("GET", GEARS, "").0, 200, "the kind of the broken file is served on");
    let (well, rest) = served.server.terminate();
    assert!(well, "{rest}");
    let mut errors = String::new();
    log.read_to_string(&mut errors).unwrap();
    let twice = format!(
        "{}: wheels.example.com is already declared by {}",
        second.display(),
        manifests.join("again.yaml").display()
    );
    assert!(errors.contains("no files of definitions yet") && errors.contains(&twice), "{errors}");
}

#[test]
fn definitions_are_applied_beside_those_of_files() {
    let folder = Folder::new("serve");
    let file = folder.path().join("gears.yaml");
    fs::write(&file, gears("teeth")).unwrap();
    let served = Served::start(&[&file], folder.path().join("data"));
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let wheels = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wheels.example.com"},
        "spec":{"group":"example.com","scope":"Cluster","names":{"plural":"wheels","kind":"Wheel"},"versions":[{"name":"v1","served":true,
        "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
    let (status, applied) = served.call("POST", definitions, wheels);
    assert_eq!(status, 201, "{applied}");
    served.until("/apis/example.com/v1/wheels", |status, _| status == 200);
}

#[test]
fn definitions_are_installed_as_objects() {
    let folder = Folder::new("installed");
    let file = folder.path().join("gears.yaml");
    fs::write(&file, gears("teeth")).unwrap();
    let arguments = [OsStr::new("--crds"), file.as_os_str()];
    let data = folder.path().join("data");
    let served = Served::start(&arguments, data.clone());
    let established = r#""message": "the initial names have been accepted""#;
    assert_eq!(served.call("GET", GEARS, "").0, 200, "they are served from the start");
    let (status, stored) = served.call("GET", DEFINITION, "");
    assert!(status == 200 && stored.contains(established), "{stored}");
    let again = fs::read_to_string(&file).unwrap();
    let created = served.ask(&["-X", "POST", "-H", "Content-Type: application/yaml"], DEFINITIONS, &again);
    assert_eq!(created.0, 409, "{}", created.1);

    fs::write(&file, gears("cogs")).unwrap();
    served.until(DEFINITION, |_, stored| stored.contains("cogs"));
    drop(served);
    let served = Served::start(&arguments, data);
    assert_eq!(served.call("GET", GEARS, "").0, 200);
    assert_eq!(served.call("DELETE", DEFINITION, "").0, 200);
    served.until(GEARS, |status, _| status == 404);

    let memory = Path::new("--memory");
    let missing = folder.path().join("none");
    assert!(fails(&[memory, Path::new("--crds"), &missing]).contains("none: No such file"));
    fs::write(folder.path().join("other.yaml"), "apiVersion: v1\nkind: ConfigMap\n").unwrap();
    let error = fails(&[memory, Path::new("--crds"), &folder.path().join("other.yaml")]);
    assert!(error.contains("other.yaml: no CustomResourceDefinition there"), "{error}");
}

fn fails(arguments: &[&Path]) -> String {
    let Output { status, stderr, .. } = Command::new(PROGRAM).arg("serve").args(arguments).output().unwrap();
    assert_eq!(status.code(), Some(2));
    String::from_utf8(stderr).unwrap()
}

#[test]
fn what_is_wrong_is_said_with_file_and_line() {
    let folder = Folder::new("serve");
    let (file, memory) = (folder.path().join("gears.yaml"), Path::new("--memory"));
    fs::write(&file, gears("teeth").replace("Namespaced", "Everywhere").replace("integer", "int")).unwrap();
    let errors = fails(&[&file, memory]);
    let at = |line: usize| format!("{}:{line}: document 1, ", file.display());
    assert!(errors.contains(&at(6)) && errors.contains("spec.scope: Unsupported value: \"Everywhere\""), "{errors}");
    assert!(errors.contains(&at(16)) && errors.contains("Unsupported value: \"int\""), "{errors}");
    let missing = folder.path().join("missing.yaml");
    let errors = fails(&[&missing, memory]);
    assert!(errors.contains("missing.yaml: No such file"), "{errors}");
}

#[test]
fn help_has_an_example() {
    let output = Command::new(PROGRAM).args(["serve", "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Example:\n  kindsmith serve ") && text.contains("--data-dir"), "{text}");
}
