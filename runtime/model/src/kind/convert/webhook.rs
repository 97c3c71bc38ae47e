//! Conversion by webhook: another server converts the objects.
//!
//! Conversions are functions of documents, and calls wait. So code that converts is given the [answers](Answers) that there
//! are, which collect the conversions that it lacks; they are requested together, and the code runs again. What an apply
//! converts follows from what it has converted, so that it is not known before. The code must be a pure function of its
//! input and the answers.
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    mem,
    sync::Arc,
};

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
        self.write_with(document, &Answers::none())
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        self.read_with(document, &Answers::none())
    }

    fn write_with(&self, document: Document, answers: &Answers) -> Result<Document, String> {
        self.convert(document, [&self.here, &self.stored], answers)
    }

    fn read_with(&self, document: Document, answers: &Answers) -> Result<Document, String> {
        self.convert(document, [&self.stored, &self.here], answers)
    }

    fn fills(&self) -> bool {
        false
    }

    fn webhook(&self) -> Option<&Arc<Webhook>> {
        Some(&self.webhook)
    }
}

impl ByWebhook {
    fn convert(
        &self,
        mut object: Document,
        [from, to]: [&GroupVersion; 2],
        answers: &Answers,
    ) -> Result<Document, String> {
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), from.to_string().into());
            fields.insert("kind".to_owned(), self.kind.clone().into());
        }
        let failed = |why: &str| Err(format!("conversion webhook for {from}, Kind={} failed: {why}", self.kind));
        if answers.is_closed {
            return failed("it was not called");
        }
        let key = format!("{to} {object}");
        match answers.known.borrow().get(&key) {
            Some(Answer::Given(answer)) => return answer.clone(),
            Some(Answer::Missing(why)) => {
                answers.is_silent.set(true);
                return Err(why.clone());
            }
            Some(Answer::Open) => return failed("no answer"),
            None => {}
        }
        answers.known.borrow_mut().insert(key.clone(), Answer::Open);
        let (webhook, definition) = (self.webhook.clone(), self.definition.clone());
        let question = Question { webhook, definition, object, from: from.clone(), to: to.clone(), key };
        answers.open.borrow_mut().push(question);
        failed("no answer")
    }
}

impl Question {
    /// The approximate size of its object in bytes.
    pub fn size(&self) -> usize {
        self.key.len()
    }
}

/// The answers of webhooks to the conversions that code needs, and the questions that lack one.
#[derive(Default)]
pub struct Answers {
    known: RefCell<HashMap<String, Answer>>,
    /// The questions that were asked in this attempt.
    open: RefCell<Vec<Question>>,
    /// True if this attempt needed an answer that a webhook has not given.
    is_silent: Cell<bool>,
    /// True if webhooks are not called.
    is_closed: bool,
}

enum Answer {
    /// The question was asked.
    Open,
    /// The answer of the webhook.
    Given(Result<Document, String>),
    /// Why it has not answered.
    Missing(String),
}

impl Answers {
    /// For code whose conversions need no webhook, or for which none is called: such conversions fail.
    pub fn none() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// Runs code that converts.
    ///
    /// # Errors
    /// The conversions that are missing. Then the result is worthless: run the code again when they are answered.
    pub fn attempt<T>(&mut self, work: impl FnOnce(&Self) -> T) -> Result<T, Vec<Question>> {
        let done = work(self);
        let open = self.take_open();
        if open.is_empty() { Ok(done) } else { Err(open) }
    }

    /// Ends an attempt, and returns the conversions that it lacked.
    pub fn take_open(&mut self) -> Vec<Question> {
        self.is_silent.set(false);
        mem::take(self.open.get_mut())
    }

    /// True if this attempt lacks the answer to a conversion, because it was not asked yet, or the webhook did not answer: the
    /// failure of such a conversion says nothing of its object.
    pub fn are_missing(&self) -> bool {
        self.is_silent.get() || !self.open.borrow().is_empty()
    }

    /// Records an answer.
    pub fn add(&mut self, question: Question, answer: Result<Document, String>) {
        self.known.get_mut().insert(question.key, Answer::Given(answer));
    }

    /// Records why a question was not answered.
    pub fn add_missing(&mut self, question: Question, why: String) {
        self.known.get_mut().insert(question.key, Answer::Missing(why));
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
        let both = |answers: &Answers| {
            [json!({"a": 1}), json!({"a": 2}), json!({"a": 1})].map(|object| conversion.read_with(object, answers))
        };
        let open = answers
            .attempt(|answers| {
                assert!(!answers.are_missing());
                let _ = both(answers);
                assert!(answers.are_missing());
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
        let known = answers.attempt(|given| (conversion.read_with(json!({"a": 1}), given), given.are_missing()));
        assert!(matches!(known, Ok((Ok(_), false))));
        let Ok((done, lacks)) = answers.attempt(|given| (both(given), given.are_missing())) else {
            panic!("all is answered")
        };
        assert!(lacks, "the webhook did not answer one");
        assert_eq!(done, [Ok(json!(1)), Err("there was no answer".to_owned()), Ok(json!(1))]);
        let Err(open) = answers.attempt(|given| conversion.write_with(json!({"a": 1}), given)) else {
            panic!("another direction")
        };
        assert!(open[0].to.is("g/v1"));
        let Ok(done) = answers.attempt(|given| conversion.read_with(json!({"a": 2}), given)) else {
            panic!("it is answered")
        };
        assert_eq!(done, Err("there was no answer".to_owned()));
    }

    #[test]
    fn without_answers_the_webhook_is_not_called() {
        let error = conversion().read(json!({})).unwrap_err();
        assert_eq!(error, "conversion webhook for g/v1, Kind=K failed: it was not called");
    }
}
