#!/usr/bin/env python3
"""Applies CustomResourceDefinitions with kubectl while a server runs, and uses, changes and deletes each of them.

    python3 tests/kubectl/definitions.py --kubectl kubectl --server target/debug/conformance-server MANIFEST...

A manifest is a file of definitions. Each definition is applied and becomes established; its kind is explained in every version; an object with what the
schema requires is created, listed, labelled, applied by the server; a category is added, by which kubectl then finds the kind; a
finalizer of the object keeps the deleted definition until it is removed, and then the kind is gone. A definition in the core group is
refused. Ends with `N passed, M failed`.
Needs PyYAML.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import yaml

import explain


class Failure(Exception):
    """What is wrong with an answer."""


class Kubectl:
    """kubectl against a server of its own, in an empty folder."""

    def __init__(self, kubectl, server, folder):
        self.folder = folder
        data = os.path.join(folder, "data")
        self.process = subprocess.Popen(
            [server, "--listen", "127.0.0.1:0", "--tls", "--data-dir", data], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.command = [kubectl, "--kubeconfig", os.path.join(data, "kubeconfig"), "--cache-dir", os.path.join(folder, "cache")]

    def run(self, *arguments, stdin=None):
        done = subprocess.run([*self.command, *arguments], input=stdin, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise Failure("kubectl %s: exit status %d\n%s%s" % (" ".join(arguments), done.returncode, done.stdout, done.stderr))
        return done.stdout

    def send(self, document, *arguments):
        return self.run(*arguments, "-f", "-", stdin=json.dumps(document))

    def close(self):
        self.process.terminate()
        return self.process.wait(20)


def minimal(schema):
    """A value with what a schema requires."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    if kind == "object":
        properties = schema.get("properties") or {}
        return {name: minimal(properties.get(name, {})) for name in schema.get("required") or []}
    if kind == "array":
        return [minimal(schema["items"]) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    pattern = schema.get("pattern", "")
    texts = ["a" * max(1, schema.get("minLength", 1)), "2020-01-01T00:00:00Z", "example.com/a", "a.example.com", "A", "1"]
    if schema.get("format") == "date-time":
        return texts[1]
    return next((text for text in texts if re.search(pattern, text)), texts[0])


def has(text, wanted):
    if wanted not in text:
        raise Failure("%r is not in:\n%s" % (wanted, text))


def refuse_core(kubectl, definition):
    """A definition in the core group, as tools generate it from Go types of Kubernetes, is refused."""
    try:
        kubectl.send(definition, "apply", "--server-side")
    except Failure as failure:
        has(str(failure), "spec.group: Required value")
        return
    raise Failure("a definition in the core group was taken")


def use(kubectl, definition):
    """The life of a definition."""
    name, spec = definition["metadata"]["name"], definition["spec"]
    names, version = spec["names"], next(v for v in spec["versions"] if v["storage"])
    resource = "%s.%s.%s" % (names["plural"], version["name"], spec["group"])
    if not spec["group"]:
        refuse_core(kubectl, definition)
        return
    kubectl.send(definition, "apply", "--server-side")
    kubectl.run("wait", "--for=condition=Established", "crd/" + name, "--timeout=60s")
    has(kubectl.run("api-resources", "--api-group", spec["group"], "--cached=false"), names["plural"])
    versions = ["apis/%s/%s" % (spec["group"], v["name"]) for v in spec["versions"] if v["served"]]
    if explain.check(kubectl.run, versions) < len(versions):
        raise Failure("not every version is explained")

    schema = version["schema"]["openAPIV3Schema"]
    made = {"apiVersion": "%s/%s" % (spec["group"], version["name"]), "kind": names["kind"],
            "metadata": {"name": "a", "finalizers": ["example.com/check"]}}
    for field in schema.get("properties") or {}:
        if field == "spec" or field in (schema.get("required") or []) and field not in made:
            made[field] = minimal(schema["properties"][field])
    kubectl.send(made, "create")
    has(kubectl.run("get", resource), "a")
    kubectl.run("label", resource, "a", "checked=yes")
    has(kubectl.run("get", resource, "-l", "checked=yes", "-o", "name"), "/a")
    made["metadata"] = {"name": "a", "annotations": {"checked": "yes"}}
    kubectl.send(made, "apply", "--server-side", "--force-conflicts")

    patch = json.dumps({"spec": {"names": {"categories": ["checked"]}}})
    kubectl.run("patch", "crd", name, "--type=merge", "-p", patch)
    deadline = time.monotonic() + 20
    # The definition takes effect in the background.
    while names["plural"] not in kubectl.run("api-resources", "--cached=false", "--categories=checked"):
        if time.monotonic() > deadline:
            raise Failure("the category is not discovered")
    has(kubectl.run("get", "checked", "-o", "name"), "/a")

    kubectl.run("delete", "crd", name, "--wait=false")
    has(kubectl.run("get", "crd", name, "-o", "jsonpath={.status.conditions[?(@.type==\"Terminating\")].status}"), "True")
    kubectl.run("wait", "--for=jsonpath={.metadata.deletionTimestamp}", resource + "/a", "--timeout=60s")
    kubectl.run("patch", resource, "a", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    kubectl.run("wait", "--for=delete", "crd/" + name, "--timeout=60s")
    if names["plural"] in kubectl.run("api-resources", "--api-group", spec["group"], "--cached=false", "-o", "name").split():
        raise Failure("%s is still served" % name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--server", required=True)
    parser.add_argument("manifests", nargs="+")
    arguments = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        kubectl = Kubectl(arguments.kubectl, arguments.server, folder)
        try:
            for path in arguments.manifests:
                with open(path) as file:
                    documents = [document for document in yaml.safe_load_all(file) if document]
                for definition in (d for d in documents if d.get("kind") == "CustomResourceDefinition"):
                    try:
                        use(kubectl, definition)
                        passed += 1
                    except (AssertionError, Failure, subprocess.TimeoutExpired) as error:
                        failed += 1
                        print("FAILED %s: %s" % (definition["metadata"]["name"], error), flush=True)
        finally:
            status = kubectl.close()
    if status != 0:
        failed += 1
        print("FAILED: the server ended with status %d" % status)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
