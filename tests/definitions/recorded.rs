//! Kube-apiserver's answers to definitions, as the kit recorded them: each definition that its scenario posts is judged as
//! kube-apiserver judged it, word for word.
use kindsmith::kind::crd::{self, Findings};
use serde_json::{Value, json};

use super::shared_text;

/// How many definitions the scenario judges by themselves.
const JUDGED: usize = 91;

fn causes(findings: &Findings) -> Vec<Value> {
    let of = |fault: &crd::Fault| {
        let error = &fault.error;
        json!({"reason": error.reason(), "message": error.message(), "field": error.path.as_str()})
    };
    findings.errors.iter().map(of).collect()
}

/// Sorted, since some stand in maps for kube-apiserver, and without those of the status, which a definition does not say.
fn comparable(causes: &[Value]) -> Vec<String> {
    let of_definition = |cause: &&Value| !cause["field"].as_str().unwrap_or_default().starts_with("status.");
    let mut shown: Vec<_> = causes
        .iter()
        .filter(of_definition)
        .map(|c| format!("{} {} {}", c["field"], c["reason"], c["message"]))
        .collect();
    shown.sort();
    shown
}

/// What the answer says of unknown fields.
fn unknown_fields(findings: &[crd::Warning]) -> Vec<&str> {
    findings.iter().map(|warning| &*warning.text).filter(|text| text.starts_with("unknown field")).collect()
}

/// How our judgement differs from the recorded one; `None` where the answer is about something else.
fn judge(step: &Value) -> Option<Result<(), String>> {
    let definition = step.get("json").filter(|json| json["kind"] == "CustomResourceDefinition")?;
    let (status, body) = (step["expect"]["status"].as_u64()?, &step["expect"]["body"]);
    let recorded = body["details"]["causes"].as_array().cloned().unwrap_or_default();
    let message = body["message"].as_str().unwrap_or_default();
    if message.contains("metadata.resourceVersion") {
        return None;
    }
    let ours = crd::define(definition);
    let accepts = |status: u64| step["accept"].as_array().is_some_and(|all| all.contains(&json!(status)));
    Some(match (status, ours) {
        (200 | 201, Ok(defined)) => {
            let header = step["expect"]["headers"]["warning"].to_string().replace("\\\\\\\"", "'").replace('"', "'");
            let missing =
                unknown_fields(&defined.warnings).into_iter().find(|text| !header.contains(&text.replace('"', "'")));
            missing.map_or(Ok(()), |text| Err(format!("{text} is not in {header}")))
        }
        (201, Err(findings)) if accepts(422) => {
            if findings.errors.is_empty() {
                Err("nothing is wrong".to_owned())
            } else {
                Ok(())
            }
        }
        (400, Ok(defined)) => {
            let unknown = unknown_fields(&defined.warnings).join(", ");
            if message.ends_with(&format!("strict decoding error: {unknown}")) {
                Ok(())
            } else {
                Err(format!("{unknown}: {message}"))
            }
        }
        (422, Err(findings)) => {
            let (ours, theirs) = (comparable(&causes(&findings)), comparable(&recorded));
            if ours == theirs { Ok(()) } else { Err(format!("ours   {ours:#?}\ntheirs {theirs:#?}")) }
        }
        // About what is stored.
        (409, Ok(_)) => Ok(()),
        (status, Ok(_)) => Err(format!("{status} {message}, and nothing is wrong for us")),
        (status, Err(findings)) => Err(format!("{status}, and for us {:#?}", comparable(&causes(&findings)))),
    })
}

#[test]
fn definitions_are_judged_as_kube_apiserver_judges_them() {
    let Some(text) = shared_text("conformance/scenarios/crds.json") else { return };
    let scenario: Value = serde_json::from_str(&text).expect("JSON");
    let steps = scenario["steps"].as_array().expect("steps");
    let judged: Vec<_> = steps.iter().filter_map(|step| Some((&step["id"], judge(step)?))).collect();
    let wrong: Vec<_> =
        judged.iter().filter_map(|(id, result)| Some(format!("{id}: {}", result.as_ref().err()?))).collect();
    println!("{} of {} definitions are judged alike", judged.len() - wrong.len(), judged.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged.len() >= JUDGED, "{} definitions were judged", judged.len());
}

#[test]
fn what_messages_list_stands_in_kube_apiservers_order() {
    let Some(text) = shared_text("conformance/scenarios/crds.json") else { return };
    let scenario: Value = serde_json::from_str(&text).expect("JSON");
    for step in scenario["steps"].as_array().expect("steps") {
        let message = step["expect"]["body"]["message"].as_str().unwrap_or_default();
        let Some((_, listed)) = message.split_once(" is invalid: [") else { continue };
        let definition = step.get("json").filter(|json| json["kind"] == "CustomResourceDefinition");
        let Some(Err(findings)) = definition.map(crd::define) else { continue };
        if listed.contains("status.") {
            continue;
        }
        let ours: Vec<_> = findings.errors.iter().map(|fault| fault.error.to_string()).collect();
        assert_eq!(format!("{}]", ours.join(", ")), listed, "{}", step["id"]);
    }
}
