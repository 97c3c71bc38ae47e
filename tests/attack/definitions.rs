//! Definitions of strangers: patterns, defaults, enums, columns that multiply, and objects that make use of them.

use std::time::{Duration, Instant};

use kindsmith_tests::Client;
use serde_json::{Map, Value, json};

use super::{Bounds, Observation, Setup, Target, size};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

/// A version of things with these fields in their spec.
fn version(count: usize, field: impl Fn(usize) -> Value) -> Value {
    let fields: Map<_, _> = (0..count).map(|number| (format!("f{number}"), field(number))).collect();
    let spec = json!({"type": "object", "properties": fields});
    json!({"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
}

fn text(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// Requests a definition; the path may ask for a dry run. Returns the status and the message.
async fn define(client: &mut Client, path: &str, version: Value) -> (u16, String) {
    let answer = client.json("POST", path, &Target::definition(version)).await.unwrap();
    (answer.status, answer.json()["message"].as_str().unwrap_or_default().to_owned())
}

/// Deletes the definition, and waits until it is gone.
async fn delete(client: &mut Client) {
    let path = format!("{DEFINITIONS}/things.things.example.com");
    client.json("DELETE", &path, &Value::Null).await.unwrap();
    while client.get(&path).await.unwrap().status != 404 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A thousand patterns in 55 KB, of megabytes each when compiled, are refused; a thousand ordinary ones are served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_patterns_cost_what_reading_them_costs() {
    let target = Target::start(Setup::default());
    let mut client = target.client();
    let observation = Observation::begin("a thousand patterns", &target).await;
    let start = Instant::now();
    let large = version(1_000, |number| text(&format!("{}{number}", "[a-z]{1000}".repeat(9))));
    let (status, message) = define(&mut client, DEFINITIONS, large).await;
    assert_eq!(status, 422, "{message}");
    assert!(message.contains("spec.versions: Forbidden: the definition has "), "{message}");
    assert!(message.contains("bytes of distinct patterns when compiled in all of its versions"), "{message}");
    let (status, message) =
        define(&mut client, DEFINITIONS, version(1_000, |number| text(&format!("^[a-z]{{1,9}}{number}$")))).await;
    assert_eq!(status, 201, "{message}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    observation.end(&target, Bounds::STRANGER).await;
}

/// Four dry runs of 33 KB at a time, of patterns that are within the bounds and of some that are not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dry_runs_of_definitions_hold_up_nobody() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("dry runs of definitions", &target).await;
    let runs = (0..4).map(|run: usize| {
        let mut client = target.client();
        tokio::spawn(async move {
            for round in 0..size(20, 5) {
                let repeated = if round % 2 == 0 { "[a-z]{1000}" } else { "[a-z]{9}" };
                let of = version(600, |number| text(&format!("{repeated}{run}-{number}")));
                let (status, message) = define(&mut client, &format!("{DEFINITIONS}?dryRun=All"), of).await;
                assert_eq!(status, if round % 2 == 0 { 422 } else { 201 }, "{message}");
            }
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
    observation.end(&target, Bounds::STRANGER).await;
}

/// Patterns with many states and long texts, which fill the caches of all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_and_long_texts_take_bounded_memory() {
    const PATTERNS: usize = 200;
    let target = Target::start(Setup::default());
    let path = target.define(version(PATTERNS, |number| text(&format!("^(?:[ab]*a[ab]{{12}})*{number}?$")))).await;
    let observation = Observation::begin("patterns and long texts", &target).await;
    let length = size(16 << 10, 1 << 10);
    let writers = (0..4u64).map(|writer| {
        let mut client = target.client();
        tokio::spawn(async move {
            let mut seed = writer + 1;
            let mut letter = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if seed >> 63 == 0 { 'a' } else { 'b' }
            };
            let texts = (0..PATTERNS).map(|number| (format!("f{number}"), json!((0..length).map(|_| letter()).collect::<String>())));
            let spec: Map<_, _> = texts.collect();
            let thing = json!({"apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": format!("t{writer}")}, "spec": spec});
            let answer = client.json("POST", path, &thing).await.unwrap();
            assert!(matches!(answer.status, 201 | 413 | 422 | 504), "{} {:?}", answer.status, answer.body);
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    observation.end(&target, Bounds::STRANGER).await;
}

/// Columns whose paths multiply what they find, thirteen times by four.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_that_multiply_show_what_their_meter_allows() {
    let target = Target::start(Setup::default());
    let column = |name: &str, path: String| json!({"name": name, "type": "string", "jsonPath": path});
    let multiplied = format!(".spec.f{}", "[*,*,*,*]".repeat(13));
    let mut of = version(1, |_| {
        json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {
            "type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {"x-kubernetes-preserve-unknown-fields": true},
        }})
    });
    of["additionalPrinterColumns"] = json!([
        column("Name", ".metadata.name".to_owned()),
        column("First", multiplied.replace(".f", ".f0")),
        column("None", multiplied.replace(".f", ".f0") + ".missing"),
        column("Descents", format!("{}.missing", "..[*]".repeat(12))),
        column("Filter", format!(".spec.f0[?(@{}.missing)]", "[*,*,*,*]".repeat(12))),
    ]);
    let path = target.define(of).await;
    let mut client = target.client();
    let nested = (0..11).fold(json!(["x", "y"]), |inner, _| json!([inner]));
    for number in 0..3 {
        let name = format!("t{number}");
        let thing = json!({"apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"f0": nested}});
        let answer = client.json("POST", path, &thing).await.unwrap();
        assert_eq!(answer.status, 201, "{:?}", answer.body);
    }
    let observation = Observation::begin("columns that multiply", &target).await;
    let start = Instant::now();
    for _ in 0..10 {
        let answer = client.accepting(path, TABLE).await.unwrap();
        let (status, table) = (answer.status, answer.json());
        assert_eq!((status, table["rows"].as_array().map(Vec::len)), (200, Some(3)), "{table}");
        let cells = &table["rows"][0]["cells"];
        assert_eq!((&cells[1], &cells[3], &cells[4]), (&json!("t0"), &Value::Null, &Value::Null), "{cells}");
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    observation.end(&target, Bounds::STRANGER).await;
}

/// A definition over each bound is refused with what is over, and no request waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_over_a_bound_are_refused_with_what_is_over() {
    let target = Target::start(Setup::default());
    let mut client = target.client();
    let observation = Observation::begin("definitions over a bound", &target).await;
    let values = |count: usize| (0..count).map(|number| format!("v{number}")).collect::<Vec<_>>();
    let item = json!({"type": "object", "properties": {"text": {"type": "string", "default": "x".repeat(20_000)}}});
    let mut columns = version(1, |_| json!({"type": "string"}));
    columns["additionalPrinterColumns"] = vec![json!({"name": "N", "type": "string", "jsonPath": ".spec"}); 501].into();
    let mut steps = version(1, |_| json!({"type": "string"}));
    steps["additionalPrinterColumns"] = json!([{"name": "N", "type": "string", "jsonPath": ".a".repeat(2_001)}]);
    for (of, over) in [
        (version(30_001, |_| json!({"type": "string"})), "schemas of values"),
        (version(1, |_| json!({"type": "string", "enum": values(100_000)})), "values of enums"),
        (version(1, |_| json!({"type": "object", "required": values(100_000)})), "names of required fields"),
        (version(1_001, |number| text(&number.to_string())), "distinct patterns"),
        (version(1, |_| json!({"type": "string", "default": "x".repeat(200_000)})), "bytes of defaults"),
        (
            version(1, |_| json!({"type": "array", "items": item, "default": vec![json!({}); 100]})),
            "bytes of a default with",
        ),
        (columns, "columns"),
        (steps, "steps of the JSONPaths of columns"),
    ] {
        let (status, message) = define(&mut client, DEFINITIONS, of).await;
        assert_eq!(status, 422, "{over}: {message}");
        assert!(message.contains("spec.versions: Forbidden: the definition has "), "{message}");
        assert!(message.contains(&format!(" {over}")) && message.contains("supported: at most "), "{message}");
    }
    let (status, message) = define(&mut client, DEFINITIONS, version(1, |_| text(r"\pL{1000}"))).await;
    assert_eq!(status, 422, "{message}");
    assert!(message.contains("expression too large: `\\pL{1000}`: it has "), "{message}");
    observation.end(&target, Bounds::STRANGER).await;
}

/// A definition with patterns, of which objects make use, is created and deleted again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_that_are_gone_give_their_memory_back() {
    let target = Target::start(Setup { durable: true, gives_back: true, ..Setup::default() });
    let mut client = target.client();
    let observation = Observation::begin("definitions that come and go", &target).await;
    for round in 0..size(50, 12) {
        let path = target.define(version(200, |number| text(&format!("^[a-z]{{1,90}}{round}x{number}$")))).await;
        let spec: Map<_, _> =
            (0..200).map(|number| (format!("f{number}"), json!(format!("abc{round}x{number}")))).collect();
        let thing =
            json!({"apiVersion": "things.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec});
        let answer = client.json("POST", path, &thing).await.unwrap();
        assert_eq!(answer.status, 201, "{:?}", answer.body);
        delete(&mut client).await;
    }
    observation.end(&target, Bounds { peak_mib: 96, ..Bounds::STRANGER }).await;
}

/// A definition just below the bounds, with the OpenAPI documents that show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_at_the_bounds_takes_megabytes() {
    let target = Target::start(Setup { durable: true, gives_back: true, ..Setup::default() });
    let mut client = target.client();
    let observation = Observation::begin("a definition at the bounds", &target).await;
    let values: Vec<_> = (0..18_000).map(|number| format!("v{number}")).collect();
    let mut version = version(25_000, |number| json!({"type": "integer", "maximum": number}));
    version["schema"]["openAPIV3Schema"]["properties"]["status"] = json!({"type": "string", "enum": values});
    target.define(version).await;
    for path in ["/openapi/v3/apis/things.example.com/v1", "/openapi/v2"] {
        assert_eq!(client.get(path).await.unwrap().status, 200);
    }
    observation.end(&target, Bounds::STRANGER).await;
}
