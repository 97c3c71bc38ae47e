//! Opens the engine's file and verifies it, before anything is served: makes it where there is none, brings it to
//! today's layout, and where damage is found, goes on with what can be read, in a new file.

use redb::Database;

use super::{
    OpenError, Options,
    directory::{Directory, MakeError},
    fresh,
    guard::{Engine, guarded},
    head::Witness,
    layout::State,
    upgrade,
    verify::{Report, verify},
};
/// Keys that a line of the log names at most.
const NAMED: usize = 10;

/// Opens the file of a directory, and the witness beside it.
pub(super) fn load(directory: &Directory, options: &Options) -> Result<(Engine, Witness), OpenError> {
    directory
        .make_file(|file| fresh::write(file, &State::new(options.origin), |_| Ok(())))
        .map_err(|error| cannot_make(directory, error))?;
    let (witness, testified) = Witness::read(directory.open_witness()?).map_err(|source| directory.io(source))?;
    let mut db = open(directory, options)?;
    if upgrade::is_needed(&db).map_err(|error| cannot_open(directory, error))? {
        let kept = "store.redb.format-1";
        directory
            .replace_file(kept, |file| upgrade::upgrade(&db, file))
            .map_err(|error| cannot_make(directory, error))?;
        tracing::info!(file = %directory.file().display(), kept, "upgraded the store to format 2");
        drop(db);
        db = open(directory, options)?;
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
    if !report.is_whole() {
        let kept = directory.name_for_damaged();
        tell(directory, &report, &kept);
        directory
            .replace_file(&kept, |file| fresh::write_again(&db, &report, file))
            .map_err(|error| cannot_make(directory, error))?;
        drop(db);
        db = open(directory, options)?;
    }
    Ok((db, witness))
}

fn open(directory: &Directory, options: &Options) -> Result<Engine, OpenError> {
    let mut builder = Database::builder();
    builder.set_cache_size(options.cache_bytes);
    let file = directory.open_file()?;
    let opened = guarded(|| Ok(Engine::new(builder.create_file(file)?)));
    opened.map_err(|error| cannot_open(directory, error))
}

/// What is wrong with a store, for the log.
fn tell(directory: &Directory, report: &Report, kept: &str) {
    let whole = |is: bool| if is { "whole" } else { "damaged" };
    tracing::error!(
        file = %directory.file().display(),
        kept,
        log = whole(report.log_whole),
        index = whole(report.index_whole),
        marks = whole(report.marks_whole),
        objects = report.objects.len(),
        keys = ?report.objects.keys().take(NAMED).collect::<Vec<_>>(),
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
