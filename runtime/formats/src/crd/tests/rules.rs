//! Errors of rules, as kube-apiserver reports them when a definition is written.
use super::*;

const SPEC: &str = "spec.validation.openAPIV3Schema.properties[spec]";
const HINT: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
const UNTYPED: &str = "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                       convert structural schema to CEL declarations";

/// A rule as errors show it.
fn shown(rule: &str, message: &str) -> String {
    format!(
        "Invalid value: {{\"Rule\":\"{rule}\",\"Message\":\"\",\"MessageExpression\":\"{message}\",\"Reason\":null,\"FieldPath\":\"\",\
         \"OptionalOldSelf\":null}}: "
    )
}

/// The errors of a spec's schema, where `~` stands for its path.
fn found(spec: &Value) -> Vec<String> {
    match define(&gears(spec)) {
        Ok(_) => Vec::new(),
        Err(findings) => {
            let errors = findings.errors.iter().map(|fault| fault.error.to_string().replace(SPEC, "~"));
            errors.collect()
        }
    }
}

fn one(rule: &str) -> Value {
    json!([{"rule": rule}])
}

/// An object with a whole number and rules.
fn object(rules: &Value) -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rules})
}

#[test]
fn expressions_compile() {
    let at = "~.x-kubernetes-validations[0]";
    let of = |rules: Value| found(&object(&rules));
    assert_eq!(of(one("self.a > 1")), Vec::<String>::new());
    let end = "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, \
               NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    let error = format!("compilation failed: ERROR: <input>:1:9: {end}\n | self.a >\n | ........^");
    assert_eq!(of(one("self.a >")), [format!("{at}.rule: {}{error}", shown("self.a \\u003e", ""))]);
    let error = "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^";
    assert_eq!(of(one("self.b > 1")), [format!("{at}.rule: {}{error}", shown("self.b \\u003e 1", ""))]);
    let error = "cel expression must evaluate to a bool";
    assert_eq!(of(one("self.a + 1")), [format!("{at}.rule: {}{error}", shown("self.a + 1", ""))]);
    let message = |text: &str| of(json!([{"rule": "true", "messageExpression": text}]));
    assert_eq!(message("'a'"), Vec::<String>::new());
    let error = "messageExpression must evaluate to a string";
    assert_eq!(message("1"), [format!("{at}.messageExpression: {}{error}", shown("true", "1"))]);
    let error = "messageExpression compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^";
    assert_eq!(message("x"), [format!("{at}.messageExpression: {}{error}", shown("true", "x"))]);
}

#[test]
fn expressions_wait_for_the_schema() {
    // A message with a line break is an error of this node, so that its rules are not compiled; those of others are.
    let broken = json!([{"rule": "self.b > 1", "message": "a\nb"}]);
    let spec = json!({"type": "object", "properties": {"broken": object(&broken), "other": object(&one("1"))}});
    let errors = found(&spec);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors[0].starts_with("~.properties[broken].x-kubernetes-validations[0].message: Invalid value"),
        "{errors:?}"
    );
    assert!(errors[1].ends_with("cel expression must evaluate to a bool"), "{errors:?}");
    // So are those of nodes around it.
    let spec =
        json!({"type": "object", "properties": {"broken": object(&broken)}, "x-kubernetes-validations": one("1")});
    assert_eq!(found(&spec).len(), 1);
    // Schemas that are not structural have no rules.
    let spec = json!({"type": "object", "properties": {"a": {}, "other": object(&one("1"))}});
    assert_eq!(found(&spec), ["~.properties[a].type: Required value: must not be empty for specified object fields"]);
}

#[test]
fn values_without_a_type_have_no_rules() {
    let untyped = json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": one("true")});
    let spec = json!({"type": "object", "properties": {"a": untyped}});
    assert_eq!(found(&spec), [format!("~.properties[a].x-kubernetes-validations: {UNTYPED}")]);
    let list = json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-validations": one("true")});
    assert_eq!(found(&list), [format!("~.x-kubernetes-validations: {UNTYPED}")]);
    let object = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": one("true")});
    assert_eq!(found(&object), Vec::<String>::new());
}

