//! Serves the library: `cargo run -p library`; `cargo run -p library -- --help` lists its settings.
//! With objects in etcd: `cargo run -p library --features etcd -- --etcd-endpoint http://127.0.0.1:2379`.

use kindsmith::{Server, server::Settings};

/// The directory of this package, with the sample manifests.
const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// The book that the first manifest creates.
const BOOK: &str = "/apis/library.example.com/v1/namespaces/default/books/moby-dick";

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = library::serve(Server::builder())
        .sample_manifest(format!("{HERE}/book.yaml"))
        .sample_command("kubectl get books.v1beta1.library.example.com moby-dick -o yaml")
        .sample_command(format!("kubectl create -o yaml -f '{HERE}/review.yaml'"))
        .sample_command(format!("kubectl create --raw {BOOK}/lend -f '{HERE}/loan.json'"))
        .sample_command(format!("kubectl get --raw {BOOK}/log    # add ?follow=true to follow it"))
        .sample_command(format!("kubectl create --raw {BOOK}/return -f '{HERE}/loan.json'"));
    settings.serve(server).await
}
