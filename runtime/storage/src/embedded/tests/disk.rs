//! A disk that loses unsynced writes, as in a power failure, and a disk whose sync fails.

use std::{io, sync::MutexGuard};

use super::*;

/// The unit of torn writes: a disk writes whole sectors, in any order.
const SECTOR: usize = 512;

/// A disk in memory, shared between the engine and the test.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    /// The content as the process sees it.
    now: Vec<u8>,
    /// The content that certainly survives a power failure.
    durable: Vec<u8>,
    /// Sectors in which the two may differ.
    unsynced: Vec<usize>,
    sync_fails: bool,
    /// Possible contents after a power failure at random moments, each with the number of changes published by then.
    losses: Vec<(Vec<u8>, usize)>,
    published: Arc<Mutex<Vec<Change>>>,
    random: u64,
}

impl Disk {
    pub(super) fn holding(now: Vec<u8>) -> Self {
        let contents = Contents { durable: now.clone(), now, ..Contents::default() };
        Self(Arc::new(Mutex::new(contents)))
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap()
    }

    fn open(&self, options: Options) -> Embedded {
        Embedded::open_on(self.clone(), options).unwrap()
    }
}

impl Contents {
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    /// The disk's content if the power fails now: any subset of the unsynced sectors.
    fn lose_power(&mut self) -> Vec<u8> {
        let mut left = self.durable.clone();
        left.resize(self.now.len(), 0);
        let kept_of_8 = self.random() % 9;
        for sector in self.unsynced.clone() {
            if self.random() % 8 < kept_of_8 {
                let bytes = sector * SECTOR..((sector + 1) * SECTOR).min(left.len());
                left[bytes.clone()].copy_from_slice(&self.now[bytes]);
            }
        }
        left
    }
}

impl super::Disk for Disk {
    fn size(&self) -> io::Result<u64> {
        Ok(self.contents().now.len() as u64)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).unwrap();
        let contents = self.contents();
        into.copy_from_slice(contents.now.get(from..from + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        let mut contents = self.contents();
        contents.now.resize(usize::try_from(bytes).unwrap(), 0);
        let sectors = contents.now.len().div_ceil(SECTOR);
        contents.unsynced.retain(|sector| *sector < sectors);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut contents = self.contents();
        if contents.sync_fails {
            return Err(io::Error::other("the disk is gone"));
        }
        if contents.random().is_multiple_of(4) {
            let published = contents.published.lock().unwrap().len();
            let left = contents.lose_power();
            contents.losses.push((left, published));
        }
        contents.unsynced.clear();
        contents.durable = contents.now.clone();
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut contents = self.contents();
        let from = usize::try_from(offset).unwrap();
        contents.now[from..from + bytes.len()].copy_from_slice(bytes);
        contents.unsynced.extend(from / SECTOR..(from + bytes.len()).div_ceil(SECTOR));
        Ok(())
    }

    fn forget(&self) -> io::Result<()> {
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn probe(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Commits concurrently, with deletions among the operations, and returns all changes.
fn write_a_while(disk: &Disk, options: Options) -> Vec<Change> {
    let store = disk.open(options);
    let published = Arc::clone(&disk.contents().published);
    store.attach(Box::new(move |given| published.lock().unwrap().extend_from_slice(given.changes())));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for round in 0..150_usize {
        let queued: Vec<_> = (0..=round % 5)
            .map(|number| {
                let key = format!("/{}", round * number % 11).into();
                let value = (round % 7 != number).then(|| Bytes::from(vec![b'x'; round * 13]));
                store.commit(vec![Op { key, value, expect: Expect::Any, lifetime: None }].into())
            })
            .collect();
        for queued in queued {
            // Deleting a missing key is a conflict, which does not matter here.
            let _ = runtime.block_on(queued);
        }
        if round == 75 {
            // Gives the writer time to settle once.
            thread::sleep(Duration::from_millis(300));
        }
    }
    drop(store);
    disk.contents().published.lock().unwrap().clone()
}

fn nothing_published_is_lost(options: Options) {
    let disk = Disk::default();
    disk.contents().random = std::process::id().into();
    let all = write_a_while(&disk, options);
    let losses = std::mem::take(&mut disk.contents().losses);
    assert!(losses.len() > 20);
    for (left, published) in losses.into_iter().filter(|(_, published)| *published > 0) {
        let store = Disk::holding(left).open(Options::default());
        let (head, compacted) = (store.head(), store.compacted());
        assert!(head.0 >= published as u64, "published up to {published}, but the newest revision is {head}");
        let kept = usize::try_from(compacted.0).unwrap()..usize::try_from(head.0).unwrap();
        assert!(store.changes(compacted, usize::MAX).unwrap() == all[kept], "history differs");
        let mut state = std::collections::BTreeMap::new();
        for change in &all[..usize::try_from(head.0).unwrap()] {
            match &change.value {
                Some(value) => state.insert(change.key.clone(), (change.revision, Ok(value.clone()))),
                None => state.remove(&change.key),
            };
        }
        let found = store.range("").unwrap().0.into_iter();
        assert!(found.map(|entry| (entry.key, (entry.revision, entry.value))).eq(state), "the newest state differs");
    }
}

#[test]
fn power_may_fail_at_any_moment() {
    nothing_published_is_lost(Options::default());
}

#[test]
fn power_may_fail_while_history_is_cut() {
    nothing_published_is_lost(Options { history_bytes: 5_000, ..Options::default() });
}

/// Waits until the store accepts writes, or until it refuses them.
fn await_writing(store: &Embedded, writing: bool) {
    let start = std::time::Instant::now();
    while store.health().refuses_writes.is_none() != writing {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", store.health());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_failed_sync_is_neither_acknowledged_nor_published_and_writing_goes_on_when_syncs_do() {
    let disk = Disk::default();
    let store = disk.open(Options::default());
    let published = Arc::clone(&disk.contents().published);
    store.attach(Box::new(move |given| published.lock().unwrap().extend_from_slice(given.changes())));
    put(&store, "/a", "1");
    disk.contents().sync_fails = true;
    let op = || Op { key: "/a".into(), value: Some("2".into()), expect: Expect::Any, lifetime: None };
    let failed = commit(&store, vec![op()]);
    assert!(
        matches!(&failed, Err(CommitError::Unknown(message)) if message.contains("the disk is gone")),
        "{failed:?}"
    );
    let refused = commit(&store, vec![op()]);
    assert!(matches!(&refused, Err(CommitError::Refused { full: false, .. })), "{refused:?}");
    assert!(matches!(store.compact(Revision(1)), Err(ReadError::Engine(_))));
    assert_eq!(store.head(), Revision(1));
    assert_eq!(disk.contents().published.lock().unwrap().len(), 1);
    assert!(store.health().refuses_writes.is_some_and(|why| why.contains("the disk is gone")));
    disk.contents().sync_fails = false;
    await_writing(&store, true);
    // Only the sync of the failed write was refused, so the write is there, and is published once that is known.
    assert_eq!(store.head(), Revision(2));
    let last = put(&store, "/b", "1");
    let changes = store.changes(Revision(0), 10).unwrap();
    assert_eq!(*disk.contents().published.lock().unwrap(), changes);
    assert_eq!((changes.len(), changes[1].value.clone(), last), (3, Some("2".into()), Revision(3)));
    drop(store);
    assert_eq!(disk.open(Options::default()).changes(Revision(0), 10).unwrap(), changes);
}
