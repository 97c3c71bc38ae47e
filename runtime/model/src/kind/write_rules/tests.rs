//! Tests of rules for writes.
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Check, DefaultRule, Effect, Expressions, Immutable, Path, Reason, Test, Text, Value, When, WriteRules};
use crate::{
    kind::{DocumentHooks as _, HookContext},
    meta::{Operation, User, Warnings},
    schema::Schema,
};

fn path(text: &str) -> Path {
    Path::parse(text).unwrap_or_else(|| panic!("{text} is no path"))
}

fn rule(at: &str, value: Json) -> DefaultRule {
    DefaultRule::new(&path(at), Value::Fixed(value)).expect("a path of a field")
}

fn computed(at: &str, from: &str) -> DefaultRule {
    let from = Expressions::default().compile(from).expect(from);
    DefaultRule::new(&path(at), Value::Computed(from)).expect("a path of a field")
}

/// The object with defaults after its creation, or after an update of another one.
fn defaulted(rules: Vec<DefaultRule>, mut object: Json, old: Option<&Json>) -> Json {
    let rules = WriteRules { defaults: rules, ..WriteRules::default() };
    with_context(old, |context| now(rules.set_defaults(&mut object, context)));
    object
}

fn with_context<T>(old: Option<&Json>, run: impl FnOnce(HookContext<'_>) -> T) -> T {
    let user = User { name: "ada".to_owned(), groups: vec!["readers".to_owned()], ..User::system() };
    let (schema, user, warnings) = (Schema::default(), Arc::new(user), Warnings::default());
    let context = HookContext::new(&schema, &user, &warnings);
    let operation = if old.is_some() { Operation::Update } else { context.operation };
    run(HookContext { operation, old, ..context })
}

/// The result of a hook, which is there at once.
fn now<T>(future: crate::kind::HookFuture<'_, T>) -> T {
    let mut future = future;
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(Ok(done)) => done,
        std::task::Poll::Ready(Err(error)) => panic!("{error:?}"),
        std::task::Poll::Pending => panic!("the hook waits"),
    }
}

fn check(at: &str, rule: &str) -> Check {
    let of_change = rule.contains("oldSelf");
    Check {
        path: path(at),
        test: Test::Rule { rule: Expressions::default().compile(rule).expect(rule), of_change },
        field_path: String::new(),
        reason: Reason::Invalid,
        message: Text::Fixed("is wrong".to_owned()),
        shown: None,
        on: When::Always,
        subresource: None,
        part: 0,
    }
}

fn errors(rules: &WriteRules, object: &Json, old: Option<&Json>) -> Vec<String> {
    let errors = with_context(old, |context| now(rules.validate(object, context)));
    errors.into_iter().map(|error| format!("{}: {}", error.path, error.message())).collect()
}

fn checked(check: Check, object: &Json, old: Option<&Json>) -> Vec<String> {
    errors(&WriteRules { checks: vec![check], ..WriteRules::default() }, object, old)
}

#[test]
fn paths_lead_to_fields_items_and_values() {
    for text in ["", ".a", ".a.b[*].c", ".a.*", ".a[b.c/d].e", "[*].a"] {
        path(text);
    }
    for wrong in ["a", ".", ".a.", ".a..b", ".a[b", "a[*]", ".a[*"] {
        assert!(Path::parse(wrong).is_none(), "{wrong}");
    }
    assert!(
        DefaultRule::new(&path(".a[*]"), Value::Nothing).is_none()
            && DefaultRule::new(&path(""), Value::Nothing).is_none()
    );
}

#[test]
fn defaults_are_set_where_what_holds_them_is_there() {
    let object = json!({"spec": {"items": [{"a": 1}, {}, {"a": null}, "text"], "map": {"x": {}, "y": {"a": 2}}}});
    let set = defaulted(vec![rule(".spec.items[*].a", json!(7)), rule(".spec.map.*.a", json!(8))], object, None);
    let expected =
        json!({"spec": {"items": [{"a": 1}, {"a": 7}, {"a": 7}, "text"], "map": {"x": {"a": 8}, "y": {"a": 2}}}});
    assert_eq!(set, expected);
    assert_eq!(defaulted(vec![rule(".spec.a.b", json!(1))], json!({"spec": {}}), None), json!({"spec": {}}));
    let creates = DefaultRule { creates: true, ..rule(".spec.a.b", json!(1)) };
    assert_eq!(defaulted(vec![creates.clone()], json!({"spec": {"a": null}}), None), json!({"spec": {"a": {"b": 1}}}));
    assert_eq!(defaulted(vec![creates], json!({}), None), json!({}), "what holds that is absent, too");
}

