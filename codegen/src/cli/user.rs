//! `kindsmith user`: lets further users in, and shows and removes them.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};
use kindsmith::server::users::{AddedUser, BoundUser, Credential, NewUser, Target};

use super::{
    Outcome,
    style::remark,
    terminal::{print, report},
};

pub(super) const ABOUT: &str = "Let further users in, and show and remove them.

The server of the data directory may run or not. For one elsewhere, --kubeconfig names the kubeconfig of an administrator.";

pub(super) const EXAMPLES: &str = "\
Examples:
  kindsmith user add ada --role edit --namespace default
  kindsmith user add ci --token --role edit --namespace default --valid-for 30d
  kindsmith user list
  kindsmith user remove ada";

const ABOUT_ADD: &str = "Let a user in: bind a role, make a certificate or a token, and write a kubeconfig with it.

A person gets a client certificate, signed with client-ca.key in the server's data directory. A program, such as CI, gets \
a token of a service account (--token), which deleting the account ends. A certificate cannot be taken back: it stays valid until it \
expires, with what its groups and other bindings allow.

The same command for a user who is there binds another role, or makes a new certificate.";

const EXAMPLES_OF_ADD: &str = "\
Examples:
  kindsmith user add ada --role edit --namespace default
  kindsmith user add grace --group readers --data-dir /var/lib/library --server https://library.example.com:8443
  kindsmith user add ci --token --role edit --namespace default --kubeconfig admin.conf --output ci.conf";

const EXAMPLES_OF_LIST: &str = "\
Examples:
  kindsmith user list
  kindsmith user list --kubeconfig admin.conf";

const EXAMPLES_OF_REMOVE: &str = "\
Examples:
  kindsmith user remove ada
  kindsmith user remove ci --namespace default --kubeconfig admin.conf";

/// The verbs.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Let a user in, and write a kubeconfig for them.
    #[command(long_about = ABOUT_ADD, after_help = EXAMPLES_OF_ADD)]
    Add(Add),
    /// Show the users that were added, with their roles.
    #[command(after_help = EXAMPLES_OF_LIST)]
    List {
        #[command(flatten)]
        place: ServerArguments,
    },
    /// Remove the bindings that adding a user made, and its service account.
    #[command(after_help = EXAMPLES_OF_REMOVE)]
    Remove {
        /// The user.
        name: String,
        /// Only what is in this namespace.
        #[arg(long, short, value_name = "NAMESPACE")]
        namespace: Option<String>,
        #[command(flatten)]
        place: ServerArguments,
    },
}

/// Which server.
#[derive(Args)]
pub(super) struct ServerArguments {
    /// The server's data directory; by default ./data.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The kubeconfig of an administrator of a running server, if it is not the one in the data directory.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

/// The arguments of `add`.
#[derive(Args)]
pub(super) struct Add {
    /// The name of the user, or of the service account.
    name: String,
    /// A group of the user; may be repeated.
    #[arg(long, value_name = "GROUP", conflicts_with = "token")]
    group: Vec<String>,
    /// The role, such as view, edit, admin or cluster-admin: a ClusterRole, or a Role of the namespace.
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The namespace in which the role holds; without it, the role holds everywhere.
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Make a client certificate; the default where the data directory is at hand.
    #[arg(long, conflicts_with = "token")]
    certificate: bool,
    /// Make a service account with a token.
    #[arg(long)]
    token: bool,
    /// How long the certificate or the token is valid: a number with s, m, h or d.
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = time)]
    valid_for: Duration,
    /// The URL of the server in the new kubeconfig, if it is not the one that the administrator uses.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The kubeconfig to write; by default NAME.kubeconfig. It must not exist.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: ServerArguments,
}

/// The data directory of `kindsmith serve`.
const DATA_DIR: &str = "./data";

impl ServerArguments {
    fn target(self) -> Target {
        let Self { data_dir, kubeconfig } = self;
        let data_dir = data_dir.or_else(|| kubeconfig.is_none().then(|| DATA_DIR.into()));
        Target { data_dir, kubeconfig }
    }
}

