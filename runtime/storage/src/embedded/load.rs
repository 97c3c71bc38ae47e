//! Opens the engine's file and verifies it before anything is served. Creates a missing file, and upgrades an old
//! layout. If the file is damaged, copies the readable part to a new file and continues with that.
//!
//! One pass verifies the pages and the rows, and passes newest values on (`pages`, `verify.rs`). Meanwhile the engine
//! opens the file, and repairs it after a kill. If the pass fails, one thread lets the engine compare the checksums of its
//! pages, while the others verify the rows.
//!
//! Until that is done, the engine's writes are held back. It writes to a file that it opens for writing, and after a kill
//! it may go back to an older commit if the newest is damaged. A file that is refused or kept must stay as it was found.
//! A file in order is opened, and repaired, once: then the writes are let through.

use std::{sync::Arc, thread};

use super::{
    Disk, Metrics, OpenError, Options,
    directory::{Directory, MakeError},
    file::FileDisk,
    fresh,
    guard::guarded,
    handle::Handle,
    head::Witness,
    layout::State,
    pages::Pages,
    reserve::Reserve,
    scrub::Findings,
    tables::{Engines, Tables},
    upgrade,
    verify::{Report, verify_and_scan},
};
use crate::{Visit, meta::Revision};

/// A store that was opened and verified.
pub(super) struct VerifiedStore {
    pub(super) reserve: Arc<Reserve>,
    pub(super) handle: Handle,
    pub(super) witness: Witness,
    pub(super) findings: Findings,
    pub(super) metrics: Arc<Metrics>,
    /// The state that was passed on, if all of it was intact.
    pub(super) scanned: Option<Revision>,
}

/// Opens the store's file in a directory, and the witness beside it. Passes the newest values of all keys with one of
/// the prefixes to `visit`.
pub(super) fn load(
    directory: &Directory,
    options: &Options,
    prefixes: &[&str],
    visit: Visit<'_>,
) -> Result<VerifiedStore, OpenError> {
    directory
        .make_file(|file| fresh::write(file, &State::new(options.origin), |_| Ok(())))
        .map_err(|error| cannot_make(directory, error))?;
    let (witness, testified) = Witness::read(directory.open_witness()?).map_err(|source| directory.io(source))?;
    let metrics = Arc::<Metrics>::default();
    let mut reserve = open(directory, &metrics)?;
    let mut disk: Arc<dyn Disk> = reserve.clone();
    // If the engine has to repair the file, it does so meanwhile.
    let (direct, opened) = thread::scope(|scope| {
        let opening = scope.spawn(|| open_reading(directory, &disk, options));
        (Direct::read(&*disk, prefixes, visit), opening.join())
    });
    let mut handle = opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    if upgrade::is_needed(handle.db()).map_err(|error| cannot_open(directory, error))? {
        let kept = "store.redb.format-1";
        directory
            .replace_file(kept, |file| upgrade::upgrade(handle.db(), file))
            .map_err(|error| cannot_make(directory, error))?;
        tracing::info!(file = %directory.file().display(), kept, "upgraded the store");
        reserve = open(directory, &metrics)?;
        disk = reserve.clone();
        handle = open_reading(directory, &disk, options)?;
    }
    directory.note_format()?;
    let inspection = inspect(&disk, options, &handle, direct, prefixes, visit);
    let Inspection { report, sound, passed } = inspection.map_err(|error| cannot_open(directory, error))?;
    let head = report.state.end.head;
    if let Some(testified) = testified.filter(|testified| *testified > head) {
        let first = head.next();
        return Err(directory.damaged(format!(
            "its newest change is that of revision {head}, and those of the revisions {first} to {testified}, which were \
             acknowledged, are missing"
        )));
    }
    let is_intact = sound && report.is_whole();
    if is_intact {
        handle.write().map_err(|error| cannot_open(directory, error))?;
    } else {
        let kept = directory.name_for_damaged();
        tell(directory, &report, sound, &kept);
        directory
            .replace_file(&kept, |file| fresh::write_again(handle.db(), &report, file))
            .map_err(|error| cannot_make(directory, error))?;
        reserve = open(directory, &metrics)?;
        disk = reserve.clone();
        let opened = guarded(|| Handle::open(&disk, options));
        handle = opened.map_err(|error| cannot_open(directory, error))?;
    }
    let scanned = (is_intact && passed).then_some(head);
    let findings = Findings::default();
    findings.add(report.objects.into_keys());
    Ok(VerifiedStore { reserve, handle, witness, findings, metrics, scanned })
}

