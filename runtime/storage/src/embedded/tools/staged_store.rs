//! A store that a copy builds over several runs, beside its target: `.NAME.copy`, a data directory with one more table,
//! in which the copy notes how far it is. It becomes the target, a data directory or a backup, when it is complete.
//!
//! It has no history: of each object one row is kept.

use std::{
    fs,
    io::BufWriter,
    path::{Path, PathBuf},
};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, backends::FileBackend};

use super::{
    Error,
    aside::{Aside, refuse_taken},
    backup,
    build::testify,
    objects::{Edit, Objects, objects_of},
};
use crate::{
    embedded::{
        archive::{Writer, stream::stream},
        directory::Directory,
        fresh,
        guard::{Engine, guarded},
        layout::{End, INDEX, LIFETIMES, LOG, META, Row, State, lifetime, pointer, read_pointer},
        snapshot::Snapshot,
    },
    meta::Revision,
};

/// The size of the engine's cache.
const CACHE_BYTES: usize = 32 << 20;

const COPY: TableDefinition<'_, &str, &str> = TableDefinition::new("copy");
const MARKER: &str = "marker";

/// The revisions of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevisionScheme {
    /// Each object has one of its own, and keeps it.
    Own,
    /// Several objects may have the same one, as after a transaction of etcd. One of them keeps it. The others get new ones,
    /// which are greater by [`BEYOND`], so that the source does not reach them.
    Shared,
}

/// How far beyond the source's revisions new ones begin: the changes of thirty years at a thousand a second.
const BEYOND: u64 = 1 << 40;

/// The unfinished store.
pub(crate) struct StagedStore {
    target: PathBuf,
    is_backup: bool,
    aside: Aside,
    directory: Directory,
    db: Engine,
    revision_scheme: RevisionScheme,
}

impl StagedStore {
    /// Opens the unfinished store of a target, a backup or a data directory, or begins one. The target must not exist; a
    /// directory may be empty.
    pub(crate) fn open(target: &Path, is_backup: bool, revision_scheme: RevisionScheme) -> Result<Self, Error> {
        if is_backup && fs::symlink_metadata(target).is_ok() {
            return Err(Error::Exists { path: target.to_owned() });
        }
        if !is_backup {
            refuse_taken(target)?;
        }
        let aside = Aside::resumable(target)?;
        let directory = Directory::open(aside.path())?;
        let made = directory.make_file(|file| fresh::write(file, &State::new(Revision(0)), |_| Ok(())));
        made.map_err(|error| Error::make(target, error))?;
        let file = directory.open_file()?;
        let db = guarded(|| {
            let mut builder = Database::builder();
            builder.set_cache_size(CACHE_BYTES);
            Ok(Engine::new(builder.create_with_backend(FileBackend::new(file)?)?))
        });
        let db = db.map_err(|error| Error::engine(target, error))?;
        Ok(Self { target: target.to_owned(), is_backup, aside, directory, db, revision_scheme })
    }

    /// Its place until it is complete.
    pub(crate) fn path(&self) -> &Path {
        self.aside.path()
    }

    /// The number of objects with a revision after the source's newest one, because another object has theirs.
    pub(crate) fn renumbered(&self, head: Revision) -> Result<u64, Error> {
        if self.revision_scheme == RevisionScheme::Own {
            return Ok(0);
        }
        let count = guarded(|| {
            let log = self.db.begin_read()?.open_table(LOG)?;
            Ok(log.range(head.next().0..)?.count() as u64)
        });
        count.map_err(|error| self.failed(error))
    }

