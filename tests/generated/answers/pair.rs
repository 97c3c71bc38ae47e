//! Two servers that get the same requests, and the differences of their answers.
use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Response};
use kindsmith::server::TestServer;
use serde_json::Value;
use tower::ServiceExt;

use super::mask::Mask;

/// How many differences of an answer are shown, and how many characters of each.
const MOST_SHOWN: (usize, usize) = (8, 300);
/// How long a watch may take to deliver what has happened.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) const JSON: &str = "application/json";
pub(super) const YAML: &str = "application/yaml";
pub(super) const CBOR: &str = "application/cbor";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    method: &'static str,
    path: String,
    accept: &'static str,
    content: &'static str,
    body: Bytes,
}

impl Request {
    pub(super) fn new(method: &'static str, path: impl Into<String>) -> Self {
        let content = if method == "PATCH" { "application/merge-patch+json" } else { JSON };
        Self { method, path: path.into(), accept: JSON, content, body: Bytes::new() }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    pub(super) fn accept(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    pub(super) fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub(super) fn json(self, body: &Value) -> Self {
        self.body(body.to_string())
    }

    /// A body of another media type.
    pub(super) fn typed(self, content: &'static str) -> Self {
        Self { content, ..self }
    }

    fn send(
        &self,
        server: &TestServer,
    ) -> impl Future<
        Output = Result<Response<impl hyper::body::Body<Data = Bytes, Error: std::fmt::Debug> + use<>>, Infallible>,
    > + use<> {
        let request = hyper::Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header("accept", self.accept)
            .header("content-type", self.content)
            .header("authorization", format!("Bearer {}", server.token()))
            .header("user-agent", "same")
            .body(Full::new(self.body.clone()))
            .unwrap_or_else(|error| panic!("{error}: {self:?}"));
        server.service().oneshot(request)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A server of documents as they stand, and one of the kinds that are generated from them.
pub(super) struct Pair {
    served: TestServer,
    generated: TestServer,
    mask: Mask,
    /// How many requests each was sent.
    pub asked: usize,
    /// How many of these were done, rather than refused.
    pub done: usize,
    pub differences: Vec<String>,
}

impl Pair {
    /// A pair whose mask is older than the servers.
    pub(super) fn new(mask: Mask, served: TestServer, generated: TestServer) -> Self {
        Self { served, generated, mask, asked: 0, done: 0, differences: Vec::new() }
    }

    /// Sends both the same request. Returns the answers of both, that of the documents first.
    pub(super) async fn send(&mut self, request: Request) -> [Answer; 2] {
        self.send_each([request.clone(), request]).await
    }

    /// Sends each its own request, which differs in generated values.
    pub(super) async fn send_each(&mut self, requests: [Request; 2]) -> [Answer; 2] {
        let answers = self.answers(&requests).await;
        self.compare(&requests[0], &answers, |value| value);
        answers
    }

    /// Sends both the same request, and compares what is left of their answers.
    pub(super) async fn compare_part(&mut self, request: Request, part: impl Fn(Value) -> Value) {
        let requests = [request.clone(), request];
        let answers = self.answers(&requests).await;
        self.compare(&requests[0], &answers, part);
    }

    /// The answer of the server of the files, which is not compared.
    pub(super) async fn read(&self, path: &str) -> Value {
        let request = Request::get(path);
        let [answer, _] = self.answers(&[request.clone(), request]).await;
        answer.json()
    }

    async fn answers(&self, requests: &[Request; 2]) -> [Answer; 2] {
        let answer = async |request: &Request, server: &TestServer| {
            let answer = request.send(server).await.unwrap_or_else(|never| match never {});
            let (head, body) = answer.into_parts();
            let body = body.collect().await.expect("a whole answer").to_bytes();
            Answer { status: head.status.as_u16(), headers: head.headers, body }
        };
        [answer(&requests[0], &self.served).await, answer(&requests[1], &self.generated).await]
    }

    /// Reads the same watch of both, until an event is the last one.
    pub(super) async fn watch(&mut self, request: Request, is_last: impl Fn(&Value) -> bool) {
        let mut answers = Vec::new();
        for server in [&self.served, &self.generated] {
            let answer = request.send(server).await.unwrap_or_else(|never| match never {});
            let (head, mut body) = answer.into_parts();
            let (mut text, mut seen) = (Vec::new(), 0);
            let ends = |text: &[u8]| {
                text.split(|byte| *byte == b'\n')
                    .any(|line| serde_json::from_slice(line).is_ok_and(|event| is_last(&event)))
            };
            while !ends(&text[seen..]) {
                seen = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                match tokio::time::timeout(PATIENCE, body.frame()).await {
                    Ok(Some(frame)) => text.extend(frame.expect("a whole frame").into_data().expect("no trailers")),
                    Ok(None) => break,
                    Err(_) => {
                        self.differences.push(format!("{}: a watch has no last event", request.path));
                        break;
                    }
                }
            }
            answers.push(Answer { status: head.status.as_u16(), headers: head.headers, body: text.into() });
        }
        let [served, generated] = &answers[..] else { unreachable!("two servers") };
        self.compare(&request, &[served.clone(), generated.clone()], |value| value);
    }

    fn compare(&mut self, request: &Request, answers: &[Answer; 2], part: impl Fn(Value) -> Value) {
        self.asked += 1;
        self.done += usize::from(answers[0].status < 300);
        let [served, generated] = answers;
        let mut found = Vec::new();
        if served.status != generated.status {
            let said = answers.each_ref().map(|answer| answer.json()["message"].clone());
            found.push(format!("status {} and {}: {said:?}", served.status, generated.status));
        }
        for name in ["content-type", "warning", "allow", "retry-after", "vary"] {
            let [left, right] =
                [served, generated].map(|answer| answer.headers.get_all(name).iter().collect::<Vec<_>>());
            if left != right {
                found.push(format!("{name} {left:?} and {right:?}"));
            }
        }
        let bodies = [served, generated].map(|answer| self.mask.apply(&answer.body));
        let values = bodies.each_ref().map(|body| documents(body).map(|of| part(settled(of))));
        match values {
            [Some(left), Some(right)] => different(&left, &right, "", &mut found),
            _ if bodies[0] != bodies[1] => {
                let [left, right] = bodies.each_ref().map(|body| String::from_utf8_lossy(body));
                let same = left
                    .chars()
                    .zip(right.chars())
                    .take_while(|(left, right)| left == right)
                    .count()
                    .saturating_sub(60);
                let cut = |text: &str| text.chars().skip(same).take(200).collect::<String>();
                found.push(format!("the bodies …{:?} and …{:?}", cut(&left), cut(&right)));
            }
            _ => {}
        }
        if !found.is_empty() {
            let cut = |text: &str| text.chars().take(MOST_SHOWN.1).collect::<String>();
            let lines: Vec<String> = found.iter().take(MOST_SHOWN.0).map(|line| cut(line)).collect();
            let (method, path, accept, body) =
                (request.method, &request.path, request.accept, cut(&String::from_utf8_lossy(&request.body)));
            self.differences.push(format!(
                "{method} {path} {accept} {body}: {}\n  {}",
                found.len(),
                lines.join("\n  ")
            ));
        }
    }
}

/// The JSON of a body, or that of all events of a watch.
fn documents(body: &[u8]) -> Option<Value> {
    let all = serde_json::Deserializer::from_slice(body).into_iter();
    let mut all = all.collect::<Result<Vec<Value>, _>>().ok()?;
    if all.len() == 1 { all.pop() } else { Some(all.into()) }
}

/// A document with managed fields in the order of their managers. Else it is that of times, which differ by what a request takes.
fn settled(mut document: Value) -> Value {
    fn settle(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.values_mut().for_each(settle);
                if let Some(Value::Array(entries)) = fields.get_mut("managedFields") {
                    entries
                        .sort_by_key(|entry| ["manager", "operation", "subresource"].map(|key| entry[key].to_string()));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(settle),
            _ => {}
        }
    }
    settle(&mut document);
    document
}

/// The places in which two documents differ.
fn different(left: &Value, right: &Value, at: &str, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, left) in one {
                match other.get(name) {
                    Some(right) => different(left, right, &format!("{at}/{name}"), found),
                    None => found.push(format!("{at}/{name}: {left} and nothing")),
                }
            }
            for (name, right) in other.iter().filter(|(name, _)| !one.contains_key(*name)) {
                found.push(format!("{at}/{name}: nothing and {right}"));
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (left, right)) in one.iter().zip(other).enumerate() {
                different(left, right, &format!("{at}/{index}"), found);
            }
        }
        _ if left != right => found.push(format!("{at}: {left} and {right}")),
        _ => {}
    }
}
