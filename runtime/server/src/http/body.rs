//! Request bodies: read within limits of size and time, and decoded by media type.

use std::{future::poll_fn, pin::Pin, time::Duration};

use axum_core::body::Body;
use bytes::{Buf, Bytes, BytesMut};
use http::{
    HeaderMap, HeaderValue,
    header::{CONTENT_ENCODING, CONTENT_LENGTH},
};
use http_body::Body as _;

use super::{
    headers::text,
    offload::{self, Objects},
    status,
    status::StatusError,
};
use crate::{
    codec::{self, Encoding, cbor, protobuf, yaml},
    kind::{Kind, endpoint::PatchType},
    meta::{Status, go},
    schema::{Document, types},
    storage::budget::Share,
    verbs::{Patch, Request},
};

/// The number of bytes of a body that an error has of it.
const BEGINNING: usize = 30;

/// Reads the whole body. Fails with 415 for a compressed body, 413 above the limit, 408 if it does not arrive in time,
/// 429 if too many large bodies arrive at once, 400 if the connection broke.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    (most, time): (usize, Duration),
    objects: Objects,
) -> Result<Bytes, StatusError> {
    // A few compressed bytes may expand beyond any reasonable limit.
    let plain = |encoding: &HeaderValue| encoding.is_empty() || encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    if let Some(encoding) = headers.get_all(CONTENT_ENCODING).iter().find(|encoding| !plain(encoding)) {
        return Err(status::compressed_body(&String::from_utf8_lossy(encoding.as_bytes())).into());
    }
    match tokio::time::timeout(time, collect(headers, body, most, objects)).await {
        Ok(read) => read,
        Err(_) => Err(status::slow_body().into()),
    }
}

async fn collect(headers: &HeaderMap, mut body: Body, limit: usize, objects: Objects) -> Result<Bytes, StatusError> {
    let announced = text(headers, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    let announced = announced.unwrap_or(0);
    if announced > limit {
        return Err(status::too_large(limit).into());
    }
    let (mut all, mut room) = (BytesMut::with_capacity(announced), None);
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| Status::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.remaining() > limit - all.len() {
            return Err(status::too_large(limit).into());
        }
        if room.is_none() && all.len() + data.remaining() > offload::LARGE {
            let length = if announced > 0 { announced } else { limit };
            room = Some(offload::room(length, objects).await.ok_or_else(status::too_many_requests)?);
        }
        all.extend_from_slice(&data);
    }
    Ok(match room {
        None => all.freeze(),
        Some(room) => Bytes::from_owner(Large { bytes: all, _room: room }),
    })
}

/// A large body. Its share of the budget is released when its last holder drops it, after the request is processed.
struct Large {
    bytes: BytesMut,
    _room: Share,
}

impl AsRef<[u8]> for Large {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The expected content of a body.
#[derive(Clone, Copy)]
pub(super) enum BodyType<'k> {
    /// An object of the kind.
    Object(&'k Kind),
    /// The scale of an object.
    Scale,
    /// The options of a deletion.
    DeleteOptions,
}

impl BodyType<'_> {
    /// The kind, for errors.
    fn kind(&self) -> &str {
        match self {
            Self::Object(kind) => &kind.names().kind,
            Self::Scale => "Scale",
            Self::DeleteOptions => "DeleteOptions",
        }
    }

    /// True if it can be decoded from Protobuf.
    fn numbered(&self) -> bool {
        match self {
            Self::Object(kind) => kind.message().is_some(),
            Self::Scale | Self::DeleteOptions => true,
        }
    }
}

/// Decodes the body of an object or of options. Fails with 415 for an unsupported media type, 400 for a body that
/// cannot be decoded.
pub(super) fn decode(
    media_type: &str,
    body: &[u8],
    body_type: BodyType<'_>,
) -> Result<codec::DecodedDocument, StatusError> {
    let limits = match body_type {
        BodyType::DeleteOptions => codec::Limits::OPTIONS,
        BodyType::Object(_) | BodyType::Scale => codec::Limits::default(),
    };
    let encoding = match media_type {
        "" => Some(Encoding::Json),
        given => Encoding::of_media_type(given),
    };
    let decoded = match encoding {
        Some(Encoding::Json) => from_json(body, body_type, limits)
            .map_err(|error| format!("couldn't get version/kind; json parse error: {error}")),
        Some(Encoding::Yaml) => yaml::decode(body, &limits).map_err(|error| error.to_string()),
        Some(Encoding::Cbor) => cbor::decode(body, &limits).map_err(|error| error.to_string()),
        Some(Encoding::Protobuf) if body_type.numbered() => {
            from_protobuf(body, body_type, limits).map_err(|error| error.to_string())
        }
        Some(Encoding::Protobuf)
            if let BodyType::Object(kind) = body_type
                && kind.policy().has_routes() =>
        {
            return Err(status::unnumbered_body(kind).into());
        }
        _ => return Err(status::unsupported_body(body_type.numbered()).into()),
    };
    Ok(decoded.map_err(|why| {
        let kind = body_type.kind();
        Status::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why}"))
    })?)
}

