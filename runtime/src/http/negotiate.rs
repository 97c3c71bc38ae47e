//! Content negotiation: what a client accepts, matched once against what an endpoint offers.
//! Owns the reading of `Accept`; further encodings join [`Encoding`] and nothing else changes here.

/// One alternative of an `Accept` header.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The type and subtype, lower case, such as `application/json` or `*/*`.
    pub media_type: String,
    /// Parameters but for `q`, in order; names in lower case.
    pub params: Vec<(String, String)>,
    /// The quality, 0 to 1.
    pub quality: f32,
}

impl Clause {
    /// A parameter's value.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Whether the clause covers a media type.
    pub fn covers(&self, media_type: &str) -> bool {
        self.media_type == media_type
            || self.media_type == "*/*"
            || self.media_type.strip_suffix("/*").is_some_and(|main| media_type.split('/').next() == Some(main))
    }

    fn specificity(&self) -> u8 {
        match self.media_type.as_str() {
            "*/*" => 0,
            partial if partial.ends_with("/*") => 1,
            _ => 2,
        }
    }
}

/// Reads an `Accept` header: the alternatives by falling quality, then as written. Those of quality zero are refusals and
/// are left out; what cannot be read is skipped.
pub fn clauses(header: &str) -> Vec<Clause> {
    let mut found: Vec<Clause> = header.split(',').filter_map(clause).filter(|c| c.quality > 0.0).collect();
    found.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(b.specificity().cmp(&a.specificity())));
    found
}

fn clause(text: &str) -> Option<Clause> {
    let mut parts = text.split(';');
    let media_type = parts.next()?.trim().to_ascii_lowercase();
    let media_type = if media_type == "*" { "*/*".to_owned() } else { media_type };
    let (main, sub) = media_type.split_once('/')?;
    if main.is_empty() || sub.is_empty() {
        return None;
    }
    let (mut params, mut quality) = (Vec::new(), 1.0);
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        if name == "q" {
            quality = value.parse::<f32>().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(1.0);
        } else {
            params.push((name, value.to_owned()));
        }
    }
    Some(Clause { media_type, params, quality })
}

/// How a document is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// JSON.
    #[default]
    Json,
}

impl Encoding {
    /// All encodings, in the order of preference where the client has none.
    pub const ALL: [Self; 1] = [Self::Json];

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
        }
    }
}

/// What is made of an object or a list before it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    #[default]
    Full,
    /// A `Table`.
    Table,
    /// `PartialObjectMetadata`.
    Partial,
    /// `PartialObjectMetadataList`.
    PartialList,
}

/// What was agreed on for an answer about objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The encoding.
    pub encoding: Encoding,
    /// The shape.
    pub shape: Shape,
    /// Tables and partial metadata are in `meta.k8s.io/v1beta1` rather than `v1`.
    pub beta: bool,
    /// Indented for a person.
    pub pretty: bool,
}

