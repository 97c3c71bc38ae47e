//! Tests of what is said of rules.
use kindsmith::{kind::Definition, schema::Schema};
use kindsmith_codegen::Kinds;
use kindsmith_model::{
    codec::{Limits, yaml},
    schema::At,
};
use serde_json::{Value, json};

use super::{Expression, Outcomes, Place};

/// The schema of `spec` in a definition.
pub(super) fn spec(text: &str) -> Schema {
    let limits = Limits { depth: 64, memory: 1 << 20 };
    let spec: Value =
        yaml::decode(text.as_bytes(), &limits).unwrap_or_else(|error| panic!("{}: {text}", error.reason)).document;
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names = json!({"kind": "Book", "plural": "books", "singular": "book", "listKind": "BookList"});
    let spec = json!({"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "books.example.com"}, "spec": spec});
    let kinds = Kinds::of_texts(&[("book.yaml".to_owned(), definition.to_string().into_bytes())]);
    let kinds = kinds.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let definition: &Definition = &kinds.kinds[0].definition;
    definition.versions[0].schema.properties["spec"].clone()
}

fn rule(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|| panic!("{text}"))
}

/// `t`, `f` and `e` for an expression that may be true, be false, or fail.
fn shown(outcomes: Outcomes) -> String {
    let all = [(outcomes.holds, 't'), (outcomes.is_false, 'f'), (outcomes.fails, 'e')];
    all.into_iter().filter_map(|(may_be, letter)| may_be.then_some(letter)).collect()
}

const VALUES: &str = "
type: object
required: [a, kind, items, deep]
properties:
  a: {type: integer, minimum: 1, maximum: 10}
  b: {type: integer}
  c: {type: integer, default: 3, minimum: 0, exclusiveMinimum: true}
  x: {type: number}
  kind: {type: string, enum: [Red, Green]}
  name: {type: string, minLength: 2, maxLength: 5}
  isOpen: {type: boolean}
  items: {type: array, minItems: 1, maxItems: 4, items: {type: object, required: [num], properties: {num: {type: integer, minimum: 5, maximum: 100}}}}
  labels: {type: object, additionalProperties: {type: integer, maximum: 9}}
  deep: {type: object, required: [er], properties: {er: {type: string, enum: [One]}, est: {type: string}}}
  in: {type: string}
  any: {x-kubernetes-int-or-string: true}
";

#[test]
fn outcomes_follow_from_the_schema() {
    let schema = spec(VALUES);
    for (text, expected) in [
        ("true", "t"),
        ("has(self.a)", "t"),
        ("has(self.b)", "tf"),
        ("has(self.c)", "t"),
        ("has(self.deep.er) && self.deep.er == 'One'", "t"),
        ("self.a > 0", "t"),
        ("self.a >= 2", "tf"),
        ("0 >= self.a", "f"),
        ("self.c >= 1", "t"),
        ("self.a == 11", "f"),
        ("self.a != 11", "t"),
        ("self.b > 0", "tfe"),
        ("!has(self.b) || self.b > 0", "tf"),
        ("self.b > 0 || !has(self.b)", "tf"),
        ("has(self.b) || !has(self.b)", "t"),
        ("has(self.b) && !has(self.b)", "f"),
        ("has(self.b) ? self.b == self.b : true", "t"),
        ("has(self.b) && self.b > 5 && self.b < 3", "f"),
        ("has(self.b) && self.b > 5 && self.b < 6", "f"),
        ("has(self.x) && self.x > 5.0 && self.x < 6.0", "tf"),
        ("has(self.b) && self.b > self.a && self.b < 1", "f"),
        ("self.b > self.a && self.b < self.a", "fe"),
        ("self.b <= self.a || self.a < self.b", "te"),
        ("self.kind in ['Red', 'Green']", "t"),
        ("self.kind in ['Red', 'Blue']", "tf"),
        ("self.kind in ['Blue']", "f"),
        ("self.kind == 'Red' || self.kind == 'Green'", "t"),
        ("self.kind == 'Red' && self.kind == 'Green'", "f"),
        ("self.kind != 'Red' && self.kind != 'Green'", "f"),
        ("!(self.kind in ['Red']) && self.kind == 'Red'", "f"),
        ("size(self.items) > 0", "t"),
        ("self.items.size() > 4", "f"),
        ("self.items.size() > 3 && size(self.items) <= 3", "f"),
        ("self.items.all(i, i.num >= 5)", "t"),
        ("self.items.all(i, i.num > 5)", "tf"),
        ("self.items.all(i, i.num < 5)", "f"),
        ("self.items.exists(i, i.num < 5)", "f"),
        ("self.items.all(index, item, item.num > 0)", "t"),
        ("self.items.map(i, i.num).sum() > 0", "tfe"),
        ("self.labels.all(k, self.labels[k] < 10)", "te"),
        ("has(self.labels) && self.labels.all(k, v, v < 10)", "tf"),
        ("!has(self.labels) || self.labels.all(k, v, v < 10)", "t"),
        ("has(self.name) && self.name.size() > 5", "f"),
        ("has(self.isOpen) && self.isOpen && !self.isOpen", "f"),
        ("(self.kind == 'Red') == has(self.b)", "tf"),
        ("has(self.__in__) && self.__in__ == ''", "tf"),
        ("self.any == 1", "tfe"),
        ("self.name.matches('a') || !self.name.matches('a')", "te"),
        ("oldSelf.a > 0", "tfe"),
        ("self.unknown > 1", "tfe"),
        ("self == oldSelf", "tf"),
        ("has(self.deep.est) ? self.deep.est.size() >= 0 : true", "t"),
    ] {
        assert_eq!(shown(rule(text).outcomes(Place::of(At::of(&schema)), &[])), expected, "{text}");
    }
}

#[test]
fn values_without_a_new_field_meet_what_excludes_it() {
    let old = spec(
        "{type: object, required: [a], properties: {a: {type: integer}, deep: {type: object, properties: {x: {type: integer}}}}}",
    );
    let new = spec(
        "{type: object, properties: {a: {type: integer}, b: {type: integer}, c: {type: integer, default: 5}, deep: {type: object, properties: {x: {type: integer}, z: {type: integer}}}}}",
    );
    for (text, is_met) in [
        ("!has(self.b) || self.b > 1", true),
        ("self.b > 1 || !has(self.b)", true),
        ("has(self.b) ? self.b > 1 : true", true),
        ("!(has(self.b) && self.a > 1)", true),
        ("has(self.b)", false),
        ("!has(self.b) && self.a > 1", false),
        ("self.c > 4", true),
        ("self.c > 5", false),
        ("!has(self.deep) || !has(self.deep.z) || self.deep.z > self.a", true),
        ("!has(self.deep.z)", false),
    ] {
        let outcomes = rule(text).outcomes(Place::before(At::of(&old), At::of(&new)), &[]);
        assert_eq!(outcomes.is_always_true(), is_met, "{text}: {outcomes:?}");
    }
}

#[test]
fn rules_imply_weaker_ones() {
    let schema = spec(VALUES);
    for (stronger, weaker) in [
        ("self.b > 5", "self.b > 3"),
        ("self.b > 5", "self.b >= 6"),
        ("self.b >= 6", "self.b > 5"),
        ("self.b < 5", "self.b != 7"),
        ("self.b > 1 && self.a > 2", "self.a > 2"),
        ("self.a > 2", "self.a > 2 || self.b > 1"),
        ("self.a > 4 || self.a < 2", "self.a != 3"),
        ("self.b < self.a", "self.b <= self.a"),
        ("self.b == self.a", "self.b <= self.a"),
        ("self.items.all(i, i.num < 10)", "self.items.all(x, x.num < 20)"),
        ("self.items.all(i, i.num < 10 && i.num != 7)", "self.items.all(x, x.num < 10)"),
        ("self.name.matches('a') && self.a > 1", "self.name.matches('a')"),
        ("self.name in ['ab', 'cd']", "self.name in ['ab', 'cd', 'ef']"),
        ("self.kind == 'Red' ? self.a > 3 : self.a > 2", "self.a > 2"),
        ("size(self.items) <= 2", "self.items.size() <= 3"),
        ("self.x > 1.5", "self.x > 1.0"),
        ("!(self.kind == 'Red' && self.a > 3)", "self.kind != 'Red' || self.a <= 5"),
    ] {
        let implies = |one: &str, other: &str| {
            let given = rule(one);
            rule(other).outcomes(Place::of(At::of(&schema)), &[&given]).is_always_true()
        };
        assert!(implies(stronger, weaker), "{stronger} implies {weaker}");
        let is_equal = rule(stronger).key() == rule(weaker).key() || ["self.b > 5", "self.b >= 6"].contains(&weaker);
        assert!(is_equal || !implies(weaker, stronger), "{weaker} does not imply {stronger}");
    }
}

#[test]
fn equal_expressions_have_equal_keys() {
    for (one, other) in [
        ("self.a>1", " self.a  >\n1 "),
        ("self.a > 1", "1 < self.a"),
        ("self.a != 1", "!(1 == self.a)"),
        ("self.a && self.b", "(self.b) && self.a"),
        ("size(self.a) > 1", "self.a.size() > 1"),
        ("self.a.all(x, x > 1)", "self.a.all(y, y > 1)"),
        ("\"a\" == 'a'", "'a' == 'a'"),
    ] {
        assert_eq!(rule(one).key(), rule(other).key(), "{one} {other}");
    }
    for (one, other) in [
        ("self.a > 1", "self.a > 2"),
        ("self.a < 1", "1 < self.a"),
        ("self.a.all(x, self.b.all(y, x > y))", "self.a.all(x, self.b.all(y, y > x))"),
        ("self.a.all(x, x > 1)", "self.a.exists(x, x > 1)"),
        ("has(self.a)", "self.a"),
        ("1 == 1u", "1 == 1"),
    ] {
        assert_ne!(rule(one).key(), rule(other).key(), "{one} {other}");
    }
}

#[test]
fn large_expressions_take_bounded_work() {
    let schema = spec(VALUES);
    let clause = |index: usize| format!("(self.b > {index} || self.a == {index} && has(self.c))");
    let text = (0..200).map(clause).collect::<Vec<_>>().join(" && ");
    let place = Place::of(At::of(&schema));
    let anything = Outcomes { holds: true, is_false: true, fails: true };
    assert_eq!(rule(&text).outcomes(place, &[]), anything);
    let nested = (0..40)
        .fold("self.b > 1".to_owned(), |inner, index| format!("(self.a > {index} ? {inner} : {index} < self.b)"));
    assert_eq!(rule(&nested).outcomes(place, &[]), anything);
}