#[test]
fn old_values_are_those_of_correlated_nodes() {
    let at = "~.properties[items].items.x-kubernetes-validations[0]";
    let items = |list: Value, rule: Value| {
        let mut list = list;
        let properties = json!({"a": {"type": "integer"}});
        list["items"] =
            json!({"type": "object", "required": ["a"], "properties": properties, "x-kubernetes-validations": [rule]});
        json!({"type": "object", "properties": {"items": list}})
    };
    let uses = json!({"rule": "self.a >= oldSelf.a"});
    let within = "oldSelf cannot be used on the uncorrelatable portion of the schema within ~.properties[items]";
    let refused = [format!("{at}.rule: Invalid value: \"self.a >= oldSelf.a\": {within}")];
    assert_eq!(found(&items(json!({"type": "array"}), uses.clone())), refused);
    let keyed = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]});
    assert_eq!(found(&items(keyed, uses)), Vec::<String>::new());
    for optional in [true, false] {
        let rule = json!([{"rule": "self.a > 1", "optionalOldSelf": optional}]);
        let at = "~.x-kubernetes-validations[0].optionalOldSelf";
        let error = format!("{at}: Invalid value: {optional}: may not be set if oldSelf is not used in rule");
        assert_eq!(found(&object(&rule)), [error]);
    }
    let rule = json!([{"rule": "oldSelf.hasValue() ? self.a >= oldSelf.value().a : true", "optionalOldSelf": true}]);
    assert_eq!(found(&object(&rule)), Vec::<String>::new());
}

#[test]
fn expressions_have_a_budget() {
    let cubic = json!({
        "type": "array", "items": {"type": "string"},
        "x-kubernetes-validations": one("self.all(x, self.all(y, self.all(z, x == y + z)))"),
    });
    let spec = json!({"type": "object", "properties": {"items": {"type": "array", "items": cubic}}});
    let at = "~.properties[items].items.x-kubernetes-validations[0].rule: Forbidden:";
    let total =
        "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of";
    let expected = [
        format!("{at} estimated rule cost exceeds budget by factor of more than 100x {HINT}"),
        format!("{at} contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
        format!("spec.validation.openAPIV3Schema: Forbidden: {total} more than 100x {HINT}"),
    ];
    assert_eq!(found(&spec), expected);
    // 5,000 characters are 20,000 bytes, so the rule costs 2,001 for each value; the limits are 10 and 100 millions.
    let text =
        json!({"type": "string", "maxLength": 5000, "x-kubernetes-validations": one("self.contains('keyword')")});
    let factor = |values: u64| found(&json!({"type": "array", "maxItems": values, "items": text})).swap_remove(0);
    let error = "~.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of";
    assert_eq!(factor(5_000), format!("{error} 1.000500x {HINT}"));
    assert_eq!(factor(7_500), format!("{error} 1.5x {HINT}"));
    assert_eq!(factor(100_000), format!("{error} 20.0x {HINT}"));
    assert_eq!(found(&json!({"type": "array", "maxItems": 4_997, "items": text})), Vec::<String>::new());
    let message = json!([{"rule": "true", "messageExpression": "self.map(x, x + x).map(x, x + x).join(', ')"}]);
    let spec = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": message});
    let errors = found(&spec);
    let at = "~.x-kubernetes-validations[0].messageExpression: Forbidden:";
    assert_eq!(
        errors[0],
        format!("{at} estimated messageExpression cost exceeds budget by factor of more than 100x {HINT}")
    );
}

#[test]
fn an_unchanged_schema_may_cost_what_it_costs() {
    let text = json!({"type": "string", "x-kubernetes-validations": one("self.contains('keyword')")});
    let old = gears(&json!({"type": "array", "maxItems": 60, "items": text}));
    assert!(define(&old).is_err());
    assert!(define_change(&old, &old).is_ok());
    let new = gears(&json!({"type": "array", "maxItems": 61, "items": text}));
    assert!(define_change(&new, &old).is_err());
    // A rule that does not compile is an error, and is served nevertheless.
    let broken = gears(&object(&one("self.b")));
    assert!(define_change(&broken, &broken).is_err());
    assert!(define_stored(&broken).is_ok());
}

#[test]
fn names_in_rules_are_those_of_kubernetes() {
    let spec = |rule: &str| {
        let names =
            ["a.b", "a-b", "namespace", "x__y", "f@2", "in"].map(|name| (name.to_owned(), json!({"type": "integer"})));
        let properties: Map<String, Value> = names.into_iter().collect();
        found(&json!({"type": "object", "properties": properties, "x-kubernetes-validations": one(rule)})).len()
    };
    for (rule, errors) in [
        ("self.a__dot__b == self.a__dash__b", 0),
        ("self.namespace == self.__namespace__ && self.__in__ == 1", 0),
        ("self.x__underscores__y == 1", 0),
        ("self.x__y == 1", 1),
        ("self.f == 1", 1),
        ("self.in == 1", 1),
    ] {
        assert_eq!(spec(rule), errors, "{rule}");
    }
    let root = |rule: &str| {
        let mut definition = gears(&json!({"type": "object"}));
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = one(rule);
        define(&definition).is_ok()
    };
    assert!(root("self.metadata.name.size() < 10 && self.metadata.generateName == '' && self.kind == self.apiVersion"));
    assert!(!root("has(self.metadata.labels)"));
    // Each object has a type of its own.
    let pair = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let spec = |rule: &str| {
        found(&json!({"type": "object", "properties": {"a": pair, "b": pair}, "x-kubernetes-validations": one(rule)}))
            .len()
    };
    assert_eq!((spec("self.a == self.b"), spec("self.a == oldSelf.a"), spec("self.a.x == self.b.x")), (1, 0, 0));
}

#[test]
fn defaults_keep_the_rules_at_and_below_them() {
    let text =
        |default: &str, rule: Value| json!({"type": "string", "default": default, "x-kubernetes-validations": [rule]});
    let spec = |a: Value| json!({"type": "object", "properties": {"a": a}});
    let of = |default: &str, rule: Value| found(&spec(text(default, rule)));
    let at = "~.properties[a].default";
    assert_eq!(of("x", json!({"rule": "self == 'x'"})), Vec::<String>::new());
    let violated = format!("{at}: Invalid value: \"y\": failed rule: self == 'x'");
    assert_eq!(of("y", json!({"rule": "self == 'x'"})), [violated]);
    // A transition rule holds for a default that replaces itself, and an optional one is tried without an old value, too.
    assert_eq!(of("x", json!({"rule": "self == oldSelf"})), Vec::<String>::new());
    let rule = json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true, "reason": "FieldValueForbidden"});
    assert_eq!(of("x", rule), [format!("{at}: Forbidden: failed rule: oldSelf.hasValue()")]);
    // A rule that does not compile is reported only here.
    let compiles = "rule compile error: cel expression must evaluate to a bool";
    assert_eq!(of("x", json!({"rule": "1"})), [format!("{at}: Invalid value: \"string\": {compiles}")]);
    let inner = json!({"type": "string", "x-kubernetes-validations": one("self == 'x'")});
    let around = json!({
        "type": "object", "default": {"b": "y"}, "properties": {"b": inner}, "x-kubernetes-validations": one("has(self.c)"),
    });
    let errors = found(&spec(around.clone()));
    assert!(errors[0].starts_with(&format!("{at}: Invalid value: \"object\": rule compile error: ")), "{errors:?}");
    assert_eq!(errors[1], format!("{at}.b: Invalid value: \"y\": failed rule: self == 'x'"));
    // A definition that was stored is served.
    assert!(define_stored(&gears(&spec(around))).is_ok());
}

