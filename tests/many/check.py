#!/usr/bin/env python3
"""Measures a server with many CustomResourceDefinitions.

    check.py --server target/release/conformance-server --definitions FOLDER [--count 1000]
    check.py --server target/release/conformance-server --definitions FOLDER --rules [--count 1000]
    check.py --server target/release/conformance-server --changes [--count 1000]

With FOLDER, which has manifests (YAML), their definitions are repeated under other groups, with another text in each description so
that no two are equal, until there are COUNT. Prints, and compares with the limits (for a release build on an idle machine):
- the time and the memory of a start with all of them (2 s, 300 MB),
- the first and the second list of a kind (10 ms), the index of OpenAPI documents, and the document of each group (50 ms),
- the memory after all of these were read (20 MB more),
- a get of a ConfigMap, beside that of a server without definitions.
With --rules, the same definitions are created, and served again after a restart, with their rules in CEL and without, in turn: with
rules they are ready within 1.2 times of the time.
With --changes, COUNT definitions are created one after the other, get an object each, are changed and deleted, while a client reads a
ConfigMap: the memory stays flat, and reads are as fast afterwards as before.
Needs PyYAML.
"""
import argparse
import copy
import glob
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

import yaml

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Server:
    """A running server, and a connection to it."""

    def __init__(self, program, folder):
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w") as file:
            file.write('token,admin,1,"system:masters"\n')
        os.chmod(tokens, 0o600)
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [program, "--listen", "127.0.0.1:0", "--data-dir", os.path.join(folder, "data"), "--token-file", tokens],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.start_s = time.monotonic() - begun
        self.connection = http.client.HTTPConnection(urllib.parse.urlparse(line.split()[-1]).netloc, timeout=60)

    def another(self):
        """The same server, through another connection."""
        other = copy.copy(self)
        other.connection = http.client.HTTPConnection(self.connection.host, self.connection.port, timeout=60)
        return other

    def call(self, method, path, body=None):
        headers = {"Authorization": "Bearer token", "Content-Type": "application/json"}
        begun = time.monotonic()
        self.connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, text, time.monotonic() - begun

    def resident_mb(self, line="VmRSS"):
        with open("/proc/%d/status" % self.process.pid) as file:
            return int(re.search(line + r":\s+(\d+)", file.read())[1]) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def described(value, number):
    """A copy in which every description differs from those of other numbers."""
    if isinstance(value, dict):
        return {key: "%s (%d)" % (below, number) if key == "description" and isinstance(below, str) else described(below, number)
                for key, below in value.items()}
    return [described(item, number) for item in value] if isinstance(value, list) else value


