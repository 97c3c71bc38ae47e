#!/usr/bin/env python3
"""Stands for election with the client's own leader election, on a Lease, until it is ended:

    contender.py KUBECONFIG LEASE IDENTITY
"""
import sys
import time

from kubernetes import config
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

LEASE_SECONDS = 3


class Lock(LeaseLock):
    """The client's lock, which also counts how often the lease changes hands, as others do."""

    def get_lease_spec(self, record, current=None):
        before = current.holder_identity if current else record.holder_identity
        spec = super().get_lease_spec(record, current)
        spec.lease_transitions = (spec.lease_transitions or 0) + (before != record.holder_identity)
        return spec


def lead():
    print("leads", flush=True)
    time.sleep(3600)


def main():
    config.load_kube_config(sys.argv[1])
    print("stands", flush=True)
    leaderelection.LeaderElection(electionconfig.Config(
        Lock(sys.argv[2], "default", sys.argv[3]), lease_duration=LEASE_SECONDS, renew_deadline=2, retry_period=1,
        onstarted_leading=lead, onstopped_leading=lambda: print("stops", flush=True))).run()


if __name__ == "__main__":
    main()
