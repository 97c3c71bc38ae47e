//! Servers with pods.

use kindsmith::{Server, server::TestServer};
pub(crate) use pod_server::flooded;
use serde_json::json;

/// The pods' path.
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server with the pods `one`, `endless` and `breaks`.
pub(crate) async fn server() -> TestServer {
    let server = Server::test().configure(pod_server::serve).start().await;
    for name in ["one", "endless", "breaks"] {
        let containers = json!([{"name": "main", "stdin": true}]);
        let pod = json!({"metadata": {"name": name}, "spec": {"containers": containers}});
        let (code, answer) = server.call("POST", PODS, pod).await;
        assert_eq!(code, 201, "{answer}");
        let status = json!({"status": {"phase": "Running"}});
        assert_eq!(server.call("PATCH", &format!("{PODS}/{name}/status"), status).await.0, 200);
    }
    server
}
