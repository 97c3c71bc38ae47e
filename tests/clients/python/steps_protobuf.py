"""ConfigMaps and Leases in Protobuf: made, read, listed, watched, changed, refused, deleted."""
import json
import time

from wire import PROTOBUF, Refused

MAPS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def config_map(wire, name, **data):
    made = wire.core.ConfigMap(data=data)
    made.metadata.name = name
    return made


def body(wire, message):
    group = "coordination.k8s.io/v1" if message.DESCRIPTOR.name == "Lease" else "v1"
    return wire.envelope(message, group, message.DESCRIPTOR.name)


def refused(code, reason, call):
    try:
        call()
    except Refused as error:
        assert (error.code, error.status.code, error.status.reason) == (code, code, reason), error
        return error.status
    raise AssertionError(f"{reason} did not come")


def config_maps(wire):
    sent = config_map(wire, "pb", a="1", long="x" * 300)
    sent.binaryData["bytes"] = b"\x00\xff\n"
    made = wire.send("POST", MAPS, wire.core.ConfigMap, body(wire, sent))
    assert made.data == sent.data and made.binaryData == sent.binaryData and made.metadata.uid, made
    assert abs(made.metadata.creationTimestamp.seconds - time.time()) < 60, made.metadata
    assert wire.send("GET", f"{MAPS}/pb", wire.core.ConfigMap) == made
    made.data["b"] = "2"
    updated = wire.send("PUT", f"{MAPS}/pb", wire.core.ConfigMap, body(wire, made))
    assert updated.metadata.resourceVersion != made.metadata.resourceVersion and updated.data["b"] == "2", updated
    found = wire.send("GET", f"{MAPS}?fieldSelector=metadata.name%3Dpb", wire.core.ConfigMapList)
    assert list(found.items) == [updated] and found.metadata.resourceVersion, found
    patched = wire.send("PATCH", f"{MAPS}/pb", wire.core.ConfigMap, json.dumps({"data": {"a": None}}).encode(),
                        "application/strategic-merge-patch+json")
    assert sorted(patched.data) == ["b", "long"], patched
    # The same object, in JSON.
    plain = json.loads(wire.pool.request("GET", f"{wire.host}{MAPS}/pb", headers=wire.headers).data)
    assert plain["data"] == dict(patched.data) and plain["metadata"]["uid"] == patched.metadata.uid, plain
    assert plain["binaryData"] == {"bytes": "AP8K"}, plain


def leases(wire):
    lease = wire.coordination.Lease()
    lease.metadata.name = "pb"
    lease.spec.holderIdentity, lease.spec.leaseDurationSeconds = "me", 15
    lease.spec.renewTime.seconds, lease.spec.renewTime.nanos = 1_700_000_000, 123_456_000
    made = wire.send("POST", LEASES, wire.coordination.Lease, body(wire, lease))
    assert made.spec == lease.spec, made
    assert not made.spec.HasField("leaseTransitions") and not made.spec.HasField("acquireTime"), made
    made.spec.ClearField("holderIdentity")
    made.spec.leaseTransitions = 0
    updated = wire.send("PUT", f"{LEASES}/pb", wire.coordination.Lease, body(wire, made))
    assert not updated.spec.HasField("holderIdentity") and updated.spec.HasField("leaseTransitions"), updated
    plain = json.loads(wire.pool.request("GET", f"{wire.host}{LEASES}/pb", headers=wire.headers).data)["spec"]
    assert plain == {"leaseDurationSeconds": 15, "renewTime": "2023-11-14T22:13:20.123456Z", "leaseTransitions": 0}, plain
    wire.send("DELETE", f"{LEASES}/pb", wire.meta.Status)


def lists_in_chunks(wire):
    for number in range(5):
        made = config_map(wire, f"pb-many-{number}")
        made.metadata.labels["many"] = "pb"
        wire.send("POST", MAPS, wire.core.ConfigMap, body(wire, made))
    path, names = f"{MAPS}?labelSelector=many%3Dpb&limit=2", []
    page = wire.send("GET", path, wire.core.ConfigMapList)
    names += [item.metadata.name for item in page.items]
    while token := getattr(page.metadata, "continue"):
        page = wire.send("GET", f"{path}&continue={token}", wire.core.ConfigMapList)
        names += [item.metadata.name for item in page.items]
    assert names == [f"pb-many-{number}" for number in range(5)], names
    assert wire.send("GET", f"{MAPS}?limit=1", wire.core.ConfigMapList).metadata.remainingItemCount >= 4
    gone = wire.send("DELETE", f"{MAPS}?labelSelector=many%3Dpb", wire.core.ConfigMapList)
    assert len(gone.items) == 5, gone


def watches(wire):
    since = wire.send("GET", MAPS, wire.core.ConfigMapList).metadata.resourceVersion
    made = wire.send("POST", MAPS, wire.core.ConfigMap, body(wire, config_map(wire, "pb-watched", a="1")))
    made.data["a"] = "y" * 70_000  # more than a frame of any transport
    updated = wire.send("PUT", f"{MAPS}/pb-watched", wire.core.ConfigMap, body(wire, made))
    # What is to happen to it, and under which conditions, is Protobuf too.
    options = wire.meta.DeleteOptions(propagationPolicy="Background")
    options.preconditions.uid = made.metadata.uid
    wire.send("DELETE", f"{MAPS}/pb-watched", wire.meta.Status, wire.envelope(options, "meta.k8s.io/v1", "DeleteOptions"))
    events = wire.watch(f"{MAPS}?watch=1&resourceVersion={since}&timeoutSeconds=20", wire.core.ConfigMap)
    told = [next(events) for _ in range(3)]
    events.close()
    assert [kind for kind, _ in told] == ["ADDED", "MODIFIED", "DELETED"], told
    assert told[1][1] == updated and told[2][1].data == updated.data, told[2][0]


def refusals_are_statuses(wire):
    one = body(wire, config_map(wire, "pb"))
    status = refused(409, "AlreadyExists", lambda: wire.send("POST", MAPS, wire.core.ConfigMap, one))
    assert (status.status, status.details.name, status.details.kind) == ("Failure", "pb", "configmaps"), status
    refused(404, "NotFound", lambda: wire.send("GET", f"{MAPS}/none", wire.core.ConfigMap))
    unnamed = body(wire, config_map(wire, "Not a name"))
    invalid = refused(422, "Invalid", lambda: wire.send("POST", MAPS, wire.core.ConfigMap, unnamed))
    assert [cause.field for cause in invalid.details.causes] == ["metadata.name"], invalid
    stale = config_map(wire, "pb")
    stale.metadata.resourceVersion = "1"
    refused(409, "Conflict", lambda: wire.send("PUT", f"{MAPS}/pb", wire.core.ConfigMap, body(wire, stale)))
    for broken in [b"k8s\0\xff\xff\xff", b"nothing", wire.envelope(wire.core.ConfigMap(), "v1", "Secret"), one[:-3]]:
        refused(400, "BadRequest", lambda broken=broken: wire.send("POST", MAPS, wire.core.ConfigMap, broken))
    # A kind without numbers has no Protobuf.
    books = f"{wire.host}/apis/library.example.com/v1/books"
    assert wire.pool.request("GET", books, headers=dict(wire.headers, Accept=PROTOBUF)).status == 406
    wire.send("DELETE", f"{MAPS}/pb", wire.meta.Status)


STEPS = [config_maps, leases, lists_in_chunks, watches, refusals_are_statuses]