#[test]
fn zeros_may_count_as_absent() {
    for zero in [json!(""), json!(0), json!(false), json!([]), json!({})] {
        let zero_is_absent = DefaultRule { zero_is_absent: true, ..rule(".a", json!("x")) };
        assert_eq!(defaulted(vec![zero_is_absent], json!({"a": zero}), None), json!({"a": "x"}));
        assert_eq!(defaulted(vec![rule(".a", json!("x"))], json!({"a": zero}), None), json!({"a": zero}));
    }
}

#[test]
fn fields_are_replaced_merged_and_removed() {
    let object = || json!({"map": {"a": "1"}});
    let of =
        |effect| defaulted(vec![DefaultRule { effect, ..rule(".map", json!({"a": "2", "b": "3"})) }], object(), None);
    assert_eq!(of(Effect::Keep), object());
    assert_eq!(of(Effect::Replace), json!({"map": {"a": "2", "b": "3"}}));
    assert_eq!(of(Effect::Add), json!({"map": {"a": "1", "b": "3"}}));
    assert_eq!(of(Effect::Merge), json!({"map": {"a": "2", "b": "3"}}));
    let nothing = DefaultRule::new(&path(".map"), Value::Nothing).unwrap();
    assert_eq!(defaulted(vec![nothing], object(), None), json!({}));
}

#[test]
fn expressions_see_the_holder_the_object_the_part_and_the_user() {
    let object = || json!({"name": "n", "spec": {"ports": [{"port": 80}, {"port": 81, "target": 1}], "on": true}});
    let set = defaulted(vec![computed(".spec.ports[*].target", "self.port")], object(), None);
    assert_eq!(set["spec"]["ports"], json!([{"port": 80, "target": 80}, {"port": 81, "target": 1}]));
    for (from, expected) in [
        ("object.name + '-' + string(self.port)", json!("n-80")),
        ("key", json!(0)),
        ("part.on", json!(true)),
        ("user.username + user.groups[0]", json!("adareaders")),
        ("random >= 0 && random < 2147483648", json!(true)),
        ("timestamp(now) > timestamp('2020-01-01T00:00:00Z')", json!(true)),
    ] {
        let set = defaulted(vec![DefaultRule { part: 1, ..computed(".spec.ports[*].x", from) }], object(), None);
        assert_eq!(set["spec"]["ports"][0]["x"], expected, "{from}");
    }
    // What fails sets nothing, and counts as false in a condition.
    assert_eq!(defaulted(vec![computed(".spec.x", "self.none.y")], object(), None), object());
    let condition = Some(Expressions::default().compile("self.none == 1").unwrap());
    assert_eq!(defaulted(vec![DefaultRule { condition, ..rule(".spec.x", json!(1)) }], object(), None), object());
    // Later rules see what earlier ones set.
    let set = defaulted(vec![rule(".spec.a", json!(1)), computed(".spec.b", "self.a + 1")], object(), None);
    assert_eq!(set["spec"]["b"], 2);
}

#[test]
fn rules_may_be_about_creations_or_updates() {
    let old = json!({});
    for (on, on_create, on_update) in
        [(When::Always, true, true), (When::Create, true, false), (When::Update, false, true)]
    {
        let set = |old| !defaulted(vec![DefaultRule { on, ..rule(".a", json!(1)) }], json!({}), old)["a"].is_null();
        assert_eq!((set(None), set(Some(&old))), (on_create, on_update), "{on:?}");
    }
}

#[test]
fn checks_name_the_place_and_the_value() {
    let object = json!({"spec": {"ports": [{"number": 1}, {"number": 0}], "labels": {"a.b": "x"}}});
    assert_eq!(
        checked(check(".spec.ports[*].number", "self > 0"), &object, None),
        ["spec.ports[1].number: Invalid value: 0: is wrong"]
    );
    let required =
        Check { reason: Reason::Required, field_path: ".name".into(), ..check(".spec.ports[*]", "has(self.name)") };
    assert_eq!(
        checked(required, &object, None),
        ["spec.ports[0].name: Required value: is wrong", "spec.ports[1].name: Required value: is wrong"]
    );
    assert_eq!(
        checked(check(".spec.labels.*", "self == 'y'"), &object, None),
        ["spec.labels[a.b]: Invalid value: \"x\": is wrong"]
    );
    let supported =
        Check { reason: Reason::NotSupported(vec!["y".into()]), ..check(".spec.labels[a.b]", "self == 'y'") };
    assert_eq!(
        checked(supported, &object, None),
        ["spec.labels[a.b]: Unsupported value: \"x\": supported values: \"y\": is wrong"]
    );
    let message = Text::Computed(Expressions::default().compile("'found ' + self").unwrap());
    let shown = Some(json!(""));
    assert_eq!(
        checked(Check { message, shown, ..check(".spec.labels.*", "false") }, &object, None),
        ["spec.labels[a.b]: Invalid value: \"\": found x"]
    );
    // What is not there, or has another type, is not wrong.
    assert!(checked(check(".spec.none", "false"), &object, None).is_empty());
    assert!(checked(check(".spec.ports", "self.none > 0"), &object, None).is_empty());
}