    /// What the copy noted last.
    pub(crate) fn marker(&self) -> Result<Option<String>, Error> {
        let read = guarded(|| {
            let transaction = self.db.begin_read()?;
            let table = match transaction.open_table(COPY) {
                Ok(table) => table,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            Ok(table.get(MARKER)?.map(|marker| marker.value().to_owned()))
        });
        read.map_err(|error| self.failed(error))
    }

    /// Applies changes and notes how far the copy is, in one transaction. Deleting a missing key changes nothing.
    pub(crate) fn write(&mut self, edits: &[Edit], marker: &str) -> Result<(), Error> {
        self.transact(|state, transaction| {
            let mut log = transaction.open_table(LOG)?;
            let mut index = transaction.open_table(INDEX)?;
            let mut lifetimes = transaction.open_table(LIFETIMES)?;
            for edit in edits {
                let old = index.get(edit.key.as_bytes())?.map(|old| old.value());
                if let Some(old) = old {
                    let revision = read_pointer(edit.key.as_bytes(), old)
                        .map_err(|_| redb::Error::Corrupted(format!("the entry of {} cannot be read", edit.key)))?;
                    if let Some(row) = log.remove(revision.0)? {
                        state.log.remove(Row::stored_checksum(row.value()));
                        let row = Row::read(revision, row.value()).ok();
                        if let Some(deadline_ms) = row.and_then(|row| row.deadline_ms) {
                            lifetimes.remove((deadline_ms, revision.0))?;
                        }
                    }
                    state.index.remove(old.1);
                    index.remove(edit.key.as_bytes())?;
                }
                let is_taken = self.revision_scheme == RevisionScheme::Shared && log.get(edit.revision.0)?.is_some();
                let revision = if is_taken && edit.value.is_some() {
                    state.end.head.max(Revision(edit.revision.0 + BEYOND)).next()
                } else {
                    edit.revision
                };
                state.end.head = state.end.head.max(revision);
                let Some(body) = &edit.value else { continue };
                let Edit { key, deadline_ms, .. } = edit;
                let row = Row { previous: Revision(0), obsolete: 0, key, body: Some(body), deadline_ms: *deadline_ms };
                state.log.add(row.write(revision, log.insert_reserve(revision.0, row.size())?.as_mut()));
                let checksummed = pointer(edit.key.as_bytes(), revision);
                index.insert(edit.key.as_bytes(), checksummed)?;
                state.index.add(checksummed.1);
                if let Some(deadline_ms) = *deadline_ms {
                    lifetimes.insert((deadline_ms, revision.0), lifetime(deadline_ms, revision))?;
                }
            }
            transaction.open_table(COPY)?.insert(MARKER, marker)?;
            Ok(())
        })
        .map(drop)
    }

    /// The objects after a key, as the last write left them.
    pub(crate) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        let snapshot = guarded(|| Ok(self.db.begin_read()?)).and_then(|transaction| Snapshot::of(&transaction));
        let snapshot = snapshot.map_err(|error| self.failed(error))?;
        Ok(objects_of(snapshot, self.aside.path(), after))
    }

    /// Makes the complete store the target; returns its newest revision. `head` is the revision of the source that was
    /// copied.
    pub(crate) fn finish(self, head: Revision) -> Result<Revision, Error> {
        let head = self.transact(|state, transaction| {
            state.end.head = state.end.head.max(head);
            transaction.delete_table(COPY)?;
            Ok(())
        })?;
        let Self { target, is_backup, aside, directory, db, .. } = self;
        if is_backup {
            write_file(&target, &db)?;
            drop((db, directory));
            fs::remove_dir_all(aside.path()).map_err(Error::file(aside.path()))?;
            return Ok(head);
        }
        drop(db);
        testify(&directory, &target, head)?;
        drop(directory);
        aside.publish_directory()?;
        Ok(head)
    }

    /// Writes in one transaction; returns the newest revision.
    fn transact(
        &self,
        work: impl FnOnce(&mut State, &redb::WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Revision, Error> {
        let written = guarded(|| {
            let mut transaction = self.db.begin_write()?;
            // A run that is killed does not make the next one read the whole file.
            transaction.set_quick_repair(true);
            let mut state = State::load(&transaction.open_table(META)?)?;
            work(&mut state, &transaction)?;
            // There is no history.
            state.compacted = End { head: state.end.head, ..state.compacted };
            state.save(&mut transaction.open_table(META)?)?;
            transaction.commit()?;
            Ok(state.end.head)
        });
        written.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: redb::Error) -> Error {
        Error::engine(self.aside.path(), error)
    }
}

/// Writes the store as a backup.
fn write_file(target: &Path, db: &Database) -> Result<(), Error> {
    let (aside, file) = Aside::file(target)?;
    let mut writer = Writer::begin(BufWriter::with_capacity(1 << 20, &file)).map_err(Error::file(target))?;
    let transaction = guarded(|| Ok(db.begin_read()?)).map_err(|error| Error::engine(target, error))?;
    stream(&transaction, &mut writer, |_, _| {})
        .map_err(|error| Error::file(target)(std::io::Error::other(error.to_string())))?;
    drop(writer);
    file.sync_all().map_err(Error::file(target))?;
    backup::verify(file, target, &mut |_| {})?;
    aside.publish_file()
}