impl Accepted {
    /// The apiVersion of a Table or of partial metadata.
    pub fn meta_version(self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

/// Why nothing could be agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No alternative names a media type that is offered.
    MediaType,
    /// A media type is offered, but not with these parameters.
    Params,
}

/// Agrees on the answer to a request about objects.
///
/// # Errors
/// [`Refused`]: the answer is 406.
pub fn objects(accept: Option<&str>) -> Result<Accepted, Refused> {
    let Some(header) = accept.filter(|header| !header.trim().is_empty()) else { return Ok(Accepted::default()) };
    if header == "application/json" || header == "*/*" {
        return Ok(Accepted::default());
    }
    let mut refused = Refused::MediaType;
    for clause in clauses(header) {
        for encoding in Encoding::ALL {
            if clause.covers(encoding.media_type()) {
                refused = Refused::Params;
                if let Some(accepted) = with_params(&clause, encoding) {
                    return Ok(accepted);
                }
            }
        }
    }
    Err(refused)
}

fn with_params(clause: &Clause, encoding: Encoding) -> Option<Accepted> {
    let mut accepted = Accepted { encoding, ..Accepted::default() };
    let (mut kind, mut group, mut version) = (None, None, None);
    for (name, value) in &clause.params {
        match name.as_str() {
            "as" => kind = Some(value.as_str()),
            "g" => group = Some(value.as_str()),
            "v" => version = Some(value.as_str()),
            "stream" if !value.is_empty() && value != "watch" => return None,
            "sv" if !value.is_empty() && value != "v1" => return None,
            "pretty" => accepted.pretty = value == "1",
            _ => {}
        }
    }
    if kind.is_none() && group.is_none() && version.is_none() {
        return Some(accepted);
    }
    accepted.beta = match (group, version) {
        (Some("meta.k8s.io"), Some("v1")) => false,
        (Some("meta.k8s.io"), Some("v1beta1")) => true,
        _ => return None,
    };
    accepted.shape = match kind {
        Some("Table") => Shape::Table,
        Some("PartialObjectMetadata") => Shape::Partial,
        Some("PartialObjectMetadataList") => Shape::PartialList,
        _ => return None,
    };
    Some(accepted)
}

/// Whether an answer is indented: `?pretty=true` says so, and programs that show the answer to a person get it unasked.
pub fn pretty(query: Option<&str>, user_agent: Option<&str>) -> bool {
    if let Some(query) = query.filter(|query| query.contains("pretty")) {
        let asked = super::path::query(query).into_iter().find(|(name, _)| name == "pretty");
        if let Some((_, value)) = asked.filter(|(_, value)| !value.is_empty()) {
            return matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
    }
    user_agent.is_some_and(|agent| ["curl", "Wget", "Mozilla/5.0"].iter().any(|person| agent.starts_with(person)))
}

/// The first of the offered media types that the client accepts, for documents without shapes; `None` is 406.
pub fn first<'o>(accept: Option<&str>, offers: &[&'o str]) -> Option<&'o str> {
    let Some(header) = accept.filter(|header| !header.trim().is_empty()) else { return offers.first().copied() };
    clauses(header).iter().find_map(|clause| offers.iter().find(|offer| clause.covers(offer)).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

    #[test]
    fn clauses_come_by_quality_then_as_written() {
        let found = clauses("text/*;q=0.3, a/b;Q=0.7;X=\"y z\", */*;q=0.7, c/d;q=0, nonsense, e/f;q=7, g/h");
        let types: Vec<&str> = found.iter().map(|c| c.media_type.as_str()).collect();
        assert_eq!(types, ["e/f", "g/h", "a/b", "*/*", "text/*"]);
        assert_eq!(found[2].param("x"), Some("y z"));
        assert_eq!(found[2].param("q"), None);
    }

    #[test]
    fn shapes() {
        let shape = |accept: &str| objects(Some(accept)).map(|a| (a.shape, a.beta));
        assert_eq!(shape("application/json"), Ok((Shape::Full, false)));
        assert_eq!(shape("*/*"), Ok((Shape::Full, false)));
        assert_eq!(shape("application/*"), Ok((Shape::Full, false)));
        assert_eq!(shape(TABLE), Ok((Shape::Table, false)));
        assert_eq!(shape("application/json;as=Table;v=v1beta1;g=meta.k8s.io"), Ok((Shape::Table, true)));
        assert_eq!(shape("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), Ok((Shape::Partial, false)));
        assert_eq!(
            shape("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Ok((Shape::PartialList, false))
        );
        assert_eq!(shape("application/json;stream=watch"), Ok((Shape::Full, false)));
        assert_eq!(objects(None), Ok(Accepted::default()));
        assert_eq!(objects(Some("  ")), Ok(Accepted::default()));
    }

    #[test]
    fn alternatives_are_tried_in_turn() {
        let kubectl = format!("{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json");
        assert_eq!(objects(Some(&kubectl)).map(|a| a.shape), Ok(Shape::Table));
        let fallback = "application/json;as=Nothing;g=meta.k8s.io;v=v1, application/json";
        assert_eq!(objects(Some(fallback)).map(|a| a.shape), Ok(Shape::Full));
        let quality = format!("application/json;q=0.9, {TABLE};q=0.95");
        assert_eq!(objects(Some(&quality)).map(|a| a.shape), Ok(Shape::Table));
        let protobuf = "application/vnd.kubernetes.protobuf, application/json";
        assert_eq!(objects(Some(protobuf)).map(|a| a.encoding), Ok(Encoding::Json));
    }

    #[test]
    fn refusals() {
        assert_eq!(objects(Some("text/html")), Err(Refused::MediaType));
        assert_eq!(objects(Some("application/json;q=0")), Err(Refused::MediaType));
        assert_eq!(objects(Some("application/json;as=Nothing;g=meta.k8s.io;v=v1")), Err(Refused::Params));
        assert_eq!(objects(Some("application/json;as=Table;g=other;v=v1")), Err(Refused::Params));
        assert_eq!(objects(Some("application/json;g=meta.k8s.io")), Err(Refused::Params));
        assert_eq!(objects(Some("application/json;stream=other")), Err(Refused::Params));
    }

    #[test]
    fn who_gets_indented_answers() {
        assert!(pretty(Some("a=b&pretty=true"), None));
        assert!(pretty(Some("pretty=1"), None));
        assert!(!pretty(Some("pretty=false"), Some("curl/8")), "the query wins");
        assert!(!pretty(Some("pretty=what"), Some("curl/8")));
        assert!(pretty(Some("pretty="), Some("curl/8")));
        assert!(pretty(None, Some("Mozilla/5.0 (X11)")) && pretty(None, Some("Wget/1.2")));
        assert!(!pretty(None, Some("kubectl/v1.32 (linux/amd64)")) && !pretty(None, None));
        assert!(objects(Some("application/json;pretty=1")).is_ok_and(|a| a.pretty));
    }

    #[test]
    fn first_of_several_offers() {
        let offers = ["application/json", "application/pb"];
        assert_eq!(first(None, &offers), Some("application/json"));
        assert_eq!(first(Some("application/pb, application/json;q=0.9"), &offers), Some("application/pb"));
        assert_eq!(first(Some("*/*"), &offers), Some("application/json"));
        assert_eq!(first(Some("text/plain"), &offers), None);
    }
}
