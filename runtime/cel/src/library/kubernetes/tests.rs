//! The table of versions, and expressions with their results, errors and costs as Kubernetes has them.
use super::{jsonpatch, versions};
use std::{collections::BTreeSet, sync::Arc};

use kindsmith_meta::User;

use super::authz::{Authorizer, Decision, Subject, Target};
use crate::{Checked, Env, Error, Evaluation, Program, Range, Settings, Sizes, Type, Unmetered, Value, Variables};

/// The environment in which kube-apiserver tests the costs of its libraries: constants are not folded, nor literals checked.
fn unfolded() -> Env {
    let settings = Settings { fold_constants: false, ..versions::settings(versions::LATEST) };
    let mut libraries = versions::libraries(versions::LATEST);
    libraries.retain(|library| !library.name.starts_with("kubernetes.literals"));
    libraries.push(&jsonpatch::JSON_PATCH);
    Env::new(settings, &libraries).variable("authorizer", Type::Struct("kubernetes.authorization.Authorizer".into()))
}

/// Texts and bytes of at most 12.
struct Twelve;

impl Sizes for Twelve {
    fn size(&self, _path: &[&str], kind: &Type) -> Option<Range> {
        matches!(kind, Type::String | Type::Bytes).then_some(Range::new(0, 12))
    }
}

/// The rows of a table.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().map(|line| line.split('\t').collect())
}

/// The errors of an expression in a version, without their positions and snippets.
fn errors(minor: u32, text: &str) -> Vec<String> {
    match Env::kubernetes(minor).compile(text) {
        Ok(_) => Vec::new(),
        Err(issues) => issues.issues.iter().map(|issue| issue.message.clone()).collect(),
    }
}

#[test]
fn each_version_has_what_came_until_it() {
    for (since, text) in [
        (0, "url('http://h').getHost() == 'h' && isURL('/')"),
        (0, "'abc'.find('b') == 'b' && 'abc'.findAll('b', 1).size() == 1"),
        (0, "[1].sum() == 1 && ['a'].indexOf('a') == 0 && [b'a'].max() == b'a' && [1.0].isSorted()"),
        (0, "'a'.charAt(0) == 'a'"),
        (0, "has({'a': 1}.a)"),
        (28, "1 < 2.0"),
        (28, "[1][?0].hasValue() && optional.of(1).optMap(x, x + 1).value() == 2"),
        (28, "quantity('1').add(1).isLessThan(quantity('3')) && sign(quantity('1')) == 1"),
        (29, "sets.contains([1], [1])"),
        (29, "'%d'.format([1]) == '1' && strings.quote('a') != ''"),
        (30, "ip('1.2.3.4').family() == 4 && type(ip('1.2.3.4')) == net.IP && string(ip('::')) == '::'"),
        (30, "cidr('1.2.3.4/8').ip() == ip('1.2.3.4') && type(cidr('::/8')) == net.CIDR"),
        (31, "format.uri().validate('x').hasValue() && format.named('uri').hasValue()"),
        (32, "[1].all(i, v, i < v) && {'a': 1}.transformMap(k, v, v + 1).size() == 1"),
        (33, "semver('v1', true).major() == 1 && isSemver('1.2.3')"),
        (34, "[1, 2].slice(0, 1) == [1] && [[1]].flatten().reverse().distinct().sort() == lists.range(1)"),
    ] {
        assert_eq!(errors(since, text), [""; 0], "1.{since} {text}");
        assert_eq!(errors(versions::LATEST, text), [""; 0], "{text}");
        if since > 0 {
            assert_ne!(errors(since - 1, text), [""; 0], "1.{} {text}", since - 1);
        }
    }
}

/// The functions that Kubernetes tracks, by the version that added them.
const FUNCTIONS: [&str; 7] = [
    "find findAll getEscapedPath getHost getHostname getPort getQuery getScheme indexOf isSorted isURL lastIndexOf max min sum url",
    "allowed check errored error group name namespace path reason resource serviceAccount subresource",
    "add asApproximateFloat asInteger compareTo isGreaterThan isInteger isLessThan isQuantity quantity sign sub",
    "cidr containsCIDR containsIP family ip ip.isCanonical isCIDR isGlobalUnicast isIP isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified masked prefixLength string",
    "fieldSelector format.named labelSelector validate",
    "jsonpatch.escapeKey",
    "isSemver major minor patch semver",
];

