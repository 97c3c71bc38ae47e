//! `kindsmith store`: the verbs, and what they print. Results go to standard output, errors and progress to standard error.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use kindsmith::tools::{self, Backup, Error, Place};

use super::{
    Outcome,
    access::Access,
    copy, migrate,
    progress::Bar,
    style::{bad, bytes, good, grouped},
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Check, salvage, back up, restore, copy and migrate the data of a server.

The data directory is the one with the file store.redb. What is only read is never changed, and nothing is overwritten: \
targets must not exist (a directory may be empty).";

pub(super) const EXIT_CODES: &str = "\
Examples:
  kindsmith store check ./data
  kindsmith store backup ./data --to monday.backup

Exit codes:
  0  done, and nothing is wrong
  1  the store or the backup is damaged, or something could not be saved or migrated
  2  wrong usage, or the command could not do its work
  130  a migration or a copy was interrupted";

/// The verbs.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Check every checksum of a stopped server's store.
    #[command(
        long_about = "Check every checksum of a stopped server's store, and name what is damaged.\n\n\
            Nothing in the directory is changed. After a server was killed its file is repaired in memory for the check. \
            For a running server take a backup: that reads and checks every row, too.\n\n\
            A backup is read to its end, and its checksums are compared. In etcd all keys below the prefix are read at one \
            revision. The digest of keys and values does not depend on \
            where they are stored; with --against two stores are compared by key, also those of running servers.",
        after_help = EXAMPLE_OF_CHECK
    )]
    Check {
        /// The server's data directory, a backup, or etcd://HOST:PORT,HOST:PORT/PREFIX.
        place: String,
        /// Another place, which must hold the same objects.
        #[arg(long, value_name = "PLACE")]
        against: Option<String>,
        #[command(flatten)]
        access: Access,
    },
    /// Copy what can be read of a damaged store to a new directory, and name what cannot.
    #[command(
        long_about = "Copy what can be read of a damaged store to a new directory, and name what cannot.\n\n\
            Rows that the tables no longer lead to are searched for in the whole file. An object that only such a search \
            found is copied and named as uncertain: it may have been changed or deleted since. Where anything is lost or \
            uncertain, the new store has no history and a newer resourceVersion than any before, so that every client \
            lists anew.",
        after_help = EXAMPLE_OF_SALVAGE
    )]
    Salvage {
        /// The server's data directory.
        dir: PathBuf,
        /// The directory to make; it must not exist, or be empty.
        #[arg(long, value_name = "NEWDIR")]
        to: PathBuf,
    },
    /// Write a consistent copy of a store to one file, while its server runs or not.
    #[command(
        long_about = "Write a consistent copy of a store to one file, and verify the file.\n\n\
            A running server is asked through the socket store.sock in its data directory; it goes on serving and \
            writing. The file holds the objects and their history as they were at one revision. It does not hold the \
            other files of the data directory: certificates, tokens and the kubeconfig.\n\n\
            A backup of etcd is a copy of the keys below a prefix (`kindsmith store copy`), without history. Nothing is \
            written to etcd. A backup that was cut is completed by the same command.",
        after_help = EXAMPLE_OF_BACKUP
    )]
    Backup {
        /// The server's data directory, or etcd://HOST:PORT,HOST:PORT/PREFIX.
        place: String,
        /// The file to write; it must not exist.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
        #[command(flatten)]
        access: Access,
    },
    /// Make a store of a backup, in a new directory or in etcd.
    #[command(
        long_about = "Make a store of a backup, in a new directory or in etcd.\n\n\
            The backup is checked to its end before the directory appears. The store has the same objects, \
            resourceVersions and history as when the backup was made. Certificates and tokens are not in a backup: \
            a server makes new ones, or copy the old files into the directory.\n\n\
            In etcd objects get new resourceVersions, and there is no history (`kindsmith store copy`).",
        after_help = EXAMPLE_OF_RESTORE
    )]
    Restore {
        /// The backup.
        file: PathBuf,
        /// The directory to make, which must not exist, or be empty; or etcd://HOST:PORT,HOST:PORT/PREFIX without keys.
        #[arg(long, value_name = "PLACE")]
        to: String,
        #[command(flatten)]
        access: Access,
    },
    /// Copy a store to another place while its server runs or not, and verify it.
    #[command(long_about = copy::ABOUT, after_help = copy::EXAMPLE)]
    Copy(copy::Command),
    /// Let a running server rewrite objects that are stored in an old version of their kind.
    #[command(
        long_about = "Let a running server rewrite objects that are stored in an old version of their kind.\n\n\
            Objects that were stored in another version, or under another schema, are rewritten in the version in which \
            new objects are stored, so that the program can drop the old version. Only the program that declares the kinds \
            can do that: the command asks it through the socket store.sock in its data directory, and it keeps serving \
            requests. Objects that cannot be rewritten are named and left unchanged. Ctrl-C ends the migration; run the \
            command again to migrate the remaining objects.",
        after_help = EXAMPLE_OF_MIGRATE
    )]
    Migrate {
        /// The server's data directory.
        dir: PathBuf,
        /// Resources such as books.library.example.com; without any, all of them.
        #[arg(value_name = "RESOURCE")]
        resources: Vec<String>,
    },
}

const EXAMPLE_OF_CHECK: &str = "\
Example:
  kindsmith store check ./data
  kindsmith store check ./data --against monday.backup";

const EXAMPLE_OF_SALVAGE: &str = "\
Example:
  kindsmith store salvage ./data --to ./data-salvaged";

const EXAMPLE_OF_BACKUP: &str = "\
Example:
  kindsmith store backup ./data --to monday.backup
  kindsmith store backup etcd://10.0.0.1:2379/registry --to monday.backup --etcd-ca ca.pem";

