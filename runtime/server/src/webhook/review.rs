//! The ConversionReview: its request, and the check of its response. Messages are those of kube-apiserver.
use bytes::Bytes;
use serde_json::{Value, json};

use super::{MOST_BYTES, MOST_OBJECTS, shown};
use crate::{
    codec::{self, Limits},
    kind::convert::{Answers, Question, Webhook},
    meta::{go, validate},
    schema::Document,
};

const KIND: &str = "ConversionReview";

/// The versions of reviews. Their members are the same.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    V1,
    /// Neither the type nor the uid of a response is checked, as in kube-apiserver.
    V1Beta1,
}

impl Version {
    /// The first one that a webhook understands.
    fn of(webhook: &Webhook) -> Option<Self> {
        webhook.review_versions.iter().find_map(|version| match &**version {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        })
    }

    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "apiextensions.k8s.io/v1",
            Self::V1Beta1 => "apiextensions.k8s.io/v1beta1",
        }
    }
}

/// Objects that one call converts. There is at least one.
pub(super) struct Batch {
    questions: Vec<Question>,
    bytes: usize,
}

impl Batch {
    /// A batch of one object.
    pub(super) fn of_one(question: Question) -> Self {
        Self { bytes: question.size(), questions: vec![question] }
    }

    /// Adds an object.
    pub(super) fn push(&mut self, question: Question) {
        self.bytes += question.size();
        self.questions.push(question);
    }

    /// The number of objects.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.questions.len()
    }

    /// The first question, which has what all share.
    pub(super) fn of(&self) -> &Question {
        &self.questions[0]
    }

    /// True if a question belongs to this batch, and the batch is not full.
    pub(super) fn takes(&self, question: &Question) -> bool {
        let of = self.of();
        let is_full = self.questions.len() >= MOST_OBJECTS || self.bytes >= MOST_BYTES;
        !is_full && of.webhook == question.webhook && of.from == question.from && of.to == question.to
    }

    /// The version and kind that messages name.
    fn what(&self) -> String {
        let of = self.of();
        shown(&of.from, of.object["kind"].as_str().unwrap_or_default())
    }

    /// The error for a failed call.
    pub(super) fn failed(&self, why: &str) -> String {
        format!("conversion webhook for {} failed: {why}", self.what())
    }

    /// The request. Fails if the webhook understands only other versions of reviews.
    pub(super) fn request(&self, uid: &str) -> Result<Bytes, String> {
        let of = self.of();
        let version = Version::of(&of.webhook).ok_or("no supported conversion review versions")?;
        let objects: Vec<&Document> = self.questions.iter().map(|question| &question.object).collect();
        let request = json!({"uid": uid, "desiredAPIVersion": of.to.to_string(), "objects": objects});
        Ok(json!({"kind": KIND, "apiVersion": version.api_version(), "request": request}).to_string().into())
    }

    /// The converted objects of a response. Fails if it is invalid, or has an error.
    pub(super) fn converted(&self, review: Result<Document, String>, uid: &str) -> Result<Vec<Document>, String> {
        self.objects_of(review, uid).map_err(|why| go::shortened(&why))
    }

    fn objects_of(&self, review: Result<Document, String>, uid: &str) -> Result<Vec<Document>, String> {
        let version = Version::of(&self.of().webhook).unwrap_or(Version::V1);
        let converted = review.and_then(|review| response_of(review, version, uid)).map_err(|why| self.failed(&why))?;
        let (what, expected) = (self.what(), self.questions.len());
        if converted.len() != expected {
            let given = converted.len();
            return Err(format!("conversion webhook for {what} returned {given} objects, expected {expected}"));
        }
        for (index, (question, object)) in self.questions.iter().zip(&converted).enumerate() {
            check(question, object).map_err(|Fault { of, why }| match (expected, of) {
                (1, Of::Object) => format!("conversion webhook for {what} returned invalid object: {why}"),
                (1, Of::TypeMeta) => format!("conversion webhook for {what} returned invalid object at index 0: {why}"),
                (1, Of::Metadata) => format!("conversion webhook for {what} returned invalid metadata: {why}"),
                (_, Of::Metadata) => {
                    format!("conversion webhook for {what} returned invalid metadata in object at index {index}: {why}")
                }
                _ => {
                    format!("conversion webhook for {what} returned invalid converted object at index {index}: {why}")
                }
            })?;
        }
        Ok(converted)
    }

    /// Says why the questions were not answered.
    pub(super) fn leave_open(self, why: &str, answers: &mut Answers) {
        let failed = self.failed(why);
        self.questions.into_iter().for_each(|question| answers.add_missing(question, failed.clone()));
    }

    /// Answers the questions.
    pub(super) fn answer(self, results: Result<Vec<Document>, String>, answers: &mut Answers) {
        match results {
            Ok(converted) => {
                self.questions
                    .into_iter()
                    .zip(converted)
                    .for_each(|(question, object)| answers.add(question, Ok(object)));
            }
            Err(why) => self.questions.into_iter().for_each(|question| answers.add(question, Err(why.clone()))),
        }
    }
}

