//! Conversion by webhook: another server converts the objects.
//!
//! Conversions are functions of documents, and do not wait for calls. So code that converts runs in an [attempt](Answers::attempt),
//! which collects the conversions that it needs; they are requested together, and the code runs again with the answers. The
//! code must be a pure function of its input.
use std::{cell::RefCell, collections::HashMap, mem, sync::Arc};

use super::Convert;
use crate::{meta::GroupVersion, schema::Document};

/// The conversion strategy of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conversion {
    /// Only `apiVersion` differs.
    #[default]
    None,
    /// By another server.
    Webhook(Arc<Webhook>),
}

/// A server that converts objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Webhook {
    /// Its URL, if it is not a service.
    pub url: Option<String>,
    /// The service, if there is no URL.
    pub service: Option<WebhookService>,
    /// The certificates of authorities that it is trusted by, as base64 of PEM; empty for those of the system.
    pub ca_bundle: String,
    /// The versions of ConversionReview that it understands, the preferred one first.
    pub review_versions: Vec<String>,
}

/// A service in the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WebhookService {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The path of the URL; may be empty.
    pub path: String,
    /// The port.
    pub port: u16,
}

/// The conversion of one version.
pub struct ByWebhook {
    /// The webhook.
    pub webhook: Arc<Webhook>,
    /// The name of the definition.
    pub definition: Arc<str>,
    /// The kind.
    pub kind: String,
    /// The version.
    pub here: GroupVersion,
    /// The storage version.
    pub stored: GroupVersion,
}

/// A conversion that was not answered yet.
pub struct Question {
    /// The webhook that answers it.
    pub webhook: Arc<Webhook>,
    /// The name of the definition.
    pub definition: Arc<str>,
    /// The object, with its type meta.
    pub object: Document,
    /// The version of the object, and the requested version.
    pub from: GroupVersion,
    /// The requested version.
    pub to: GroupVersion,
    key: String,
}

impl Convert for ByWebhook {
    fn write(&self, document: Document) -> Result<Document, String> {
        self.convert(document, &self.here, &self.stored)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        self.convert(document, &self.stored, &self.here)
    }

    fn fills(&self) -> bool {
        false
    }

    fn webhook(&self) -> Option<&Arc<Webhook>> {
        Some(&self.webhook)
    }
}

impl ByWebhook {
    fn convert(&self, mut object: Document, from: &GroupVersion, to: &GroupVersion) -> Result<Document, String> {
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), from.to_string().into());
            fields.insert("kind".to_owned(), self.kind.clone().into());
        }
        RUNNING.with_borrow_mut(|running| {
            let failed = |why: &str| Err(format!("conversion webhook for {from}, Kind={} failed: {why}", self.kind));
            let Some(attempt) = running else { return failed("it was not called") };
            let key = format!("{to} {object}");
            match attempt.answers.0.get(&key) {
                Some(Answer::Given(answer)) => return answer.clone(),
                Some(Answer::Missing(why)) => {
                    attempt.is_silent = true;
                    return Err(why.clone());
                }
                Some(Answer::Open) => {}
                None => {
                    attempt.answers.0.insert(key.clone(), Answer::Open);
                    let (webhook, definition) = (self.webhook.clone(), self.definition.clone());
                    attempt.open.push(Question {
                        webhook,
                        definition,
                        object,
                        from: from.clone(),
                        to: to.clone(),
                        key,
                    });
                }
            }
            failed("no answer")
        })
    }
}

impl Question {
    /// The approximate size of its object in bytes.
    pub fn size(&self) -> usize {
        self.key.len()
    }
}

/// The answers to the questions of earlier attempts.
#[derive(Default)]
pub struct Answers(HashMap<String, Answer>);

enum Answer {
    /// The question was asked.
    Open,
    /// The answer of the webhook.
    Given(Result<Document, String>),
    /// Why it has not answered.
    Missing(String),
}

struct Attempt {
    answers: Answers,
    open: Vec<Question>,
    /// A webhook has not answered a question.
    is_silent: bool,
}

thread_local! {
    static RUNNING: RefCell<Option<Attempt>> = const { RefCell::new(None) };
}

