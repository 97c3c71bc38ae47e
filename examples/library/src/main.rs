//! Serves the library: `cargo run -p library`, or `cargo run -p library -- 127.0.0.1:0` for a free port.
//! With objects in etcd: `cargo run -p library --features etcd -- --etcd http://127.0.0.1:2379`; `etcd.rs` has the other flags.

use kindsmith::Server;

/// The directory of this package, with the sample manifests.
const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// The book that the first manifest creates.
const BOOK: &str = "/apis/library.example.com/v1/namespaces/default/books/moby-dick";

#[tokio::main]
async fn main() -> kindsmith::Result<()> {
    let _log = kindsmith::logging::init("info");
    let server = library::serve(Server::builder());
    #[cfg(feature = "etcd")]
    let (address, server) = library::etcd::configure(server, std::env::args().skip(1)).unwrap_or_else(|why| {
        eprintln!("{why}");
        std::process::exit(2)
    });
    #[cfg(not(feature = "etcd"))]
    let (address, server) = (std::env::args().nth(1), server.data_dir("./data"));
    let address = address.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    server
        .sample_manifest(format!("{HERE}/book.yaml"))
        .sample_command("kubectl get books.v1beta1.library.example.com moby-dick -o yaml")
        .sample_command(format!("kubectl create -o yaml -f '{HERE}/review.yaml'"))
        .sample_command(format!("kubectl create --raw {BOOK}/lend -f '{HERE}/loan.json'"))
        .sample_command(format!("kubectl get --raw {BOOK}/log    # add ?follow=true to follow it"))
        .sample_command(format!("kubectl create --raw {BOOK}/return -f '{HERE}/loan.json'"))
        .serve(&address)
        .await
}