#[test]
fn the_functions_are_those_that_kubernetes_tracks() {
    let mut libraries = versions::libraries(versions::LATEST);
    libraries.push(&jsonpatch::JSON_PATCH);
    let own = libraries.iter().filter(|library| library.name.starts_with("kubernetes."));
    let names: BTreeSet<String> = own
        .flat_map(|library| (library.functions)())
        .map(|function| function.name.to_string())
        .filter(|name| !name.starts_with("format.") || name == "format.named")
        .collect();
    let tracked: BTreeSet<String> =
        FUNCTIONS.iter().flat_map(|names| names.split(' ')).map(ToOwned::to_owned).collect();
    assert_eq!(names, tracked);
}

#[test]
fn no_version_has_what_belongs_to_other_environments() {
    for text in [
        "cel.bind(x, 1, x)",
        "math.abs(-1)",
        "base64.encode(b'a')",
        "'a'.reverse()",
        "{'a-b': 1}.`a-b`",
        "jsonpatch.escapeKey('a')",
    ] {
        assert_ne!(errors(versions::LATEST, text), [""; 0], "{text}");
    }
}

#[test]
fn literals_are_checked_since_they_are() {
    for (since, text, message) in [
        (0, "[1, 'a'] == []", "expected type 'int' but found 'string'"),
        (29, "duration('x') == duration('1s')", "invalid duration argument"),
        (29, "timestamp('x') == timestamp('2026-01-01T00:00:00Z')", "invalid timestamp argument"),
        (29, "'a'.matches('(')", "invalid matches argument"),
    ] {
        assert_eq!(errors(since, text), [message], "{text}");
        if since > 0 {
            assert_eq!(errors(since - 1, text), [""; 0], "{text}");
        }
    }
}

