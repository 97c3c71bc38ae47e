//! Rules for writes in overlays: defaults, fields that do not change, and checks. Members of a resource:
//!
//! ```yaml
//! messages: {port: 'must be between 1 and 65535, inclusive'}        # texts that rules name: '@port'
//! parts:                                                            # rules of parts that several resources have
//!   container:
//!     defaults:
//!     - {path: .terminationMessagePath, value: /dev/termination-log, zero: true}
//! resources:
//! - resource: gears.example.com
//!   include: [{container: '.spec.containers[*]'}]                   # the rules of a part, from this place on
//!   defaults:
//!   - {path: .spec.teeth, value: 12}                                # set if absent
//!   - {path: .spec.label, from: object.metadata.name, when: has(self.teeth), zero: true}
//!   - {path: .metadata.labels, from: '{"kind": "gear"}', merge: add}
//!   - {path: .status.phase, value: New, operation: create, create: true}
//!   immutable:
//!   - {path: .spec.axle, reason: FieldValueInvalid, message: field is immutable, except: [.colour]}
//!   validations:
//!   - {path: '.spec.ports[*]', rule: self.number > 0, fieldPath: .number, reason: FieldValueInvalid, message: '@port'}
//!   - {path: .spec.ports, unique: [.name], ignoreEmpty: true, fieldPath: .name, reason: FieldValueDuplicate}
//! ```
//!
//! | member of a default | |
//! |---|---|
//! | `path` | the field, in each object that a path leads to; `[*]` are the items of a list, `[0]` is the first one, `.*` are the values of a map |
//! | `value`, `from`, `remove` | a value, an expression that gives one, or `true` to remove the field |
//! | `when` | an expression; `self` is what holds the field; see [`write_rules`](crate::kind::write_rules) for other variables |
//! | `zero` | the empty text, zero, false, and empty lists and objects count as absent |
//! | `always` | the field is replaced |
//! | `merge` | the field is a map: `add` the entries that it lacks, or put them `over` its own |
//! | `create` | what holds the field is made if it is absent |
//! | `operation` | `create` or `update`, if not both |
//!
//! A check has a `rule`, with `self` and other variables, and `oldSelf` in updates, or says what is `unique`. Its `reason` is that of
//! `x-kubernetes-validations`, or FieldValueNotFound, or FieldValueNotSupported with the `supported` values. `message` or `messageExpression`
//! is the detail, `fieldPath` the field from the place on, and `shown` another value for the error.
use std::collections::HashSet;

use serde_json::Map;

use crate::{
    kind::write_rules::{
        Check, DefaultRule, Effect, Expression, Expressions, Immutable, Path, Reason, Test, Text, Value, When,
        WriteRules,
    },
    openapi::{
        findings::{Findings, Location, shown},
        members::Members,
    },
    schema::Document,
};

/// The most rules of a resource. Parts that include others twice each would have many.
const MOST_RULES: usize = 20_000;

/// The parts and messages of an overlay, and the expressions of all.
pub(super) struct Parts<'d, 'e> {
    /// The index of the document.
    document: usize,
    parts: Option<&'d Map<String, Document>>,
    messages: Option<&'d Map<String, Document>>,
    expressions: &'e mut Expressions,
    /// The parts whose errors were reported.
    reported: HashSet<&'d str>,
}

/// Where rules are read, and what their paths begin with.
#[derive(Clone, Copy)]
struct Inclusion<'d, 'p> {
    members: Members<'d, 'p>,
    prefix: &'p str,
    /// The parts that are being read.
    within: &'p [&'d str],
}

impl<'d, 'e> Parts<'d, 'e> {
    pub(super) fn of(overlay: Members<'d, '_>, expressions: &'e mut Expressions, findings: &mut Findings) -> Self {
        Self {
            document: overlay.location.document,
            parts: overlay.object("parts", findings),
            messages: overlay.object("messages", findings),
            expressions,
            reported: HashSet::new(),
        }
    }

    /// The rules of a resource's entry.
    pub(super) fn write_rules(&mut self, members: Members<'d, '_>, findings: &mut Findings) -> WriteRules {
        let mut rules = WriteRules::default();
        self.read(Inclusion { members, prefix: "", within: &[] }, &mut rules, findings);
        rules
    }