/// True if the running attempt lacks the answer to a conversion, because it was not asked yet, or the webhook did not answer: the
/// failure of such a conversion says nothing of its object.
pub fn lacks_answers() -> bool {
    RUNNING.with_borrow(|running| running.as_ref().is_some_and(|attempt| attempt.is_silent || !attempt.open.is_empty()))
}

/// Ends an attempt, even if its code panics.
struct AttemptGuard(Option<Attempt>);

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        RUNNING.set(self.0.take());
    }
}

impl Answers {
    /// Runs code that converts.
    ///
    /// # Errors
    /// The conversions that are missing. Then the result is worthless: run the code again when they are answered.
    pub fn attempt<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Vec<Question>> {
        let attempt = Attempt { answers: mem::take(self), open: Vec::new(), is_silent: false };
        let guard = AttemptGuard(RUNNING.replace(Some(attempt)));
        let done = work();
        let Some(attempt) = RUNNING.take() else { return Ok(done) };
        drop(guard);
        *self = attempt.answers;
        if attempt.open.is_empty() { Ok(done) } else { Err(attempt.open) }
    }

    /// Records an answer.
    pub fn add(&mut self, question: Question, answer: Result<Document, String>) {
        self.0.insert(question.key, Answer::Given(answer));
    }

    /// Records why a question was not answered.
    pub fn add_missing(&mut self, question: Question, why: String) {
        self.0.insert(question.key, Answer::Missing(why));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversion() -> ByWebhook {
        let version = |name: &str| GroupVersion { group: "g".to_owned(), version: name.to_owned() };
        ByWebhook {
            webhook: Arc::default(),
            definition: "ks.g".into(),
            kind: "K".to_owned(),
            here: version("v2"),
            stored: version("v1"),
        }
    }

    #[test]
    fn an_attempt_collects_what_it_lacks_and_succeeds_with_the_answers() {
        let (conversion, mut answers) = (conversion(), Answers::default());
        let both = || [json!({"a": 1}), json!({"a": 2}), json!({"a": 1})].map(|object| conversion.read(object));
        let open = answers
            .attempt(|| {
                assert!(!lacks_answers());
                let _ = both();
                assert!(lacks_answers());
            })
            .unwrap_err();
        let objects: Vec<_> = open.iter().map(|question| question.object.clone()).collect();
        let object = |a: u8| json!({"apiVersion": "g/v1", "kind": "K", "a": a});
        assert_eq!(objects, [object(1), object(2)], "each once");
        assert!(open.iter().all(|question| question.to.is("g/v2") && question.from.is("g/v1")));
        for question in open {
            let answer = question.object["a"].clone();
            if answer == 1 {
                answers.add(question, Ok(answer));
            } else {
                answers.add_missing(question, "there was no answer".to_owned());
            }
        }
        let known = answers.attempt(|| (conversion.read(json!({"a": 1})), lacks_answers()));
        assert!(matches!(known, Ok((Ok(_), false))));
        let Ok((done, lacks)) = answers.attempt(|| (both(), lacks_answers())) else { panic!("all is answered") };
        assert!(lacks, "the webhook did not answer one");
        assert_eq!(done, [Ok(json!(1)), Err("there was no answer".to_owned()), Ok(json!(1))]);
        let Err(open) = answers.attempt(|| conversion.write(json!({"a": 1}))) else { panic!("another direction") };
        assert!(open[0].to.is("g/v1"));
        let Ok(done) = answers.attempt(|| conversion.read(json!({"a": 2}))) else { panic!("it is answered") };
        assert_eq!(done, Err("there was no answer".to_owned()));
    }

    #[test]
    fn outside_of_an_attempt_the_webhook_is_not_called() {
        let error = conversion().read(json!({})).unwrap_err();
        assert_eq!(error, "conversion webhook for g/v1, Kind=K failed: it was not called");
        let broken = std::panic::catch_unwind(|| Answers::default().attempt(|| -> () { panic!("a bug") }).is_ok());
        assert!(broken.is_err());
        assert!(conversion().read(json!({})).unwrap_err().ends_with("it was not called"), "the attempt has ended");
    }
}
