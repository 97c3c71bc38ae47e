"""What pytest does around tests: reports, several processes, an end by force."""

import os
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit


def answers(url):
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_dead_server_shows_its_log_in_the_report(pytester):
    pytester.makepyfile("""
        def test_one(start_kubernetes_server):
            server = start_kubernetes_server()
            server._process.kill()
            server._process.wait()
            assert False

        def test_two():
            assert False
    """)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=2)
    # In the report of the first test alone.
    result.stdout.re_match_lines([".*Log of the server https://127.0.0.1:.* ended with status -9.*", ".* listening url=.*", ".* test_two .*"])
    assert str(result.stdout).count("Log of the server") == 1


def test_each_process_of_xdist_has_its_own_server(pytester):
    pytester.makepyfile("""
        import os, pathlib, pytest

        @pytest.mark.parametrize("number", range(4))
        def test_it(kubernetes_server, kubernetes_namespace, number):
            assert os.environ["KUBECONFIG"] == str(kubernetes_server.kubeconfig)
            pathlib.Path(os.environ["URLS"], os.environ["PYTEST_XDIST_WORKER"]).write_text(kubernetes_server.url)
    """)
    urls = pytester.mkdir("urls")
    os.environ["URLS"] = str(urls)
    pytester.runpytest_subprocess("-n2").assert_outcomes(passed=4)
    found = {file.name: file.read_text() for file in urls.iterdir()}
    assert set(found) == {"gw0", "gw1"}
    assert len(set(found.values())) == 2
    assert not any(answers(url) for url in found.values())


def test_a_server_ends_with_a_process_that_is_killed(tmp_path):
    program = "import kindsmith, time; print(kindsmith.Server().url, flush=True); time.sleep(60)"
    running = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    url = running.stdout.readline().strip()
    assert answers(url)
    running.send_signal(signal.SIGKILL)
    running.wait()
    deadline = time.monotonic() + 10
    while answers(url):
        assert time.monotonic() < deadline, "the server runs on"
        time.sleep(0.05)
