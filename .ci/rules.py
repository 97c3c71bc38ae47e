#!/usr/bin/env python3
"""Replays the kit's scenarios whose definitions have CEL rules, as long as Kindsmith has no engine for these.

    rules.py --kit kit.py --server URL --token T SCENARIO.json ...

A step depends on rules if
- its request defines some (x-kubernetes-validations), or
- the recorded answer has the message of a rule, or says that rules were not checked, or
- an earlier step was to be refused by a rule, succeeded here, and changed the same object.
These steps may differ from what is recorded, as long as the server answers them. All others must match, except that writes carry a
warning that the rules are not enforced. Numbers of uids and
resource versions are compared by the order in which they first appear in answers that are compared whole. Ends with `N passed, M failed`.
A scenario in which nothing differs any more fails, because it is to be listed with those that are built.
"""
import argparse
import importlib.util
import json
import re

UNCHECKED = "some validation rules were not checked"
UNENFORCED = re.compile(r"^299 - \"CEL rules of \S+ are not enforced yet, and objects may violate them: \d+\"$")
NUMBERED = re.compile(r"<(uid|rv|gen):\d+>")


def rules(value):
    """The rules anywhere in a definition."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from below if key == "x-kubernetes-validations" else rules(below)
    elif isinstance(value, list):
        for below in value:
            yield from rules(below)


def refused(answer):
    return not isinstance(answer["status"], int) or answer["status"] >= 400


def without_warning(answer):
    """The answer without the warning that rules are not enforced."""
    if "warning" not in answer.get("headers", {}):
        return answer
    headers = {**answer["headers"], "warning": [text for text in answer["headers"]["warning"] if not UNENFORCED.match(text)]}
    if not headers["warning"]:
        del headers["warning"]
    return {**answer, "headers": headers}


def target(step):
    """The path of the object that a step is about, without its subresource."""
    return re.sub(r"/(status|scale)$", "", step.get("path", ""))


class Renumbered:
    """Answers with their numbers in the order in which these first appear."""

    def __init__(self):
        self.seen = {}

    def of(self, value):
        if isinstance(value, dict):
            return {key: self.of(value[key]) for key in sorted(value)}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        return NUMBERED.sub(self.number, value) if isinstance(value, str) else value

    def number(self, match):
        known = self.seen.setdefault(match[1], {})
        return "<%s:%d>" % (match[1], known.setdefault(match[0], len(known) + 1))


def judge(compare, answers):
    """Yields each step with its differences, and whether these may come from rules."""
    messages, changed = {UNCHECKED}, set()
    recorded, ours = Renumbered(), Renumbered()
    for step, want, got in answers:
        defined = list(rules(step.get("json")))
        messages |= {rule.get("message") or "failed rule: " + rule.get("rule", "") for rule in defined}
        text = json.dumps(want, ensure_ascii=False)
        if defined or any(message in text for message in messages) or target(step) in changed:
            if refused(want) and not refused(got) and "dryRun" not in (step.get("query") or {}):
                changed.add(target(step))
            is_answered = isinstance(got["status"], int) and got["status"] < 500
            yield step, compare(step, want, got), is_answered
        elif step.get("accept") or step.get("statusOnly"):
            yield step, compare(step, want, got), False
        else:
            yield step, compare(step, recorded.of(want), ours.of(got)), False


def replay(kit, server, path):
    with open(path) as file:
        scenario = json.load(file)
    answers, compare = [], kit.compare
    kit.compare = lambda step, want, got: answers.append((step, want, without_warning(got))) or []
    kit.run(server, scenario, False)
    kit.compare = compare
    passed, failed, excused = 0, 0, 0
    for step, problems, is_excused in judge(compare, answers):
        label = step.get("id") or step.get("collect")
        if not problems:
            passed += 1
            continue
        if is_excused:
            excused += 1
            print("  depends on rules: %s" % label)
            continue
        failed += 1
        print("  FAIL %s" % label)
        for problem in problems[:12]:
            print("       %s" % problem)
    print("%-28s %d of %d, %d depend on rules" % (scenario["name"], passed, len(answers), excused))
    if excused == 0 and failed == 0:
        print("  FAIL nothing differs any more: list %s with the scenarios that are built" % scenario["name"])
        failed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("kit", "server", "token"):
        parser.add_argument("--" + flag, required=True)
    parser.add_argument("scenarios", nargs="+")
    arguments = parser.parse_args()
    spec = importlib.util.spec_from_file_location("kit", arguments.kit)
    kit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kit)
    arguments.ca, arguments.insecure = None, False
    counts = [replay(kit, kit.Server(arguments), path) for path in arguments.scenarios]
    failed = sum(failed for _, failed in counts)
    print("%d passed, %d failed" % (sum(passed for passed, _ in counts), failed))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
