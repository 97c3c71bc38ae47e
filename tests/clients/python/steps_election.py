"""Two processes stand for election by Lease; the one that leads is killed."""
import os
import subprocess
import sys
import threading
import time

from contender import LEASE_SECONDS
from kubernetes import client, config

LEASE = "py-elected"


class Contender:
    """One process, and when it said what."""

    def __init__(self, kubeconfig, identity):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contender.py")
        command = [sys.executable, program, kubeconfig, LEASE, identity]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.said = {}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.said.setdefault(line.strip(), time.monotonic())

    def when_says(self, line, seconds):
        end = time.monotonic() + seconds
        while line not in self.said:
            assert time.monotonic() < end, f"{line!r} did not come within {seconds} s: {self.said}"
            time.sleep(0.01)
        return self.said[line]


def elects_another_after_a_death(kubeconfig):
    leases = client.CoordinationV1Api(config.new_client_from_config(config_file=kubeconfig))
    contenders = [Contender(kubeconfig, "first")]
    try:
        first = contenders[0]
        first.when_says("leads", 20)
        contenders.append(second := Contender(kubeconfig, "second"))
        second.when_says("stands", 20)
        # Longer than the lease: it is renewed, and there are never two.
        time.sleep(LEASE_SECONDS + 1)
        assert "leads" not in second.said, "two lead"
        spec = leases.read_namespaced_lease(LEASE, "default").spec
        assert (spec.holder_identity, spec.lease_transitions) == ("first", 0), spec
        assert spec.renew_time > spec.acquire_time, spec
        first.process.kill()
        first.process.wait()
        killed = time.monotonic()
        took_over = second.when_says("leads", 4 * LEASE_SECONDS)
        assert took_over - killed > LEASE_SECONDS / 2, "the second leads before the lease of the first is over"
        assert "stops" not in first.said, "the first stopped before it was killed"
        spec = leases.read_namespaced_lease(LEASE, "default").spec
        assert (spec.holder_identity, spec.lease_transitions) == ("second", 1), spec
    finally:
        for contender in contenders:
            contender.process.kill()
            contender.process.wait()


STEPS = [elects_another_after_a_death]
