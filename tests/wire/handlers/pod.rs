//! A Pod, as far as `kubectl exec`, `attach`, `logs` and `cp` look at one, and the handlers behind its subresources. What
//! runs "in" it are processes of this machine, or a few lines of code.

use std::{
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use kindsmith::{
    ApiType, ObjectMeta, Resource, Server,
    handlers::{
        self, ExecOptions, Exit, Forward, ForwardOptions, NoOptions, Parent, Refusal, Remote, Result, Session, Text,
    },
    server::{TestBuilder, TestServer},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A pod.
#[derive(Resource, Clone, Debug)]
#[resource(group = "", version = "v1", shortname = "po", builtin, status)]
pub struct Pod {
    pub metadata: ObjectMeta,
    pub spec: PodSpec,
    pub status: Option<PodStatus>,
}

/// What runs in it.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct PodSpec {
    /// The containers.
    #[api(list = map(key = name))]
    pub containers: Vec<Container>,
}

/// A container.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its terminal, if it has one.
    pub tty: Option<bool>,
    /// It can be typed to.
    pub stdin: Option<bool>,
}

/// What is known of it.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct PodStatus {
    /// Such as `Running`.
    pub phase: Option<String>,
}

/// Options of its log.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodLogOptions {
    /// Which container.
    pub container: Option<String>,
    /// Go on with what comes.
    pub follow: Option<bool>,
    /// How many lines from the end.
    #[api(minimum = 0)]
    pub tail_lines: Option<i64>,
}

fn check(pod: &Pod, container: Option<&str>) -> Result<()> {
    match container {
        Some(name) if !pod.spec.containers.iter().any(|c| c.name == name) => {
            Err(Refusal::bad_request(format!("container {name} is not valid for pod {}", pod.metadata.name)))
        }
        _ => Ok(()),
    }
}

