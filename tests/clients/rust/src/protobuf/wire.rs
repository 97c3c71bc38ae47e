//! Requests with Protobuf bodies and answers over the client's connection.

use http_body_util::BodyExt;
use k8s_pb::apimachinery::pkg::{
    apis::meta::v1::{Status, WatchEvent},
    runtime::{TypeMeta, Unknown},
};
use kube::{Client, client::Body};
use prost::Message;

use crate::Failure;

/// The media type.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The beginning of every body.
const MARK: &[u8] = b"k8s\0";

/// A message in an envelope.
pub fn seal(api_version: &str, kind: &str, message: &impl Message) -> Vec<u8> {
    seal_raw(api_version, kind, message.encode_to_vec())
}

/// The bytes of a message in an envelope.
pub fn seal_raw(api_version: &str, kind: &str, message: Vec<u8>) -> Vec<u8> {
    let type_meta = TypeMeta { api_version: Some(api_version.to_owned()), kind: Some(kind.to_owned()) };
    let unknown = Unknown { type_meta: Some(type_meta), raw: Some(message), ..Unknown::default() };
    [MARK, &unknown.encode_to_vec()].concat()
}

/// The message in an envelope, which must name this type.
pub fn open<M: Message + Default>(body: &[u8], api_version: &str, kind: &str) -> Result<M, Failure> {
    Ok(M::decode(raw(body, api_version, kind)?.as_slice())?)
}

/// The bytes of the message in an envelope, which must name this type.
pub fn raw(body: &[u8], api_version: &str, kind: &str) -> Result<Vec<u8>, Failure> {
    let unknown = Unknown::decode(body.strip_prefix(MARK).ok_or_else(|| format!("no envelope: {body:?}"))?)?;
    let found = unknown.type_meta.unwrap_or_default();
    if (found.api_version(), found.kind()) != (api_version, kind) {
        return Err(format!("wanted {api_version} {kind}, found {found:?}").into());
    }
    Ok(unknown.raw.unwrap_or_default())
}

/// A complete answer.
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// Its media type.
    pub media_type: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The message of an answer that must be a success in Protobuf.
    pub fn message<M: Message + Default>(&self, api_version: &str, kind: &str) -> Result<M, Failure> {
        self.expect_protobuf()?;
        if self.code >= 300 {
            return Err(format!("{} {:?}", self.code, open::<Status>(&self.body, "v1", "Status")).into());
        }
        open(&self.body, api_version, kind)
    }

    /// The Status of an answer that must be a refusal in Protobuf.
    pub fn refused(&self, code: u16, reason: &str) -> Result<Status, Failure> {
        self.expect_protobuf()?;
        let status: Status = open(&self.body, "v1", "Status")?;
        assert_eq!((self.code, status.code(), status.reason()), (code, i32::from(code), reason), "{status:?}");
        assert_eq!(status.status(), "Failure");
        Ok(status)
    }

    fn expect_protobuf(&self) -> Result<(), Failure> {
        if self.media_type == PROTOBUF {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&self.body);
        Err(format!("{} in {}, and not in Protobuf: {text}", self.code, self.media_type).into())
    }
}

/// Sends a request; `body` is a media type and its bytes. Accepts only Protobuf.
pub async fn send(client: &Client, method: &str, path: &str, body: Option<(&str, Vec<u8>)>) -> Result<Answer, Failure> {
    accepting(client, method, path, PROTOBUF, body).await
}

/// Like [`send`], accepting a media type.
pub async fn accepting(
    client: &Client,
    method: &str,
    path: &str,
    accept: &str,
    body: Option<(&str, Vec<u8>)>,
) -> Result<Answer, Failure> {
    let mut request = http::Request::builder().method(method).uri(path).header("accept", accept);
    if let Some((media_type, _)) = &body {
        request = request.header("content-type", *media_type);
    }
    let request = request.body(Body::from(body.map(|(_, bytes)| bytes).unwrap_or_default()))?;
    let (head, body) = client.send(request).await?.into_parts();
    let media_type = head.headers.get("content-type").map_or(Ok(""), |value| value.to_str())?.to_owned();
    Ok(Answer { code: head.status.as_u16(), media_type, body: body.collect().await?.to_bytes().to_vec() })
}

/// The events of a watch that ends by itself: each its type and its object in an envelope.
pub async fn watch(client: &Client, path: &str) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let accept = format!("{PROTOBUF};stream=watch");
    let answer = accepting(client, "GET", path, &accept, None).await?;
    assert_eq!((answer.code, answer.media_type), (200, accept));
    let mut events = Vec::new();
    let mut rest = answer.body.as_slice();
    // A frame is its length in four bytes, big-endian, and that many bytes.
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*length))?;
        let (frame, next) = after.split_at_checked(length).ok_or("the stream ended within a frame")?;
        let event = WatchEvent::decode(frame)?;
        events.push((event.r#type().to_owned(), event.object.unwrap_or_default().raw.unwrap_or_default()));
        rest = next;
    }
    if rest.is_empty() { Ok(events) } else { Err("the stream ended within a length".into()) }
}
