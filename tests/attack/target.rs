//! The server under attack: this program again as a separate process with limits.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use kindsmith::{ApiType, ObjectMeta, Resource, Server};
use kindsmith_tests::{Client, Folder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The admin's token.
const TOKEN: &str = "attack";
/// The name of the token file.
const TOKENS: &str = "tokens.csv";
/// The path of the token file. If it is set, the process runs as the server.
const TOKEN_FILE: &str = "KINDSMITH_ATTACK_TOKENS";
/// The data directory, if objects are stored on disk.
const DATA: &str = "KINDSMITH_ATTACK_DATA";
/// The number of clients that fill a server.
const WRITERS: usize = 16;

/// Serializes attacks.
static ALONE: Mutex<()> = Mutex::new(());

/// Settings of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// The maximum number of descriptors of its process.
    pub descriptors: Option<u32>,
    /// Store objects on disk. In memory, the store keeps all history.
    pub durable: bool,
    /// Make the allocator release large blocks as soon as they are freed. glibc keeps them in a heap for each thread,
    /// which hides the server's own memory use.
    pub gives_back: bool,
}

/// A kind whose objects may have the maximum size: the texts of a ConfigMap are limited.
#[derive(Resource, Clone, Debug)]
#[resource(group = "attack.example.com", version = "v1", builtin, update_without_version)]
pub(crate) struct Archive {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The content of the archive.
    pub spec: ArchiveSpec,
}

/// The content of an archive.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveSpec {
    /// Texts by name.
    pub texts: BTreeMap<String, String>,
}

/// A server process, ended on drop.
pub struct Target {
    url: String,
    process: Child,
    // Held open: a server that prints into a closed pipe would fail.
    output: BufReader<ChildStdout>,
    setup: Setup,
    folder: Folder,
    _alone: MutexGuard<'static, ()>,
}

#[test]
#[ignore = "the other tests run it in a process of its own"]
fn serves() {
    let Ok(tokens) = env::var(TOKEN_FILE) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = pod_server::serve(Server::builder()).kind::<Archive>().definitions().http().token_file(tokens);
    let server = match env::var(DATA) {
        Ok(data) => server.data_dir(data),
        Err(_) => server.memory(),
    };
    runtime.block_on(server.serve("127.0.0.1:0")).unwrap();
}

