//! `kindsmith store copy`, and the comparison of two stores.

use std::sync::Arc;

use clap::Args;
use kindsmith::tools::{self, Contents, Copied, CopyOptions, Error, Foreign, Interrupt, Place};

use super::{
    Outcome,
    access::Access,
    progress::Bar,
    style::{bad, bytes, good, grouped, remark},
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Copy a store to another place while its server runs or not, and verify it.

A place is a data directory, a backup, or etcd://HOST:PORT,HOST:PORT/PREFIX: the keys below a prefix of etcd, of all servers that \
use it. A target that does not exist yet is a backup if its name ends in .backup, and a data directory otherwise. A running server is asked through the socket store.sock in its data directory; it goes on serving and \
writing. The target gets the objects as they are at one revision, and no history. It appears under its name when it is complete, \
after both were read once more and compared.

A copy that was cut (Ctrl-C, a full disk, a server that stopped) leaves what it has beside the target, in .NAME.copy. The same \
command goes on from there. Remove that directory to begin again.

With --follow the copy applies what the server writes, until the server is stopped: then it completes the target, and a server \
can be started with it. Ctrl-C completes the target, too. From etcd only Ctrl-C does: stop the servers that use the prefix, \
and press it.

Objects keep their resourceVersions, and later ones are greater than any before. A client that is behind the newest \
resourceVersion lists anew. In etcd they get new resourceVersions, which may be smaller than before: restart clients that keep state. \
Uids stay. Of objects that share a resourceVersion in etcd, which transactions of other tools cause, all but one get new ones elsewhere.

A target in etcd is a prefix without keys. Until the copy is complete, the key PREFIX/kindsmith.copy has how far it is, and servers \
refuse the prefix. Of etcd nothing but the keys below the prefix is read or written, and it is not compacted.";

pub(super) const EXAMPLE: &str = "\
Example:
  kindsmith store copy ./data ./data-new --follow
  kindsmith store copy ./data monday.backup
  kindsmith store copy etcd://10.0.0.1:2379,10.0.0.2:2379/registry ./data --etcd-ca ca.pem";

/// The arguments.
#[derive(Args)]
pub(super) struct Command {
    /// What to copy.
    from: String,
    /// Where to; it must not exist, unless an unfinished copy began it.
    to: String,
    /// Go on to copy changes until the server is stopped (not from etcd), or until Ctrl-C.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    access: Access,
}

pub(super) fn run(command: &Command) -> Result<Outcome, Error> {
    let [from, to] = command.access.places([&command.from, &command.to])?;
    copy(&from, &to, command.follow)
}

pub(super) fn copy(from: &Place, to: &Place, follow: bool) -> Result<Outcome, Error> {
    let mut options = CopyOptions::default();
    options.follow = follow;
    on_interrupt(Arc::clone(&options.interrupt));
    let (mut bar, mut follows) = (Bar::new(), false);
    let copied = tools::copy(from, to, &options, &mut |progress| {
        if progress.doing.starts_with("following") && !follows {
            follows = true;
            bar.clear();
            // etcd does not say whether a server uses it.
            let how = match from {
                Place::Directory(_) => "stop its server, or press Ctrl-C,",
                _ => "press Ctrl-C, after the servers that use it have stopped,",
            };
            report(format_args!("following {from}: {how} to complete {to}"));
        }
        bar.show(progress);
    })?;
    drop(bar);
    print(format_args!("copied {from} to {to}\n"));
    Ok(summarize(&copied))
}

/// Asks for the end of a copy at each Ctrl-C. If signals cannot be handled, Ctrl-C ends the process; the copy can be resumed then, too.
fn on_interrupt(interrupt: Arc<Interrupt>) {
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        while runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            interrupt.request();
        }
    });
}

fn summarize(copied: &Copied) -> Outcome {
    let Copied { digest, .. } = copied;
    print(format_args!(
        "  {} objects, {}, as of resourceVersion {}; the target's newest is {}\n",
        grouped(digest.objects),
        bytes(digest.bytes),
        copied.source_head,
        copied.target_head
    ));
    if copied.resumed {
        print(format_args!("  the copy was begun by an earlier run\n"));
    }
    if copied.restarts > 0 {
        print(format_args!("  all objects were compared again, because history since the beginning was compacted\n"));
    }
    if copied.renumbered > 0 {
        let renumbered = grouped(copied.renumbered);
        print(format_args!("  {renumbered} objects have new resourceVersions: clients list anew\n"));
    }
    print(format_args!("  {}: both have the digest {digest}\n", good("verified")));
    print_foreign(copied.foreign, &copied.foreigners);
    if copied.damaged == 0 {
        return Outcome::Whole;
    }
    for (key, damage) in &copied.damages {
        print(format_args!("  {} {key}: {damage}\n", bad("not copied")));
    }
    print_rest("not copied", copied.damaged, copied.damages.len());
    Outcome::Damaged
}

fn print_foreign(count: u64, first: &[(String, Foreign)]) {
    for (key, foreign) in first {
        print(format_args!("  {} {key}: {foreign}\n", remark("foreign")));
    }
    print_rest("foreign", count, first.len());
}

fn print_rest(what: &str, count: u64, printed: usize) {
    let rest = count.saturating_sub(printed as u64);
    if rest > 0 {
        print(format_args!("  {} {} more\n", bad(what), grouped(rest)));
    }
}

/// Prints the digest of a store and the values that cannot be read.
pub(super) fn print_contents(contents: &Contents) {
    let Contents { digest, .. } = contents;
    print(format_args!("  {} objects, {}: digest {digest}\n", grouped(digest.objects), bytes(digest.bytes)));
    print_foreign(contents.foreign, &contents.foreigners);
}

/// Reads a store that is not a data directory.
pub(super) fn inspect(place: &Place) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let contents = tools::inspect(place, &mut |progress| bar.show(progress))?;
    drop(bar);
    print(format_args!("{place}: {}, as of resourceVersion {}\n", good("whole"), contents.head));
    print_contents(&contents);
    Ok(Outcome::Whole)
}

/// Compares two stores.
pub(super) fn compare(left: &Place, right: &Place) -> Result<Outcome, Error> {
    let mut bar = Bar::new();
    let found = tools::compare(left, right, &mut |progress| bar.show(progress))?;
    drop(bar);
    for (place, contents) in [(left, &found.left), (right, &found.right)] {
        print(format_args!("{place}: as of resourceVersion {}\n", contents.head));
        print_contents(contents);
        for (key, damage) in &contents.damages {
            print(format_args!("  {} {key}: {damage}\n", bad("object")));
        }
        print_rest("object", contents.damaged, contents.damages.len());
    }
    if found.is_equal() {
        print(format_args!("{}\n", good("both hold the same objects")));
        return Ok(Outcome::Whole);
    }
    for key in &found.keys {
        print(format_args!("  {} {key}\n", bad("different")));
    }
    print_rest("different", found.different, found.keys.len());
    Ok(Outcome::Damaged)
}
