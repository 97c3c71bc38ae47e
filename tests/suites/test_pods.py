"""Logs and commands of pods, with the clients of the suites, on a server that has handlers for them (tests/pod-server).

Their own tests of these need a kubelet, and are among those that are not run.
"""
import subprocess
import threading

import kr8s
import pytest
from kubernetes import client, config
from kubernetes.stream import stream
from lightkube import ApiError, Client, KubeConfig
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Pod


@pytest.fixture(scope="module")
def kubeconfig(request, tmp_path_factory):
    """That of a server with a pod that runs."""
    folder = tmp_path_factory.mktemp("pods")
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen([request.config.option.pods, "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    while not (line := server.stdout.readline()).strip().startswith("curl "):
        assert line, (folder / "server.log").read_text()
    threading.Thread(target=server.stdout.read, daemon=True).start()
    path = folder / "data" / "kubeconfig"
    pods = Client(config=KubeConfig.from_file(path))
    pods.create(Pod(metadata=ObjectMeta(name="one", namespace="default"), spec=PodSpec(containers=[Container(name="main", stdin=True)])))
    # What kr8s waits for.
    conditions = [{"type": kind, "status": "True"} for kind in ["ContainersReady", "Ready"]]
    pods.patch(Pod.Status, "one", {"status": {"phase": "Running", "conditions": conditions}})
    yield path
    server.terminate()
    assert server.wait(timeout=20) == 0
    assert "panicked" not in (folder / "server.log").read_text()


LINES = ["line 4 of one\n", "line 5 of one\n"]


def test_logs_with_lightkube(kubeconfig):
    pods = Client(config=KubeConfig.from_file(kubeconfig))
    assert list(pods.log("one", tail_lines=2, newlines=True)) == LINES
    assert len(list(pods.log("one", follow=True))) == 5
    with pytest.raises(ApiError, match="container other is not valid for pod one"):
        list(pods.log("one", container="other"))


def test_logs_with_kr8s(kubeconfig):
    pod = kr8s.objects.Pod.get("one", namespace="default", api=kr8s.api(kubeconfig=kubeconfig))
    assert list(pod.logs(tail_lines=2)) == [line.strip() for line in LINES]
    assert len(list(pod.logs(follow=True))) == 5


def test_logs_with_the_python_client(kubeconfig):
    core = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))
    assert core.read_namespaced_pod_log("one", "default", tail_lines=2) == "".join(LINES)


def test_commands_with_kr8s(kubeconfig):
    pod = kr8s.objects.Pod.get("one", namespace="default", api=kr8s.api(kubeconfig=kubeconfig))
    done = pod.exec(["sh", "-c", "echo out; echo err >&2; exit 3"], check=False)
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 3)
    assert pod.exec(["true"]).returncode == 0


def test_commands_with_the_python_client(kubeconfig):
    core = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))
    running = stream(core.connect_get_namespaced_pod_exec, "one", "default", command=["sh", "-c", "cat; echo err >&2; exit 3"],
                     stdin=True, stdout=True, stderr=True, tty=False, _preload_content=False)
    running.write_stdin("hello\n")
    assert running.readline_stdout(timeout=10) == "hello"
    running.close()
    done = stream(core.connect_get_namespaced_pod_exec, "one", "default", command=["sh", "-c", "echo out; echo err >&2; exit 3"],
                  stdin=False, stdout=True, stderr=True, tty=False, _preload_content=False)
    done.run_forever(timeout=10)
    assert (done.read_stdout(), done.read_stderr(), done.returncode) == ("out\n", "err\n", 3)