/// Starts the process. Returns it with its output.
fn launch(setup: Setup, folder: &Folder) -> (Child, BufReader<ChildStdout>) {
    let limits = setup.descriptors.map(|count| format!("ulimit -n {count}; ")).unwrap_or_default();
    let data = setup.durable.then(|| (DATA, folder.path().join("data")));
    let mut process = Command::new("sh")
        .args(["-c", &format!("{limits}exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "target::serves", "--nocapture", "--test-threads=1"])
        .env(TOKEN_FILE, folder.path().join(TOKENS))
        .env("TMPDIR", folder.path())
        .envs(data)
        .envs(setup.gives_back.then_some(("MALLOC_MMAP_THRESHOLD_", "131072")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(process.stdout.take().unwrap());
    (process, output)
}

/// Waits until the process listens. Returns the URL.
fn listening(output: &mut BufReader<ChildStdout>) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server ended before it listened");
        if let Some((_, url)) = line.split_once("listening on ") {
            return url.trim().to_owned();
        }
    }
}

impl Target {
    /// Starts a server once the previous attack has ended.
    pub fn start(setup: Setup) -> Self {
        // A failed attack has ended, too.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new("attack");
        fs::write(folder.path().join(TOKENS), format!("{TOKEN},admin,1,\"system:masters\"\n")).unwrap();
        let (process, mut output) = launch(setup, &folder);
        let url = listening(&mut output);
        Self { url, process, output, setup, folder, _alone: alone }
    }

    /// Stops the server, which must end in time, and starts it again with its data. Returns how long it took until it listened.
    pub fn restart(&mut self, within: Duration) -> Duration {
        assert!(self.setup.durable, "its data would be gone");
        self.stop(within);
        let start = Instant::now();
        (self.process, self.output) = launch(self.setup, &self.folder);
        self.url = listening(&mut self.output);
        start.elapsed()
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// A client of the admin with a separate connection.
    pub fn client(&self) -> Client {
        Client::new(&self.url, TOKEN)
    }

    /// The `Authorization` header.
    pub fn authorization() -> String {
        format!("Bearer {TOKEN}")
    }

    /// The process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The CPU time of the process in steps of 10 ms.
    pub fn processor_time(&self) -> Duration {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // The name in parentheses may contain anything; the fields after it are numbers. User and system time are 14
        // and 15.
        let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// True if the number of descriptors is limited.
    pub fn is_short_of_descriptors(&self) -> bool {
        self.setup.descriptors.is_some()
    }

    /// The number of open descriptors of the process.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap().count()
    }

    /// Tells the server to stop, and waits until it has ended.
    ///
    /// # Panics
    /// If it fails, or does not end in time.
    pub fn terminate(mut self, within: Duration) -> Duration {
        self.stop(within)
    }

    fn stop(&mut self, within: Duration) -> Duration {
        let start = Instant::now();
        assert!(Command::new("kill").arg(self.process.id().to_string()).status().unwrap().success());
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return start.elapsed();
            }
            assert!(start.elapsed() < within, "the server is not done after {within:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Creates ConfigMaps with values of some size in the namespace `default`: `attack-0`, `attack-1`, ….
    pub async fn fill(&self, count: usize, bytes: usize) {
        let value: Arc<str> = "x".repeat(bytes).into();
        let writers = (0..WRITERS).map(|writer| {
            let (mut client, value) = (self.client(), value.clone());
            tokio::spawn(async move {
                for number in (writer..count).step_by(WRITERS) {
                    let body = json!({"metadata": {"name": format!("attack-{number}")}, "data": {"value": &*value}});
                    let answer = client.json("POST", "/api/v1/namespaces/default/configmaps", &body).await.unwrap();
                    assert_eq!(answer.status, 201, "{:?}", answer.body);
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    }

    /// A definition of kind `Thing` in the group `things.example.com`, version `v1`, namespaced.
    pub fn definition(mut version: Value) -> Value {
        const GROUP: &str = "things.example.com";
        for (member, value) in [("name", json!("v1")), ("served", true.into()), ("storage", true.into())] {
            version[member] = value;
        }
        json!({
            "metadata": {"name": format!("things.{GROUP}")},
            "spec": {
                "group": GROUP, "scope": "Namespaced", "versions": [version],
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            },
        })
    }

    /// Creates a [definition](Self::definition), and waits until it is served. Returns the path of its objects in the namespace
    /// `default`.
    pub async fn define(&self, version: Value) -> &'static str {
        let definition = Self::definition(version);
        let (mut client, path) = (self.client(), "/apis/things.example.com/v1/namespaces/default/things");
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let answer = client.json("POST", definitions, &definition).await.unwrap();
        assert_eq!(answer.status, 201, "{:?}", answer.body);
        while client.get(path).await.unwrap().status != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        path
    }

    /// Waits up to five seconds until the server answers normally: a read and a write on a new connection.
    pub async fn recovers(&self) -> Duration {
        let start = Instant::now();
        let work = async {
            loop {
                let mut client = self.client();
                if let Ok(answer) = client.get("/readyz").await
                    && answer.status == 200
                    && self.writes(&mut client).await
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let within = tokio::time::timeout(Duration::from_secs(5), work).await;
        within.expect("the server answers again within five seconds");
        start.elapsed()
    }

    /// True if a write and a deletion succeed.
    async fn writes(&self, client: &mut Client) -> bool {
        let path = "/api/v1/namespaces/default/configmaps";
        let created = client.json("POST", path, &json!({"metadata": {"name": "recovered"}})).await;
        let deleted = client.json("DELETE", &format!("{path}/recovered"), &Value::Null).await;
        matches!((created, deleted), (Ok(created), Ok(deleted)) if created.status == 201 && deleted.status == 200)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
