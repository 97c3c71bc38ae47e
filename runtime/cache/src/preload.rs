//! Renders what a store scans, on the threads that read it, and puts it in order.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{keyspace::Keyspace, lock::lock, object::Object, reader::SharedReader, routes::longest_prefix, tree::Tree};
use crate::{meta::Revision, storage::Entry};

/// The objects of one resource, as a scan passes them.
pub(super) struct ScanCollector {
    keyspace: Keyspace,
    objects: Mutex<Vec<(usize, Arc<Object>)>>,
    /// Entries of a reader that asks webhooks. They are read in order at the end, so that its questions do not depend on threads.
    unread: Mutex<Vec<(usize, Entry)>>,
}

impl ScanCollector {
    pub(super) fn new(keyspace: Keyspace) -> Self {
        Self { keyspace, objects: Mutex::default(), unread: Mutex::default() }
    }

    /// Takes a piece of the scan's result.
    pub(super) fn take(&self, piece: Vec<(usize, Entry)>) {
        if self.keyspace.reader.is_local() {
            let rendered: Vec<_> = piece.into_iter().map(|found| self.render(found)).collect();
            lock(&self.objects).extend(rendered);
        } else {
            lock(&self.unread).extend(piece);
        }
    }

    /// All that was taken, in order.
    pub(super) fn finish(mut self) -> Tree {
        let unread = std::mem::take(self.unread.get_mut().unwrap_or_else(PoisonError::into_inner));
        let read: Vec<_> = unread.into_iter().map(|found| self.render(found)).collect();
        let mut objects = self.objects.into_inner().unwrap_or_else(PoisonError::into_inner);
        objects.extend(read);
        objects.sort_unstable_by_key(|(position, _)| *position);
        Tree::from_sorted(objects.into_iter().map(|(_, object)| object))
    }

    fn render(&self, (position, entry): (usize, Entry)) -> (usize, Arc<Object>) {
        (position, self.keyspace.render_entry(&entry))
    }
}

/// Renders the objects of several resources in one scan, before the cache exists. [`Cache::preloaded`] takes the result.
///
/// [`Cache::preloaded`]: super::Cache::preloaded
pub struct Preload {
    collectors: BTreeMap<Arc<str>, ScanCollector>,
}

impl Preload {
    /// For resources with these prefixes and readers. Resources whose readers need other servers are left out.
    pub fn new(resources: impl IntoIterator<Item = (String, SharedReader)>) -> Self {
        let local = resources.into_iter().filter(|(_, reader)| reader.is_local());
        let collector = |(prefix, reader): (String, SharedReader)| {
            let keyspace = Keyspace::new(&prefix, reader);
            (Arc::clone(&keyspace.prefix), ScanCollector::new(keyspace))
        };
        Self { collectors: local.map(collector).collect() }
    }

    /// The prefixes to scan.
    pub fn prefixes(&self) -> Vec<&str> {
        self.collectors.keys().map(|prefix| &**prefix).collect()
    }

    /// Takes a piece of the scan's result.
    pub fn take(&self, piece: Vec<(usize, Entry)>) {
        let mut by_prefix: Vec<(&Arc<str>, Vec<_>)> = Vec::new();
        for found in piece {
            let Some(prefix) = longest_prefix(&self.collectors, &found.1.key) else { continue };
            // Neighbours in the log are often of one resource.
            match by_prefix.iter_mut().rev().find(|(other, _)| Arc::ptr_eq(other, prefix)) {
                Some((_, same)) => same.push(found),
                None => by_prefix.push((prefix, vec![found])),
            }
        }
        for (prefix, same) in by_prefix {
            if let Some(collector) = self.collectors.get(prefix) {
                collector.take(same);
            }
        }
    }

    /// The objects, if the scan gave the state at this revision.
    pub(super) fn finish(self, at: Revision) -> PreloadedTrees {
        let finished = |(prefix, collector): (Arc<str>, ScanCollector)| {
            let reader = Arc::clone(&collector.keyspace.reader);
            (prefix, (reader, collector.finish()))
        };
        PreloadedTrees { at, trees: self.collectors.into_iter().map(finished).collect() }
    }
}

