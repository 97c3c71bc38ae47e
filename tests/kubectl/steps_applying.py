"""Applying many files: pruning what is no longer among them, kustomizations, the status; and what `delete` can be told. All in
a namespace of its own."""
import json
import os
import re

NAMESPACE = "applying"

CONFIG = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: applying, labels: {app: %s}}\ndata: {a: '1'}\n"
BOOK = """---
apiVersion: library.example.com/v1
kind: Book
metadata: {name: %s, namespace: applying, labels: {app: books}}
spec: {author: %s, copies: %d}
"""


def names(s, kinds, *more):
    return sorted(s.run("get", "-n", NAMESPACE, kinds, *more, "-o", "name").split())


def field(s, kind, name, path):
    return s.run("get", "-n", NAMESPACE, kind, name, "-o", "jsonpath={" + path + "}")


def apply_and_prune(s):
    s.run("create", "namespace", NAMESPACE)
    s.run("create", "-f", "-", stdin=CONFIG % ("unrelated", "pruned"))
    prune = ["apply", "--prune", "-l", "app=pruned", "--prune-allowlist=core/v1/ConfigMap", "-n", NAMESPACE, "-f", "-"]
    both = CONFIG % ("one", "pruned") + CONFIG % ("two", "pruned")
    s.has(s.run(*prune, stdin=both), r"^configmap/one created$", r"^configmap/two created$")
    s.has(s.run("diff", "--prune", "-l", "app=pruned", "--prune-allowlist=core/v1/ConfigMap", "-n", NAMESPACE, "-f", "-",
                stdin=CONFIG % ("one", "pruned"), status=1), r"^-  name: two$")
    s.has(s.run(*prune, stdin=CONFIG % ("one", "pruned")), r"^configmap/one unchanged$", r"^configmap/two pruned$")
    # What was not applied has nothing that says so, and stays.
    s.same(names(s, "cm", "-l", "app=pruned"), ["configmap/one", "configmap/unrelated"])


def apply_a_set(s):
    """A set knows its members by labels on them, and their kinds by an annotation of its own object."""
    alpha = {"KUBECTL_APPLYSET": "true"}
    command = ["apply", "--prune", "--applyset=configmap/set", "--server-side", "-n", NAMESPACE, "-f", "-"]
    out = s.run(*command, stdin=CONFIG % ("in-set", "set") + BOOK % ("in-set", "Ann", 1), environment=alpha)
    s.has(out, r"^configmap/in-set serverside-applied$", r"^book\.library\.example\.com/in-set serverside-applied$")
    kinds = "{.metadata.annotations.applyset\\.kubernetes\\.io/contains-group-kinds}"
    s.same(s.run("get", "-n", NAMESPACE, "cm", "set", "-o", "jsonpath=" + kinds), "Book.library.example.com,ConfigMap")
    s.has(s.run(*command, stdin=CONFIG % ("in-set", "set"), environment=alpha), r"^book\.library\.example\.com/in-set pruned$")
    s.same(names(s, "books"), [])
    s.same(s.run("get", "-n", NAMESPACE, "cm", "set", "-o", "jsonpath=" + kinds), "ConfigMap")


def apply_folders_and_kustomizations(s):
    folder = os.path.join(s.folder, "many")
    os.makedirs(os.path.join(folder, "below"))
    for path, text in [("one.yaml", CONFIG % ("folder-one", "folder")), ("below/two.yaml", CONFIG % ("folder-two", "folder")),
                       ("below/three.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [{
                           "apiVersion": "v1", "kind": "ConfigMap",
                           "metadata": {"name": "folder-three", "namespace": NAMESPACE, "labels": {"app": "folder"}}}]}))]:
        s.file(os.path.join("many", path), text)
    s.same(s.run("apply", "-R", "-f", folder).count(" created"), 3)
    s.same(len(names(s, "cm", "-l", "app=folder")), 3)
    s.file("many/kustomization.yaml", "namespace: applying\nnamePrefix: kustom-\nresources: [one.yaml]\n"
                                      "configMapGenerator:\n- {name: made, literals: [k=v]}\n")
    s.has(s.run("apply", "-k", folder), r"^configmap/kustom-folder-one created$", r"^configmap/kustom-made-\w+ created$")
    s.has(s.run("delete", "-k", folder), r'"kustom-folder-one" deleted')
    s.same(s.run("delete", "-R", "-f", os.path.join(folder, "below"), "-f", os.path.join(folder, "one.yaml")).count(" deleted"), 3)


