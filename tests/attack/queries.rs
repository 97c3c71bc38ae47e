//! Malformed queries must not widen the effect of a request.

use kindsmith_tests::Random;
use serde_json::json;

use super::{Setup, Target};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// Insertions into a query: bytes that are not UTF-8, and invalid escapes. The query is invalid whatever follows.
const BROKEN: [&str; 8] = ["%ff", "%zz", "%c3%28", "%80", "%f0%9f", "%fe%fe", "%ed%a0%80", "%z"];

/// A deletion of a collection by a selector that matches nothing, with a malformed value, and a dry run of it: 300
/// queries, each refused with 400, and nothing is deleted or written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_query_never_widens_a_request() {
    let target = Target::start(Setup::default());
    target.fill(3, 10).await;
    let (mut client, mut random) = (target.client(), Random::from_environment());
    for number in 0..300 {
        let parameter = ["labelSelector=a%3Dnone", "fieldSelector=metadata.name%3Dnone", "dryRun=All"][number % 3];
        let (name, value) = parameter.split_once('=').unwrap();
        // Not inside an escape of three bytes, where the insertion would have another meaning.
        let places: Vec<usize> =
            (0..=value.len()).filter(|at| !value[..*at].ends_with('%') && !value[..*at].ends_with("%3")).collect();
        let (before, after) = value.split_at(*random.pick(&places));
        let query = format!("{name}={before}{}{after}", random.pick(&BROKEN));
        let answer = if name == "dryRun" {
            client.json("POST", &format!("{PATH}?{query}"), &json!({"metadata": {"name": "written"}})).await
        } else {
            client.json("DELETE", &format!("{PATH}?{query}"), &serde_json::Value::Null).await
        };
        let answer = answer.unwrap();
        assert_eq!(answer.status, 400, "{query}: {:?}", answer.body);
    }
    let left = client.get(PATH).await.unwrap().json();
    assert_eq!(left["items"].as_array().map(Vec::len), Some(3), "{left}");
}