fn open(directory: &Directory, metrics: &Arc<Metrics>) -> Result<Arc<Reserve>, OpenError> {
    let file = directory.open_file()?;
    let disk = FileDisk::new(&directory.file(), file, metrics.clone()).map_err(|source| directory.io(source))?;
    let disk = match directory.open_reserve() {
        Ok(reserve) => disk.with_reserve(reserve),
        Err(error) => {
            tracing::warn!(
                %error,
                "the store opens without space set aside, so nothing can be deleted once the disk is full; mend this and restart \
                 the server"
            );
            disk
        }
    };
    Ok(Arc::new(Reserve::new(Arc::new(disk))))
}

fn open_reading(directory: &Directory, disk: &Arc<dyn Disk>, options: &Options) -> Result<Handle, OpenError> {
    let opened = guarded(|| Handle::open_reading_all(disk, options));
    opened.map_err(|error| cannot_open(directory, error))
}

/// What verification found.
struct Inspection {
    report: Report,
    /// True if all pages match their checksums. A page without rows may belong to the engine's free list, and with a wrong
    /// free list the engine would overwrite pages in use.
    sound: bool,
    /// True if the newest values were passed on.
    passed: bool,
}

/// What reading without the engine found.
#[derive(Default)]
struct Direct {
    /// The report, if all pages match their checksums and all rows are in order.
    report: Option<Report>,
    /// True if values were passed on.
    passed: bool,
}

impl Direct {
    fn read(disk: &dyn Disk, prefixes: &[&str], visit: Visit<'_>) -> Self {
        let Some(pages) = Pages::open(disk) else { return Self::default() };
        let report = verify_and_scan(&pages, prefixes, visit, &mut |_, _, _| {}).ok();
        Self { report: report.filter(|report| report.is_whole() && pages.are_sound()), passed: true }
    }
}

/// Verifies all rows and all pages, as far as that is not done.
fn inspect(
    disk: &Arc<dyn Disk>,
    options: &Options,
    handle: &Handle,
    direct: Direct,
    prefixes: &[&str],
    visit: Visit<'_>,
) -> Result<Inspection, redb::Error> {
    // After a kill the engine may have gone back to an older commit.
    let state = Engines::open(handle.db())?.state()?;
    if let Some(report) = direct.report.filter(|report| report.state == state) {
        return Ok(Inspection { report, sound: true, passed: true });
    }
    // The values that were passed do not count, and nothing is passed twice.
    let passed = !direct.passed;
    let (prefixes, visit): (_, Visit<'_>) = if passed { (prefixes, visit) } else { (&[][..], &|_| {}) };
    let rows = || verify_and_scan(&Engines::open(handle.db())?, prefixes, visit, &mut |_, _, _| {});
    if handle.pages_verified {
        return Ok(Inspection { report: rows()?, sound: true, passed });
    }
    // The engine needs an opening of its own for this.
    let pages = || guarded(|| Handle::open_reading_all(disk, options)?.verify_pages()).is_ok();
    thread::scope(|scope| {
        let pages = scope.spawn(pages);
        let report = rows()?;
        Ok(Inspection { report, sound: pages.join().unwrap_or(false), passed })
    })
}

/// Logs the damage of a store.
fn tell(directory: &Directory, report: &Report, sound: bool, kept: &str) {
    let whole = |is: bool| if is { "whole" } else { "damaged" };
    tracing::error!(
        file = %directory.file().display(),
        kept,
        pages = whole(sound),
        log = whole(report.log_whole),
        index = whole(report.index_whole),
        marks = whole(report.marks_whole),
        lifetimes = whole(report.lifetimes_whole),
        objects = report.objects.len(),
        changes = report.history.len(),
        unnamed = report.unnamed,
        "the store is damaged; its readable part continues in a new file, and the damaged file is kept"
    );
}

fn cannot_make(directory: &Directory, error: MakeError) -> OpenError {
    match error {
        MakeError::File(error) => error.into(),
        MakeError::Fill(error) => cannot_open(directory, error),
    }
}

pub(super) fn cannot_open(directory: &Directory, error: redb::Error) -> OpenError {
    use std::io::ErrorKind::{InvalidData, UnexpectedEof};
    match error {
        // The engine reports a foreign or truncated file in this way.
        redb::Error::Io(source) if !matches!(source.kind(), InvalidData | UnexpectedEof) => directory.io(source),
        other => directory.damaged(other),
    }
}
