//! The flags of a server under the conformance kit, and what they set. The server of generated kinds (`tests/generated`) has the same.

use std::path::PathBuf;

use clap::Args;
use kindsmith::server::Builder;

/// How to serve.
#[derive(Args)]
pub(super) struct Flags {
    /// Address to listen on; port 0 chooses a free one.
    #[arg(long, default_value = "127.0.0.1:18080")]
    listen: String,
    /// Directory that keeps the objects; without it they are kept in memory.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// URLs of the etcd that keeps the objects; the data directory then keeps the server's files.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    etcd: Vec<String>,
    /// File of `token,user,uid,"group,group"` lines; without it an admin token is created.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Use TLS with the server's own certificate.
    #[arg(long)]
    tls: bool,
}

impl Flags {
    /// Serves until a signal, with CustomResourceDefinitions, and without controllers, as kube-apiserver does under the kit.
    pub(super) async fn serve(self, server: Builder) -> kindsmith::Result<()> {
        let mut server = server.definitions().without_builtin_controllers();
        server = match self.data_dir {
            Some(path) => server.data_dir(path),
            None => server.memory(),
        };
        if !self.etcd.is_empty() {
            server = server.etcd(kindsmith::EtcdOptions::new(self.etcd));
        }
        if let Some(path) = self.token_file {
            server = server.token_file(path);
        }
        if !self.tls {
            server = server.http();
        }
        server.serve(&self.listen).await
    }
}
