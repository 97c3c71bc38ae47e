//! A prefix of etcd that a copy fills, over several runs.
//!
//! The key `<prefix>/kindsmith.copy` has what the copy notes. It is written before the first object, so that a prefix with
//! keys and without it was filled by somebody else and is refused, and deleted at the end. While it is there, servers refuse the
//! prefix. Each note replaces the one that this run wrote before, so that of two copies one fails. Its first line names the
//! run: if the answer to a write is lost, the note that is there tells whether the write was made.
//!
//! Each object is a write of its own: a transaction of many would give all of them one revision, which watchers of a
//! resource cannot resume within.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::task::JoinSet;

use super::prefix::{Client, Prefix};
use crate::{
    embedded::tools::{Edit, Error, Objects, now_ms},
    etcd::{
        EtcdOptions, copy_note,
        engine::Engine,
        fault::Fault,
        leases::{MOST_SECONDS, MOST_SECONDS_MORE},
        members::Again,
        proto::{
            self, Compare, CompareResult, CompareTarget, DeleteRangeRequest, PutRequest, PutResponse, RequestOp,
            TxnRequest, TxnResponse, path,
        },
    },
    meta::{Revision, uid::uid},
};

/// The call that deletes a key outside of a transaction.
const DELETE_RANGE: &str = "/etcdserverpb.KV/DeleteRange";

/// The number of writes that etcd gets at once.
const AT_ONCE: usize = 128;

/// How often a note is written if answers are lost.
const TRIES: u32 = 5;

/// The unfinished prefix.
pub(crate) struct StagedPrefix {
    prefix: Prefix,
    note: Option<String>,
    /// The revision of the note; zero without one.
    noted: i64,
    /// Names this run.
    run: String,
}

impl StagedPrefix {
    /// Opens a prefix that an unfinished copy began, or one without keys.
    pub(crate) fn open(options: &EtcdOptions) -> Result<Self, Error> {
        let prefix = Prefix::open(options)?;
        let client = &prefix.0;
        let run = uid().map_err(|error| client.failed(&error))?;
        let found = client.wait(copy_note::read(Arc::clone(&client.engine)))?.map_err(|fault| client.unsaid(&fault))?;
        if let Some((text, noted)) = found {
            let note = text.split_once('\n').map_or(&*text, |(_, note)| note).to_owned();
            return Ok(Self { prefix, note: Some(note), noted, run });
        }
        let count = client.moment()?.count;
        if count > 0 {
            let below = client.engine.keys.prefix();
            return Err(client.refused(&format!(
                "there are {count} keys below {below}, and they are not of an unfinished copy: they are a store, perhaps a copy \
                 that is complete; choose another prefix, or, if nothing uses them, delete them with `etcdctl del --prefix \
                 {below}/`"
            )));
        }
        Ok(Self { prefix, note: None, noted: 0, run })
    }

    /// Refuses a source in which what is written here would appear.
    pub(crate) fn refuse_overlap(&self, source: &Prefix) -> Result<(), Error> {
        if self.prefix.overlaps(source) {
            let why = "it has keys in common with the source; choose a prefix that is not part of the other one";
            return Err(self.prefix.0.refused(&why));
        }
        Ok(())
    }

    /// What the copy noted last.
    pub(crate) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// What to delete to begin again.
    pub(crate) fn unfinished(&self) -> String {
        format!("all keys below {}/", self.prefix.0.engine.keys.prefix())
    }

    /// Applies changes, and then notes how far the copy is. Deleting a missing key changes nothing.
    pub(crate) fn write(&mut self, edits: &[Edit], note: &str) -> Result<(), Error> {
        let client = &self.prefix.0;
        // Writes run side by side, so that only the last change of a key counts.
        let mut seen = HashSet::new();
        let last: Vec<_> = edits.iter().rev().filter(|edit| seen.insert(&edit.key)).cloned().collect();
        client.wait(write_all(Arc::clone(client), last))??;
        let text = format!("{}\n{note}", self.run);
        self.replace_note(Some(&text)).map(drop)
    }

