#!/usr/bin/env python3
"""The Python client against the example server: its dynamic client, its typed one, its leader election; and Protobuf.

    python3 tests/clients/python/check.py KUBECONFIG

The server is the example, freshly started. Ends with `N passed, M failed`.
"""
import sys
import tempfile
import threading
import traceback

import steps_election
import steps_protobuf
from wire import Wire

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, UnprocessibleEntityError


def book(name, **spec):
    return {"apiVersion": "library.example.com/v1", "kind": "Book", "metadata": {"name": name},
            "spec": {"author": "Someone", **spec}}


def discovers_and_creates(dyn):
    books = dyn.resources.get(api_version="library.example.com/v1", kind="Book")
    assert books.namespaced and books.short_names == ["bk"], books
    made = books.create(body=book("py-one", copies=2), namespace="default")
    assert made.metadata.uid and made.metadata.generation == 1 and made.spec.genre == "Fiction", made
    shelves = dyn.resources.get(api_version="library.example.com/v1", kind="Shelf")
    assert not shelves.namespaced
    shelves.create(body={"apiVersion": "library.example.com/v1", "kind": "Shelf", "metadata": {"name": "py"},
                         "spec": {"room": "Cellar"}})
    assert shelves.get(name="py").spec.room == "Cellar"


def refusals_are_typed(dyn):
    books = dyn.resources.get(api_version="library.example.com/v1", kind="Book")
    for error, call in [
        (ConflictError, lambda: books.create(body=book("py-one"), namespace="default")),
        (NotFoundError, lambda: books.get(name="none", namespace="default")),
        (UnprocessibleEntityError, lambda: books.create(body=book("bad", genre="Crime"), namespace="default")),
    ]:
        try:
            call()
        except error as refused:
            assert refused.status in (404, 409, 422)
        else:
            raise AssertionError(f"{error.__name__} did not come")


def lists_in_chunks_and_by_selector(dyn):
    books = dyn.resources.get(api_version="library.example.com/v1", kind="Book")
    for number in range(5):
        body = book(f"py-many-{number}", genre="Poetry" if number % 2 else "Science")
        body["metadata"]["labels"] = {"many": "yes"}
        books.create(body=body, namespace="default")
    first = books.get(namespace="default", label_selector="many=yes", limit=2)
    assert [item.metadata.name for item in first.items] == ["py-many-0", "py-many-1"], first
    rest = books.get(namespace="default", label_selector="many=yes", _continue=first.metadata["continue"])
    assert [item.metadata.name for item in rest.items] == ["py-many-2", "py-many-3", "py-many-4"], rest
    poetry = books.get(field_selector="spec.genre=Poetry")
    assert [item.metadata.name for item in poetry.items] == ["py-many-1", "py-many-3"], poetry


def watches(dyn):
    books = dyn.resources.get(api_version="library.example.com/v1", kind="Book")
    since = books.get(namespace="default").metadata.resourceVersion
    told, ready = [], threading.Event()

    def listen():
        for event in books.watch(namespace="default", resource_version=since, timeout=20):
            told.append((event["type"], event["object"].metadata.name))
            if len(told) == 3:
                ready.set()
                return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    books.create(body=book("py-watched"), namespace="default")
    books.patch(body={"spec": {"copies": 4}}, name="py-watched", namespace="default",
                content_type="application/merge-patch+json")
    books.delete(name="py-watched", namespace="default")
    assert ready.wait(20), told
    assert told == [("ADDED", "py-watched"), ("MODIFIED", "py-watched"), ("DELETED", "py-watched")], told


def patches_and_replaces(dyn):
    books = dyn.resources.get(api_version="library.example.com/v1", kind="Book")
    merged = books.patch(body={"spec": {"copies": 8}}, name="py-one", namespace="default",
                         content_type="application/merge-patch+json")
    assert merged.spec.copies == 8 and merged.metadata.generation == 2, merged
    pointed = books.patch(body=[{"op": "replace", "path": "/spec/author", "value": "Else"}], name="py-one",
                          namespace="default", content_type="application/json-patch+json")
    assert pointed.spec.author == "Else", pointed
    stale = merged.to_dict()
    try:
        books.replace(body=stale, name="py-one", namespace="default")
    except ConflictError:
        pass
    else:
        raise AssertionError("a stale replace was taken")
    status = books.status.patch(body={"status": {"copies": 3}}, name="py-one", namespace="default",
                                content_type="application/merge-patch+json")
    assert status.status.copies == 3 and status.spec.copies == 8, status


def typed_client_of_core_kinds(dyn):
    core = client.CoreV1Api(dyn.client)
    made = core.create_namespaced_config_map("default", client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="py-map"), data={"a": "b"}))
    assert made.data == {"a": "b"}
    names = [item.metadata.name for item in core.list_namespace().items]
    assert {"default", "kube-system", "kube-public"} <= set(names), names
    for event in watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=5):
        if event["object"].metadata.name == "py-map":
            assert event["type"] == "ADDED"
            break
    else:
        raise AssertionError("the map was not among the initial events")
    core.delete_namespaced_config_map("py-map", "default")
    try:
        core.read_namespaced_config_map("py-map", "default")
    except ApiException as gone:
        assert gone.status == 404
    lease = client.CoordinationV1Api(dyn.client).create_namespaced_lease("default", client.V1Lease(
        metadata=client.V1ObjectMeta(name="py-lease"), spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=3)))
    assert lease.spec.holder_identity == "me"


STEPS = [discovers_and_creates, refusals_are_typed, lists_in_chunks_and_by_selector, watches, patches_and_replaces,
         typed_client_of_core_kinds]


def main():
    api = config.new_client_from_config(config_file=sys.argv[1])
    dyn = dynamic.DynamicClient(api)
    steps = [(step, dyn) for step in STEPS]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        wire = Wire(api.configuration, folder)
    steps += [(step, wire) for step in steps_protobuf.STEPS] + [(step, sys.argv[1]) for step in steps_election.STEPS]
    for step, argument in steps:
        try:
            step(argument)
            passed += 1
        except Exception:  # a step may fail in any way that the client fails
            failed += 1
            print(f"FAILED {step.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
