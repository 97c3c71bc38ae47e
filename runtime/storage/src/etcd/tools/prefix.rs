//! The keys below a prefix, opened by a tool that copies, checks or backs them up.
//!
//! Reading writes nothing: no marker, no compaction. All pages of a state are read at one revision. If etcd compacts that
//! revision meanwhile, reading fails with [`Error::Outrun`]. Changes since a revision come from a watch (`tail.rs`).

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
};

use bytes::Bytes;

use super::{
    deadlines::Deadlines,
    tail::{KeyChange, Lost, Tail},
};
use crate::{
    ReadError,
    embedded::tools::{ChangesError, Error, Object, State, Take},
    etcd::{
        EtcdError, EtcdOptions, copy_note,
        engine::Engine,
        fault::Fault,
        keys::Keys,
        members::{Again, Members},
        opening,
        pages::Pages,
        proto::{self, KeyValue, RangeRequest, RangeResponse, path},
        threads::Threads,
    },
    meta::Revision,
};

impl EtcdOptions {
    /// The address of the objects, such as `etcd://10.0.0.1:2379,10.0.0.2:2379/registry`.
    pub(crate) fn address(&self) -> String {
        let hosts: Vec<_> =
            self.endpoints.iter().map(|url| url.split_once("://").map_or(&**url, |(_, host)| host)).collect();
        format!("etcd://{}/{}", hosts.join(","), self.prefix.trim_matches('/'))
    }
}

/// An open prefix.
pub(crate) struct Prefix(pub(super) Arc<Client>);

/// What an open prefix shares with the iterators over its objects.
pub(super) struct Client {
    threads: Threads,
    pub(super) engine: Arc<Engine>,
    deadlines: Deadlines,
    /// The address, for errors.
    place: String,
    /// The cluster's number, the same through each of its members.
    cluster: u64,
}

/// All keys at one moment.
pub(super) struct Moment {
    pub(super) head: Revision,
    pub(super) count: u64,
    cluster: u64,
}

impl Client {
    /// Runs a task, and blocks until it is done. Each call of etcd in it has a time limit.
    pub(super) fn wait<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        self.threads.spawn(task).recv().map_err(|_| self.failed(&"its threads have stopped"))
    }

    pub(super) fn failed(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Etcd { place: self.place.clone(), message: why.to_string() }
    }

    pub(super) fn refused(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Place { place: self.place.clone(), message: why.to_string() }
    }

    /// Why something could not be read.
    pub(super) fn unread(&self, error: &ReadError) -> Error {
        match error {
            ReadError::Compacted(_) => Error::Outrun { place: self.place.clone() },
            error => self.failed(error),
        }
    }

    pub(super) fn unsaid(&self, fault: &Fault) -> Error {
        if fault.lacks_user() {
            return self.refused(&EtcdError::UserRequired);
        }
        if !fault.is_forbidden() {
            return self.failed(fault);
        }
        let (user, prefix) = (self.engine.members.user(), self.engine.keys.prefix());
        self.refused(&format!(
            "etcd's user {user:?} may not do this below {prefix}; grant it with `etcdctl role grant-permission ROLE read \
             --prefix {prefix}/`, or `readwrite` for the target of a copy"
        ))
    }

    /// The newest revision, and the number of keys.
    pub(super) fn moment(&self) -> Result<Moment, Error> {
        let engine = Arc::clone(&self.engine);
        let (key, range_end) = engine.keys.all();
        let request = RangeRequest { key, range_end, count_only: true, ..RangeRequest::default() };
        let answer: Result<RangeResponse, Fault> =
            self.wait(async move { engine.members.call(path::RANGE, &request, Again::Always).await })?;
        let answer = answer.map_err(|fault| self.unsaid(&fault))?;
        Ok(Moment {
            head: proto::at(answer.header.as_ref()),
            count: u64::try_from(answer.count).unwrap_or_default(),
            cluster: answer.header.map(|header| header.cluster_id).unwrap_or_default(),
        })
    }

    /// An object, or `None` for a key that is not the callers'.
    fn object(&self, kv: KeyValue) -> Result<Option<Object>, Error> {
        let key = self.engine.keys.of_stored(&kv.key);
        let Some(key) = key else { return self.own(&kv.key).map(|()| None) };
        let deadline_ms = self.deadlines.known(kv.lease);
        Ok(Some(Object { key, value: Ok(kv.value), revision: proto::revision(kv.mod_revision), deadline_ms }))
    }

    /// Keys that are no text would be missing in a copy.
    fn own(&self, key: &[u8]) -> Result<(), Error> {
        if std::str::from_utf8(key).is_ok() {
            return Ok(());
        }
        let key = key.escape_ascii();
        Err(self
            .refused(&format!("the key {key} is not UTF-8, and cannot be copied; delete it, or choose another prefix")))
    }
}

