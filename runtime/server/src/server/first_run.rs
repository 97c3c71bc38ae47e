//! The kubeconfig, and sample commands for the user who started the server.

use std::{fmt::Write, path::PathBuf};

use super::{Result, state::StateDir};
use crate::{
    kind::{Kind, model::Scope},
    storage::private::{Access, PrivateDir, quoted},
};

/// The name of the kubeconfig in the data directory.
pub(super) const KUBECONFIG: &str = "kubeconfig";
/// The maximum number of kinds in the sample commands.
const MOST_SAMPLES: usize = 8;

/// The kubeconfig without the admin token.
pub(super) struct Kubeconfig {
    /// The base of the server's URLs.
    pub url: String,
    /// The certificate authority to trust; if absent, the client's system decides.
    pub authority_pem: Option<String>,
}

impl Kubeconfig {
    /// Writes it with this token.
    pub(super) fn write(&self, files: &PrivateDir, token: &str) -> Result<()> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let url = &self.url;
        let authority = self
            .authority_pem
            .as_ref()
            .map_or(String::new(), |pem| format!("\n    certificate-authority-data: {}", STANDARD.encode(pem)));
        let text = format!(
            "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: kindsmith\n  cluster:\n    server: {url}{authority}\n\
         users:\n\
         - name: admin\n  user:\n    token: {token}\n\
         contexts:\n\
         - name: kindsmith\n  context:\n    cluster: kindsmith\n    user: admin\n\
         current-context: kindsmith\n"
        );
        Ok(files.write(KUBECONFIG, Access::Secret, &text)?)
    }
}

/// The data for the sample commands.
#[derive(Default)]
pub(super) struct Samples {
    /// The builder's kinds.
    pub kinds: Vec<Kind>,
    /// A manifest to apply.
    pub manifest: Option<PathBuf>,
    /// Further commands.
    pub commands: Vec<String>,
    /// True if clients need the certificate authority.
    pub own_authority: bool,
}

impl Samples {
    /// The sample commands for a server that created its admin token.
    pub(super) fn commands(&self, state: &StateDir, url: &str) -> String {
        let tls = url.starts_with("https:");
        let mut text = String::new();
        let mut line =
            |words: std::fmt::Arguments<'_>| writeln!(text, "{words}").expect("writing to a String cannot fail");
        if tls {
            line(format_args!("kubeconfig: {}", state.files.file(KUBECONFIG).display()));
            line(format_args!("\nTry, in another terminal:\n"));
            line(format_args!("  export KUBECONFIG={}", quoted(&state.files.file(KUBECONFIG))));
            line(format_args!("  kubectl api-resources"));
            if let Some(manifest) = &self.manifest {
                line(format_args!("  kubectl apply -f {}", quoted(manifest)));
            }
            for kind in self.listed().take(MOST_SAMPLES) {
                line(format_args!("  kubectl explain {}", kind.names().plural));
                let everywhere = if kind.shared.scope == Scope::Namespaced { " -A" } else { "" };
                // Virtual kinds cannot be read.
                if kind.shared.stored {
                    line(format_args!("  kubectl get {}{everywhere}", kind.names().plural));
                }
            }
            for command in &self.commands {
                line(format_args!("  {command}"));
            }
        } else {
            // kubectl sends no token over plain HTTP, so there is no kubeconfig to offer.
            line(format_args!("\nTry, in another terminal (kubectl needs TLS: it sends no token over plain HTTP):\n"));
        }
        let path = self.listed().find(|kind| kind.shared.stored).map_or("/api/v1/namespaces".to_owned(), |kind| {
            let root = if kind.group_version.group.is_empty() { "/api" } else { "/apis" };
            format!("{root}/{}/{}", kind.group_version, kind.names().plural)
        });
        let trust = if tls && self.own_authority {
            format!(" --cacert {}", quoted(&state.files.file("ca.crt")))
        } else {
            String::new()
        };
        let token = quoted(&state.files.file("admin.token"));
        line(format_args!("  curl{trust} -H \"Authorization: Bearer $(cat {token})\" {url}{path}"));
        text
    }

    /// The served kinds, each once, in its first served version. Those that `kubectl get all` shows come first.
    fn listed(&self) -> impl Iterator<Item = &Kind> {
        let served = || self.kinds.iter().filter(|kind| kind.version.served);
        let once = served().enumerate().filter_map(move |(at, kind)| {
            let is_same =
                |other: &Kind| other.shared.names == kind.shared.names && other.group_kind() == kind.group_kind();
            (!served().take(at).any(is_same)).then_some(kind)
        });
        let mut once: Vec<_> = once.collect();
        once.sort_by_key(|kind| !kind.names().categories.iter().any(|category| category == "all"));
        once.into_iter()
    }
}