#[test]
fn calls_are_estimated_as_kubernetes_estimates_them() {
    let env = unfolded();
    let mut wrong = Vec::new();
    for row in rows(include_str!("costs.tsv")) {
        let [text, min, max, _] = row[..] else { panic!("{row:?}") };
        let checked = env.compile(text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
        let estimated = checked.estimate(&Twelve);
        if estimated != Range::new(min.parse().unwrap(), max.parse().unwrap()) {
            wrong.push(format!("{text}: {estimated:?} instead of {min} to {max}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Allows everything.
#[derive(Debug)]
struct Allow;

impl Authorizer for Allow {
    fn authorize(&self, _user: &User, _verb: &str, _target: Target<'_>) -> Decision {
        Decision { allowed: true, ..Decision::default() }
    }
}

/// The variable `authorizer`.
struct Authorizers;

impl<'a> Variables<'a> for Authorizers {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        let subject = || Subject::new(User::default().into(), Arc::new(Allow));
        (name == "authorizer").then(|| Ok(Value::opaque(subject())))
    }
}

/// Evaluates a checked expression.
fn evaluate<T>(checked: &Checked, read: impl FnOnce(Evaluation<'_>) -> T) -> T {
    let program = Program::new(checked).unwrap_or_else(|error| panic!("{error}"));
    read(program.evaluate(&Authorizers, None, &Unmetered))
}

#[test]
fn calls_cost_what_they_cost_in_kubernetes() {
    let env = unfolded();
    let mut wrong = Vec::new();
    for row in rows(include_str!("costs.tsv")) {
        let [text, .., expected] = row[..] else { panic!("{row:?}") };
        let checked = env.compile(text).unwrap_or_else(|issues| panic!("{text}: {issues}"));
        let (cost, value) = evaluate(&checked, |evaluation| (evaluation.cost, format!("{:?}", evaluation.value)));
        if cost.to_string() != expected {
            wrong.push(format!("{text}: {cost} instead of {expected}: {value}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// What an expression gives: the given value if it equals that, or the beginning of an error.
fn outcome(env: &Env, text: &str, expected: &str) -> String {
    let checked = match env.compile(text) {
        Err(issues) => return format!("compile: {}", issues.issues[0].message),
        Ok(checked) => checked,
    };
    if let Err(error) = Program::new(&checked) {
        return format!("plan: {error}");
    }
    evaluate(&checked, |evaluation| match evaluation.value {
        Err(error) => format!("error: {error}"),
        Ok(value) => {
            let Ok(literal) = env.compile(expected) else { return format!("{value:?}") };
            let equals = evaluate(&literal, |evaluation| value.equals(&evaluation.value?, &Unmetered));
            if equals == Ok(true) { expected.to_owned() } else { format!("{value:?}") }
        }
    })
}

#[test]
fn calls_have_the_results_and_errors_of_kubernetes() {
    let env = Env::kubernetes_latest();
    let mut wrong = Vec::new();
    for row in rows(include_str!("results.tsv")) {
        let [text, expected] = row[..] else { panic!("{row:?}") };
        // Some tests of kube-apiserver have the beginning of a message only.
        let outcome = outcome(&env, text, expected);
        if !outcome.starts_with(expected) {
            wrong.push(format!("{text}: {outcome} instead of {expected}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn authorizers_are_asked_about_what_the_expression_says() {
    #[derive(Debug)]
    struct Echo;

    impl Authorizer for Echo {
        fn authorize(&self, user: &User, verb: &str, target: Target<'_>) -> Decision {
            let reason = match target {
                Target::Path(path) => format!("{} {verb} {path}", user.name),
                Target::Resource(check) => format!(
                    "{} {verb} {} {} {} {} {} {} {}",
                    user.name,
                    check.group,
                    check.resource,
                    check.subresource,
                    check.namespace,
                    check.name,
                    check.field_selector,
                    check.label_selector
                ),
            };
            Decision { allowed: verb == "get", reason, error: (verb == "fail").then(|| "failed".to_owned()) }
        }
    }

    struct Echoes;

    impl<'a> Variables<'a> for Echoes {
        fn variable(&self, _name: &str) -> Option<Result<Value<'a>, Error>> {
            let user = User { name: "me".to_owned(), ..User::default() };
            Some(Ok(Value::opaque(Subject::new(user.into(), Arc::new(Echo)))))
        }
    }

    let env = unfolded();
    for (text, outcome) in [
        ("authorizer.path('/healthz').check('get').reason()", "\"me get /healthz\""),
        (
            "authorizer.group('apps').resource('deployments').subresource('scale').namespace('ns').name('n').fieldSelector('a=b').labelSelector('c').check('get').reason()",
            "\"me get apps deployments scale ns n a=b c\"",
        ),
        (
            "authorizer.serviceAccount('ns', 'sa').path('/').check('get').reason()",
            "\"system:serviceaccount:ns:sa get /\"",
        ),
        ("authorizer.path('/').check('get').allowed()", "true"),
        ("authorizer.path('/').check('post').allowed()", "false"),
        ("authorizer.path('/').check('fail').errored()", "true"),
        ("authorizer.path('/').check('fail').error()", "\"failed\""),
        ("authorizer.path('/').check('get').error()", "\"\""),
        ("authorizer.path(' ').check('get').allowed()", "path must not be empty"),
        ("authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"),
        ("authorizer.serviceAccount('ns', 'S').path('/').check('get').allowed()", "Invalid service account name"),
        (
            "authorizer.serviceAccount('n.s', 'sa').path('/').check('get').allowed()",
            "Invalid service account namespace",
        ),
    ] {
        let program = Program::new(&env.compile(text).unwrap()).unwrap();
        let found = match program.evaluate(&Echoes, None, &Unmetered).value {
            Ok(Value::String(text)) => format!("{text:?}"),
            Ok(Value::Bool(value)) => value.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, outcome, "{text}");
    }
}

#[test]
fn patches_have_a_type_and_escaped_keys() {
    let env = unfolded().types(Arc::new(jsonpatch::JsonPatchTypes));
    for (text, expected) in [("jsonpatch.escapeKey('a/b~c')", "'a~1b~0c'"), ("jsonpatch.escapeKey('~1')", "'~01'")] {
        assert_eq!(outcome(&env, text, expected), expected, "{text}");
    }
    assert!(env.compile("JSONPatch{op: 'add', path: '/a', value: 1}").is_ok());
    let issues = env.compile("JSONPatch{op: 1}").unwrap_err();
    assert_eq!(issues.issues[0].message, "expected type of field 'op' is 'string' but provided type is 'int'");
}

#[test]
fn a_constant_pattern_that_is_none_fails_when_the_program_is_made() {
    for text in ["'a'.find('(') == ''", "'a'.findAll('(', 1) == []"] {
        let error = Program::new(&Env::kubernetes_latest().compile(text).unwrap()).unwrap_err();
        assert_eq!(error.message, "error parsing regexp: missing closing ): `(`", "{text}");
    }
}
