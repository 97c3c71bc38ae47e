//! The suite of all engines and its property test, each case on a prefix of its own.

use super::*;
use crate::suite::{self, Revisions, property};

/// A store whose keys need not be below `/registry`.
struct Rooted(Option<Etcd>, EtcdOptions);

fn rooted(key: &str) -> Arc<str> {
    format!("/registry{key}").into()
}

fn bare(key: &str) -> Arc<str> {
    key.strip_prefix("/registry").expect("a key of the store").into()
}

fn of_change(change: Change) -> Change {
    Change { key: bare(&change.key), ..change }
}

fn of_entry(entry: Entry) -> Entry {
    Entry { key: bare(&entry.key), ..entry }
}

impl Rooted {
    /// An empty store on a member: one below a prefix that was not used yet.
    fn fresh(member: &Member, number: &mut usize) -> Self {
        *number += 1;
        let options = EtcdOptions::new([member.url()]).prefix(format!("/case{number}"));
        Self(Some(Etcd::open(options.clone()).expect("etcd is open")), options)
    }

    fn etcd(&self) -> &Etcd {
        self.0.as_ref().expect("an open store")
    }
}

impl Store for Rooted {
    fn is_shared(&self) -> bool {
        self.etcd().is_shared()
    }

    fn attach(&self, mut sink: Sink) {
        self.etcd().attach(Box::new(move |delivery| match delivery {
            Delivery::Changes(changes, upto) => {
                let changes: Vec<_> = changes.iter().cloned().map(of_change).collect();
                sink(Delivery::Changes(&changes, upto));
            }
            Delivery::State(..) => panic!("nothing was compacted"),
        }));
    }

    fn commit(&self, Commit { mut ops, mut holds }: Commit) -> CommitFuture<'_> {
        for op in &mut ops {
            op.key = rooted(&op.key);
        }
        for hold in &mut holds {
            hold.key = rooted(&hold.key);
        }
        self.etcd().commit(Commit { ops, holds })
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        Ok(self.etcd().get(&rooted(key))?.map(of_entry))
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        let (entries, at) = self.etcd().range(&rooted(prefix))?;
        Ok((entries.into_iter().map(of_entry).collect(), at))
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        let prefixes: Vec<_> = prefixes.iter().map(|prefix| rooted(prefix)).collect();
        let prefixes: Vec<&str> = prefixes.iter().map(|prefix| &**prefix).collect();
        self.etcd()
            .scan(&prefixes, &|piece| visit(piece.into_iter().map(|(at, entry)| (at, of_entry(entry))).collect()))
    }

    fn head(&self) -> Revision {
        self.etcd().head()
    }

    fn compacted(&self) -> Revision {
        self.etcd().compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        Ok(self.etcd().changes(after, limit)?.into_iter().map(of_change).collect())
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        self.etcd().compact(upto)
    }

    fn health(&self) -> Health {
        self.etcd().health()
    }

    fn close(&self) {
        self.etcd().close();
    }
}

impl property::Subject for Rooted {
    fn store(&self) -> &dyn Store {
        self
    }

    fn reopen(&mut self) {
        self.0 = None;
        self.0 = Some(Etcd::open(self.1.clone()).expect("etcd is open"));
    }

    fn revisions(&self) -> Revisions {
        Revisions::Shared
    }
}

#[test]
fn etcd_passes_the_suite() {
    let Some(member) = Member::start() else { return };
    let mut number = 0;
    suite::run(Revisions::Shared, || Rooted::fresh(&member, &mut number));
}

#[test]
fn etcd_agrees_with_the_model() {
    let Some(member) = Member::start() else { return };
    let mut number = 0;
    property::agrees_with_the_model(24, || Rooted::fresh(&member, &mut number));
}