#[test]
fn rules_are_bounded() {
    let rule = json!({"rule": "true"});
    let bound = |rules: Value, what: &str| {
        let errors = found(&object(&rules));
        let expected = format!("spec.versions: Forbidden: the definition has {what}");
        assert!(matches!(&errors[..], [error] if error.starts_with(&expected)), "{errors:?}");
    };
    bound(json!(vec![rule; 2_001]), "2001 rules in all of its versions");
    let long = format!("'{}' == ''", "x".repeat(90_000));
    bound(json!(vec![json!({"rule": long}); 3]), "270024 bytes of expressions in rules");
    let chain = format!("optional.of(1){}.hasValue()", ".optMap(x, x)".repeat(11));
    bound(json!(vec![json!({"rule": chain}); 10]), "213104 nodes of expressions in rules that repeat parts");
}

#[test]
fn paths_of_fields_lead_somewhere() {
    let fields =
        json!({"a": {"type": "object", "properties": {"b.c": {"type": "integer"}, "t\tt": {"type": "integer"}}}});
    for (path, is_valid) in [
        (".a", true),
        (".a['b.c']", true),
        (".a['t\\tt']", true),
        (".a['t\\xt']", false),
        (".a.b.c", false),
        ("a", false),
        (".a[0]", false),
    ] {
        let rules = json!([{"rule": "true", "fieldPath": path}]);
        let errors = found(&json!({"type": "object", "properties": fields, "x-kubernetes-validations": rules}));
        assert_eq!(errors.is_empty(), is_valid, "{path}: {errors:?}");
    }
}