    fn read(&mut self, at: Inclusion<'d, '_>, rules: &mut WriteRules, findings: &mut Findings) {
        let location = at.members.location.key("include");
        for (index, included) in at.members.list("include", findings).iter().enumerate() {
            let location = location.index(index);
            let Some(members) = Members::of(included, &location, findings) else { continue };
            for (name, path) in members.all {
                self.include(at, (name, path), &location.key(name), rules, findings);
            }
        }
        let location = at.members.location.key("defaults");
        for (index, entry) in at.members.list("defaults", findings).iter().enumerate() {
            let location = location.index(index);
            let Some(members) = Members::of(entry, &location, findings) else { continue };
            rules.defaults.extend(self.default(Inclusion { members, ..at }, findings));
        }
        let location = at.members.location.key("immutable");
        for (index, entry) in at.members.list("immutable", findings).iter().enumerate() {
            let location = location.index(index);
            let Some(members) = Members::of(entry, &location, findings) else { continue };
            rules.immutable.extend(self.immutable(Inclusion { members, ..at }, findings));
        }
        let location = at.members.location.key("validations");
        for (index, entry) in at.members.list("validations", findings).iter().enumerate() {
            let location = location.index(index);
            let Some(members) = Members::of(entry, &location, findings) else { continue };
            rules.checks.extend(self.check(Inclusion { members, ..at }, findings));
        }
    }

    /// The rules of a part. Its errors are reported once, however often it is included.
    fn include(
        &mut self,
        at: Inclusion<'d, '_>,
        (name, path): (&'d str, &Document),
        location: &Location<'_>,
        rules: &mut WriteRules,
        findings: &mut Findings,
    ) {
        let Some((name, part)) = self.parts.and_then(|parts| parts.get_key_value(name)) else {
            return findings.error(location, format!("there is no part {name:?}"));
        };
        if at.within.contains(&name.as_str()) {
            return findings.error(location, format!("the part {name:?} includes itself"));
        }
        if rules.defaults.len() + rules.immutable.len() + rules.checks.len() > MOST_RULES {
            return findings.error(location, format!("the resource has more than {MOST_RULES} rules"));
        }
        let Some(path) = path.as_str().filter(|path| Path::parse(path).is_some()) else {
            return findings.error(location, wrong_path(path));
        };
        let prefix = format!("{}{path}", at.prefix);
        let parts = Location::of(self.document);
        let parts = parts.key("parts");
        let location = parts.key(name);
        let mut again = Findings::default();
        let findings = if self.reported.insert(name) { findings } else { &mut again };
        let Some(members) = Members::of(part, &location, findings) else { return };
        members.warn_of_others(&["defaults", "immutable", "include", "validations"], findings);
        let within = [at.within, &[name]].concat();
        self.read(Inclusion { members, prefix: &prefix, within: &within }, rules, findings);
    }

    fn default(&mut self, at: Inclusion<'d, '_>, findings: &mut Findings) -> Option<DefaultRule> {
        const KNOWN: [&str; 10] =
            ["always", "create", "from", "merge", "operation", "path", "remove", "value", "when", "zero"];
        let members = at.members;
        members.warn_of_others(&KNOWN, findings);
        let path = at.path(findings)?;
        let given = ["value", "from", "remove"].map(|name| members.all.get(name));
        let value = match given {
            [Some(value), None, None] => Value::Fixed(value.clone()),
            [None, Some(_), None] => Value::Computed(self.expression(members, "from", findings)?),
            [None, None, Some(Document::Bool(true))] => Value::Nothing,
            _ => {
                findings.error(members.location, "supported: one of value, from, and remove: true");
                return None;
            }
        };
        let Some(rule) = DefaultRule::new(&path, value) else {
            findings.error(&members.location.key("path"), "supported: a path that ends in a field");
            return None;
        };
        let effect = match members.one_of("merge", &["add", "over"], findings) {
            Some("over") => Effect::Merge,
            Some(_) => Effect::Add,
            None if members.flag("always", findings) => Effect::Replace,
            None => Effect::Keep,
        };
        Some(DefaultRule {
            condition: members.get("when").and_then(|_| self.expression(members, "when", findings)),
            effect,
            part: at.part(),
            zero_is_absent: members.flag("zero", findings),
            creates: members.flag("create", findings),
            on: operation(members, findings),
            ..rule
        })
    }

    fn immutable(&self, at: Inclusion<'d, '_>, findings: &mut Findings) -> Option<Immutable> {
        let members = at.members;
        members.warn_of_others(&["except", "message", "path", "reason"], findings);
        let location = members.location.key("except");
        let mut except = Vec::new();
        for (index, text) in members.texts("except", findings).iter().enumerate() {
            match Path::parse(text) {
                Some(path) => except.push(path),
                None => findings.error(&location.index(index), wrong_path(&text.as_str().into())),
            }
        }
        Some(Immutable {
            path: at.path(findings)?,
            except,
            reason: reason(members, findings),
            message: self.message(members, findings),
        })
    }

    fn check(&mut self, at: Inclusion<'d, '_>, findings: &mut Findings) -> Option<Check> {
        const KNOWN: [&str; 12] = [
            "fieldPath",
            "ignoreEmpty",
            "message",
            "messageExpression",
            "operation",
            "path",
            "reason",
            "rule",
            "shown",
            "subresource",
            "supported",
            "unique",
        ];
        let members = at.members;
        members.warn_of_others(&KNOWN, findings);
        let path = at.path(findings)?;
        let field_path = members.text_or_empty("fieldPath", findings);
        let test = match (members.text("rule", findings), members.get("unique")) {
            (Some(text), None) => {
                Test::Rule { rule: self.expression(members, "rule", findings)?, of_change: text.contains("oldSelf") }
            }
            (None, Some(_)) => {
                let texts = members.texts("unique", findings);
                let by: Vec<_> = texts.iter().filter_map(|text| Path::parse(text)).collect();
                if by.len() != texts.len() || by.is_empty() {
                    findings.error(&members.location.key("unique"), "supported: a list of paths, such as [.name]");
                }
                let ignore_empty = members.flag("ignoreEmpty", findings);
                Test::Unique { by, ignore_empty, field_path: field_path.clone() }
            }
            _ => {
                findings.error(members.location, "supported: either rule or unique");
                return None;
            }
        };
        let message = match members.get("messageExpression") {
            Some(_) => Text::Computed(self.expression(members, "messageExpression", findings)?),
            None => Text::Fixed(self.message(members, findings)),
        };
        Some(Check {
            path,
            test,
            field_path,
            reason: reason(members, findings),
            message,
            shown: members.all.get("shown").cloned(),
            on: operation(members, findings),
            subresource: members.text("subresource", findings).map(str::to_owned),
            part: at.part(),
        })
    }

    fn expression(&mut self, members: Members<'d, '_>, name: &str, findings: &mut Findings) -> Option<Expression> {
        let text = members.text(name, findings)?;
        let compiled = self.expressions.compile(text);
        compiled.map_err(|error| findings.error(&members.location.key(name), error)).ok()
    }

    /// The message, or that of the overlay which it names.
    fn message(&self, members: Members<'d, '_>, findings: &mut Findings) -> String {
        let text = members.text("message", findings).unwrap_or_default();
        let Some(name) = text.strip_prefix('@') else { return text.to_owned() };
        let known = self.messages.and_then(|messages| messages.get(name)).and_then(Document::as_str);
        if known.is_none() {
            findings.error(&members.location.key("message"), format!("there is no message {name:?}"));
        }
        known.unwrap_or_default().to_owned()
    }
}

impl Inclusion<'_, '_> {
    /// The number of steps to the part.
    fn part(self) -> usize {
        Path::parse(self.prefix).map_or(0, |path| path.len())
    }

