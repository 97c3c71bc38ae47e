//! `kindsmith store migrate`: a running server does the work, and Ctrl-C ends it.

use std::{
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::mpsc,
    thread,
};

use kindsmith::tools::{self, Error, Migration, Progress};

use super::{
    Outcome,
    progress::Bar,
    style::{bad, good, grouped},
    terminal::{print, report},
};

/// The events of a migration.
enum Event {
    Progress(Migration),
    Ended(thread::Result<Result<Vec<Migration>, Error>>),
    Interrupted,
}

pub(super) fn run(dir: PathBuf, resources: Vec<String>) -> Result<Outcome, Error> {
    let named = !resources.is_empty();
    let (tell, events) = mpsc::channel();
    let interrupted = tell.clone();
    thread::spawn(move || {
        // If signals cannot be handled, Ctrl-C ends the process without a message, and the server notices that, too.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if runtime.is_ok_and(|runtime| runtime.block_on(tokio::signal::ctrl_c()).is_ok()) {
            let _ = interrupted.send(Event::Interrupted);
        }
    });
    thread::spawn(move || {
        // After the receiver is gone, the process ends soon.
        let mut progress = |migration: &Migration| drop(tell.send(Event::Progress(migration.clone())));
        let migrate = || tools::migrate(&dir, &resources, &mut progress);
        let ended = panic::catch_unwind(AssertUnwindSafe(migrate));
        let _ = tell.send(Event::Ended(ended));
    });
    let (mut bar, mut rewritten, mut done) = (Bar::new(), 0, 0);
    for event in events {
        match event {
            Event::Progress(migration) => {
                rewritten = done + migration.rewritten;
                if migration.left == 0 {
                    done = rewritten;
                }
                let doing = format!("migrating {}", migration.resource);
                bar.show(Progress::new(&doing, migration.seen, migration.seen + migration.left));
            }
            Event::Ended(ended) => {
                drop(bar);
                let ended = ended.unwrap_or_else(|panic| panic::resume_unwind(panic));
                return ended.map(|migrated| summarize(&migrated, named));
            }
            Event::Interrupted => {
                drop(bar);
                report(format_args!(
                    "interrupted: at least {} objects are rewritten; the same command goes on with the rest",
                    grouped(rewritten)
                ));
                return Ok(Outcome::Interrupted);
            }
        }
    }
    unreachable!("the migration's thread says how it ended")
}

/// Prints the outcome of each resource that was named or has objects; returns whether no object was skipped.
fn summarize(migrated: &[Migration], named: bool) -> Outcome {
    for Migration { resource, seen, rewritten, skipped, reasons, .. } in migrated {
        if !named && *seen == 0 {
            continue;
        }
        print(format_args!(
            "{resource}: {} objects rewritten, {} already current, {} skipped\n",
            grouped(*rewritten),
            grouped(seen - rewritten - skipped),
            grouped(*skipped)
        ));
        for (key, why) in reasons {
            print(format_args!("  {} {key}: {why}\n", bad("skipped")));
        }
        if *skipped > reasons.len() as u64 {
            print(format_args!("  {} {} more\n", bad("skipped"), grouped(skipped - reasons.len() as u64)));
        }
    }
    if migrated.iter().any(|migration| migration.skipped > 0) {
        return Outcome::Damaged;
    }
    print(format_args!("{}\n", good("every object is stored in the current version")));
    Outcome::Whole
}
