//! A server on a full file system of a few megabytes. Mounting one needs privileges, such as root's. Without them the
//! test prints a note, and fails in CI.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use kindsmith::Server;
use kindsmith_tests::{Answer, Client, Folder};
use serde_json::{Value, json};

const TOKEN: &str = "faults";
/// The path of the small file system. If it is set, the process runs as the server.
const PLACE: &str = "KINDSMITH_FAULTS_PLACE";

#[test]
#[ignore = "the other test runs it in a process of its own"]
fn serves() {
    let Ok(place) = env::var(PLACE).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = Server::builder().data_dir(place.join("data")).http().token_file(place.join("tokens.csv"));
    runtime.block_on(server.serve("127.0.0.1:0")).unwrap();
}

/// A file system in memory, unmounted on drop.
struct Mounted(Folder);

impl Mounted {
    fn new(size: &str) -> Option<Self> {
        let folder = Folder::new("faults");
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs", folder.text()]).status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // If unmounting fails it stays; the test no longer depends on it.
        let _ = Command::new("umount").args(["-l", self.0.text()]).status();
    }
}

/// This program as a server. Killed on drop.
struct Process {
    child: Child,
    url: String,
    // Held open: a server that prints into a closed pipe would fail.
    _output: BufReader<ChildStdout>,
}

impl Process {
    fn start(place: &Path) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "full_disk::serves", "--nocapture", "--test-threads=1"])
            .env(PLACE, place)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let url = loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server ended before it listened");
            if let Some((_, url)) = line.split_once("listening on ") {
                break url.trim().to_owned();
            }
        };
        Self { child, url, _output: output }
    }

    fn client(&self) -> Client {
        Client::new(&self.url, TOKEN)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn create(client: &mut Client, name: &str, bytes: usize) -> Answer {
    let body = json!({"metadata": {"name": name}, "data": {"x": "x".repeat(bytes)}});
    client.json("POST", "/api/v1/namespaces/default/configmaps", &body).await.unwrap()
}

async fn get(client: &mut Client, path: &str) -> (u16, String) {
    let answer = client.get(path).await.unwrap();
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
}

/// Creates objects until the disk is full; returns the names of the acknowledged ones.
async fn fill(client: &mut Client) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        let name = format!("object-{}", names.len());
        let answer = create(client, &name, 50_000).await;
        if answer.status != 201 {
            assert_eq!(answer.status, 507, "{:?}", answer.body);
            assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
            let status = answer.json();
            assert_eq!((&status["kind"], &status["reason"]), (&"Status".into(), &"InsufficientStorage".into()));
            return names;
        }
        names.push(name);
        assert!(names.len() < 1_000, "the disk does not run full");
    }
}

#[tokio::test]
async fn a_server_on_a_full_disk_serves_reads_and_writes_again_with_free_space() {
    let Some(mounted) = Mounted::new("12m") else {
        println!("NOT RUN: a server on a full disk, since this process may not mount a file system");
        assert!(env::var("CI").is_err(), "CI must be allowed to mount a file system");
        return;
    };
    let place = mounted.0.path();
    fs::write(place.join("tokens.csv"), format!("{TOKEN},admin,1,\"system:masters\"\n")).unwrap();
    fs::write(place.join("ballast"), vec![1; 4 << 20]).unwrap();
    let server = Process::start(place);
    let mut client = server.client();
    let mut names = fill(&mut client).await;
    let read = get(&mut client, &format!("/api/v1/namespaces/default/configmaps/{}", names[0])).await;
    assert_eq!(read.0, 200);
    let list = get(&mut client, "/api/v1/namespaces/default/configmaps").await;
    assert_eq!(list.0, 200);
    let (status, text) = get(&mut client, "/readyz").await;
    assert!(status == 500 && text.contains("[-]store"), "{status} {text}");
    assert_eq!(get(&mut client, "/livez").await.0, 200);
    assert_eq!(create(&mut client, "refused", 50_000).await.status, 507);
    let deleted = names.swap_remove(0);
    let path = format!("/api/v1/namespaces/default/configmaps/{deleted}");
    let answer = client.json("DELETE", &path, &json!({})).await.unwrap();
    assert_eq!(answer.status, 200, "objects can be deleted on a full disk: {:?}", answer.body);
    assert_eq!(create(&mut client, "refused", 50_000).await.status, 507);

    fs::remove_file(place.join("ballast")).unwrap();
    let start = Instant::now();
    while get(&mut client, "/readyz").await.0 != 200 {
        assert!(start.elapsed() < Duration::from_secs(5), "the store does not write again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("{} objects; writing again {:?} after there was room", names.len(), start.elapsed());
    assert_eq!(create(&mut client, "after", 50_000).await.status, 201);
    names.push("after".to_owned());
    // Killed like with `kill -9`.
    drop(server);

    let server = Process::start(place);
    let list = server.client().get("/api/v1/namespaces/default/configmaps").await.unwrap().json();
    let found: Vec<&str> = list["items"].as_array().unwrap().iter().filter_map(name_of).collect();
    for name in &names {
        assert!(found.contains(&name.as_str()), "{name} was acknowledged and is lost");
    }
    assert!(!found.contains(&"refused"), "a write that was refused is there");
    assert!(!found.contains(&&*deleted), "a deletion that was acknowledged is lost");
}

fn name_of(object: &Value) -> Option<&str> {
    object["metadata"]["name"].as_str()
}