impl Prefix {
    /// Connects, and checks that the user may read below the prefix. Blocks, for a few seconds at most.
    pub(crate) fn open(options: &EtcdOptions) -> Result<Self, Error> {
        let place = options.address();
        let refused = |error: EtcdError| Error::Place { place: place.clone(), message: error.to_string() };
        let keys = Keys::new(&options.prefix).map_err(refused)?;
        let engine = Arc::new(Engine::new(Members::new(options.clone()).map_err(refused)?, keys));
        let threads = Threads::start().map_err(refused)?;
        let mut client = Client { threads, engine, deadlines: Deadlines::default(), place: place.clone(), cluster: 0 };
        let engine = Arc::clone(&client.engine);
        client.wait(async move { opening::connect(&engine).await })?.map_err(refused)?;
        client.cluster = client.moment()?.cluster;
        Ok(Self(Arc::new(client)))
    }

    /// Names the cluster and the prefix, the same through each of the members.
    pub(crate) fn identity(&self) -> String {
        format!("{} in the etcd cluster {:016x}", self.0.engine.keys.prefix(), self.0.cluster)
    }

    /// True if keys of one prefix may be keys of the other one.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|prefix| prefix.0.engine.keys.all().0);
        self.0.cluster == other.0.cluster && (ours.starts_with(&theirs) || theirs.starts_with(&ours))
    }

    /// Refuses a prefix that is not a whole store.
    pub(crate) fn require_store(&self) -> Result<(), Error> {
        let (client, below) = (&self.0, self.0.engine.keys.prefix());
        if client.moment()?.count == 0 {
            return Err(client.refused(&format!("there are no keys below {below}; check the prefix")));
        }
        let note = client.wait(copy_note::read(Arc::clone(&client.engine)))?;
        match note.map_err(|fault| client.unsaid(&fault))? {
            Some(_) => Err(client.refused(&"it is the target of an unfinished copy; complete that copy first")),
            None => Ok(()),
        }
    }

    /// The present objects after a key.
    pub(crate) fn state(&self, after: Option<&str>) -> Result<State, Error> {
        let Moment { head, count, .. } = self.0.moment()?;
        let keys = &self.0.engine.keys;
        let (first, end) = keys.all();
        let first = match after.and_then(|key| keys.stored(key)) {
            Some(key) => Bytes::from([&key[..], &[0]].concat()),
            None => first,
        };
        let pages = Pages::of([(first, end)], Some(head));
        let coming = Rest::read(&self.0, pages);
        let rest = Rest { client: Arc::clone(&self.0), coming: Some(coming), page: VecDeque::new() };
        Ok(State { head, count, objects: Box::new(rest) })
    }

    /// Passes the changes after a revision to `take`, and returns the newest revision.
    pub(crate) fn changes(&self, after: Revision, take: Take<'_>) -> Result<Revision, ChangesError> {
        let client = &self.0;
        let Moment { head, .. } = client.moment()?;
        let mut tail = Tail::new(Arc::clone(&client.engine), after, head);
        while !tail.is_done() {
            let shared = Arc::clone(client);
            let (rest, piece) = client.wait(async move {
                let mut piece = tail.next().await;
                if let Ok(changes) = &piece {
                    let learned = shared.deadlines.learn(&shared.engine, changes.iter().map(KeyChange::lease)).await;
                    piece = learned.map_err(Lost::from).and(piece);
                }
                (tail, piece)
            })?;
            tail = rest;
            let changes = piece.map_err(|lost| match lost {
                Lost::Compacted => ChangesError::Lost,
                Lost::Broken(why) => client.failed(&why).into(),
            })?;
            for change in changes {
                if let Some(edit) = change.edit(&client.engine.keys, &client.deadlines) {
                    take(edit)?;
                }
            }
        }
        Ok(head)
    }
}

/// A page, and the pages after it.
type Page = (Pages, Result<Option<Vec<KeyValue>>, ReadError>);

/// The objects that are left. The next page is read while the last one is used.
struct Rest {
    client: Arc<Client>,
    /// `None` after the last page, or an error.
    coming: Option<mpsc::Receiver<Page>>,
    page: VecDeque<Object>,
}

impl Rest {
    fn read(client: &Arc<Client>, mut pages: Pages) -> mpsc::Receiver<Page> {
        let shared = Arc::clone(client);
        client.threads.spawn(async move {
            let mut page = pages.next_stored(&shared.engine).await;
            if let Ok(Some(kvs)) = &page {
                let learned = shared.deadlines.learn(&shared.engine, kvs.iter().map(|kv| kv.lease)).await;
                page = learned.map_err(|fault| fault.of_read()).and(page);
            }
            (pages, page)
        })
    }

    /// Takes the next page. False after the last one.
    fn fill(&mut self) -> Result<bool, Error> {
        let Some(coming) = self.coming.take() else { return Ok(false) };
        let (pages, page) = coming.recv().map_err(|_| self.client.failed(&"its threads have stopped"))?;
        let Some(kvs) = page.map_err(|error| self.client.unread(&error))? else { return Ok(false) };
        self.coming = Some(Self::read(&self.client, pages));
        for kv in kvs {
            self.page.extend(self.client.object(kv)?);
        }
        Ok(true)
    }
}

impl Iterator for Rest {
    type Item = Result<Object, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(object) = self.page.pop_front() {
                return Some(Ok(object));
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.coming = None;
                    return Some(Err(error));
                }
            }
        }
    }
}