def definitions(folder, count):
    """Definitions of the folder under groups of their own."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        with open(path) as file:
            found += [d for d in yaml.load_all(file, yaml.CSafeLoader) if d and d.get("kind") == "CustomResourceDefinition"]
    for number in range(count):
        one = found[number % len(found)]
        one = described(one, number)
        group = "g%d.example.com" % (number // len(found))
        one["spec"]["group"] = (one["spec"]["group"].split(".")[0] or "core") + "." + group
        one["metadata"] = {"name": "%s.%s" % (one["spec"]["names"]["plural"], one["spec"]["group"])}
        one.pop("status", None)
        if (one["spec"].get("conversion") or {}).get("strategy") == "Webhook":
            one["spec"].pop("conversion")
        yield one


def median_get_us(server):
    times = [server.call("GET", "/api/v1/namespaces/default/configmaps/a")[2] for _ in range(2000)]
    return statistics.median(times) * 1e6


def config_map(server):
    server.call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
    return median_get_us(server)


def bolts(number, field):
    """A definition with one field."""
    spec = {"type": "object", "properties": {field: {"type": "string", "default": field}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": dict(spec, default={})}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "bolts%d.many.example.com" % number},
            "spec": {"group": "many.example.com", "scope": "Namespaced",
                     "names": {"plural": "bolts%d" % number, "kind": "Bolt%d" % number},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]}}


def until(server, path, wanted):
    """The answer that has the wanted text or status, and how long it took to come."""
    begun = time.monotonic()
    while True:
        status, text, _ = server.call("GET", path)
        if status == wanted or isinstance(wanted, bytes) and wanted in text:
            return time.monotonic() - begun
        assert time.monotonic() < begun + 30, (path, status, text)
        time.sleep(0.002)


def change(server, number):
    """The life of a definition; returns how long its kind waited for a changed schema."""
    path = "/apis/many.example.com/v1/namespaces/default/bolts%d" % number
    status, text, _ = server.call("POST", DEFINITIONS, bolts(number, "old"))
    assert status == 201, text
    until(server, path, 200)
    bolt = {"apiVersion": "many.example.com/v1", "kind": "Bolt%d" % number}
    status, text, _ = server.call("POST", path, dict(bolt, metadata={"name": "a"}))
    assert status == 201, text
    row = "%s/bolts%d.many.example.com" % (DEFINITIONS, number)
    changed = json.loads(server.call("GET", row)[1])
    changed["spec"]["versions"] = bolts(number, "new")["spec"]["versions"]
    status, text, _ = server.call("PUT", row, changed)
    if status == 409:  # Its status was written meanwhile.
        changed["metadata"]["resourceVersion"] = json.loads(server.call("GET", row)[1])["metadata"]["resourceVersion"]
        status, text, _ = server.call("PUT", row, changed)
    assert status == 200, text
    status, text, elapsed = server.call("POST", path, dict(bolt, metadata={"name": "b"}))
    assert status == 201 and b'"new":"new"' in text, text
    return elapsed


def changes(program, count):
    """Yields what is measured: name, value, limit, unit."""
    with tempfile.TemporaryDirectory() as folder, Server(program, folder) as server:
        alone_us = config_map(server)
        reader = server.another()
        stopping, during = threading.Event(), []

        def read():
            while not stopping.is_set():
                during.append(reader.call("GET", "/api/v1/namespaces/default/configmaps/a")[2])
                time.sleep(0.001)

        thread = threading.Thread(target=read)
        thread.start()
        waits, settled_mb = [], 0
        for number in range(count):
            waits.append(change(server, number))
            if number >= 20:
                status, text, _ = server.call("DELETE", "%s/bolts%d.many.example.com" % (DEFINITIONS, number - 20))
                assert status == 200, text
            if number == count // 2:
                settled_mb = server.resident_mb()
        for number in range(max(0, count - 20), count):
            server.call("DELETE", "%s/bolts%d.many.example.com" % (DEFINITIONS, number))
        until(server, "/apis/many.example.com", 404)
        stopping.set()
        thread.join()
        yield "growth of memory in the second half", server.resident_mb() - settled_mb, 16, "MB"
        yield "get of a ConfigMap afterwards", median_get_us(server), alone_us * 1.5 + 100, "µs"
        yield "get of a ConfigMap meanwhile, median", statistics.median(during) * 1e6, alone_us * 5 + 1000, "µs"
        yield "write after a changed schema, median", statistics.median(waits) * 1e3, 100, "ms"
        yield "write after a changed schema, slowest", max(waits) * 1e3, 500, "ms"


def starts(program, manifests, count):
    """Yields what is measured: name, value, limit, unit."""
    with tempfile.TemporaryDirectory() as folder:
        with Server(program, folder) as server:
            empty_mb, alone_us = server.resident_mb(), config_map(server)
            sent, paths, begun = 0, [], time.monotonic()
            for one in definitions(manifests, count):
                status, text, _ = server.call("POST", DEFINITIONS, one)
                assert status == 201, text
                sent += len(json.dumps(one))
                version = next(version["name"] for version in one["spec"]["versions"] if version["served"])
                paths.append(("%s/%s" % (one["spec"]["group"], version), one["spec"]["names"]["plural"]))
            deadline = time.monotonic() + 120
            while server.call("GET", "/apis/%s/%s" % paths[-1])[0] != 200:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            print("%d definitions of %.1f KB: created in %.1f s, then %.0f MB (%.0f MB without them)"
                  % (count, sent / count / 1000, time.monotonic() - begun, server.resident_mb(), empty_mb))
            server.stop()

        with Server(program, folder) as server:
            status, _, _ = server.call("GET", "/apis/%s/%s" % paths[-1])
            assert status == 200, "the last definition is not served when the server is ready"
            yield "start", server.start_s, 2, "s"
            yield "memory after the start", server.resident_mb(), 300, "MB"
            yield "get of a ConfigMap", config_map(server), alone_us * 1.5 + 50, "µs"
            first, second, openapi = [], [], []
            for group, plural in paths[:100]:
                first.append(server.call("GET", "/apis/%s/%s" % (group, plural))[2])
                second.append(server.call("GET", "/apis/%s/%s" % (group, plural))[2])
            before_mb = server.resident_mb()
            for group in dict.fromkeys(group for group, _ in paths):
                openapi.append(server.call("GET", "/openapi/v3/apis/%s" % group)[2])
            yield "first index of OpenAPI documents", server.call("GET", "/openapi/v3")[2] * 1e3, 1000, "ms"
            yield "second index of OpenAPI documents", server.call("GET", "/openapi/v3")[2] * 1e3, 10, "ms"
            yield "first list of a kind, slowest", max(first) * 1e3, 10, "ms"
            yield "second list of a kind, slowest", max(second) * 1e3, 10, "ms"
            yield "OpenAPI document of a group, slowest", max(openapi) * 1e3, 50, "ms"
            print("     medians: %.2f, %.2f and %.2f ms" % tuple(statistics.median(all) * 1e3 for all in (first, second, openapi)))
            time.sleep(5)
            yield "memory 5 s later", server.resident_mb(), min(300, before_mb + 20), "MB"
            print("     at most %.0f MB" % server.resident_mb("VmHWM"))
            server.stop()


def without_rules(value):
    """A copy without rules in CEL."""
    if isinstance(value, dict):
        return {key: without_rules(below) for key, below in value.items() if key != "x-kubernetes-validations"}
    return [without_rules(item) for item in value] if isinstance(value, list) else value


def ready(program, documents):
    """The seconds until definitions are created and served, and until a server that has them is ready again."""
    last = documents[-1]["spec"]
    version = next(version["name"] for version in last["versions"] if version["served"])
    path = "/apis/%s/%s/%s" % (last["group"], version, last["names"]["plural"])
    with tempfile.TemporaryDirectory() as folder:
        with Server(program, folder) as server:
            begun = time.monotonic()
            for one in documents:
                status, text, _ = server.call("POST", DEFINITIONS, one)
                assert status == 201, text
            until(server, path, 200)
            created_s = time.monotonic() - begun
            server.stop()
        with Server(program, folder) as server:
            return created_s, server.start_s + until(server, path, 200)


def rules(program, manifests, count):
    """Yields what is measured: name, value, limit, unit."""
    ruled = list(definitions(manifests, count))
    plain = [without_rules(one) for one in ruled]
    ratios = []
    for _ in range(3):
        (created_s, start_s), (plain_created_s, plain_start_s) = ready(program, ruled), ready(program, plain)
        print("     created in %.2f s, without rules %.2f s; started in %.3f s, without rules %.3f s"
              % (created_s, plain_created_s, start_s, plain_start_s))
        ratios.append((created_s / plain_created_s, start_s / plain_start_s))
    created, started = (statistics.median(ratio) for ratio in zip(*ratios))
    yield "creation with rules", created, 1.2, "times"
    yield "start with rules", started, 1.2, "times"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--definitions")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--changes", action="store_true")
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    passed, failed = 0, 0

    def limit(what, value, most, unit):
        nonlocal passed, failed
        fits = value <= most
        passed, failed = passed + fits, failed + (not fits)
        print("%s %s: %.2f %s (limit %g)" % ("ok  " if fits else "FAIL", what, value, unit, most))

    if arguments.rules:
        for measured in rules(arguments.server, arguments.definitions, arguments.count):
            limit(*measured)
    elif arguments.definitions:
        for measured in starts(arguments.server, arguments.definitions, arguments.count):
            limit(*measured)
    if arguments.changes:
        for measured in changes(arguments.server, arguments.count):
            limit(*measured)
    print("%d passed, %d failed" % (passed, failed))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
