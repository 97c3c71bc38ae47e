"""Who owns what: server-side apply and its conflicts, the change from client-side apply, strategic patches, strictness, and
what becomes of dependents. All in a namespace of its own."""
import json
import os
import time

NAMESPACE = "owned"

BOOK = """apiVersion: library.example.com/v1
kind: Book
metadata: {name: %s, namespace: owned}
spec: {author: %s, copies: %d}
"""
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: owned}
data: %s
"""


def field(s, kind, name, path):
    return s.run("get", "-n", NAMESPACE, kind, name, "-o", "jsonpath={" + path + "}")


def managers(s, kind, name):
    """The managers of an object, each with its operation."""
    shown = json.loads(s.run("get", "-n", NAMESPACE, kind, name, "-o", "json", "--show-managed-fields"))
    return sorted((entry["manager"], entry["operation"]) for entry in shown["metadata"]["managedFields"])


def owned_by(s, kind, name, manager):
    """The fields that a manager owns."""
    shown = json.loads(s.run("get", "-n", NAMESPACE, kind, name, "-o", "json", "--show-managed-fields"))
    return next(entry["fieldsV1"] for entry in shown["metadata"]["managedFields"] if entry["manager"] == manager)


def server_side_apply(s):
    s.run("create", "namespace", NAMESPACE)
    file = s.file("owned.yaml", BOOK % ("owned", "Ann", 1))
    applied = "book.library.example.com/owned serverside-applied\n"
    s.same(s.run("apply", "--server-side", "-f", file), applied)
    version = field(s, "book", "owned", ".metadata.resourceVersion")
    s.same(s.run("apply", "--server-side", "-f", file), applied)
    s.same(field(s, "book", "owned", ".metadata.resourceVersion"), version)
    s.same(managers(s, "book", "owned"), [("kubectl", "Apply")])
    s.same(owned_by(s, "book", "owned", "kubectl"), {"f:spec": {"f:author": {}, "f:copies": {}}})
    s.lacks(s.run("get", "-n", NAMESPACE, "book", "owned", "-o", "yaml"), "managedFields")
    s.has(s.run("get", "-n", NAMESPACE, "book", "owned", "-o", "yaml", "--show-managed-fields"), r"^  managedFields:$",
          r"^    manager: kubectl$", r"^    operation: Apply$", r"^        f:copies: {}$", r"^    fieldsType: FieldsV1$")
    # Nobody asked for the default, so that nobody owns it.
    s.same(field(s, "book", "owned", ".spec.genre"), "Fiction")
    dry = s.run("apply", "--server-side", "--dry-run=server", "-f", "-", stdin=BOOK % ("owned", "Ann", 5))
    s.same(dry, "book.library.example.com/owned serverside-applied (server dry run)\n")
    s.same(field(s, "book", "owned", ".spec.copies"), "1")
    s.has(s.run("diff", "--server-side", "-f", "-", stdin=BOOK % ("owned", "Ann", 5), status=1), r"^\+  copies: 5$")


def server_side_conflicts(s):
    other = BOOK % ("owned", "Ann", 2)
    told = s.refused("apply", "--server-side", "--field-manager=desk", "-f", "-", stdin=other)
    s.has(told, r'^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.copies$',
          "Please review the fields above--they currently have other managers", "--force-conflicts",
          "https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts")
    both = s.refused("apply", "--server-side", "--field-manager=desk", "-f", "-", stdin=BOOK % ("owned", "Eve", 2))
    s.has(both, r'Apply failed with 2 conflicts: conflicts with "kubectl":$', r"^- \.spec\.author$", r"^- \.spec\.copies$")
    s.run("apply", "--server-side", "--field-manager=desk", "--force-conflicts", "-f", "-", stdin=other)
    s.same(field(s, "book", "owned", ".spec.copies"), "2")
    s.same(owned_by(s, "book", "owned", "kubectl"), {"f:spec": {"f:author": {}}})
    s.same(owned_by(s, "book", "owned", "desk"), {"f:spec": {"f:author": {}, "f:copies": {}}})
    # What its last applier leaves out goes; what is shared stays.
    s.run("apply", "--server-side", "--field-manager=desk", "-f", "-", stdin=(
        "apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: owned, namespace: owned}\n"
        "spec: {shelf: b, chapters: [{name: one, pages: 3}]}\n"))
    s.same(field(s, "book", "owned", ".spec"), '{"author":"Ann","chapters":[{"name":"one","pages":3}],"copies":1,'
                                               '"genre":"Fiction","shelf":"b"}')
    # A list is owned item by item, by its key.
    s.run("apply", "--server-side", "--field-manager=binder", "-f", "-", stdin=(
        "apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: owned, namespace: owned}\n"
        "spec: {chapters: [{name: two}]}\n"))
    s.same(field(s, "book", "owned", ".spec.chapters[*].name"), "one two")
    s.same(owned_by(s, "book", "owned", "binder"), {"f:spec": {"f:chapters": {'k:{"name":"two"}': {".": {}, "f:name": {}}}}})
    # A change by another way makes an owner, too.
    s.run("scale", "-n", NAMESPACE, "book", "owned", "--replicas=9")
    s.run("patch", "-n", NAMESPACE, "book", "owned", "--type=merge", "-p", '{"spec":{"shelf":"c"}}')
    found = managers(s, "book", "owned")
    assert ("kubectl-patch", "Update") in found, found
    s.has(s.refused("apply", "--server-side", "--field-manager=desk", "-f", "-", stdin=(
        "apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: owned, namespace: owned}\n"
        "spec: {shelf: b, chapters: [{name: one, pages: 3}]}\n")), r'conflict with "kubectl-patch" using library\.example\.com/v1: \.spec\.shelf')


def from_client_side_to_server_side(s):
    """The annotation of client-side apply has an owner, which must go along, or its fields could never be removed."""
    file = s.file("settings.yaml", CONFIG % "{a: '1', b: '2'}")
    s.same(s.run("apply", "-f", file), "configmap/settings created\n")
    s.file("settings.yaml", CONFIG % "{a: '1', b: '3', c: '4'}")
    s.same(s.run("apply", "-f", file), "configmap/settings configured\n")
    s.same(field(s, "cm", "settings", ".data"), '{"a":"1","b":"3","c":"4"}')
    s.same(managers(s, "cm", "settings"), [("kubectl-client-side-apply", "Update")])
    s.same(s.run("apply", "--server-side", "-f", file), "configmap/settings serverside-applied\n")
    s.same(managers(s, "cm", "settings"), [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")])
    s.file("settings.yaml", CONFIG % "{a: '1'}")
    s.run("apply", "--server-side", "-f", file)
    s.same(field(s, "cm", "settings", ".data"), '{"a":"1"}')
    # And back: client-side apply goes on from the annotation, which server-side apply has kept up to date.
    s.file("settings.yaml", CONFIG % "{a: '7', d: '8'}")
    s.run("apply", "-f", file)
    s.same(field(s, "cm", "settings", ".data"), '{"a":"7","d":"8"}')


def strategic_patches(s):
    s.same(s.run("patch", "-n", NAMESPACE, "cm", "settings", "-p", '{"data":{"e":"9","d":null}}'), "configmap/settings patched\n")
    s.same(field(s, "cm", "settings", ".data"), '{"a":"7","e":"9"}')
    s.same(s.run("patch", "-n", NAMESPACE, "cm", "settings", "--type=strategic", "-p", '{"data":{"e":"9"}}'),
           "configmap/settings patched (no change)\n")
    s.run("patch", "-n", NAMESPACE, "cm", "settings", "--type=strategic", "-p", '{"data":{"$patch":"replace","f":"1"}}')
    s.same(field(s, "cm", "settings", ".data"), '{"f":"1"}')
    s.run("patch", "-n", NAMESPACE, "cm", "settings", "-p", '{"metadata":{"finalizers":["example.com/a","example.com/b"]}}')
    s.run("patch", "-n", NAMESPACE, "cm", "settings", "-p", '{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}')
    s.same(field(s, "cm", "settings", ".metadata.finalizers"), '["example.com/b"]')
    s.run("patch", "-n", NAMESPACE, "cm", "settings", "-p", '{"metadata":{"finalizers":null}}')
    editor = s.file("config-editor.sh", "#!/bin/sh\nsed -i 's/f: \"1\"/f: \"2\"/' \"$1\"\n")
    os.chmod(editor, 0o755)
    s.same(s.run("edit", "-n", NAMESPACE, "cm", "settings", environment={"EDITOR": editor, "KUBE_EDITOR": editor}),
           "configmap/settings edited\n")
    s.same(field(s, "cm", "settings", ".data"), '{"f":"2"}')
    s.run("label", "-n", NAMESPACE, "cm", "settings", "team=a")
    found = managers(s, "cm", "settings")
    assert ("kubectl-edit", "Update") in found and ("kubectl-label", "Update") in found, found


def strictness(s):
    misspelt = (BOOK % ("strict", "Ann", 1)).replace("copies", "copeis")
    for way in [[], ["--server-side"]]:
        for strict in ["strict", "true"]:
            s.has(s.refused("apply", *way, f"--validate={strict}", "-f", "-", stdin=misspelt),
                  r'unknown field "spec\.copeis"|field not declared in schema')
    s.run("apply", "--validate=warn", "-f", "-", stdin=misspelt)
    s.has(s.errors, r'^Warning: unknown field "spec\.copeis"$')
    s.run("apply", "--validate=ignore", "-f", "-", stdin=misspelt)
    s.lacks(s.errors, "copeis")
    twice = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice, namespace: owned}\ndata: {a: "1"}\nimutable: true\n'
    s.has(s.refused("create", "--validate=strict", "-f", "-", stdin=twice), r'unknown field "imutable"')
    s.run("create", "--validate=warn", "-f", "-", stdin=twice)
    s.has(s.errors, r'^Warning: unknown field "imutable"$')


def owner(s, name):
    uid = field(s, "cm", name, ".metadata.uid")
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": True}


def family(s, prefix):
    """An owner, a dependent, and a dependent of that: their names."""
    names = [f"{prefix}-{at}" for at in range(3)]
    for at, name in enumerate(names):
        references = [owner(s, names[at - 1])] if at else []
        s.run("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": references}}))
    return names


def until_gone(s, *names):
    for name in names:
        s.run("wait", "-n", NAMESPACE, "--for=delete", f"cm/{name}", "--timeout=20s")


def cascading_deletion(s):
    names = family(s, "background")
    s.run("delete", "-n", NAMESPACE, "cm", names[0], "--cascade=background")
    until_gone(s, *names)

    names = family(s, "foreground")
    s.run("patch", "-n", NAMESPACE, "cm", names[2], "-p", '{"metadata":{"finalizers":["example.com/held"]}}')
    deleting = s.start("delete", "-n", NAMESPACE, "cm", names[0], "--cascade=foreground")
    try:
        s.run("wait", "-n", NAMESPACE, "--for=jsonpath={.metadata.deletionTimestamp}", f"cm/{names[2]}", "--timeout=20s")
        s.same(field(s, "cm", names[0], ".metadata.finalizers"), '["foregroundDeletion"]')
        assert deleting.poll() is None, "the owner waits for its dependents"
        s.run("patch", "-n", NAMESPACE, "cm", names[2], "-p", '{"metadata":{"finalizers":null}}')
        s.same(deleting.wait(timeout=20), 0)
    finally:
        deleting.kill()
    until_gone(s, *names)

    names = family(s, "orphan")
    s.run("delete", "-n", NAMESPACE, "cm", names[0], "--cascade=orphan")
    until_gone(s, names[0])
    s.same(field(s, "cm", names[1], ".metadata.ownerReferences"), "")
    s.same(field(s, "cm", names[2], ".metadata.ownerReferences[*].name"), names[1])

    s.run("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-nobody", "namespace": NAMESPACE, "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "1"}]}}))
    until_gone(s, "of-nobody")


def raw_requests(s):
    path = "/api/v1/namespaces/owned/configmaps"
    made = s.run("create", "--raw", path, "-f", "-", stdin='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw"}}')
    s.same(json.loads(made)["metadata"]["name"], "raw")
    version = json.loads(made)["metadata"]["resourceVersion"]
    replaced = s.run("replace", "--raw", f"{path}/raw", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "raw", "resourceVersion": version}, "data": {"k": "v"}}))
    s.same(json.loads(replaced)["data"], {"k": "v"})
    s.same(json.loads(s.run("get", "--raw", f"{path}?labelSelector=none"))["items"], [])
    s.same(json.loads(s.run("delete", "--raw", f"{path}/raw"))["status"], "Success")


def clean_up(s):
    s.run("delete", "namespace", NAMESPACE, "--timeout=30s")
    # The namespace's own events and leases go with it.
    end = time.monotonic() + 20
    while time.monotonic() < end and s.run("get", "cm,books", "-n", NAMESPACE, "-o", "name"):
        time.sleep(0.1)
    s.same(s.run("get", "cm,books", "-n", NAMESPACE, "-o", "name"), "")


STEPS = [server_side_apply, server_side_conflicts, from_client_side_to_server_side, strategic_patches, strictness,
         cascading_deletion, raw_requests, clean_up]
