//! `kindsmith cel`: its output and exit codes.
use std::{
    io::Write,
    process::{Command, Stdio},
};

const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: scalings.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: scalings, singular: scaling, kind: Scaling, listKind: ScalingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              min: {type: integer}
              max: {type: integer}
              labels: {type: object, additionalProperties: {type: string}}
              names: {type: array, maxItems: 5, items: {type: string, maxLength: 10}}
";
const OBJECT: &str = r"
apiVersion: example.com/v1
kind: Scaling
metadata: {name: a}
spec: {min: 3, max: 2, names: [a, b], labels: {app.example.com/name: x}}
";

/// The output of the command for an object on standard input, with its exit code.
fn cel(arguments: &[&str], object: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
    command.arg("cel").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // The command does not read it if its arguments are wrong.
    let _ = child.stdin.take().expect("a pipe").write_all(object.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

#[test]
fn an_expression_needs_no_object() {
    assert_eq!(cel(&["1 + 1"], ""), (0, "type:   int\nresult: 2\ncost:   1\n".to_owned(), String::new()));
}

#[test]
fn documents_are_read_without_a_definition() {
    let (code, out, _) = cel(&["self.spec.names.map(n, n + '!')", "--file", "-"], OBJECT);
    assert_eq!((code, &*out), (0, "type:   list(string)\nresult: [\"a!\",\"b!\"]\ncost:   32\n"));
    let (code, out, _) = cel(&["self.spec.missing == 1", "--file", "-"], OBJECT);
    assert_eq!((code, out.contains("error:  no such key: missing\n")), (1, true), "{out}");
}

#[test]
fn a_definition_gives_types_and_costs() {
    let file = std::env::temp_dir().join(format!("kindsmith-cel-{}.yaml", std::process::id()));
    std::fs::write(&file, DEFINITION).expect("a file");
    let at = |path: &str, expression: &str| {
        cel(&[expression, "--file", "-", "--definition", file.to_str().expect("UTF-8"), "--at", path], OBJECT)
    };
    let (code, out, _) = at(".spec", "self.min <= self.max");
    assert_eq!((code, &*out), (0, "type:   bool\nresult: false\ncost:   5, at most 5 by the schema\n"));
    let (code, out, _) = at(".spec.names[1]", "self.size()");
    assert_eq!((code, &*out), (0, "type:   int\nresult: 1\ncost:   2, at most 2 by the schema\n"));
    let (code, out, _) = at(".spec.labels['app.example.com/name']", "self");
    assert_eq!((code, &*out), (0, "type:   string\nresult: \"x\"\ncost:   1, at most 1 by the schema\n"));
    let (code, _, err) = at(".spec", "self.min <= self.mux");
    let expected = "ERROR: <input>:1:17: undefined field 'mux'\n | self.min <= self.mux\n | ................^\n";
    assert_eq!((code, &*err), (1, expected));
    let (code, _, err) = at(".spec.other", "self");
    assert_eq!((code, err.contains("no value at --at")), (2, true), "{err}");
    std::fs::remove_file(&file).expect("the file");
}

#[test]
fn a_wrong_path_is_wrong_usage() {
    let (code, _, err) = cel(&["self", "--file", "-", "--at", ".a[b]"], OBJECT);
    assert_eq!((code, err.contains("`b` is no number of an item")), (2, true), "{err}");
}

#[test]
fn the_old_value_may_be_an_optional() {
    let arguments = ["oldSelf.hasValue()", "--optional-old-self", "--file", "-"];
    let (code, out, err) = cel(&arguments, OBJECT);
    assert_eq!((code, &*out), (0, "type:   bool\nresult: false\ncost:   2\n"), "{err}");
}

#[test]
fn large_objects_on_standard_input_are_refused() {
    let object = format!("{OBJECT}# {}\n", "x".repeat(2 << 20));
    let (code, _, err) = cel(&["self.spec.min", "--file", "-", "--max-file-size", "1Mi"], &object);
    assert_eq!((code, err.contains("larger than")), (2, true), "{err}");
}
