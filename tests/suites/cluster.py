"""A plugin of pytest: the cluster that a suite runs against is a server of Kubernetes' documents, one for each process of tests.

Each process starts its own in a folder below SUITE_FOLDER, fills it with `cluster.yaml`, and stops it as a supervisor would. It is
found where suites look: in KUBECONFIG, by a `kubectl` on the PATH, in the fixture `k8s_cluster` (kr8s) and in the module `e2e_test`
(the Python client), which their packages leave out. Tests that `--not-run` names are not run. What happened is in `report.json` of the
folder.
"""
import asyncio
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(os.environ["SUITE_FOLDER"], os.environ.get("PYTEST_XDIST_WORKER", "main"))
KUBECONFIG = FOLDER / "data" / "kubeconfig"
# Before any package of a client is imported: some read their environment then. Caches of clients are in the folder, too.
os.environ.update(KUBECONFIG=str(KUBECONFIG), HOME=str(FOLDER), TMPDIR=str(FOLDER / "tmp"),
                  PATH=f"{FOLDER / 'bin'}{os.pathsep}{os.environ['PATH']}")
tempfile.tempdir = None


class Cluster:
    """A running server, as the suites of kr8s address it."""

    def __init__(self, kindsmith, kubectl):
        self.kubectl_path, self.kubeconfig_path = kubectl, KUBECONFIG
        for folder in ["bin", "tmp"]:
            (FOLDER / folder).mkdir(parents=True)
        (FOLDER / "bin" / "kubectl").symlink_to(kubectl)
        with open(FOLDER / "server.log", "w") as log:
            self.process = subprocess.Popen(
                [kindsmith, "serve", "kubernetes", "--listen", "127.0.0.1:0"],
                cwd=FOLDER, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.strip().startswith("curl "):
                break
        else:
            raise RuntimeError("the server did not start:\n" + (FOLDER / "server.log").read_text())
        # Read along, so that the server never waits for a reader.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.kubectl("create", "-f", HERE / "cluster.yaml")
        self.kubectl("replace", "--subresource=status", "-f", HERE / "cluster.yaml")

    def kubectl(self, *arguments):
        """Runs kubectl, which must succeed. Returns its standard output."""
        done = subprocess.run(["kubectl", *map(str, arguments)], capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {arguments}: {done.stderr}")
        return done.stdout

    def close(self):
        """Stops the server. Returns what is wrong with how it ran, if anything."""
        self.process.terminate()
        try:
            status = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "the server did not stop within 20 seconds of SIGTERM"
        log = (FOLDER / "server.log").read_text()
        return "the server panicked:\n" + log if "panicked" in log else status and f"the server ended with status {status}"


def listed(path):
    """The tests of a list, each with the reason, which is the comment above it."""
    reason, tests = "", {}
    for line in path.read_text().splitlines() if path else []:
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line:
            tests[line] = reason
    return tests


def configuration():
    """What `e2e_test.base` of the Python client gives its tests."""
    from kubernetes import client, config
    made = client.Configuration()
    config.load_kube_config(str(KUBECONFIG), client_configuration=made)
    return made


def configuration_on_asyncio():
    """The same for its client on asyncio."""
    from kubernetes.aio import client, config
    made = client.Configuration()
    asyncio.run(config.load_kube_config(str(KUBECONFIG), client_configuration=made))
    return made


def provide(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)
    return sys.modules[name]


def pytest_addoption(parser):
    for option in ["kindsmith", "corpus", "kubectl", "pods"]:
        parser.addoption(f"--{option}", type=pathlib.Path, required=False)
    parser.addoption("--not-run", type=pathlib.Path)


def pytest_configure(config):
    # The process that distributes tests to others runs none.
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    config.cluster = Cluster(config.option.kindsmith, config.option.kubectl)
    config.report = {"not_run": {}, "unknown": [], "server": None}
    for package, get in [("kubernetes", configuration), ("kubernetes.aio", configuration_on_asyncio)]:
        provide(f"{package}.e2e_test", base=provide(f"{package}.e2e_test.base", get_e2e_configuration=get))


# After the suite's own order and selection.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    tests = listed(config.option.not_run)
    found = {item: next((test for test in [item.nodeid, item.nodeid.partition("[")[0]] if test in tests), None) for item in items}
    config.report["not_run"] = {item.nodeid: tests[test] for item, test in found.items() if test}
    config.report["unknown"] = sorted(set(tests) - set(found.values()))
    items[:] = [item for item, test in found.items() if not test]


def pytest_unconfigure(config):
    if cluster := getattr(config, "cluster", None):
        config.report["server"] = cluster.close() or None
        (FOLDER / "report.json").write_text(json.dumps(config.report))


@pytest.fixture(scope="session")
def k8s_cluster(request):
    return request.config.cluster


@pytest.fixture
def ensure_gc():
    """Of kr8s, whose package leaves it out."""
    gc.collect()
    yield
    gc.collect()
