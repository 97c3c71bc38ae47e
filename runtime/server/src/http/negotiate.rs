//! Content negotiation: matches what a client accepts against what an endpoint offers. Owns the parsing of `Accept`.

use crate::codec::Encoding;

/// One alternative of an `Accept` header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clause<'h> {
    /// The type and subtype, such as `application/json` or `*/*`, in any case.
    media_type: &'h str,
    /// What follows the first semicolon.
    params: &'h str,
    /// The quality, 0 to 1.
    quality: f32,
}

impl<'h> Clause<'h> {
    /// The parameters except `q`, in order. Names are in any case.
    fn params(self) -> impl Iterator<Item = (&'h str, &'h str)> {
        params(self.params).filter(|(name, _)| !name.eq_ignore_ascii_case("q"))
    }

    /// A parameter's value.
    pub(super) fn param(self, name: &str) -> Option<&'h str> {
        self.params().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// True if the clause names a media type.
    fn names(self, media_type: &str) -> bool {
        self.media_type.eq_ignore_ascii_case(media_type)
    }

    /// True if the clause matches a media type.
    pub(super) fn covers(self, media_type: &str) -> bool {
        let main = |of: &'h str| media_type.split_once('/').is_some_and(|(main, _)| main.eq_ignore_ascii_case(of));
        self.names(media_type) || self.media_type == "*/*" || self.media_type.strip_suffix("/*").is_some_and(main)
    }

    fn specificity(self) -> u8 {
        match self.media_type {
            "*/*" => 0,
            partial if partial.ends_with("/*") => 1,
            _ => 2,
        }
    }
}

/// Parses an `Accept` header: the alternatives by descending quality, then in their given order. Omits those of quality
/// zero, which are refusals, and skips invalid ones.
pub(super) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut found: Vec<_> = header.split(',').filter_map(clause).filter(|c| c.quality > 0.0).collect();
    found.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(b.specificity().cmp(&a.specificity())));
    found
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let (media_type, params) = text.split_once(';').unwrap_or((text, ""));
    let media_type = match media_type.trim() {
        "*" => "*/*",
        media_type => media_type,
    };
    let (main, sub) = media_type.split_once('/')?;
    if main.is_empty() || sub.is_empty() {
        return None;
    }
    let quality = self::params(params).filter(|(name, _)| name.eq_ignore_ascii_case("q")).last();
    let quality = quality.and_then(|(_, value)| value.parse().ok()).filter(|q| (0.0..=1.0).contains(q)).unwrap_or(1.0);
    Some(Clause { media_type, params, quality })
}

/// Names and values of parameters that semicolons separate.
fn params(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split(';').filter_map(|part| part.split_once('='));
    parts.map(|(name, value)| (name.trim(), value.trim().trim_matches('"')))
}

/// The shape into which an object or a list is converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// No conversion.
    #[default]
    Full,
    Table,
    /// `PartialObjectMetadata`.
    Partial,
    /// `PartialObjectMetadataList`.
    PartialList,
}

/// The negotiated form of an answer about objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ResponseFormat {
    pub encoding: Encoding,
    pub shape: Shape,
    /// Tables and partial metadata use `meta.k8s.io/v1beta1` instead of `v1`.
    pub beta: bool,
    /// Indented for people.
    pub pretty: bool,
}

impl ResponseFormat {
    /// True if the encoding supports the shape: Tables only as text, whole objects in Protobuf only with numbers.
    fn is_offered(self, offer: Offer) -> bool {
        match self.shape {
            Shape::Full => offer.protobuf || self.encoding != Encoding::Protobuf,
            _ if offer.shapeless => false,
            Shape::Table => matches!(self.encoding, Encoding::Json | Encoding::Yaml),
            Shape::Partial | Shape::PartialList => true,
        }
    }