/// The document of a response.
pub(super) fn decode(response: &Bytes) -> Result<Document, String> {
    let decoded = codec::decode(response, &Limits::CONVERSION);
    Ok(decoded.map_err(|error| format!("the response cannot be decoded: {error}"))?.document)
}

/// The objects of a response.
fn response_of(mut review: Document, version: Version, uid: &str) -> Result<Vec<Document>, String> {
    let text = |value: &Value, member: &str| value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&review, "apiVersion"), text(&review, "kind"));
    let expected = version.api_version();
    if version == Version::V1 && (&*api_version, &*kind) != (expected, KIND) {
        return Err(format!("expected webhook response of {expected}, Kind={KIND}, got {api_version}, Kind={kind}"));
    }
    let Some(response) = review.get_mut("response").filter(|response| response.is_object()) else {
        return Err("no response provided".to_owned());
    };
    let given = text(response, "uid");
    if version == Version::V1 && given != uid {
        return Err(format!("expected response.uid={}, got {}", go::quoted(uid), go::quoted(&given)));
    }
    let result = response.get("result").unwrap_or(&Value::Null);
    let (status, message) = (text(result, "status"), text(result, "message"));
    if status != "Success" {
        let without = || format!("response.result.status was '{status}', not 'Success'");
        return Err(if message.is_empty() { without() } else { message });
    }
    match response.get_mut("convertedObjects").map(Value::take) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(objects)) => Ok(objects),
        Some(_) => Err("response.convertedObjects is not a list".to_owned()),
    }
}

/// What is wrong with a converted object.
struct Fault {
    of: Of,
    why: String,
}

enum Of {
    TypeMeta,
    Object,
    Metadata,
}

/// Checks an object: only labels and annotations of its metadata may differ. kube-apiserver restores changed fields other
/// than those checked here, and so does the caller.
fn check(question: &Question, object: &Document) -> Result<(), Fault> {
    let text = |value: &Value, member: &str| value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let type_meta = |why| Fault { of: Of::TypeMeta, why };
    let (expected, given) = (question.to.to_string(), text(object, "apiVersion"));
    if expected != given {
        return Err(type_meta(format!("invalid groupVersion (expected {expected}, received {given})")));
    }
    let (expected, given) = (text(&question.object, "kind"), text(object, "kind"));
    if expected != given {
        return Err(type_meta(format!("invalid kind (expected {expected}, received {given})")));
    }
    let (before, after) = (&question.object["metadata"], object.get("metadata").unwrap_or(&Value::Null));
    for (member, what) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (before, after) = (text(before, member), text(after, member));
        if before != after {
            let why = format!("must have the same {what}: {before} != {after}");
            return Err(Fault { of: Of::Object, why });
        }
    }
    metadata(before, object.get("metadata")).map_err(|why| Fault { of: Of::Metadata, why })
}

/// Checks the labels and annotations.
fn metadata(before: &Document, after: Option<&Document>) -> Result<(), String> {
    let after = after.ok_or("missing metadata in converted object")?;
    if !after.is_object() {
        return Err(format!("invalid metadata of type {} in converted object", go::type_name(after)));
    }
    for member in ["labels", "annotations"] {
        let Some(texts) = after.get(member).filter(|texts| !texts.is_null()) else { continue };
        let Some(entries) = texts.as_object() else {
            return Err(format!("invalid metadata.{member} of type {} in converted object", go::type_name(texts)));
        };
        if let Some((key, value)) = entries.iter().find(|(_, value)| !value.is_string()) {
            let given = go::type_name(value);
            return Err(format!("metadata.{member}[{key}] must be a string, but is {given} in converted object"));
        }
    }
    let errors = validate::changed_texts(after, before);
    if errors.is_empty() {
        return Ok(());
    }
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Err(if errors.len() == 1 { errors.concat() } else { format!("[{}]", errors.join(", ")) })
}