#[test]
fn rules_about_changes_need_an_old_value() {
    let grows = || check(".spec.size", "self >= oldSelf");
    let of = |size: i32| json!({"spec": {"size": size}});
    assert!(checked(grows(), &of(1), None).is_empty() && checked(grows(), &of(1), Some(&json!({}))).is_empty());
    assert!(checked(grows(), &of(2), Some(&of(1))).is_empty());
    assert_eq!(checked(grows(), &of(1), Some(&of(2))), ["spec.size: Invalid value: 1: is wrong"]);
}

#[test]
fn items_are_unique_by_paths() {
    let unique = |by: &[&str], ignore_empty| Check {
        test: Test::Unique {
            by: by.iter().map(|text| path(text)).collect(),
            ignore_empty,
            field_path: if by.len() == 1 { by[0].to_owned() } else { String::new() },
        },
        reason: Reason::Duplicate,
        message: Text::Fixed(String::new()),
        ..check(".ports", "true")
    };
    let object = json!({"ports": [{"name": "a", "p": 1}, {"name": "a", "p": 2}, {"p": 1}, {"p": 1}]});
    assert_eq!(checked(unique(&[".name"], true), &object, None), ["ports[1].name: Duplicate value: \"a\""]);
    assert_eq!(checked(unique(&[".name", ".p"], false), &object, None), ["ports[3]: Duplicate value: {\"p\":1}"]);
}

#[test]
fn immutable_parts_stay_but_for_exceptions() {
    let rules = |at: &str, except: &[&str]| WriteRules {
        immutable: vec![Immutable {
            path: path(at),
            except: except.iter().map(|text| path(text)).collect(),
            reason: Reason::Invalid,
            message: "field is immutable".to_owned(),
        }],
        ..WriteRules::default()
    };
    let (old, changed) = (json!({"spec": {"a": 1, "items": [{"image": "x", "b": []}]}}), json!({"spec": {"a": 2}}));
    assert!(errors(&rules(".spec", &[]), &changed, None).is_empty(), "a creation");
    assert!(errors(&rules(".spec", &[]), &old, Some(&old)).is_empty());
    assert_eq!(errors(&rules(".spec.a", &[]), &changed, Some(&old)), ["spec.a: Invalid value: 2: field is immutable"]);
    assert_eq!(
        errors(&rules(".spec.a", &[]), &json!({"spec": {}}), Some(&old)),
        ["spec.a: Invalid value: null: field is immutable"]
    );
    // Empty and absent are the same, and exceptions may differ.
    let other = json!({"spec": {"a": 1, "c": null, "d": {}, "items": [{"image": "y"}]}});
    assert!(errors(&rules(".spec", &[".items[*].image"]), &other, Some(&old)).is_empty());
    assert_eq!(errors(&rules(".spec", &[".items[*].name"]), &other, Some(&old)).len(), 1);
}

#[test]
fn rules_have_a_budget() {
    let items: Vec<Json> = (0..10_000).map(Json::from).collect();
    let costly = check(".items[*]", "object.items.all(x, object.items.exists(y, y == x))");
    let found = checked(costly, &json!({"items": items}), None);
    assert_eq!(
        found,
        ["<nil>: Forbidden: the object is too large for the rules of its kind: their cost budget is spent"]
    );
}

#[test]
fn wrong_expressions_are_reported_with_their_positions() {
    let error = Expressions::default().compile("self.a +").unwrap_err();
    assert!(error.contains("ERROR: <input>:1:9"), "{error}");
    let error = Expressions::default().compile("other.a").unwrap_err();
    assert!(error.contains("undeclared reference to 'other'"), "{error}");
}
