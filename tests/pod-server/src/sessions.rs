//! The commands in pods: processes, or a few lines of code.

use std::{process::Stdio, time::Duration};

use kindsmith::handlers::{ExecOptions, Exit, Parent, Refusal, Remote, Result, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Pod, check};

pub(crate) async fn exec(pod: Parent<Pod>, options: ExecOptions) -> Result<Session> {
    check(&pod, options.container.as_deref())?;
    Ok(command(options))
}

/// A session with the command of the options.
pub(crate) fn command(options: ExecOptions) -> Session {
    let command = options.command.unwrap_or_default();
    Session::new(move |io| async move {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["echo-shell"] => shell(io).await,
            ["refuse"] => Err(Refusal::forbidden("not in here")),
            ["panic"] => panic!("as asked"),
            ["sizes"] => sizes(io).await,
            ["forever"] => std::future::pending().await,
            ["deaf"] => {
                // Reads nothing, and ends after a while.
                tokio::time::sleep(Duration::from_millis(300)).await;
                Ok(Exit::SUCCESS)
            }
            [program, arguments @ ..] => process(io, program, arguments).await,
            [] => Err(Refusal::bad_request("there is no command")),
        }
    })
}

/// A shell that echoes its input.
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

/// Prints the first two sizes of the terminal.
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
        // Writing to a process that has stopped reading fails.
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

/// The input and output of its main process.
pub(crate) async fn attach(_pod: Parent<Pod>, _options: ExecOptions) -> Result<Session> {
    Ok(Session::new(shell))
}