    /// The path of a rule.
    fn path(self, findings: &mut Findings) -> Option<Path> {
        let text = self.members.text_or_empty("path", findings);
        let path = Path::parse(&text).and_then(|_| Path::parse(&format!("{}{text}", self.prefix)));
        if path.is_none() {
            findings.error(&self.members.location.key("path"), wrong_path(&text.into()));
        }
        path
    }
}

fn wrong_path(found: &Document) -> String {
    format!("found {}; supported: a path such as .spec.ports[*].name or .data.*", shown(found))
}

fn operation(members: Members<'_, '_>, findings: &mut Findings) -> When {
    match members.one_of("operation", &["create", "update"], findings) {
        Some("create") => When::Create,
        Some("update") => When::Update,
        _ => When::Always,
    }
}

fn reason(members: Members<'_, '_>, findings: &mut Findings) -> Reason {
    let mut names: Vec<_> = Reason::BY_NAME.iter().map(|(name, _)| *name).collect();
    names.push("FieldValueNotSupported");
    let found = members.one_of("reason", &names, findings);
    let known = Reason::BY_NAME.into_iter().find(|(name, _)| found == Some(name));
    match (known, found) {
        (Some((_, reason)), _) => reason,
        (None, Some("FieldValueNotSupported")) => Reason::NotSupported(members.texts("supported", findings)),
        _ => Reason::Invalid,
    }
}
