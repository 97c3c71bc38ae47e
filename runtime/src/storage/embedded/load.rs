//! Opens the engine's file and verifies it, before anything is served: makes it where there is none, brings it to
//! today's layout, and where damage is found, goes on with what can be read, in a new file.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use redb::Database;

use super::{
    OpenError, Options,
    directory::{Directory, MakeError},
    fresh,
    guard::{Engine, guarded},
    head::Witness,
    layout::State,
    scrub::Findings,
    upgrade,
    verify::{Report, verify},
};
/// A store that was opened and verified.
pub(super) struct Loaded {
    pub(super) db: Engine,
    pub(super) witness: Witness,
    pub(super) findings: Findings,
}

/// Opens the file of a directory, and the witness beside it.
pub(super) fn load(directory: &Directory, options: &Options) -> Result<Loaded, OpenError> {
    directory
        .make_file(|file| fresh::write(file, &State::new(options.origin), |_| Ok(())))
        .map_err(|error| cannot_make(directory, error))?;
    let (witness, testified) = Witness::read(directory.open_witness()?).map_err(|source| directory.io(source))?;
    let (mut db, mut sound) = open(directory, options)?;
    if upgrade::is_needed(&db).map_err(|error| cannot_open(directory, error))? {
        let kept = "store.redb.format-1";
        directory
            .replace_file(kept, |file| upgrade::upgrade(&db, file))
            .map_err(|error| cannot_make(directory, error))?;
        tracing::info!(file = %directory.file().display(), kept, "upgraded the store to format 2");
        drop(db);
        (db, sound) = open(directory, options)?;
    }
    directory.note_format()?;
    let report = verify(&db).map_err(|error| cannot_open(directory, error))?;
    let head = report.state.end.head;
    if let Some(testified) = testified.filter(|testified| *testified > head) {
        let first = head.next();
        return Err(directory.damaged(format!(
            "its newest change is that of revision {head}, and those of the revisions {first} to {testified}, which were \
             acknowledged, are missing"
        )));
    }
    if !sound || !report.is_whole() {
        let kept = directory.name_for_damaged();
        tell(directory, &report, sound, &kept);
        directory
            .replace_file(&kept, |file| fresh::write_again(&db, &report, file))
            .map_err(|error| cannot_make(directory, error))?;
        drop(db);
        (db, _) = open(directory, options)?;
    }
    let findings = Findings::default();
    findings.add(report.objects.into_keys());
    Ok(Loaded { db, witness, findings })
}

/// Opens the file; also says whether all its pages are as the engine wrote them. Those that hold no rows are its notes on
/// which pages are free: with wrong ones it would write over others that are in use.
fn open(directory: &Directory, options: &Options) -> Result<(Engine, bool), OpenError> {
    let repaired = Arc::new(AtomicBool::new(false));
    let note = Arc::clone(&repaired);
    let mut builder = Database::builder();
    builder.set_cache_size(options.cache_bytes);
    builder.set_repair_callback(move |_| note.store(true, Ordering::Relaxed));
    let file = directory.open_file()?;
    let opened = guarded(|| Ok(Engine::new(builder.create_file(file)?)));
    let mut db = opened.map_err(|error| cannot_open(directory, error))?;
    // The engine has verified a file that was not closed in order while it opened it.
    let sound = repaired.load(Ordering::Relaxed) || guarded(|| Ok(db.check_integrity()?)).is_ok();
    Ok((db, sound))
}

/// What is wrong with a store, for the log.
fn tell(directory: &Directory, report: &Report, sound: bool, kept: &str) {
    let whole = |is: bool| if is { "whole" } else { "damaged" };
    tracing::error!(
        file = %directory.file().display(),
        kept,
        pages = whole(sound),
        log = whole(report.log_whole),
        index = whole(report.index_whole),
        marks = whole(report.marks_whole),
        objects = report.objects.len(),
        changes = report.history.len(),
        unnamed = report.unnamed,
        "the store is damaged; what can be read goes on in a new file, and the damaged one is kept"
    );
}

fn cannot_make(directory: &Directory, error: MakeError<redb::Error>) -> OpenError {
    match error {
        MakeError::File(error) => error.into(),
        MakeError::Fill(error) => cannot_open(directory, error),
    }
}

pub(super) fn cannot_open(directory: &Directory, error: redb::Error) -> OpenError {
    use std::io::ErrorKind::{InvalidData, UnexpectedEof};
    match error {
        // How the engine says that a file is none of its own, or has lost its end.
        redb::Error::Io(source) if !matches!(source.kind(), InvalidData | UnexpectedEof) => directory.io(source),
        other => directory.damaged(other),
    }
}
