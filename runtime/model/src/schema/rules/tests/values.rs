//! Values of documents in expressions.
#![expect(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]

use serde_json::{Value, json};

use super::found;

/// Evaluates rules about an object with these properties: the rules that hold, and the rules that fail with their messages.
fn check(properties: &Value, document: &Value, holds: &[&str], fails: &[(&str, &str)]) {
    let rule = |rule: &&str| json!({"rule": rule});
    let schema =
        |rules: Vec<Value>| json!({"type": "object", "properties": properties, "x-kubernetes-validations": rules});
    if !holds.is_empty() {
        let found = found(&schema(holds.iter().map(rule).collect()), document, None);
        assert!(found.is_empty(), "{found:#?}");
    }
    for (failing, expected) in fails {
        let found = found(&schema(vec![rule(failing)]), document, None);
        assert!(found.len() == 1 && found[0].contains(expected), "{failing}: {found:#?}");
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

fn format(name: &str) -> Value {
    json!({"type": "string", "format": name})
}

fn map(values: Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn set(items: Value) -> Value {
    json!({"type": "array", "items": items, "x-kubernetes-list-type": "set"})
}

fn keyed(keys: &[&str], items: Value) -> Value {
    json!({"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn scalars() {
    let number = || json!({"type": "number"});
    check(
        &json!({"i": integer(), "n": number(), "w": number(), "s": text(), "b": {"type": "boolean"}, "f": integer()}),
        &json!({"i": i64::MAX, "n": 1.5, "w": 1, "s": "Rook takes 👑", "b": true, "f": 5.0}),
        &[
            "self.i == 9223372036854775807 && type(self.i) == int",
            "type(self.n) == double && self.n == 1.5",
            "type(self.w) == double && self.w == 1.0",
            "size(self.s) == 12 && self.s.endsWith('👑')",
            "type(self.b) == bool && self.b",
        ],
        &[
            ("self.i + 1 == 0", "integer overflow"),
            ("self.f == 5", "invalid data, expected int, got float64 evaluating rule: self.f == 5"),
        ],
    );
    check(
        &json!({"byte": format("byte"), "duration": format("duration"), "date": format("date"), "time": format("date-time"), "url": format("byte")}),
        &json!({"byte": "QUI=", "duration": "1h2m3s4ms", "date": "1997-07-16", "time": "2011-08-18T19:03:37.010000000+01:00", "url": "ab+/"}),
        &[
            "self.byte == b'AB' && size(self.byte) == 2 && type(self.byte) == bytes",
            "self.duration == duration('1h2m') + duration('3s4ms') && self.duration.getMilliseconds() == 3723004",
            "self.date == timestamp('1997-07-16T00:00:00.000Z') && self.date.getDate() == 16",
            "self.time == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
            "self.time.getHours('UTC') == 18 && self.time.getHours('01:00') == 19",
            "string(self.time) == '2011-08-18T19:03:37.01+01:00'",
        ],
        &[(
            "self.url == b''",
            "Invalid byte formatted string ab+/: illegal base64 data at input byte 2 evaluating rule: self.url == b''",
        )],
    );
    let either = || json!({"x-kubernetes-int-or-string": true});
    check(
        &json!({"s": either(), "i": either(), "n": {"x-kubernetes-int-or-string": true, "nullable": true}, "b": either()}),
        &json!({"s": "25%", "i": 1, "n": null, "b": true}),
        &[
            "self.s == '25%' && self.s != 1 && self.s != ['anything'] && type(self.s) == string",
            "self.i == 1 && self.i != 'x' && type(self.i) == int",
            "!has(self.n)",
        ],
        &[
            ("type(self.n) == int", "no such key: n evaluating rule"),
            (
                "self.b == 1",
                "invalid data, expected XIntOrString value to be either a string or integer evaluating rule",
            ),
            ("self.s > 1", "'no such overload"),
        ],
    );
}

#[test]
fn objects_and_maps() {
    check(
        &json!({
            "a": object(json!({"b": integer(), "c": integer(), "d": {"type": "integer", "nullable": true}})),
            "a1": object(json!({"b1": object(json!({"c1": integer()})), "d2": object(json!({"e2": integer()}))})),
            "m": map(integer()), "n": map(json!({"type": "string", "nullable": true})), "l": list(json!({"type": "string", "nullable": true})),
            "plain": list(text()),
        }),
        &json!({"a": {"b": 1, "d": null}, "a1": {"b1": {"c1": 4}}, "m": {"b": 1, "d": 2, "./-": 4, "👑": 5}, "n": {"a": null, "b": "x"}, "l": [null, "x"], "plain": [null]}),
        &[
            "has(self.a.b) && !has(self.a.c) && !has(self.a.d)",
            "!(has(self.a1.d2) && has(self.a1.d2.e2)) && has(self.a1.b1.c1)",
            "!('a' in self.m) && 'b' in self.m && has(self.m.b) && !has(self.m.c)",
            "self.m.all(k, self.m[k] > 0) && self.m['./-'] == 4 && self.m['👑'] == 5 && size(self.m) == 4",
            "self.m.exists(k, v, v == 2) && self.m.map(k, self.m[k]).exists(v, v == 1)",
            "self.n.size() == 2 && 'a' in self.n && type(self.n['a']) == null_type",
            "self.l.size() == 2 && type(self.l[0]) == null_type && type(self) == type(self)",
            "self.m == {'d': 2, 'b': 1, './-': 4, '👑': 5}",
        ],
        &[
            ("has(self.a.z)", "undefined field 'z'"),
            ("self.a['b'] == 1", "no matching overload for '_[_]'"),
            ("has(self.a1.d2.e2)", "no such key: d2 evaluating rule: has(self.a1.d2.e2)"),
            ("self.m['c'] == 1", "no such key: c"),
            ("self.plain[0] == 'x'", "invalid data, got null for schema with nullable=false"),
            ("self.plain[100] == 'x'", "index out of bounds: 100"),
        ],
    );
    check(
        &json!({"namespace": integer(), "true": integer(), "self": integer(), "dot.dot": integer(), "dash-dash": integer(),
            "slash/slash": integer(), "under__under": integer(), "in": integer(), "$": integer()}),
        &json!({"namespace": 1, "true": 2, "self": 3, "dot.dot": 4, "dash-dash": 5, "slash/slash": 6, "under__under": 7, "in": 8, "$": 9}),
        &[
            "self.namespace == 1 && self.__namespace__ == 1 && self.__true__ == 2 && self.self == 3",
            "self.dot__dot__dot == 4 && self.dash__dash__dash == 5 && self.slash__slash__slash == 6",
            "self.under__underscores__under == 7 && has(self.__in__)",
        ],
        &[("self.__illegal__ == 301", "undefined field '__illegal__'")],
    );
}

#[test]
fn lists_of_all_types() {
    let kv = || object(json!({"k": text(), "v": text()}));
    check(
        &json!({"s1": set(text()), "s2": set(text()), "maps": list(keyed(&["k"], kv()))}),
        &json!({"s1": ["a", "b", "c"], "s2": ["a", "c", "b"], "maps": [
            [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}], [{"k": "b", "v": "2"}, {"k": "a", "v": "1"}],
            [{"k": "b", "v": "3"}, {"k": "a", "v": "1"}], [{"k": "c", "v": "4"}]]}),
        &[
            "self.s1 == ['c', 'b', 'a'] && self.s1 == self.s2 && 'a' in self.s1 && !('x' in self.s1)",
            "['c', 'b', 'a'] != self.s1",
            "self.s1 + self.s2 == ['a', 'b', 'c'] && self.s1 + ['c', 'd'] == ['a', 'b', 'c', 'd']",
            "self.maps[0] == self.maps[1] && self.maps[0] + self.maps[2] == self.maps[2]",
            "self.maps[2] + self.maps[0] == self.maps[0] && size(self.maps[0] + [self.maps[3][0]]) == 3",
            "self.maps[0] == [self.maps[0][1], self.maps[0][0]]",
        ],
        &[("self.maps[0] == {'k': 'a', 'v': '1'}", "no matching overload for '_==_'")],
    );
    check(
        &json!({"objs": list(keyed(&["k!", "k."], object(json!({"k!": text(), "k.": text()}))))}),
        &json!({"objs": [
            [{"k!": "a", "k.": "1"}, {"k!": "b", "k.": "2"}], [{"k!": "b", "k.": "2"}, {"k!": "a", "k.": "1"}],
            [{"k!": "b", "k.": "2"}, {"k!": "c", "k.": "1"}], [{"k!": "b", "k.": "2"}, {"k!": "a", "k.": "3"}]]}),
        &[
            "self.objs[0] == self.objs[1] && self.objs[0][0].k__dot__ == '1'",
            "self.objs[0] != self.objs[2] && self.objs[0] != self.objs[3]",
        ],
        &[],
    );
}

#[test]
fn unknown_fields_count_in_comparisons_alone() {
    let open = |properties: Value| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": properties});
    let any = || json!({"x-kubernetes-preserve-unknown-fields": true});
    check(
        &json!({"a": list(open(json!({}))), "b": list(open(json!({"known": integer()}))), "c": list(object(json!({"any": any()}))),
            "l": list(any()), "m": map(any()), "f": any()}),
        &json!({"a": [{"x": "a"}, {"x": "b"}, {"x": "b"}, {}, {}],
            "b": [{"known": 1, "x": "a"}, {"known": 1, "x": "b"}, {"known": 1, "x": "b"}, {"known": 1}, {"known": 2}],
            "c": [{"any": "a"}, {"any": 1}, {"any": 1}], "l": [1], "m": {"a": 1}, "f": 1}),
        &[
            "self.a[0] != self.a[1] && self.a[1] == self.a[2] && self.a[3] == self.a[4] && self.a.size() == 5",
            "self.b[0] != self.b[1] && self.b[1] == self.b[2] && self.b[0] != self.b[3] && self.b[3] != self.b[4]",
            "self.c[0] != self.c[1] && self.c[1] == self.c[2]",
        ],
        &[
            ("has(self.a[0].x)", "undefined field 'x'"),
            ("has(self.l)", "undefined field 'l'"),
            ("has(self.m)", "undefined field 'm'"),
            ("has(self.f)", "undefined field 'f'"),
        ],
    );
    let embedded =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    check(
        &json!({"e": embedded}),
        &json!({"e": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "foo", "namespace": "x"}, "spec": {}}}),
        &["self.e.kind == 'Pod' && self.e.apiVersion == 'v1' && self.e.metadata.name == 'foo' && has(self.e)"],
        &[
            ("has(self.e.spec)", "undefined field 'spec'"),
            ("has(self.e.metadata.namespace)", "undefined field 'namespace'"),
        ],
    );
}

#[test]
fn data_that_violates_the_schema_is_an_error_where_it_is_read() {
    check(
        &json!({"o": object(json!({"f": text()})), "m": map(text()), "l": list(text()), "i": integer(), "n": {"type": "number"}, "s": text(), "b": {"type": "boolean"}}),
        &json!({"o": [], "m": [], "l": {}, "i": "x", "n": true, "s": {}, "b": []}),
        &["true || self.o == self.o"],
        &[
            ("has(self.o.f)", "invalid data, expected a map for the provided schema with type=object"),
            ("self.m.size() == 1", "invalid data, expected a map for the provided schema with type=object"),
            ("self.l.size() == 1", "invalid data, expected an array for the provided schema with type=array"),
            ("self.i == 1", "invalid data, expected int, got string"),
            ("self.n == 1.0", "invalid data, expected float, got bool"),
            ("self.s == ''", "invalid data, expected string, got map[string]interface {}"),
            ("self.b", "invalid data, expected bool, got []interface {}"),
        ],
    );
}
