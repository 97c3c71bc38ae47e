//! Tests of entries and annotations.
use super::*;

#[test]
fn what_is_wrong_with_a_file_is_reported_at_once_with_its_lines() {
    let text = "allow:\n- {rule: float, reason: ' '}\n- rule: floats\n  reason: x\n- {rule: float, reason: x, paths: y}\n- nothing\n\
                    - {rule: float, reason: 1}\n- {reason: x}\n";
    let error = AllowList::default().add("a.yaml", text).unwrap_err();
    let expected = [
        "a.yaml:2: why is float violated here? An entry has a reason",
        "a.yaml:3: there is no rule floats",
        "a.yaml:5: an entry has no member \"paths\"; it has rule, kind, path and reason",
        "a.yaml:6: an entry has the members rule, kind, path and reason",
        "a.yaml:7: reason is a text, not 1",
        "a.yaml:8: an entry names the rule that it allows to violate: rule",
    ];
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{error}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}\n{expected}");
    }
    for text in ["- rule: float", "allowed: []", "allow: {}"] {
        let error = AllowList::default().add("a.yaml", text).unwrap_err();
        assert!(error.starts_with("a.yaml:1: a file of what is allowed has one member"), "{error}");
    }
    assert!(AllowList::default().add("a.yaml", "# nothing yet\n").is_ok());
    assert!(AllowList::default().add("a.yaml", "allow: [").unwrap_err().starts_with("a.yaml:1: "));
}