def a_declared_kind_changes_over(s):
    """From client-side to server-side apply, for a kind that kubectl does not know."""
    s.run("apply", "-f", "-", stdin=BOOK % ("over", "Ann", 1))
    s.run("apply", "--server-side", "-f", "-", stdin=BOOK % ("over", "Ann", 2))
    shown = json.loads(s.run("get", "-n", NAMESPACE, "book", "over", "-o", "json", "--show-managed-fields"))["metadata"]
    found = sorted((entry["manager"], entry["operation"]) for entry in shown["managedFields"])
    s.same(found, [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")])
    s.run("apply", "--server-side", "-f", "-", stdin=re.sub(", copies: 2", "", BOOK % ("over", "Ann", 2)))
    # The field was given up, and has its default again.
    s.same(field(s, "book", "over", ".spec.copies"), "1")
    file = s.file("over.yaml", BOOK % ("over", "Ann", 6))
    s.has(s.run("apply", "set-last-applied", "-f", file), r"over configured$")
    s.has(s.run("apply", "view-last-applied", "-n", NAMESPACE, "book/over"), r"^  copies: 6$")
    editor = s.file("last-editor.sh", "#!/bin/sh\nsed -i 's/copies: 6/copies: 7/' \"$1\"\n")
    os.chmod(editor, 0o755)
    s.run("apply", "edit-last-applied", "-n", NAMESPACE, "book/over", environment={"EDITOR": editor, "KUBE_EDITOR": editor})
    s.has(s.run("apply", "view-last-applied", "-n", NAMESPACE, "book/over"), r"^  copies: 7$")
    s.same(field(s, "book", "over", ".spec.copies"), "1")


def the_status_is_a_part(s):
    status = "apiVersion: library.example.com/v1\nkind: Book\nmetadata: {name: over, namespace: applying}\nstatus: {copies: 4}\n"
    s.has(s.run("apply", "--server-side", "--subresource=status", "--field-manager=shelver", "-f", "-", stdin=status),
          r"over serverside-applied$")
    s.same(field(s, "book", "over", ".status.copies"), "4")
    shown = json.loads(s.run("get", "-n", NAMESPACE, "book", "over", "-o", "json", "--show-managed-fields"))["metadata"]
    entry = next(entry for entry in shown["managedFields"] if entry["manager"] == "shelver")
    s.same((entry["subresource"], entry["fieldsV1"]), ("status", {"f:status": {"f:copies": {}}}))
    s.same(s.run("get", "-n", NAMESPACE, "book", "over", "--subresource=status", "-o", "jsonpath={.status.copies}"), "4")
    s.run("patch", "-n", NAMESPACE, "book", "over", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":3}}')
    s.same(field(s, "book", "over", ".spec.copies"), "3")
    editor = s.file("status-editor.sh", "#!/bin/sh\nsed -i 's/copies: 4/copies: 5/' \"$1\"\n")
    os.chmod(editor, 0o755)
    s.run("edit", "-n", NAMESPACE, "book", "over", "--subresource=status", environment={"EDITOR": editor, "KUBE_EDITOR": editor})
    s.same((field(s, "book", "over", ".status.copies"), field(s, "book", "over", ".spec.copies")), ("5", "3"))


def deletions_are_told_how(s):
    for at, options in enumerate([["--now"], ["--grace-period=0", "--force"], ["--grace-period=30"], ["--wait=false"],
                                  ["--cascade=orphan", "--grace-period=1"]]):
        name = f"told-{at}"
        s.run("create", "-f", "-", stdin=CONFIG % (name, "told"))
        s.has(s.run("delete", "-n", NAMESPACE, "cm", name, *options), rf'"{name}" (force )?deleted')
        s.run("wait", "-n", NAMESPACE, "--for=delete", f"cm/{name}", "--timeout=20s")
    # Waiting for what is still to come.
    waiting = s.start("wait", "-n", NAMESPACE, "--for=create", "cm/to-come", "--timeout=20s")
    try:
        s.run("create", "-f", "-", stdin=CONFIG % ("to-come", "told"))
        s.lines_until(waiting, r"^configmap/to-come condition met$")
        s.same(waiting.wait(timeout=15), 0)
    finally:
        waiting.kill()


def built_in_kinds_in_protobuf(s):
    """kubectl makes built-in kinds by client-go's typed clients, which send and ask for Protobuf."""
    s.run("create", "configmap", "in-protobuf", "-n", NAMESPACE, "--from-literal=a=b", "-v=8")
    s.same(s.errors.count("Content-Type: application/vnd.kubernetes.protobuf"), 2)
    s.same(field(s, "cm", "in-protobuf", ".data.a"), "b")


def clean_up(s):
    s.run("delete", "namespace", NAMESPACE, "--timeout=30s")
    s.has(s.refused("get", "ns", NAMESPACE), "NotFound")


STEPS = [apply_and_prune, apply_a_set, apply_folders_and_kustomizations, a_declared_kind_changes_over, the_status_is_a_part,
         deletions_are_told_how, built_in_kinds_in_protobuf, clean_up]