async fn log(pod: Parent<Pod>, options: PodLogOptions) -> Result<Text> {
    check(&pod, options.container.as_deref())?;
    let lines: Vec<String> = (1..=5).map(|number| format!("line {number} of {}", pod.metadata.name)).collect();
    let from = options.tail_lines.map_or(0, |tail| lines.len().saturating_sub(usize::try_from(tail).unwrap_or(0)));
    if !options.follow.unwrap_or_default() {
        return Ok(Text::whole(lines[from..].join("\n") + "\n"));
    }
    let endless = pod.metadata.name.starts_with("endless");
    Ok(Text::written(move |mut out| async move {
        for line in &lines[from..] {
            out.line(line).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if !endless {
            return Ok(());
        }
        loop {
            out.line("and on").await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }))
}

/// Bytes that floods have written so far.
static FLOODED: AtomicU64 = AtomicU64::new(0);

/// How much floods have written so far.
pub fn flooded() -> u64 {
    FLOODED.load(Ordering::Relaxed)
}

/// A flood, as fast as it is read, or a failure after some of it.
async fn flood(pod: Parent<Pod>, _options: NoOptions) -> Result<Text> {
    let breaks = pod.metadata.name.starts_with("breaks");
    Ok(Text::written(move |mut out| async move {
        for number in 0_u64.. {
            out.line(format!("{number:0>1000}")).await?;
            FLOODED.fetch_add(1001, Ordering::Relaxed);
            if breaks && number == 100 {
                return Err(std::io::Error::other("as asked"));
            }
        }
        Ok(())
    }))
}

async fn exec(pod: Parent<Pod>, options: ExecOptions) -> Result<Session> {
    check(&pod, options.container.as_deref())?;
    let command = options.command.unwrap_or_default();
    Ok(Session::new(move |io| async move {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["echo-shell"] => shell(io).await,
            ["refuse"] => Err(Refusal::forbidden("not in here")),
            ["panic"] => panic!("as asked"),
            ["sizes"] => sizes(io).await,
            ["forever"] => std::future::pending().await,
            ["deaf"] => {
                // Takes nothing in, and ends after a while.
                tokio::time::sleep(Duration::from_millis(300)).await;
                Ok(Exit::SUCCESS)
            }
            [program, arguments @ ..] => process(io, program, arguments).await,
            [] => Err(Refusal::bad_request("there is no command")),
        }
    }))
}

/// A shell that says back what it hears.
async fn shell(mut io: Remote) -> Result<Exit> {
    let end = if io.tty { "\r\n" } else { "\n" };
    let mut line = Vec::new();
    io.stdout.write_all(b"$ ").await?;
    while let Ok(byte) = io.stdin.read_u8().await {
        if byte != b'\n' && byte != b'\r' {
            line.push(byte);
            continue;
        }
        let said = String::from_utf8_lossy(&line).into_owned();
        line.clear();
        match said.split_once(' ') {
            Some(("exit", code)) => return Ok(Exit::code(code.parse().unwrap_or(2))),
            Some(("complain", what)) => io.stderr.write_all(format!("{what}{end}").as_bytes()).await?,
            _ => io.stdout.write_all(format!("you said {said}{end}$ ").as_bytes()).await?,
        }
    }
    Ok(Exit::SUCCESS)
}

/// Tells the first two sizes of the terminal.
async fn sizes(mut io: Remote) -> Result<Exit> {
    for _ in 0..2 {
        let Some(size) = io.resize.recv().await else { return Ok(Exit::code(1)) };
        io.stdout.write_all(format!("{}x{}\n", size.width, size.height).as_bytes()).await?;
    }
    Ok(Exit::SUCCESS)
}

/// Runs a process, without a terminal.
async fn process(io: Remote, program: &str, arguments: &[&str]) -> Result<Exit> {
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Refusal::internal(format!("{program}: {error}")))?;
    let Remote { mut stdin, mut stdout, mut stderr, .. } = io;
    let (mut to, mut from, mut errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let typed = tokio::spawn(async move {
        let to = to.as_mut().expect("piped");
        // A process that reads no more breaks its pipe.
        let _ = tokio::io::copy(&mut stdin, to).await;
    });
    let (shown, told) = tokio::join!(
        tokio::io::copy(from.as_mut().expect("piped"), &mut stdout),
        tokio::io::copy(errors.as_mut().expect("piped"), &mut stderr),
    );
    shown.and(told)?;
    let status = child.wait().await?;
    typed.abort();
    Ok(status.into())
}

/// What its main process says and hears.
async fn attach(_pod: Parent<Pod>, _options: ExecOptions) -> Result<Session> {
    Ok(Session::new(shell))
}

/// Port 7 echoes, port 9 refuses, others greet.
async fn forward(_pod: Parent<Pod>, _options: ForwardOptions) -> Result<Forward> {
    Ok(Forward::new(|port, mut stream| async move {
        match port {
            7 => {
                let (mut from, mut to) = tokio::io::split(stream);
                tokio::io::copy(&mut from, &mut to).await.map(drop)
            }
            9 => Err(std::io::Error::other("nobody listens on port 9")),
            port => stream.write_all(format!("this is port {port}").as_bytes()).await,
        }
    }))
}

/// A server with pods, of which `one`, `endless` and `breaks` are there.
pub async fn server() -> TestServer {
    started(Server::test()).await
}

/// The same with TLS and a kubeconfig.
pub async fn tls_server() -> TestServer {
    started(Server::test().tls()).await
}

async fn started(builder: TestBuilder) -> TestServer {
    let builder = builder.kind::<Pod>().configure(|server| {
        server
            .subresource("log", handlers::text(log))
            .subresource("flood", handlers::text(flood))
            .subresource("exec", handlers::exec(exec))
            .subresource("attach", handlers::exec(attach))
            .subresource("portforward", handlers::port_forward(forward))
    });
    let server = builder.start().await;
    for name in ["one", "endless", "breaks"] {
        let containers = json!([{"name": "main", "stdin": true}]);
        let pod = json!({"metadata": {"name": name}, "spec": {"containers": containers}});
        let (code, answer) = server.call("POST", PODS, pod).await;
        assert_eq!(code, 201, "{answer}");
        let status = json!({"status": {"phase": "Running"}});
        assert_eq!(server.call("PATCH", &format!("{PODS}/{name}/status"), status).await.0, 200);
    }
    server
}

/// The pods' path.
pub const PODS: &str = "/api/v1/namespaces/default/pods";
