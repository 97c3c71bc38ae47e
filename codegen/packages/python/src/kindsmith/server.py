"""A server in memory, in a process of its own that ends with this one."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import ssl
import subprocess
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from typing_extensions import Self

_StrPath = str | os.PathLike[str]

_POLL_INTERVAL_SECONDS = 0.005
_STOP_TIMEOUT_SECONDS = 10


class ServerError(Exception):
    """A server did not start, or refused a request."""

    def __init__(self, message: str, status: Mapping[str, Any] | None = None) -> None:
        """Keep the Status that a server answered: its code and message at least."""
        super().__init__(message)
        self.status = status


def find_binary() -> Path:
    """Return the command: what KINDSMITH_BINARY names, what the package installed, or what is on the PATH."""
    if named := os.environ.get("KINDSMITH_BINARY"):
        return Path(named)
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    for scheme in schemes:
        installed = Path(sysconfig.get_path("scripts", scheme), "kindsmith")
        if installed.exists():
            return installed
    if on_path := shutil.which("kindsmith"):
        return Path(on_path)
    message = "the command kindsmith is neither installed with this package nor on the PATH"
    raise FileNotFoundError(message)


class Server:
    """A running server. It stops at the end of a `with` block, by `stop`, and at the latest with this process.

    `files` are CustomResourceDefinitions, OpenAPI documents and folders of them, and `crds` definitions beside these.
    Without `files`, the server has the API of Kubernetes; `kubernetes` is its name in `files`.
    """

    def __init__(
        self, *, files: Iterable[_StrPath] = (), crds: Iterable[_StrPath] = (), timeout_seconds: float = 30
    ) -> None:
        """Start a server, and wait until it answers."""
        self._folder = tempfile.TemporaryDirectory(prefix="kindsmith-")
        folder = Path(self._folder.name)
        self._log = folder / "log"
        self.kubeconfig = folder / "kubeconfig"
        """The kubeconfig of an administrator."""
        ready = folder / "ready"
        kinds = [os.fspath(file) for file in files] or ["kubernetes"]
        kinds += [argument for crd in crds for argument in ("--crds", os.fspath(crd))]
        outputs = ["--write-kubeconfig", str(self.kubeconfig), "--ready-file", str(ready)]
        arguments = ["serve", *kinds, "--memory", "--listen", "127.0.0.1:0", *outputs, "--stop-with-stdin"]
        # What the server keeps in temporary files is removed with the folder, even if the server was killed.
        environment = {**os.environ, "TMPDIR": str(folder)}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(find_binary()), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=environment,
            )
        deadline = time.monotonic() + timeout_seconds
        while not ready.exists():
            if not self.is_running or time.monotonic() > deadline:
                ended = f"with status {self._process.returncode}" if not self.is_running else "before it was ready"
                message = f"the server ended {ended}:\n{self.log()}"
                self.stop()
                raise ServerError(message)
            time.sleep(_POLL_INTERVAL_SECONDS)
        self.url = ready.read_text().strip()
        """The address, such as `https://127.0.0.1:40123`."""

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    @property
    def returncode(self) -> int | None:
        """The status with which the process has ended."""
        return self._process.poll()

    def log(self) -> str:
        """Return what the server has logged. RUST_LOG says how much that is."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def stop(self) -> None:
        """Stop the server, and remove its files."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(_STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request as an administrator, for tests without a client. Returns the answer, in JSON.

        Raises ServerError, with the Status, if the server refuses.
        """
        config = self.kubeconfig.read_text()
        authority, token = (
            found[1] if (found := re.search(rf"^ *{name}: *(\S+)$", config, re.MULTILINE)) else ""
            for name in ("certificate-authority-data", "token")
        )
        context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        try:
            with opener.open(request) as response:
                answer: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode(errors="replace").strip()
            # A path that is not there at all is answered in plain text, as by kube-apiserver.
            is_json = error.headers.get_content_type() == "application/json"
            status: dict[str, Any] = json.loads(text) if is_json else {"code": error.code, "message": text}
            raise ServerError(status["message"], status) from None
        return answer

    def create_namespace(self, prefix: str = "test-") -> str:
        """Create a namespace with a name that begins like this, and return its name."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": prefix}}
        name: str = self.request("POST", "/api/v1/namespaces", namespace)["metadata"]["name"]
        return name

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace. The server deletes what is in it."""
        self.request("DELETE", f"/api/v1/namespaces/{name}")

    def __enter__(self) -> Self:
        """Return the server."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the server."""
        self.stop()
