"""The fixtures of pytest.

| fixture | scope | is |
|---|---|---|
| `kubernetes_server` | session | a `kindsmith.Server`; KUBECONFIG names its kubeconfig while it runs |
| `kubernetes_namespace` | test | the name of a namespace of that server, which is deleted after the test |
| `kubernetes_client` | session | an `ApiClient` for that server, if the package `kubernetes` is installed |
| `start_kubernetes_server` | test | a function that starts a further server, which stops after the test |

The configuration of pytest says what `kubernetes_server` serves (`kindsmith_files`, `kindsmith_crds`, relative to its
folder), or a fixture of yours with the name `kindsmith_options`. Each process of pytest-xdist has its own server.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import pytest

from kindsmith.server import Server

if TYPE_CHECKING:
    import os
    from collections.abc import Generator, Iterable, Iterator

_LINES_OF_LOG = 100
# Where clients keep the KUBECONFIG that was set when they were imported, which tests do before the server starts.
_MODULES_WITH_KUBECONFIG = (
    "kubernetes.config.kube_config",
    "kubernetes.aio.config.kube_config",
    "kubernetes_asyncio.config.kube_config",
)


class Options(TypedDict, total=False):
    """The arguments of `kindsmith.Server` that a fixture `kindsmith_options` may return."""

    files: Iterable[str | os.PathLike[str]]
    crds: Iterable[str | os.PathLike[str]]
    timeout_seconds: float


class StartServer(Protocol):
    """The function of the fixture `start_kubernetes_server`: it takes the arguments of `kindsmith.Server`."""

    def __call__(
        self,
        *,
        files: Iterable[str | os.PathLike[str]] = (),
        crds: Iterable[str | os.PathLike[str]] = (),
        timeout_seconds: float = 30,
    ) -> Server:
        """Start a server."""


_servers = pytest.StashKey[dict[Server, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the configuration."""
    parser.addini("kindsmith_files", "what the server has: files, folders, kubernetes (the default)", type="args")
    parser.addini("kindsmith_crds", "files and folders of CustomResourceDefinitions", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the servers that run, each with the length of its log when the test began."""
    config.stash[_servers] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember where the logs are when a test begins."""
    servers = item.config.stash[_servers]
    servers.update({server: len(server.log()) for server in servers})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what servers have logged during it; of one that has ended, all."""
    report = yield
    if report.failed:
        for server, begin in item.config.stash[_servers].items():
            ended = "" if server.is_running else f", which ended with status {server.returncode}"
            log = server.log()[begin:] if server.is_running else server.log()
            if log or ended:
                lines = log.splitlines()[-_LINES_OF_LOG:]
                report.sections.append((f"Log of the server {server.url}{ended}", "\n".join(lines)))
    return report


@contextlib.contextmanager
def _running(config: pytest.Config, options: Options) -> Iterator[Server]:
    """Run a server, whose log reports of tests have."""
    with Server(**options) as server:
        servers = config.stash[_servers]
        servers[server] = 0
        try:
            yield server
        finally:
            del servers[server]


@pytest.fixture(scope="session")
def kindsmith_options(pytestconfig: pytest.Config) -> Options:
    """Return the arguments of `kubernetes_server`. To give them in code, write a fixture of this name."""
    files: list[str] = pytestconfig.getini("kindsmith_files")
    crds: list[os.PathLike[str]] = pytestconfig.getini("kindsmith_crds")
    folder = pytestconfig.inipath.parent if pytestconfig.inipath else pytestconfig.rootpath
    return {"files": [file if file == "kubernetes" else folder / file for file in files], "crds": crds}


@pytest.fixture(scope="session")
def kubernetes_server(pytestconfig: pytest.Config, kindsmith_options: Options) -> Iterator[Server]:
    """Run an API server like Kubernetes' own, in memory. KUBECONFIG names its kubeconfig while it runs."""
    with _running(pytestconfig, kindsmith_options) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(server.kubeconfig))
        for name in _MODULES_WITH_KUBECONFIG:
            if name in sys.modules:
                patch.setattr(sys.modules[name], "KUBE_CONFIG_DEFAULT_LOCATION", str(server.kubeconfig))
        yield server


@pytest.fixture
def kubernetes_namespace(kubernetes_server: Server) -> Iterator[str]:
    """Create a namespace for the test."""
    name = kubernetes_server.create_namespace()
    yield name
    if kubernetes_server.is_running:
        kubernetes_server.delete_namespace(name)


@pytest.fixture(scope="session")
def kubernetes_client(kubernetes_server: Server) -> Iterator[Any]:
    """Make a client of the package `kubernetes` for `kubernetes_server`."""
    from kubernetes import config  # noqa: PLC0415

    kubeconfig = str(kubernetes_server.kubeconfig)
    with config.new_client_from_config(kubeconfig) as client:  # type: ignore[no-untyped-call]
        yield client


@pytest.fixture
def start_kubernetes_server(pytestconfig: pytest.Config) -> Iterator[StartServer]:
    """Give a function that starts servers for this test alone. They have no part in KUBECONFIG."""
    with contextlib.ExitStack() as stack:

        def start(
            *,
            files: Iterable[str | os.PathLike[str]] = (),
            crds: Iterable[str | os.PathLike[str]] = (),
            timeout_seconds: float = 30,
        ) -> Server:
            options: Options = {"files": files, "crds": crds, "timeout_seconds": timeout_seconds}
            return stack.enter_context(_running(pytestconfig, options))

        yield start