/// The objects of resources that are not registered yet.
#[derive(Default)]
pub(super) struct PreloadedTrees {
    at: Revision,
    trees: BTreeMap<Arc<str>, (SharedReader, Tree)>,
}

impl PreloadedTrees {
    /// Takes the objects of a resource out. `None` if they were read by another reader, or changed since.
    pub(super) fn take(&mut self, keyspace: &Keyspace, head: Revision) -> Option<Tree> {
        let (read_by, tree) = self.trees.remove(&keyspace.prefix)?;
        (self.at == head && std::ptr::addr_eq(Arc::as_ptr(&read_by), Arc::as_ptr(&keyspace.reader))).then_some(tree)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;

    use super::*;
    use crate::{
        Cache, DecodedValue, Limits, Reader,
        storage::{Expect, Memory, Op, Store},
        tests::serve,
    };

    /// Counts what it reads.
    #[derive(Default)]
    struct CountingReader {
        reads: AtomicUsize,
        remote: bool,
    }

    impl Reader for CountingReader {
        fn type_meta(&self) -> &'static str {
            r#""kind":"Thing","apiVersion":"v1","#
        }

        fn read(&self, _key: &str, value: &Bytes) -> DecodedValue {
            self.reads.fetch_add(1, Ordering::Relaxed);
            DecodedValue::plain(Ok(std::str::from_utf8(value).unwrap().into()))
        }

        fn is_local(&self) -> bool {
            !self.remote
        }
    }

    async fn put(store: &Memory, key: &str) {
        let value = Some(Bytes::from_static(br#"{"metadata":{"name":"x"}}"#));
        let op = Op { key: key.into(), value, expect: Expect::Any, lifetime: None };
        store.commit(vec![op].into()).await.unwrap();
    }

    fn keys(cache: &Cache, prefix: &str, reader: &Arc<CountingReader>) -> Vec<String> {
        let resource = serve(cache, prefix, reader.clone());
        resource.snapshot().range("", None).map(|object| object.key().to_owned()).collect()
    }

    #[tokio::test]
    async fn what_was_read_before_is_not_read_again_unless_the_store_or_the_reader_changed() {
        for changes in [false, true] {
            let store = Arc::new(Memory::new());
            for key in ["/u/x", "/t/b", "/w/1", "/t/a", "/t2/a", "/v/z"] {
                put(&store, key).await;
            }
            let [t, u, v, w, other] = [(); 5].map(|()| Arc::new(CountingReader::default()));
            let remote = Arc::new(CountingReader { remote: true, ..CountingReader::default() });
            let resources = [("/t/", &t), ("/u", &u), ("/v/", &v), ("/w/", &remote)];
            let preload =
                Preload::new(resources.map(|(prefix, reader)| (prefix.to_owned(), reader.clone() as SharedReader)));
            assert_eq!(preload.prefixes(), ["/t/", "/u/", "/v/"]);
            let at = store.scan(&preload.prefixes(), &|piece| preload.take(piece)).unwrap();
            if changes {
                put(&store, "/t/c").await;
            }
            let cache = Cache::preloaded(store, Limits::default(), preload, at);
            let expected: &[&str] = if changes { &["a", "b", "c"] } else { &["a", "b"] };
            assert_eq!(keys(&cache, "/t/", &t), expected);
            assert_eq!(keys(&cache, "/u/", &u), ["x"]);
            assert_eq!(keys(&cache, "/v/", &other), ["z"]);
            assert_eq!(keys(&cache, "/w/", &remote), ["1"]);
            let reads = [&t, &u, &v, &w, &other, &remote].map(|reader| reader.reads.load(Ordering::Relaxed));
            assert_eq!(reads, if changes { [5, 2, 1, 0, 1, 1] } else { [2, 1, 1, 0, 1, 1] });
        }
    }
}