    /// The apiVersion of a Table or of partial metadata.
    pub(super) fn meta_version(self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

/// Why negotiation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAcceptable {
    /// No alternative names a media type that is offered.
    MediaType,
    /// A media type is offered, but not with these parameters.
    Params,
    /// The negotiated form cannot be streamed.
    Stream,
}

/// What is offered in addition to the default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offer {
    /// Whole objects can be written as Protobuf, because their fields have numbers.
    pub protobuf: bool,
    /// The answer is a watch.
    pub stream: bool,
    /// The answer is not an object and has no shapes.
    pub shapeless: bool,
}

/// Negotiates the answer to a request about objects. Fails with [`NotAcceptable`]: the answer is 406.
pub(super) fn objects(accept: Option<&str>, offer: Offer) -> Result<ResponseFormat, NotAcceptable> {
    let Some(header) = accept.filter(|header| !header.trim().is_empty()) else { return Ok(ResponseFormat::default()) };
    if header == "application/json" || header == "*/*" {
        return Ok(ResponseFormat::default());
    }
    let mut error = NotAcceptable::MediaType;
    for clause in clauses(header) {
        for encoding in Encoding::ALL {
            let as_stream = offer.stream && encoding.stream_media_type().is_some_and(|streamed| clause.names(streamed));
            if !clause.covers(encoding.media_type()) && !as_stream {
                continue;
            }
            error = NotAcceptable::Params;
            match with_params(clause, encoding).filter(|format| format.is_offered(offer)) {
                // The client prefers it, and only a refusal can say that it is not available, as in kube-apiserver.
                Some(_) if offer.stream && encoding.stream_media_type().is_none() => return Err(NotAcceptable::Stream),
                Some(format) => return Ok(format),
                None => {}
            }
        }
    }
    Err(error)
}

/// The form of an answer without shapes, such as a Status: what the client accepts, or indented JSON if it accepts
/// nothing that is available.
pub(super) fn plain(accept: Option<&str>, pretty: bool) -> ResponseFormat {
    match objects(accept, Offer { protobuf: true, stream: false, shapeless: true }) {
        Ok(format) => ResponseFormat { pretty: format.pretty | pretty, ..format },
        Err(_) => ResponseFormat { pretty: true, ..ResponseFormat::default() },
    }
}

fn with_params(clause: Clause<'_>, encoding: Encoding) -> Option<ResponseFormat> {
    let mut format = ResponseFormat { encoding, ..ResponseFormat::default() };
    let (mut kind, mut group, mut version) = (None, None, None);
    for (name, value) in clause.params() {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("as") {
            kind = Some(value);
        } else if is("g") {
            group = Some(value);
        } else if is("v") {
            version = Some(value);
        } else if is("pretty") {
            format.pretty = value == "1";
        } else if is("stream") && !value.is_empty() && (value != "watch" || encoding.stream_media_type().is_none())
            || is("sv") && !value.is_empty() && value != "v1"
        {
            return None;
        }
    }
    if kind.is_none() && group.is_none() && version.is_none() {
        return Some(format);
    }
    format.beta = match (group, version) {
        (Some("meta.k8s.io"), Some("v1")) => false,
        (Some("meta.k8s.io"), Some("v1beta1")) => true,
        _ => return None,
    };
    format.shape = match kind {
        Some("Table") => Shape::Table,
        Some("PartialObjectMetadata") => Shape::Partial,
        Some("PartialObjectMetadataList") => Shape::PartialList,
        _ => return None,
    };
    Some(format)
}

/// True if an answer is to be indented: with `?pretty=true`, and by default for programs that show answers to people.
pub(super) fn pretty(parameter: Option<bool>, user_agent: Option<&str>) -> bool {
    let is_person = |agent: &str| ["curl", "Wget", "Mozilla/5.0"].iter().any(|person| agent.starts_with(person));
    parameter.unwrap_or_else(|| user_agent.is_some_and(is_person))
}

/// The first offered media type that the client accepts, for documents without shapes; `None` means 406.
pub(super) fn first<'o>(accept: Option<&str>, offers: &[&'o str]) -> Option<&'o str> {
    let Some(header) = accept.filter(|header| !header.trim().is_empty()) else { return offers.first().copied() };
    clauses(header).iter().find_map(|clause| offers.iter().find(|offer| clause.covers(offer)).copied())
}

#[cfg(test)]
mod tests;