    /// The objects after a key.
    pub(crate) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        Ok(self.prefix.state(after)?.objects)
    }

    /// The number of objects.
    pub(crate) fn count(&self) -> Result<u64, Error> {
        // All but the note.
        Ok(self.prefix.0.moment()?.count.saturating_sub(1))
    }

    /// Lets servers use the prefix; returns the newest revision.
    pub(crate) fn finish(mut self) -> Result<Revision, Error> {
        self.replace_note(None)
    }

    /// Writes a note in place of this run's last one, or deletes that one; returns etcd's newest revision. If the answer is
    /// lost, the note that is there tells whether to do it again.
    fn replace_note(&mut self, text: Option<&str>) -> Result<Revision, Error> {
        let client = Arc::clone(&self.prefix.0);
        let mut lost = None;
        for _ in 0..TRIES {
            let engine = Arc::clone(&client.engine);
            let value = text.map(|text| Bytes::copy_from_slice(text.as_bytes()));
            match client.wait(write_note(engine, self.noted, value))? {
                Ok(Some(revision)) => {
                    self.noted = proto::raw(revision);
                    return Ok(revision);
                }
                Ok(None) => {}
                Err(fault) if fault.is_refusal() => return Err(self.unwritten(text, lost.as_ref(), &fault)),
                Err(fault) => lost = Some(fault),
            }
            let answer = client.wait(copy_note::ask(Arc::clone(&client.engine)))?;
            let answer = answer.map_err(|fault| self.unwritten(text, lost.as_ref(), &fault))?;
            let head = proto::at(answer.header.as_ref());
            match (copy_note::parse(answer), text) {
                (None, None) if lost.is_some() => return Ok(head),
                (None, Some(_)) if self.noted == 0 => {}
                (Some((found, revision)), Some(text)) if revision != self.noted && found == text => {
                    self.noted = revision;
                    return Ok(head);
                }
                // It was not written, or an earlier note was, to which the answer was lost.
                (Some((found, revision)), _) if revision == self.noted || found.starts_with(&self.run) => {
                    self.noted = revision;
                }
                _ => return Err(client.refused(&"another copy writes to it; let one of them end first")),
            }
        }
        let fault = Fault::Lost(format!("the answers to {TRIES} tries were lost"));
        Err(self.unwritten(text, lost.as_ref(), &fault))
    }

    fn unwritten(&self, text: Option<&str>, lost: Option<&Fault>, fault: &Fault) -> Error {
        let client = &self.prefix.0;
        let (None, Some(lost)) = (text, lost) else { return client.unsaid(fault) };
        let key = client.engine.keys.copy();
        let key = key.escape_ascii();
        client.refused(&format!(
            "the objects are complete and verified, but the answer to the last step was lost: {lost}; look for the key {key} \
             with `etcdctl get {key}`: without it the copy is complete, and servers can use it; with it, run the same \
             command again"
        ))
    }
}

/// Writes a note in place of the one of a revision, or deletes that one. Returns etcd's revision, or `None` if the note has another one.
async fn write_note(engine: Arc<Engine>, noted: i64, value: Option<Bytes>) -> Result<Option<Revision>, Fault> {
    let key = engine.keys.copy();
    let is_ours = Compare {
        result: CompareResult::Equal.into(),
        target: CompareTarget::Mod.into(),
        key: key.clone(),
        version: None,
        mod_revision: Some(noted),
    };
    let operation = match value {
        Some(value) => RequestOp { put: Some(PutRequest { key, value, lease: 0 }), ..RequestOp::default() },
        None => RequestOp { delete_range: Some(DeleteRangeRequest { key }), ..RequestOp::default() },
    };
    let request = TxnRequest { compare: vec![is_ours], success: vec![operation], failure: Vec::new() };
    let answer: TxnResponse = engine.members.call(path::TXN, &request, Again::Unsent).await?;
    Ok(answer.succeeded.then(|| proto::at(answer.header.as_ref())))
}

async fn write_all(client: Arc<Client>, edits: Vec<Edit>) -> Result<(), Error> {
    let edits = Arc::new(Mutex::new(edits.into_iter()));
    let mut writers: JoinSet<Result<(), Error>> = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (client, edits) = (Arc::clone(&client), Arc::clone(&edits));
        writers.spawn(async move {
            let next = || edits.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(edit) = next() {
                write(&client, edit).await?;
            }
            Ok(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done.map_err(|error| client.failed(&error))??;
    }
    Ok(())
}

async fn write(client: &Client, edit: Edit) -> Result<(), Error> {
    let engine = &client.engine;
    let Some(key) = engine.keys.stored(&edit.key) else {
        return Err(client.refused(&format!("the key {} is not below /registry, and cannot be copied", edit.key)));
    };
    let written = if let Some(value) = edit.value {
        put(engine, key, value, edit.deadline_ms).await
    } else {
        let request = DeleteRangeRequest { key };
        engine.members.call(DELETE_RANGE, &request, Again::Always).await
    };
    written.map_err(|fault| {
        if fault.is_forbidden() {
            client.unsaid(&fault)
        } else {
            client.failed(&format!("{}: {}", edit.key, fault.of_commit()))
        }
    })
}

async fn put(engine: &Engine, key: Bytes, value: Bytes, deadline_ms: Option<u64>) -> Result<(), Fault> {
    let mut request = PutRequest { key, value, lease: 0 };
    let mut is_first = true;
    loop {
        let lifetime = deadline_ms.map(|deadline| Duration::from_millis(deadline.saturating_sub(now_ms())));
        let lent = match lifetime {
            None => None,
            Some(lifetime) => lend(engine, lifetime).await?,
        };
        request.lease = lent.map_or(0, |(lease, _)| lease);
        let answer: Result<PutResponse, Fault> = engine.members.call(path::PUT, &request, Again::Always).await;
        match (answer, lent) {
            (Ok(_), _) => return Ok(()),
            // It ended early, as when etcd's clock was set.
            (Err(fault), Some((_, seconds))) if is_first && fault.lacks_lease() => {
                engine.leases.forget(&[seconds]);
                is_first = false;
            }
            (Err(fault), _) => return Err(fault),
        }
    }
}

/// A lease for one of many keys with different lifetimes, which may live a little longer so that they can share leases.
/// Returns it with its lifetime in seconds, or `None` for a value that stays.
async fn lend(engine: &Engine, lifetime: Duration) -> Result<Option<(i64, u64)>, Fault> {
    let seconds = lifetime.as_secs().saturating_add(1);
    if seconds > MOST_SECONDS - 2 * MOST_SECONDS_MORE {
        return Ok(None);
    }
    let seconds = seconds.next_multiple_of((seconds / 20).clamp(1, MOST_SECONDS_MORE));
    Ok(Some((engine.leases.lease(&engine.members, seconds).await?, seconds)))
}
