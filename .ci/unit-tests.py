#!/usr/bin/env python3
"""Runs the unit tests of the workspace's libraries with filters, from the programs that `just build-tests` makes.

`cargo test --workspace --lib` would also build the unit tests of libraries that have none, which takes minutes.
"""
import json
import os
import subprocess
import sys

BUILD = ["cargo", "test", "--workspace", "--locked", "--no-run", "--message-format", "json"]


def programs():
    """The program of each library's unit tests, and the folder of its package."""
    built = subprocess.run(BUILD, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit("error: the tests were not built")
    for message in map(json.loads, built.stdout.splitlines()):
        target = message.get("target", {})
        if message.get("executable") and message["profile"]["test"] and "lib" in target["kind"]:
            yield message["executable"], os.path.dirname(message["manifest_path"])


failed, found = [], list(programs())
if not found:
    sys.exit("error: no library has unit tests")
for program, folder in found:
    print(f"     Running {program}", flush=True)
    if subprocess.run([program, *sys.argv[1:]], cwd=folder).returncode != 0:
        failed.append(program)
if failed:
    sys.exit("error: tests failed: " + " ".join(failed))
