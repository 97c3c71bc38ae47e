//! The controller with the server's own client.
use controller::{Site, in_process};
use kindsmith::Server;

mod scenario;

#[tokio::test]
async fn a_site_is_published_and_withdrawn_in_the_process() {
    let server =
        Server::test().kind::<Site>().configure(|server| server.controller("sites", in_process::run)).start().await;
    scenario::publishes(&server).await;
}