/// Runs a verb.
pub(super) fn run(command: Command) -> Result<Outcome, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    match command {
        Command::Add(command) => runtime.block_on(add(command))?,
        Command::List { place } => {
            let users = runtime.block_on(place.target().list()).map_err(|error| error.to_string())?;
            show(&users);
        }
        Command::Remove { name, namespace, place } => {
            let removing = place.target();
            let removed =
                runtime.block_on(removing.remove(&name, namespace.as_deref())).map_err(|error| error.to_string())?;
            for line in removed {
                print(format_args!("{line}\n"));
            }
        }
    }
    Ok(Outcome::Whole)
}

async fn add(command: Add) -> Result<(), String> {
    let Add { name, group: groups, role, namespace, certificate, token, valid_for, server, output, place } = command;
    let target = place.target();
    let is_token = token || (!certificate && target.data_dir.is_none());
    let output = output.unwrap_or_else(|| format!("{}.kubeconfig", name.replace('/', "-")).into());
    let credential = if is_token { Credential::Token } else { Credential::Certificate };
    let has_role = role.is_some();
    let user = NewUser { name, groups, credential, role, namespace, valid_for, server };
    // First: what was made could not be shown again.
    let mut file = create(&output)?;
    let added = target.add(&user).await.map_err(|error| {
        // It is empty, and the error of the server says more than that of the file would.
        drop(fs::remove_file(&output));
        error.to_string()
    })?;
    let written = file.write_all(added.kubeconfig.as_bytes());
    written.map_err(|error| format!("the kubeconfig {} could not be written: {error}", output.display()))?;
    print_added(&added, &output, &user, has_role);
    Ok(())
}

/// Creates a file that only its owner can read.
fn create(path: &Path) -> Result<File, String> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    created.map_err(|error| {
        let shown = path.display();
        if error.kind() == ErrorKind::AlreadyExists {
            format!("{shown} exists, and nothing was done; choose another file with --output")
        } else {
            format!("the kubeconfig {shown} cannot be created: {error}; nothing was done")
        }
    })
}

fn print_added(added: &AddedUser, output: &Path, user: &NewUser, has_role: bool) {
    for line in &added.changes {
        print(format_args!("{line}\n"));
    }
    let what = if user.credential == Credential::Token { "token" } else { "certificate" };
    print(format_args!("kubeconfig: {} ({what} of {}, until {})\n", output.display(), added.user, added.expires));
    if !has_role {
        report(format_args!(
            "{}",
            remark("without --role the user may do next to nothing, unless a binding names them or a group")
        ));
    }
    let scope = if user.namespace.is_some() { "" } else { " --all-namespaces" };
    print(format_args!("\nTry:\n\n"));
    print(format_args!("  export KUBECONFIG={}\n", quoted(output)));
    print(format_args!("  kubectl auth whoami\n  kubectl auth can-i --list\n  kubectl get configmaps{scope}\n"));
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Prints a table of users.
fn show(users: &[BoundUser]) {
    if users.is_empty() {
        report(format_args!("no users were added yet; kindsmith user add adds one"));
        return;
    }
    let rows = users.iter().map(|user| {
        let namespace = if user.namespace.is_empty() { "(all)" } else { &user.namespace };
        [&*user.name, &*user.kind, &*user.role, namespace]
    });
    let rows: Vec<[&str; 4]> = [["NAME", "KIND", "ROLE", "NAMESPACE"]].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2].map(width);
    for [name, kind, role, namespace] in rows {
        let [of_name, of_kind, of_role] = widths;
        print(format_args!("{name:of_name$}   {kind:of_kind$}   {role:of_role$}   {namespace}\n"));
    }
}

/// Reads a duration such as `90d`, `12h` or `30m`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number with s, m, h or d, such as 90d".to_owned();
    let unit = text.chars().last().filter(char::is_ascii).ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let total = number.checked_mul(seconds).filter(|total| *total > 0).ok_or_else(wrong)?;
    Ok(Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(time("30s"), Ok(Duration::from_secs(30)));
        for wrong in ["", "90", "d", "0d", "-1d", "1.5h", "1w", "1é", "99999999999999999d"] {
            assert!(time(wrong).unwrap_err().contains("such as 90d"), "{wrong}");
        }
    }
}
