//! Changes of specs and their results, following KEP-4008 and with kube-apiserver's messages.
use serde_json::{Value, json};

/// The result of writing a spec.
pub(super) enum Then {
    /// It is stored like this.
    Stored(Value),
    /// It is refused with these messages.
    Refused(&'static [&'static str]),
}
use Then::{Refused, Stored};

/// A merge patch of a spec, with the name of the object.
type Change = (&'static str, Value, Then);

/// All of them, to be sent one after the other.
pub(super) fn changes() -> impl Iterator<Item = Change> {
    scalars().into_iter().chain(map_lists()).chain(other_lists()).chain(maps()).chain(wholes())
}

fn scalars() -> Vec<Change> {
    vec![
        ("size", json!({"size": 9_999_999, "color": "Red"}), Stored(json!({"color": "Red", "size": 9_999_999}))),
        (
            "size",
            json!({"size": 8_888_888}),
            Refused(&["spec.size: Invalid value: 8888888: spec.size in body should be less than or equal to 9"]),
        ),
        ("size", json!({"size": 8}), Stored(json!({"color": "Red", "size": 8}))),
        (
            "size",
            json!({"size": 9_999_999}),
            Refused(&["spec.size: Invalid value: 9999999: spec.size in body should be less than or equal to 9"]),
        ),
        ("two", json!({"size": 5}), Stored(json!({"color": "Mauve", "size": 5}))),
        (
            "two",
            json!({"color": "Pink"}),
            Refused(&[r#"spec.color: Unsupported value: "Pink": supported values: "Red", "Green""#]),
        ),
        ("code", json!({"code": "lowest"}), Refused(&["spec.code: Too long: may not be more than 4 bytes"])),
        ("code", json!({"code": null, "color": "Red"}), Stored(json!({"color": "Red"}))),
        (
            "when",
            json!({"size": 7_777_777}),
            Refused(&["spec.size: Invalid value: 7777777: spec.size in body should be less than or equal to 9"]),
        ),
    ]
}

/// Items of a map list are matched by their keys, wherever they stand.
fn map_lists() -> Vec<Change> {
    let port = |name: &str, number: i64, protocol: &str| json!({"name": name, "number": number, "protocol": protocol});
    vec![
        (
            "ports",
            json!({"ports": [port("c", 9, "TCP"), port("b", 808_080, "TCP"), port("a", 8, "TCP")]}),
            Stored(json!({"ports": [port("c", 9, "TCP"), port("b", 808_080, "TCP"), port("a", 8, "TCP")]})),
        ),
        ("ports", json!({"ports": [port("b", 808_080, "UDP")]}), Stored(json!({"ports": [port("b", 808_080, "UDP")]}))),
        (
            "ports",
            json!({"ports": [port("z", 808_080, "TCP")]}),
            Refused(&[
                "spec.ports[0].number: Invalid value: 808080: spec.ports[0].number in body should be less than or equal to 9",
            ]),
        ),
        (
            "ports",
            json!({"ports": [port("b", 818_181, "TCP")]}),
            Refused(&[
                "spec.ports[0].number: Invalid value: 818181: spec.ports[0].number in body should be less than or equal to 9",
            ]),
        ),
        (
            "ports",
            json!({"ports": [port("b", 808_080, "TCP"), port("d", 101_010, "TCP")]}),
            Refused(&[
                "spec.ports[1].number: Invalid value: 101010: spec.ports[1].number in body should be less than or equal to 9",
            ]),
        ),
    ]
}

/// Items of sets and other lists are matched by their position.
fn other_lists() -> Vec<Change> {
    vec![
        ("tags", json!({"tags": ["longer", "ok"]}), Refused(&["spec.tags[0]: Too long: may not be more than 3 bytes"])),
        (
            "tags",
            json!({"tags": ["ok", "longer", "new"]}),
            Refused(&["spec.tags[1]: Too long: may not be more than 3 bytes"]),
        ),
        ("tags", json!({"size": 3}), Stored(json!({"size": 3, "tags": ["ok", "longer"]}))),
        ("args", json!({"args": ["no", "longer"]}), Refused(&["spec.args[1]: Too long: may not be more than 3 bytes"])),
        ("args", json!({"args": ["ok", "longer"], "size": 2}), Stored(json!({"args": ["ok", "longer"], "size": 2}))),
        (
            "plain",
            json!({"plain": [1, 505_050, 2]}),
            Refused(&["spec.plain[1]: Invalid value: 505050: spec.plain[1] in body should be less than or equal to 9"]),
        ),
        (
            "plain",
            json!({"plain": [2, 505_050]}),
            Refused(&["spec.plain[1]: Invalid value: 505050: spec.plain[1] in body should be less than or equal to 9"]),
        ),
    ]
}

/// Entries of maps are matched by their keys, those of atomic ones, too.
fn maps() -> Vec<Change> {
    vec![
        (
            "options",
            json!({"options": {"c": "new"}}),
            Stored(json!({"options": {"a": "ok", "b": "longer", "c": "new"}})),
        ),
        (
            "options",
            json!({"options": {"b": "other"}}),
            Refused(&["spec.options.b: Too long: may not be more than 3 bytes"]),
        ),
        (
            "options",
            json!({"options": {"b": null, "d": "longer"}}),
            Refused(&["spec.options.d: Too long: may not be more than 3 bytes"]),
        ),
        ("fixed", json!({"fixed": {"a": "no"}}), Stored(json!({"fixed": {"a": "no", "b": "longer"}}))),
        ("nested", json!({"nested": {"b": 1}}), Stored(json!({"nested": {"a": "x", "b": 1, "deep": {"c": 3}}}))),
        (
            "nested",
            json!({"nested": {"a": "y"}}),
            Refused(&[r#"spec.nested.a: Invalid value: "y": spec.nested.a in body should be at least 2 chars long"#]),
        ),
        (
            "nested",
            json!({"nested": {"deep": {"c": 5}}}),
            Refused(&["spec.nested.deep.c: Invalid value: 5: spec.nested.deep.c in body should be a multiple of 2"]),
        ),
    ]
}

/// Rules of a struct, a map or a list as a whole apply as soon as anything in it changes.
fn wholes() -> Vec<Change> {
    vec![
        ("pair", json!({"pair": {"left": 2}}), Refused(&["spec.pair.right: Required value"])),
        ("pair", json!({"pair": {"right": 2}}), Stored(json!({"pair": {"left": 1, "right": 2}}))),
        ("choice", json!({"size": 3}), Stored(json!({"choice": {"x": 1, "y": 2}, "size": 3}))),
        (
            "choice",
            json!({"choice": {"y": 3}}),
            Refused(&[r#"spec.choice: Invalid value: "{x, y}": must specify exactly one of: `x`, `y`"#]),
        ),
        ("choice", json!({"choice": {"y": null}}), Stored(json!({"choice": {"x": 1}, "size": 3}))),
        ("many", json!({"many": [1, 2, 3], "size": 3}), Stored(json!({"many": [1, 2, 3], "size": 3}))),
        ("many", json!({"many": [1, 2, 3, 4]}), Refused(&["spec.many: Too many: 4: must have at most 2 items"])),
        ("many", json!({"many": [1]}), Stored(json!({"many": [1], "size": 3}))),
        ("open", json!({"open": {"free": "no"}}), Stored(json!({"open": {"free": "no", "n": 9}}))),
        (
            "open",
            json!({"open": {"n": 8}}),
            Refused(&["spec.open.n: Invalid value: 8: spec.open.n in body should be less than or equal to 5"]),
        ),
        ("either", json!({"size": 1}), Stored(json!({"either": "many", "size": 1}))),
        (
            "either",
            json!({"either": "few"}),
            Refused(&[r#"spec.either: Invalid value: "few": spec.either in body should match '^[0-9]+%$'"#]),
        ),
        ("either", json!({"either": 5}), Stored(json!({"either": 5, "size": 1}))),
        // Duplicates count if there were none before.
        ("twice", json!({"size": 2}), Stored(json!({"twice": ["a", "a"], "size": 2}))),
        ("twice", json!({"twice": ["a"]}), Stored(json!({"twice": ["a"], "size": 2}))),
        ("twice", json!({"twice": ["a", "a"]}), Refused(&[r#"spec.twice[1]: Duplicate value: "a""#])),
        ("typed", json!({"size": 2}), Stored(json!({"typed": 7, "size": 2}))),
        (
            "typed",
            json!({"typed": 8}),
            Refused(&[r#"spec.typed: Invalid value: "integer": spec.typed in body must be of type string: "integer""#]),
        ),
        ("typed", json!({"typed": "7"}), Stored(json!({"typed": "7", "size": 2}))),
        // A rule of the whole object, with a change outside its metadata and status.
        ("bare", json!({"color": "Green"}), Refused(&["extra: Required value"])),
    ]
}
