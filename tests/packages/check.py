#!/usr/bin/env python3
"""Builds the wheel and the npm packages, and runs tests through them in an empty environment and an empty folder.

    check.py --kindsmith target/debug/kindsmith [python] [npm]

Both at once: they mostly wait for downloads. Fetches pytest, vitest and the Kubernetes clients from their registries. Ends with
`N passed, M failed`.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import venv
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ROOT / "codegen" / "packages"
CRDS = ROOT / "schemas" / "bakery.example.com" / "orders.yaml"


class Check:
    """What one of the packages does: its output, and how many tests passed and failed."""

    def __init__(self, run, binary, folder):
        self.binary, self.folder = binary, folder
        self.output, self.passed, self.failed = [], 0, 0
        # Nothing of the one who runs this is found by the packages.
        hidden = {"KUBECONFIG", "KINDSMITH_BINARY", "PYTHONPATH", "VIRTUAL_ENV", "NODE_PATH"}
        self.environment = {name: value for name, value in os.environ.items() if name not in hidden}
        self.thread = threading.Thread(target=self.attempt, args=[run])
        folder.mkdir()
        self.thread.start()

    def attempt(self, run):
        started = time.monotonic()
        try:
            run(self)
        except Exception as error:  # What ends the thread is a failure, too.
            self.failed += 1
            self.output.append(str(error))
        self.output.append(f"{run.__name__}: {self.passed} passed, {self.failed} failed, after {time.monotonic() - started:.0f} s")

    def run(self, *command, must_pass=True, **variables):
        """Runs a command in the folder. Unless its tests are counted, it must succeed."""
        done = subprocess.run([str(part) for part in command], cwd=self.folder, env={**self.environment, **variables},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        if done.stdout:
            self.output.append(done.stdout.rstrip())
        if must_pass and done.returncode != 0:
            raise OSError(f"{' '.join(map(str, command))} ended with status {done.returncode}")
        return done.returncode

    def step(self, name, *command, **variables):
        """Counts a command as one test."""
        passed = self.run(*command, must_pass=False, **variables) == 0
        self.passed, self.failed = self.passed + passed, self.failed + (not passed)
        self.output.append(f"{name}: {'passed' if passed else 'FAILED'}")

    def count(self, status):
        """Adds the tests of results.xml, in the form of JUnit."""
        for case in xml.parse(self.folder / "results.xml").iter("testcase"):
            kinds = {part.tag for part in case}
            self.failed += bool(kinds & {"failure", "error", "skipped"})
            self.passed += not kinds & {"failure", "error", "skipped"}
        if status != 0 and not self.failed:
            raise OSError(f"the tests ended with status {status}")


def python(check):
    """The wheel: pytest, without and with pytest-xdist, and the types and the format of its sources."""
    check.run(sys.executable, PACKAGES / "build.py", "--binary", check.binary, "--output", check.folder, "wheel")
    # Without a pip of its own, which takes longer to install than the package.
    venv.create(check.folder / "venv", with_pip=False)
    scripts = check.folder / "venv" / "bin"
    check.run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *check.folder.glob("*.whl"),
              "--requirement", HERE / "python" / "requirements.txt")
    check.step("kindsmith --version", scripts / "kindsmith", "--version")
    check.step("python -m kindsmith", scripts / "python", "-m", "kindsmith", "test", "--", "true")
    shutil.copytree(HERE / "python", check.folder / "tests")
    shutil.copy(CRDS, check.folder / "tests")
    status = check.run(scripts / "python", "-m", "pytest", "-q", "--junit-xml=results.xml", "tests", must_pass=False)
    check.count(status)
    sources = PACKAGES / "python"
    check.step("types", scripts / "mypy", "--config-file", sources / "pyproject.toml", sources / "src",
               MYPY_CACHE_DIR=str(check.folder / "mypy"))
    for name, command in [("format", ["format", "--check"]), ("lints", ["check"])]:
        check.step(name, scripts / "ruff", *command, "--no-cache", sources)


def npm(check):
    """The npm packages: vitest, node:test, and the types that TypeScript sees."""
    check.run(sys.executable, PACKAGES / "build.py", "--binary", check.binary, "--output", check.folder, "npm")
    shutil.copytree(HERE / "npm", check.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(CRDS, check.folder)
    manifest = json.loads((check.folder / "package.json").read_text())
    for package in check.folder.glob("*.tgz"):
        name = "@kindsmith/" + package.name.split("-", 1)[1].rsplit("-", 1)[0] if package.name.count("-") > 1 else "kindsmith"
        manifest["devDependencies"][name] = f"file:{package.name}"
    (check.folder / "package.json").write_text(json.dumps(manifest))
    check.run("npm", "install", "--no-audit", "--no-fund", "--silent")
    programs = check.folder / "node_modules" / ".bin"
    check.step("kindsmith --version", programs / "kindsmith", "--version")
    check.step("exit code", "sh", "-c", '"$0" test -- sh -c "exit 7"; [ $? -eq 7 ]', programs / "kindsmith")
    check.step("types", programs / "tsc")
    check.step("node:test", "node", "--test", "start.cjs")
    status = check.run(programs / "vitest", "run", "--testTimeout=60000", "--reporter=default", "--reporter=junit", "--outputFile=results.xml",
                       must_pass=False, CI="true")
    check.count(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kindsmith", type=pathlib.Path, required=True)
    parser.add_argument("packages", nargs="*", help="python, npm: both if none is named")
    given = parser.parse_args()
    known = {"python": python, "npm": npm}
    with tempfile.TemporaryDirectory(prefix="kindsmith-packages-") as base:
        # Half of a dev build is its symbols, which take long to compress.
        binary = pathlib.Path(base, "kindsmith")
        subprocess.run(["strip", "-o", binary, given.kindsmith], check=True)
        checks = [Check(known[name], binary, pathlib.Path(base, name)) for name in given.packages or known]
        for check in checks:
            check.thread.join()
            print("\n".join(check.output), flush=True)
    passed, failed = sum(check.passed for check in checks), sum(check.failed for check in checks)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
