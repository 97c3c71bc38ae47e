//! The resources that a definition uses as it is written. They are checked before its schemas, because checking these takes time
//! that grows faster than the text.
use std::collections::HashSet;

use super::{Additional, Fields, definition::Definition, pattern};
use crate::{
    kind::budget::{
        Resource::{
            Columns, CompiledPatterns, DefaultText, EnumValues, ListKeys, PatternClasses, PatternText, Patterns,
            RequiredNames, RuleNodes, RuleText, Rules, Schemas, Versions,
        },
        Usage, length,
    },
    schema::{Pattern, keywords::pattern::classes, rules::nodes},
};

/// The resources that a definition uses by its text, and its patterns. While these are kept, schemas that are made share them, so
/// that each is compiled once. `parses_rules` is false for rules that are not compiled.
pub(super) fn of(definition: &Definition<'_>, parses_rules: bool) -> (Usage, Vec<Pattern>) {
    let mut counter =
        UsageCounter { usage: Usage::default(), texts: HashSet::new(), patterns: Vec::new(), parses_rules };
    for version in &definition.versions {
        counter.usage.add(Versions, 1);
        counter.usage.add(Columns, version.items("additionalPrinterColumns").len());
        counter.schema(version.part("schema").part("openAPIV3Schema"));
    }
    (counter.usage, counter.patterns)
}

struct UsageCounter<'d> {
    usage: Usage,
    texts: HashSet<&'d str>,
    patterns: Vec<Pattern>,
    parses_rules: bool,
}

impl<'d> UsageCounter<'d> {
    fn schema(&mut self, schema: Fields<'d>) {
        self.usage.add(Schemas, 1);
        self.usage.add(EnumValues, schema.items("enum").len());
        self.usage.add(RequiredNames, schema.items("required").len());
        let keys = schema.items("x-kubernetes-list-map-keys").len() as u64;
        self.usage[ListKeys] = self.usage[ListKeys].max(keys);
        if let Some(default) = schema.get("default") {
            self.usage.add(DefaultText, usize::try_from(length(default)).unwrap_or(usize::MAX));
        }
        self.pattern(schema.text("pattern"));
        schema.objects("x-kubernetes-validations").for_each(|rule| self.rule(rule));
        schema.entries("properties").for_each(|(_, property)| self.schema(property));
        schema.object("items").into_iter().for_each(|items| self.schema(items));
        schema.branches().for_each(|(_, _, branch)| self.schema(branch));
        if let Some(Additional::Schema(values)) = schema.additional() {
            self.schema(values);
        }
    }

    fn rule(&mut self, rule: Fields<'d>) {
        self.usage.add(Rules, 1);
        for expression in ["rule", "messageExpression"].map(|name| rule.text(name)) {
            self.usage.add(RuleText, expression.len());
            // Only these macros repeat what they are called on; other nodes are few for the text.
            let repeats = ["optMap", "optFlatMap"].iter().any(|name| expression.contains(name));
            let is_within = [RuleText, RuleNodes].into_iter().all(|resource| !self.usage.exceeds(resource));
            if self.parses_rules && repeats && is_within {
                self.usage.add(RuleNodes, nodes(expression));
            }
        }
    }

    fn pattern(&mut self, text: &'d str) {
        if text.is_empty() || !self.texts.insert(text) {
            return;
        }
        self.usage.add(Patterns, 1);
        self.usage.add(PatternText, text.len());
        self.usage.add(PatternClasses, classes(text));
        // Beyond a bound, the others are not even read.
        if [Patterns, PatternText, PatternClasses, CompiledPatterns]
            .into_iter()
            .any(|resource| self.usage.exceeds(resource))
        {
            return;
        }
        if let Ok(pattern) = pattern::read(text) {
            self.usage.add(CompiledPatterns, usize::try_from(pattern.size()).unwrap_or(usize::MAX));
            self.patterns.push(pattern);
        }
    }
}