/// The body of a write as a document of this kind, or as a Scale.
pub(super) fn document(
    request: &Request,
    kind: &Kind,
    media_type: &str,
    body: &[u8],
) -> Result<codec::DecodedDocument, StatusError> {
    decode(media_type, body, if request.is_scale() { BodyType::Scale } else { BodyType::Object(kind) })
}

/// Checks that a body says the type of its object. Fails with 400 as kube-apiserver does for custom resources.
pub(super) fn check_type_meta(document: &Document, kind: &Kind, body: &[u8]) -> Result<(), StatusError> {
    let Some(members) = document.as_object() else { return Ok(()) };
    let unrecognized = |why: String| {
        let (kind, start) = (&kind.names().kind, beginning(body));
        Status::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why} ({start})"))
    };
    for name in ["apiVersion", "kind"] {
        if let Some(given) = members.get(name).filter(|given| !given.is_string() && !given.is_null()) {
            let given = types::name_of(given);
            return Err(unrecognized(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {given} into Go struct field .{name} of \
                 type string"
            ))
            .into());
        }
    }
    let is_missing = |name: &str| members.get(name).and_then(Document::as_str).is_none_or(str::is_empty);
    if is_missing("kind") {
        let text = String::from_utf8_lossy(body);
        return Err(unrecognized(format!("Object 'Kind' is missing in '{}'", go::shortened(&text))).into());
    }
    if is_missing("apiVersion") {
        let version = &kind.group_version;
        let message = format!("the API version in the data () does not match the expected API version ({version})");
        return Err(Status::bad_request(message).into());
    }
    Ok(())
}

/// The beginning of a body for an error: as text if it looks like JSON, otherwise in hexadecimal digits.
fn beginning(body: &[u8]) -> String {
    let (start, is_cut) = (&body[..body.len().min(BEGINNING)], body.len() > BEGINNING);
    let text = match start.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")),
    };
    text + if is_cut { " ..." } else { "" }
}

/// Parses a patch. Fails with 400 for a body that cannot be decoded; errors of the patch itself.
pub(super) fn decode_patch(of: PatchType, body: Bytes) -> Result<Patch, StatusError> {
    let patch = match of {
        PatchType::Json => Patch::Json(body),
        PatchType::Merge => Patch::Merge(body),
        PatchType::Strategic => Patch::Strategic(body),
        PatchType::ApplyYaml => return decode_apply(&body, false).map(Patch::Apply),
        PatchType::ApplyCbor => return decode_apply(&body, true).map(Patch::Apply),
    };
    Ok(patch.read()?)
}

/// The body of an apply in CBOR or YAML; JSON is a subset of YAML.
fn decode_apply(body: &[u8], is_cbor: bool) -> Result<codec::DecodedDocument, StatusError> {
    let limits = codec::Limits::PATCH;
    let decoded = if is_cbor {
        cbor::decode(body, &limits).map_err(|error| format!("error decoding CBOR: {error}"))
    } else {
        yaml::decode(body, &limits).map_err(|error| format!("error decoding YAML: {error}"))
    };
    Ok(decoded.map_err(Status::bad_request)?)
}

fn from_json(
    body: &[u8],
    body_type: BodyType<'_>,
    limits: codec::Limits,
) -> Result<codec::DecodedDocument, codec::DecodeError> {
    match body_type {
        BodyType::Object(kind) => {
            codec::decode_strict(body, &limits, &kind.version.schema, kind.policy().fault_order())
        }
        BodyType::Scale | BodyType::DeleteOptions => codec::decode(body, &limits),
    }
}

fn from_protobuf(
    body: &[u8],
    body_type: BodyType<'_>,
    limits: codec::Limits,
) -> Result<codec::DecodedDocument, protobuf::DecodeError> {
    let envelope = protobuf::open(body)?;
    let type_alone = || Ok(envelope.type_meta().collect::<Document>().into());
    match body_type {
        BodyType::Object(kind) => {
            let version = kind.group_version.to_string();
            let fits =
                ["", &version].contains(&envelope.api_version) && ["", &kind.names().kind].contains(&envelope.kind);
            // The numbers of another kind would be misread. The verbs refuse it because of its type alone.
            let message = kind.message().filter(|_| fits);
            message.map_or_else(type_alone, |message| protobuf::decode_strict(message, &envelope, &limits))
        }
        BodyType::DeleteOptions if ["", "DeleteOptions"].contains(&envelope.kind) => {
            protobuf::DELETE_OPTIONS.decode(envelope.message, &limits).map(Into::into)
        }
        BodyType::Scale if ["", "Scale"].contains(&envelope.kind) => {
            protobuf::decode_strict(&protobuf::SCALE, &envelope, &limits)
        }
        BodyType::DeleteOptions | BodyType::Scale => type_alone(),
    }
}