const EXAMPLE_OF_RESTORE: &str = "\
Example:
  kindsmith store restore monday.backup --to ./data-of-monday";

const EXAMPLE_OF_MIGRATE: &str = "\
Example:
  kindsmith store migrate ./data books.library.example.com";

/// Runs a verb.
pub(super) fn run(command: Command) -> Outcome {
    let done = match command {
        Command::Check { place, against: Some(other), access } => {
            access.places([&place, &other]).and_then(|[left, right]| copy::compare(&left, &right))
        }
        Command::Check { place, against: None, access } => match access.places([&place]) {
            Ok([Place::Directory(dir)]) => check(&dir),
            Ok([place]) => copy::inspect(&place),
            Err(error) => Err(error),
        },
        Command::Salvage { dir, to } => salvage(&dir, &to),
        Command::Backup { place, to, access } => match access.places([&place]) {
            Ok([Place::Directory(dir)]) => backup(&dir, &to),
            Ok([place]) => copy::copy(&place, &Place::Backup(to), false),
            Err(error) => Err(error),
        },
        Command::Restore { file, to, access } => match access.places([&to]) {
            Ok([Place::Directory(dir) | Place::Backup(dir)]) => restore(&file, &dir),
            Ok([place]) => copy::copy(&Place::Backup(file), &place, false),
            Err(error) => Err(error),
        },
        Command::Copy(command) => copy::run(&command),
        Command::Migrate { dir, resources } => migrate::run(dir, resources),
    };
    done.unwrap_or_else(|error| {
        if matches!(error, Error::Interrupted) {
            report(format_args!("{error}"));
            return Outcome::Interrupted;
        }
        report(format_args!("error: {error}"));
        if error.is_damage() { Outcome::Damaged } else { Outcome::Failed }
    })
}

fn check(dir: &Path) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let found = tools::check(dir, &mut |progress| bar.show(progress))?;
    let place = Place::Directory(dir.to_owned());
    let contents =
        if found.is_whole() { Some(tools::inspect(&place, &mut |progress| bar.show(progress))?) } else { None };
    drop(bar);
    let verdict = if found.is_whole() { good("whole") } else { bad("damaged") };
    print(format_args!(
        "{}: {verdict}\n  {} rows read, {}; {} objects; the newest resourceVersion is {}, history begins after {}\n",
        dir.display(),
        grouped(found.rows),
        bytes(found.bytes),
        grouped(found.objects),
        found.head,
        found.compacted
    ));
    if let Some(contents) = &contents {
        copy::print_contents(contents);
    }
    if found.was_killed {
        print(format_args!("  the server was killed: its file was repaired in memory for this check\n"));
    }
    for (key, damage) in &found.damaged {
        print(format_args!("  {} {key}: {damage}\n", bad("object")));
    }
    for revision in &found.damaged_changes {
        print(format_args!("  {} the change of resourceVersion {revision} cannot be read\n", bad("history")));
    }
    for fault in &found.faults {
        print(format_args!("  {} {fault}\n", bad("store")));
    }
    if found.is_whole() {
        return Ok(Outcome::Whole);
    }
    report(format_args!(
        "copy what can be read with `kindsmith store salvage`, or restore a backup with `kindsmith store restore`"
    ));
    Ok(Outcome::Damaged)
}

fn salvage(dir: &Path, to: &Path) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let saved = tools::salvage(dir, to, &mut |progress| bar.show(progress))?;
    drop(bar);
    print(format_args!("salvaged {} to {}\n", dir.display(), to.display()));
    print(format_args!(
        "  {} objects, {} rows; the newest resourceVersion is {}, history begins after {}\n",
        grouped(saved.objects),
        grouped(saved.rows),
        saved.head,
        saved.compacted
    ));
    if saved.is_complete() {
        print(format_args!("  {}\n", good("nothing was lost")));
        return Ok(Outcome::Whole);
    }
    if let Some(why) = &saved.unopened {
        print(format_args!("  the file could not be opened, its rows were searched for: {why}\n"));
    }
    for key in &saved.lost {
        print(format_args!("  {} {key}\n", bad("lost")));
    }
    if saved.lost_rows > 0 {
        print(format_args!(
            "  {} {} rows of which it is not known what they held\n",
            bad("lost"),
            grouped(saved.lost_rows)
        ));
    }
    for key in &saved.uncertain {
        print(format_args!("  {} {key}: it may have been changed or deleted since\n", bad("uncertain")));
    }
    if saved.history_cut {
        print(format_args!("  history was dropped: clients list anew\n"));
    }
    Ok(Outcome::Damaged)
}

fn backup(dir: &Path, to: &Path) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let backup = tools::backup(dir, to, &mut |progress| bar.show(progress))?;
    drop(bar);
    let source = if backup.online { " (its server is running)" } else { "" };
    print(format_args!("backed up {}{source} to {}\n", dir.display(), to.display()));
    print_contents(&backup);
    Ok(Outcome::Whole)
}

fn restore(file: &Path, to: &Path) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let backup = tools::restore(file, to, &mut |progress| bar.show(progress))?;
    drop(bar);
    print(format_args!("restored {} to {}\n", file.display(), to.display()));
    print_contents(&backup);
    Ok(Outcome::Whole)
}

fn print_contents(backup: &Backup) {
    print(format_args!(
        "  {} objects, {} rows, {}; the newest resourceVersion is {}, history begins after {}\n",
        grouped(backup.objects),
        grouped(backup.rows),
        bytes(backup.bytes),
        backup.head,
        backup.compacted
    ));
}
