//! Rules in CEL of strangers: as many, as long and as expensive as definitions may have, and objects that take them there.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{
    Bounds, Observation, Setup, Target,
    objects::{Attack, run},
    size,
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn rules(count: usize, rule: impl Fn(usize) -> String) -> Value {
    (0..count).map(|number| json!({"rule": rule(number)})).collect()
}

/// Sixteen rules of almost a million each, where an object may cost ten millions, and one that costs more than a call may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_cost_no_more_than_their_budget() {
    let nested = |number: usize| format!("self.all(x, self.all(y, x + y >= {number} || true))");
    let list = |most: u64, rules: Value| json!({"type": "array", "maxItems": most, "items": {"type": "integer"}, "x-kubernetes-validations": rules});
    let spec = json!({"type": "object", "properties": {
        "last": {"type": "integer", "x-kubernetes-validations": rules(1, |_| "self > 0".to_owned())},
        "many": list(340, rules(16, nested)), "one": list(900, rules(1, nested)),
        "words": {"type": "array", "maxItems": 300, "items": {"type": "string", "maxLength": 30}, "x-kubernetes-validations": rules(10, |number| format!("self.all(x, self.all(y, x != y + '{number}'))"))},
    }});
    let numbers = |count: u64| (0..count).collect::<Value>();
    let words: Value = (0..300).map(|number| format!("a rather long word {number:06}")).collect();
    let objects = vec![
        (json!({"many": numbers(340)}), 422),
        (json!({"one": numbers(900)}), 422),
        (json!({"words": words, "last": 0}), 422),
        (json!({"many": numbers(30), "last": 0}), 422),
    ];
    run(Attack { name: "budgets of rules", spec, objects, times: size(16, 4) }).await;
}

/// Patterns with many states over long texts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patterns_in_rules_take_bounded_time_and_memory() {
    let pattern = |number: usize| {
        format!("self.matches('^(?:[ab]*a[ab]{{12}})*{number}?$') || self.find('(?:[ab]*a[ab]{{9}}){number}') == ''")
    };
    let mut all = rules(20, pattern);
    all.as_array_mut().unwrap().push(json!({"rule": "self == ''"}));
    let spec = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 20_000, "x-kubernetes-validations": all}}});
    let mut seed = 1u64;
    let mut letter = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if seed >> 63 == 0 { 'a' } else { 'b' }
    };
    // The time of searches counts: without optimization it is more than a request may take.
    let (length, status) = if cfg!(debug_assertions) { (20_000, 413) } else { (5_000, 422) };
    let text: String = (0..length).map(|_| letter()).collect();
    run(Attack { name: "patterns in rules", spec, objects: vec![(json!({"text": text}), status)], times: size(16, 2) })
        .await;
}

/// Two thousand rules, each violated, with messages as long as they may be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_many_rules_are_short() {
    let rule = |number: usize| json!({"rule": format!("self != '' && {number} < 0"), "messageExpression": "'x'.replace('x', self)"});
    let all: Value = (0..2_000).map(rule).collect();
    let spec = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 5_000, "x-kubernetes-validations": all}}});
    let objects = vec![(json!({"text": "é".repeat(2_500)}), 422)];
    run(Attack { name: "messages of rules", spec, objects, times: size(16, 4) }).await;
}

/// Definitions with the most rules and the longest expressions, as dry runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_with_as_many_rules_as_there_may_be() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("definitions with many rules", &target).await;
    let field = |rule: &dyn Fn(usize) -> String| {
        let of = |number: usize| json!({"type": "integer", "x-kubernetes-validations": [{"rule": rule(number)}]});
        let fields: Map<String, Value> = (0..2_000).map(|number| (format!("f{number}"), of(number))).collect();
        json!({"type": "object", "properties": fields})
    };
    let long = (0..8_000).map(|number| format!("{number}")).collect::<Vec<_>>().join(", ");
    let around = |rules: Value| json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rules});
    let deep = format!("{}true{}", "(".repeat(240), ")".repeat(240));
    let definitions = [
        (field(&|number| format!("self > {number} && self < {number} * 2 + 1000")), 201, ""),
        (
            field(&|number| format!("self.missing{number}.x > 1 && y")),
            422,
            "type 'int' does not support field selection",
        ),
        (field(&|_| format!("self > {}", "[".repeat(100))), 422, "Syntax error"),
        (around(rules(5, |number| format!("self.a + {number} in [{long}]"))), 201, ""),
        (around(rules(5, |number| format!("self.a + {number} in [{long}"))), 422, "Syntax error"),
        (around(rules(400, |_| deep.clone())), 201, ""),
        (around(rules(2_001, |_| "true".to_owned())), 422, "2001 rules"),
    ];
    let start = Instant::now();
    let runs = definitions.into_iter().map(|(spec, status, said)| {
        let mut client = target.client();
        tokio::spawn(async move {
            let schema = json!({"type": "object", "properties": {"spec": spec}});
            let definition = Target::definition(json!({"schema": {"openAPIV3Schema": schema}}));
            let mut expected = 0;
            for _ in 0..size(8, 2) {
                let answer = client.json("POST", &format!("{DEFINITIONS}?dryRun=All"), &definition).await.unwrap();
                let may_wait = answer.status == 429 && cfg!(debug_assertions);
                let body = String::from_utf8_lossy(&answer.body);
                let is_expected = answer.status == status && body.contains(said);
                assert!(is_expected || may_wait, "{status} {said}: {body:.1000}");
                expected += usize::from(is_expected);
                assert!(answer.body.len() < 3 << 20, "an answer of {} bytes", answer.body.len());
            }
            expected
        })
    });
    let mut expected = 0;
    for run in runs.collect::<Vec<_>>() {
        expected += run.await.unwrap();
    }
    assert!(expected > 0, "no definition came to its turn");
    let most = if cfg!(debug_assertions) { 120 } else { 20 };
    assert!(start.elapsed() < Duration::from_secs(most), "{:?}", start.elapsed());
    observation.end(&target, Bounds::STRANGER).await;
}
