//! The controller with the server's own client.
use controller::{Site, in_process};
use kindsmith::{Server, handlers::Client};

mod scenario;

#[tokio::test]
async fn a_site_is_published_and_withdrawn_in_the_process() {
    let server = Server::test().kind::<Site>().start().await;
    let controller = in_process::run(Client::new(server.api().clone(), "sites"), std::future::pending());
    tokio::select! {
        () = scenario::publishes(&server) => {}
        ended = controller => panic!("it goes on for as long as the server: {ended:?}"),
    }
}
