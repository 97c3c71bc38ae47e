#!/usr/bin/env python3
"""Other projects' test suites, and programs of ours in their style, against a server of Kubernetes' documents.

    run.py --kindsmith target/debug/kindsmith --pods target/debug/pod-server --corpus ../shared/corpus --kubectl kubectl
        [--kopf FOLDER] [SUITE ...]

- kopf: its end-to-end tests, each of which runs an operator of its examples; FOLDER is its source package (`pip download`), unpacked.
- kr8s: the tests in its package that need a cluster.
- kubernetes: the tests of the Python client's dynamic clients, synchronous and on asyncio, in its package.
- ours: lightkube, whose package has no tests (test_lightkube.py), logs and commands of pods, on a server that serves them
  (test_pods.py), and what the suites found in this server (test_findings.py).

Each suite has as many servers as processes, and all run at once: they wait most of the time. What they cannot run here is in
`not-run`, with the reason, and printed. Needs the packages of requirements.txt. Ends with `N passed, M failed`.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import kr8s

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = pathlib.Path(kr8s.__file__).parent.parent
DYNAMIC = ["dynamic/client_test.py", "dynamic/test_client.py", "dynamic/test_discovery.py",
           "aio/dynamic/client_test.py", "aio/dynamic/discovery_test.py"]


def suites(kopf):
    """By name: the folder to run in, and pytest's arguments."""
    ours = ["-c", str(HERE / "pytest.ini")]
    packaged = [*ours, f"--rootdir={PACKAGES}"]
    return {
        # Their handlers sleep and are retried: many at once.
        # They fail for sockets that the client leaves to the collector of garbage, too: whether it comes in time is chance.
        "kopf": (kopf, ["--numprocesses=8", "--dist=worksteal", "--timeout=60", "-Wignore::pytest.PytestUnraisableExceptionWarning",
                        "--only-e2e", "tests/e2e", "examples"]),
        "kr8s": (PACKAGES, [*packaged, "--numprocesses=4", "--dist=worksteal", *(f"kr8s/tests/test_{part}.py" for part in ["api", "auth", "io", "objects"])]),
        "kubernetes": (PACKAGES, [*packaged, *(f"kubernetes/{path}" for path in DYNAMIC)]),
        "ours": (HERE, [*ours, "."]),
    }


def start(name, folder, place, arguments, given):
    """Starts a suite; its output goes to a file in the folder."""
    command = [sys.executable, "-m", "pytest", "-p", "cluster", "-p", "no:cacheprovider", "-q", "--tb=short", *arguments,
               f"--junit-xml={folder}/results.xml", f"--kindsmith={given.kindsmith.resolve()}",
               f"--corpus={given.corpus.resolve()}", f"--kubectl={given.kubectl.absolute()}", f"--pods={given.pods.resolve()}"]
    not_run = HERE / "not-run" / f"{name}.txt"
    if not_run.exists():
        command.append(f"--not-run={not_run}")
    with open(folder / "output", "w") as output:
        environment = {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", "SUITE_FOLDER": str(folder),
                       "PATH": f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin"}
        return subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment)


def judge(name, folder, status):
    """Prints what a suite did. Returns how many passed and failed; what is wrong around the tests counts as failed, too."""
    reports = [json.loads(path.read_text()) for path in folder.glob("*/report.json")]
    wrong = [report["server"] for report in reports if report["server"]]
    if not reports or not (folder / "results.xml").exists():
        wrong.append("the suite did not run")
    passed = failed = 0
    for case in xml.parse(folder / "results.xml").iter("testcase") if not wrong else []:
        kinds = {part.tag: part for part in case}
        if "skipped" in kinds:
            print(f"skipped by {name} itself: {case.get('name')}: {kinds['skipped'].get('message')}")
        failed += bool(kinds.keys() & {"failure", "error"})
        passed += not kinds.keys() & {"failure", "error", "skipped"}
    if reports:
        wrong += [f"{test} is in not-run, and not in the suite" for test in reports[0]["unknown"]]
        for test, reason in reports[0]["not_run"].items():
            print(f"NOT RUN: {test}: {reason}")
    if status != 0 and not failed:
        wrong.append(f"pytest ended with status {status}")
    if wrong or failed:
        print((folder / "output").read_text(), *wrong, sep="\n")
    return passed, failed + len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kindsmith", type=pathlib.Path, required=True)
    parser.add_argument("--pods", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--kubectl", type=pathlib.Path, required=True)
    parser.add_argument("--kopf", type=pathlib.Path)
    parser.add_argument("suites", nargs="*")
    given = parser.parse_args()
    known = suites(given.kopf)
    chosen = given.suites or known
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="kindsmith-suites-") as base:
        started, running = time.monotonic(), {}
        for name in chosen:
            folder = pathlib.Path(base, name)
            folder.mkdir()
            running[name] = start(name, folder, *known[name], given)
        for name, process in running.items():
            status = process.wait()
            some_passed, some_failed = judge(name, pathlib.Path(base, name), status)
            print(f"{name}: {some_passed} passed, {some_failed} failed, after {time.monotonic() - started:.0f} s", flush=True)
            passed, failed = passed + some_passed, failed + some_failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
