//! A writer that creates, changes and deletes its objects in every possible way, and records the acknowledged writes.

use std::{collections::BTreeMap, io};

use kindsmith_tests::{Answer, Client, Random};
use serde_json::{Value, json};

use crate::{PATH, history::Change};

/// The number of objects of a writer.
const OBJECTS: usize = 12;

/// The number of its field managers.
const MANAGERS: usize = 3;

/// How an object is written.
#[derive(Clone, Copy)]
enum Means {
    /// Created, or replaced.
    Whole,
    /// By an apply, which creates a missing object.
    Apply,
    Merge,
    Strategic,
    Json,
}

impl Means {
    /// Writes an object that exists or not: with POST, PUT, or a PATCH of one of its types.
    async fn send(self, client: &mut Client, exists: bool, manager: usize, object: &Value) -> io::Result<Answer> {
        let name = object["metadata"]["name"].as_str().expect("an object has a name");
        let item = format!("{PATH}/{name}?fieldManager=m{manager}");
        let data = &object["data"];
        match self {
            Self::Whole if exists => client.json("PUT", &item, object).await,
            Self::Whole => client.json("POST", &format!("{PATH}?fieldManager=m{manager}"), object).await,
            Self::Apply => {
                client.typed("PATCH", &format!("{item}&force=true"), "application/apply-patch+yaml", object).await
            }
            Self::Merge => client.json("PATCH", &item, &json!({ "data": data })).await,
            Self::Strategic => {
                client.typed("PATCH", &item, "application/strategic-merge-patch+json", &json!({ "data": data })).await
            }
            Self::Json => {
                let patch = json!([{"op": "replace", "path": "/data", "value": data}]);
                client.typed("PATCH", &item, "application/json-patch+json", &patch).await
            }
        }
    }
}

/// A writer and what it knows.
pub(crate) struct Writer {
    number: usize,
    random: Random,
    next_write: u64,
    /// The acknowledged changes of each object, in order.
    told: BTreeMap<String, Vec<Change>>,
    /// The last answer for each object, with its managers, if there was one.
    shown: BTreeMap<String, Value>,
    /// All resourceVersions in its answers.
    revisions: Vec<u64>,
    /// The write without an answer: its outcome is unknown.
    open: Option<Change>,
}

impl Writer {
    pub(crate) fn new(number: usize, random: Random) -> Self {
        Self {
            number,
            random,
            next_write: 0,
            told: BTreeMap::new(),
            shown: BTreeMap::new(),
            revisions: Vec::new(),
            open: None,
        }
    }

    /// The acknowledged writes by object.
    pub(crate) fn told(&self) -> &BTreeMap<String, Vec<Change>> {
        &self.told
    }

    /// All resourceVersions in answers.
    pub(crate) fn revisions(&self) -> &[u64] {
        &self.revisions
    }

    /// Writes continuously until the server is gone.
    pub(crate) async fn write_until_the_end(&mut self, mut client: Client) {
        while self.write(&mut client).await.is_ok() {}
    }

    async fn write(&mut self, client: &mut Client) -> io::Result<()> {
        let name = format!("w{}-{}", self.number, self.random.below(OBJECTS));
        let exists = self.state(&name).is_some_and(|last| last.write.is_some());
        let delete = exists && self.random.one_in(4);
        self.next_write += 1;
        let write = (!delete).then_some(self.next_write);
        self.open = Some(Change { name: name.clone(), revision: None, write });
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"write": self.next_write.to_string(), "filling": "x".repeat(self.random.below(3000))},
        });
        let means = if exists {
            *self.random.pick(&[Means::Whole, Means::Apply, Means::Merge, Means::Strategic, Means::Json])
        } else {
            *self.random.pick(&[Means::Whole, Means::Apply])
        };
        let answer = if delete {
            client.json("DELETE", &format!("{PATH}/{name}"), &Value::Null).await?
        } else {
            means.send(client, exists, self.random.below(MANAGERS), &object).await?
        };
        let wanted = if exists { 200 } else { 201 };
        if answer.status == 503 {
            // The server is stopping. A refused write did not happen, but its answer may be missing.
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        assert_eq!(answer.status, wanted, "{name}: {:?}", answer.body);
        self.acknowledged(&answer);
        Ok(())
    }

    fn acknowledged(&mut self, answer: &Answer) {
        let mut change = self.open.take().expect("a write is open while it is answered");
        self.shown.remove(&change.name);
        if change.write.is_some() {
            let mut object = answer.json();
            let revision = revision(&object);
            change.revision = Some(revision);
            self.revisions.push(revision);
            // List items have no type.
            object.as_object_mut().expect("an object").retain(|member, _| member == "metadata" || member == "data");
            assert!(object["metadata"]["managedFields"].is_array(), "a write has an owner: {object}");
            self.shown.insert(change.name.clone(), object);
        }
        self.told.entry(change.name.clone()).or_default().push(change);
    }

    fn state(&self, name: &str) -> Option<&Change> {
        self.told.get(name).and_then(|changes| changes.last())
    }

    /// Compares a list with the acknowledged writes, and determines the outcome of the write without an answer.
    pub(crate) fn compare(&mut self, list: &Value) {
        let prefix = format!("w{}-", self.number);
        let items = list["items"].as_array().expect("a list has items");
        let is_mine = |item: &&Value| item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(&prefix));
        let mut found: BTreeMap<&str, &Value> = items
            .iter()
            .filter(is_mine)
            .map(|item| (item["metadata"]["name"].as_str().expect("named"), item))
            .collect();
        if let Some(open) = self.open.take() {
            let there = found.get(open.name.as_str()).copied();
            let happened = match (open.write, there) {
                (Some(write), Some(item)) => write_of(item) == write,
                (Some(_), None) | (None, Some(_)) => false,
                (None, None) => true,
            };
            if happened {
                let revision = open.write.and(there).map(revision);
                self.shown.remove(&open.name);
                self.revisions.extend(revision);
                self.told.entry(open.name.clone()).or_default().push(Change { revision, ..open });
            }
        }
        for (name, changes) in &self.told {
            let last = changes.last().expect("an object is known by a change");
            match (last.write, found.remove(name.as_str())) {
                (None, None) => {}
                (Some(number), Some(item)) => {
                    assert_eq!(write_of(item), number, "{name} lost an acknowledged write");
                    assert_eq!(
                        Some(revision(item)),
                        last.revision,
                        "{name} has another resourceVersion than its last answer"
                    );
                    if let Some(shown) = self.shown.get(name) {
                        assert_eq!(item, shown, "{name} differs from its last answer");
                    }
                }
                (Some(number), None) => panic!("{name} is gone, but write {number} was acknowledged"),
                (None, Some(_)) => panic!("{name} is back, but its deletion was acknowledged"),
            }
        }
        assert!(found.is_empty(), "objects that no one acknowledged: {:?}", found.keys());
    }
}

fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("an object has a revision: {object}"))
}

fn write_of(object: &Value) -> u64 {
    let text = object["data"]["write"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("an object is unharmed: {object}"))
}
