#!/usr/bin/env python3
"""Early refusals arrive: clients of several languages send bodies with requests that the server refuses before it has read
them, and every one must get its Status. Each client, over each protocol that it speaks and with each size of body, makes as
many requests as --rounds says. Ends with a line that counts: `N passed, M failed`. Clients that are not installed are named."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [0, 100, 2_500_000]
MAPS = "/api/v1/namespaces/default/configmaps"
# What is refused before the body is read: the request, and the status and reason of its answer.
CASES = [
    {"status": 401, "reason": "Unauthorized", "method": "POST", "path": MAPS, "token": "nobody"},
    {"status": 403, "reason": "Forbidden", "method": "POST", "path": MAPS, "token": "alicetoken"},
    {"status": 404, "reason": "NotFound", "method": "POST", "path": "/api/v1/namespaces/default/nothings"},
    {"status": 405, "reason": "MethodNotAllowed", "method": "PUT", "path": MAPS},
    {"status": 406, "reason": "NotAcceptable", "method": "POST", "path": MAPS, "accept": "image/png"},
    {"status": 422, "reason": "Invalid", "method": "POST", "path": MAPS + "?dryRun=Some"},
    {"status": 415, "reason": "UnsupportedMediaType", "method": "PATCH", "path": MAPS + "/a", "type": "text/plain"},
]
TOKENS = 'admintoken,admin,1,"system:masters"\nalicetoken,alice,2,"developers"\n'


class Given:
    """A server that somebody else runs, with the same tokens."""

    def __init__(self, url, authority):
        self.url, self.authority = url, authority

    def stop(self):
        pass


class Server:
    def __init__(self, binary, work, name, tls):
        data = os.path.join(work, name)
        tokens = os.path.join(work, "tokens.csv")
        with open(tokens, "w") as file:
            file.write(TOKENS)
        os.chmod(tokens, 0o600)
        self.log = open(os.path.join(work, name + ".log"), "w")
        command = [binary, "--listen", "127.0.0.1:0", "--data-dir", data, "--token-file", tokens]
        command += ["--tls"] if tls else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.url = self.process.stdout.readline().strip().removeprefix("listening on ")
        self.authority = os.path.join(data, "ca.crt") if tls else ""

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
        self.log.close()


def has_requests():
    probe = subprocess.run([sys.executable, "-c", "import requests"], capture_output=True)
    return probe.returncode == 0


def go_client(work):
    """The Go client, built; nothing where there is no Go."""
    if not shutil.which("go"):
        return None
    binary = os.path.join(work, "go-client")
    environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOCACHE": os.path.join(work, "go-cache")}
    built = subprocess.run(["go", "build", "-o", binary, os.path.join(HERE, "client.go")], env=environment)
    return binary if built.returncode == 0 else None


def clients(work):
    """Name, whether it can run, protocols, command."""
    python = os.path.join(HERE, "client.py")
    node = os.path.join(HERE, "client.mjs")
    go = go_client(work)
    return [
        ("curl", shutil.which("curl"), ["http1", "http1-tls", "http2", "http2-tls"], [sys.executable, python, "curl"]),
        ("http.client", True, ["http1", "http1-tls"], [sys.executable, python, "http.client"]),
        ("requests", has_requests(), ["http1", "http1-tls"], [sys.executable, python, "requests"]),
        ("node fetch", shutil.which("node"), ["http1", "http1-tls"], ["node", node, "fetch"]),
        ("node http2", shutil.which("node"), ["http2", "http2-tls"], ["node", node, "http2"]),
        ("go", go, ["http1", "http1-tls", "http2-tls"], [go]),
    ]


def run(command, server, protocol, size, rounds):
    """How many of the requests got their answer, and what the others got."""
    environment = {**os.environ, "CASES": json.dumps(CASES)}
    if server.authority:
        environment["NODE_EXTRA_CA_CERTS"] = server.authority
    arguments = [*command, protocol, server.url, server.authority or "-", str(size), str(rounds)]
    done = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    passed = sum(line == "ok" for line in lines)
    return passed, [line for line in lines if line != "ok"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", help="the conformance server's program; without it --plain, --tls and --authority")
    parser.add_argument("--plain", help="the URL of a server that runs, without TLS")
    parser.add_argument("--tls", help="the URL of one with TLS")
    parser.add_argument("--authority", help="the file with the certificate to trust")
    parser.add_argument("--rounds", type=int, default=1000, help="requests of each client, protocol and size")
    parser.add_argument("--only", help="run this client alone")
    flags = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        if flags.server:
            servers = {tls: Server(flags.server, work, "tls" if tls else "plain", tls) for tls in (False, True)}
        else:
            servers = {False: Given(flags.plain, ""), True: Given(flags.tls, flags.authority)}
        try:
            for name, there, protocols, command in clients(work):
                if flags.only not in (None, name):
                    continue
                if not there:
                    print(f"NOT RUN: {name}, which is not installed", flush=True)
                    continue
                for protocol in protocols:
                    for size in SIZES:
                        begun = time.monotonic()
                        server = servers[protocol.endswith("-tls")]
                        good, others = run(command, server, protocol, size, flags.rounds)
                        bad = flags.rounds - good
                        passed, failed = passed + good, failed + bad
                        took = time.monotonic() - begun
                        print(f"{name}, {protocol}, {size} bytes: {good} answered, {bad} not, {took:.1f} s", flush=True)
                        for line in others[:5]:
                            print(f"    {line}", flush=True)
        finally:
            for server in servers.values():
                server.stop()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
