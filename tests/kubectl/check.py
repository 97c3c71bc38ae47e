#!/usr/bin/env python3
"""Runs kubectl against the example server, and reads what it prints as a person would.

    python3 tests/kubectl/check.py --server target/debug/library --kubectl kubectl [--kubectl ANOTHER ...] [--pods target/debug/pod-server]
    python3 tests/kubectl/check.py --kindsmith target/debug/kindsmith --behind target/debug/pod-server --corpus ../shared/corpus
        --kubectl kubectl [--helm helm]

Each kubectl gets a server of its own, in an empty folder, and one more of pods, which it logs, attaches to and so on; with
`--kindsmith`, one of Kubernetes' documents, one of definitions of the Gateway API, two of nothing but built-in kinds, and one
in front of another instead. Prints a line for each step that
fails, and ends with `N passed, M failed`. Standard library only.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import steps_applying
import steps_behind
import steps_gateway
import steps_helm
import steps_kubernetes
import steps_lending
import steps_objects
import steps_oidc
import steps_owning
import steps_pods
import steps_reading
import steps_roles
import steps_verbs
import steps_writing


class Failure(Exception):
    """What a step finds wrong."""


class Session:
    """One kubectl, and the server it talks to."""

    def __init__(self, kubectl, command, folder, programs):
        self.kubectl, self.folder, self.programs, self.helm = kubectl, folder, programs, programs["helm"]
        self.environment = dict(os.environ, HOME=folder, KUBECONFIG=os.path.join(folder, "data", "kubeconfig"))
        # The commands that the server prints say `kubectl`: that is this one.
        binaries = os.path.join(folder, "bin")
        os.makedirs(binaries, exist_ok=True)
        os.symlink(kubectl, os.path.join(binaries, "kubectl"))
        self.environment["PATH"] = binaries + os.pathsep + self.environment["PATH"]
        self.started = time.monotonic()
        self.log = open(os.path.join(folder, "server.log"), "w")
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        self.greeting = self.process.stdout.readline()
        self.ready_after = time.monotonic() - self.started
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise Failure("the server ended while it was starting")
            self.greeting += line
            if line.strip().startswith("curl "):
                break

    def run(self, *arguments, stdin=None, status=0, timeout=60, environment=None):
        """Runs kubectl; gives back its standard output. `status` is what it must exit with, None for anything."""
        done = subprocess.run(
            [self.kubectl, *arguments], input=stdin, capture_output=True, text=True, timeout=timeout,
            env=dict(self.environment, **(environment or {})), cwd=self.folder,
        )
        self.errors = done.stderr
        if status is not None and done.returncode != status:
            raise Failure(f"kubectl {' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, *arguments, stdin=None, status=1):
        """Runs kubectl, which must fail; gives back what it says on standard error."""
        self.run(*arguments, stdin=stdin, status=status)
        return self.errors

    def start(self, *arguments):
        """Starts a kubectl that goes on, such as a watch."""
        process = subprocess.Popen(
            [self.kubectl, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=self.environment, cwd=self.folder,
        )
        process.read = []
        threading.Thread(target=lambda: [process.read.append(line) for line in process.stdout], daemon=True).start()
        return process

    def run_helm(self, *arguments):
        """Runs helm, which must succeed; gives back its standard output."""
        done = subprocess.run(
            [self.helm, *arguments], capture_output=True, text=True, timeout=60, env=self.environment, cwd=self.folder
        )
        if done.returncode != 0:
            raise Failure(f"helm {' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def shell(self, command):
        """Runs a command line as a person would, in a shell."""
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=self.environment, timeout=60)
        if done.returncode != 0:
            raise Failure(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def file(self, name, text):
        """Writes a file for kubectl to read; gives back its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def close(self):
        """Stops the server as a supervisor would; it must end well and soon."""
        self.process.terminate()
        try:
            status = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("the server did not stop within 20 seconds of SIGTERM")
        self.process.stdout.close()
        self.log.close()
        if status != 0:
            raise Failure(f"the server ended with status {status} at SIGTERM")
        with open(self.log.name) as log:
            text = log.read()
        if "panicked" in text:
            raise Failure("the server panicked:\n" + text)

    @staticmethod
    def has(text, *patterns):
        """The text must match each of the patterns, in any order; `^` and `$` are ends of lines."""
        for pattern in patterns:
            if not re.search(pattern, text, re.MULTILINE):
                raise Failure(f"{pattern!r} is not in:\n{text}")

    @staticmethod
    def lacks(text, *patterns):
        """The text must match none of the patterns."""
        for pattern in patterns:
            if re.search(pattern, text, re.MULTILINE):
                raise Failure(f"{pattern!r} is in:\n{text}")

    @staticmethod
    def same(found, wanted):
        """Both must be equal."""
        if found != wanted:
            raise Failure(f"found   {found!r}\nwanted  {wanted!r}")

    @staticmethod
    def lines_until(process, pattern, seconds=15):
        """Reads what a started kubectl prints until it matches; gives back all of it so far."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, "".join(process.read), re.MULTILINE):
                return "".join(process.read)
            time.sleep(0.02)
        raise Failure(f"{pattern!r} did not come within {seconds} s; there was:\n{''.join(process.read)}")


# What is done to the example, one step after the other.
LIBRARY = [*steps_reading.STEPS, *steps_writing.STEPS, *steps_owning.STEPS, *steps_applying.STEPS, *steps_objects.STEPS,
           *steps_lending.STEPS]


def check(kubectl, command, steps, programs, files):
    """Runs all steps on a server that finds these files in its folder; gives back how many passed and failed."""
    version = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"kubectl: {version} ({kubectl})", flush=True)
    folder = tempfile.mkdtemp(prefix="kindsmith-kubectl-")
    passed = failed = 0
    session = None
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    try:
        session = Session(kubectl, command, folder, programs)
        for step in [*steps, Session.close]:
            try:
                step(session)
                passed += 1
            except (Failure, AssertionError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError) as error:
                failed += 1
                where = "" if isinstance(error, Failure) else traceback.format_exc()
                print(f"FAILED {step.__name__}: {error}\n{where}", flush=True)
    finally:
        if session and session.process.poll() is None:
            session.process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    return passed, failed


def served(kindsmith, corpus, helm):
    """Servers of documents as they stand, and what is done to them."""
    of = lambda *paths: [kindsmith, "serve", *paths, "--listen", "127.0.0.1:0"]
    kubernetes = of("kubernetes")
    helming = steps_helm.STEPS if helm else []
    return [(kubernetes, [*steps_kubernetes.STEPS, *steps_verbs.STEPS, *helming], {}),
            (of(os.path.join(corpus, "crd")), steps_gateway.STEPS, {}),
            (of(), steps_roles.STEPS, {}),
            (of("--authentication-config", "authentication.yaml"), steps_oidc.STEPS, steps_oidc.FILES),
            (of("--aggregation"), steps_behind.STEPS, {})]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubectl", action="append", default=[])
    parser.add_argument("--server")
    parser.add_argument("--pods")
    parser.add_argument("--kindsmith")
    parser.add_argument("--behind")
    parser.add_argument("--corpus")
    parser.add_argument("--helm")
    arguments = parser.parse_args()
    programs = {"helm": arguments.helm, "kindsmith": arguments.kindsmith and os.path.abspath(arguments.kindsmith),
                "pods": arguments.behind and os.path.abspath(arguments.behind)}
    passed = failed = 0
    for name in arguments.kubectl or ["kubectl"]:
        kubectl = shutil.which(name)
        if not kubectl:
            print(f"NOT RUN: there is no {name}; install kubectl, or name one with --kubectl", flush=True)
            # A developer may do without; a run that is to vouch for the project may not.
            failed += 1 if os.environ.get("CI") else 0
            continue
        # As found, not what it links to: a dispatcher looks at the name it is called by.
        runs = [([os.path.abspath(server), *address], steps, {}) for server, address, steps in [
            (arguments.server, ["--listen", "127.0.0.1:0"], LIBRARY), (arguments.pods, ["127.0.0.1:0"], steps_pods.STEPS)] if server]
        if arguments.kindsmith:
            runs += served(os.path.abspath(arguments.kindsmith), os.path.abspath(arguments.corpus), arguments.helm)
        for command, steps, files in runs:
            some_passed, some_failed = check(os.path.abspath(kubectl), command, steps, programs, files)
            passed, failed = passed + some_passed, failed + some_failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
