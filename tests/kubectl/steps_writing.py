"""Every way to write one object."""
import json
import os

APPLIED = """apiVersion: library.example.com/v1
kind: Book
metadata: {name: applied, namespace: default}
spec:
  author: Ann Author
  copies: %d
  chapters:
  - {name: one, pages: %d}
  - {name: two}
"""


def field(s, path, name="applied", kind="book"):
    return s.run("get", kind, name, "-o", "jsonpath={" + path + "}")


def apply_twice_and_a_change(s):
    file = s.file("applied.yaml", APPLIED % (1, 10))
    s.same(s.run("apply", "-f", file), "book.library.example.com/applied created\n")
    s.same(s.run("apply", "-f", file), "book.library.example.com/applied unchanged\n")
    s.file("applied.yaml", APPLIED % (4, 11))
    s.has(s.run("diff", "-f", file, status=1), r"^-  copies: 1$", r"^\+  copies: 4$", r"^-    pages: 10$", r"^\+    pages: 11$",
          r"^-  generation: 1$", r"^\+  generation: 2$")
    s.same(field(s, ".spec.copies"), "1")
    s.same(s.run("apply", "--dry-run=server", "-f", file), "book.library.example.com/applied configured (server dry run)\n")
    s.same(field(s, ".spec.copies"), "1")
    s.same(s.run("apply", "-f", file), "book.library.example.com/applied configured\n")
    s.same((field(s, ".spec.copies"), field(s, ".spec.chapters[0].pages")), ("4", "11"))
    s.same(s.run("diff", "-f", file), "")
    s.same(field(s, ".metadata.generation"), "2")
    s.has(s.run("apply", "view-last-applied", "book/applied"), r"^  author: Ann Author$")
    # A change of a kind that kubectl itself knows is sent as a strategic merge patch.
    config = s.file("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied, namespace: default}\ndata: {b: '3'}\n")
    s.same(s.run("apply", "-f", config), "configmap/applied created\n")
    s.same(s.run("apply", "-f", config), "configmap/applied unchanged\n")
    s.file("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied, namespace: default}\ndata: {c: '4'}\n")
    s.same(s.run("apply", "-f", config), "configmap/applied configured\n")
    s.same(field(s, ".data", kind="cm"), '{"c":"4"}')
    s.run("patch", "cm", "applied", "--type=merge", "-p", '{"data":{"b":"3","c":null}}')


def create_generators(s):
    s.same(s.run("create", "secret", "generic", "pass", "--from-literal=word=open"), "secret/pass created\n")
    s.same(field(s, ".data.word", "pass", "secret"), "b3Blbg==")
    s.same(s.run("create", "serviceaccount", "robot"), "serviceaccount/robot created\n")
    s.same(s.run("create", "namespace", "annex"), "namespace/annex created\n")
    s.same(s.run("create", "configmap", "dry", "--from-literal=a=b", "--dry-run=server"), "configmap/dry created (server dry run)\n")
    s.has(s.refused("get", "cm", "dry"), "NotFound")
    s.has(s.run("get", "secret", "pass"), r"^NAME +TYPE +DATA +AGE$", r"^pass +Opaque +1 +\d+s$")
    s.has(s.run("get", "cm", "applied"), r"^NAME +DATA +AGE$", r"^applied +1 +\d+[sm]")
    made = s.run("create", "-f", "-", "-o", "name", stdin=json.dumps({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-", "namespace": "default"}}))
    s.has(made, r"^configmap/made-[a-z0-9]{5}$")


def label_and_annotate(s):
    s.same(s.run("label", "book", "applied", "color=red"), "book.library.example.com/applied labeled\n")
    s.has(s.refused("label", "book", "applied", "color=blue"), "already has a value \\(red\\), and --overwrite is false")
    s.run("label", "--overwrite", "book", "applied", "color=blue")
    s.same(field(s, ".metadata.labels.color"), "blue")
    s.same(s.run("label", "book", "applied", "color-"), "book.library.example.com/applied unlabeled\n")
    s.same(field(s, ".metadata.labels.color"), "")
    s.same(s.run("annotate", "books", "--all", "seen=today").count("annotated"), 5)
    s.same(field(s, ".metadata.annotations.seen"), "today")
    s.has(s.refused("label", "book", "applied", "not/a/label=x"), "invalid|Invalid")


def patch_by_json_and_merge(s):
    s.same(s.run("patch", "book", "applied", "--type=merge", "-p", '{"spec":{"copies":6}}'),
           "book.library.example.com/applied patched\n")
    s.same(s.run("patch", "book", "applied", "--type=merge", "-p", '{"spec":{"copies":6}}'),
           "book.library.example.com/applied patched (no change)\n")
    s.run("patch", "book", "applied", "--type=json", "-p", '[{"op":"add","path":"/spec/chapters/-","value":{"name":"three"}}]')
    s.same(field(s, ".spec.chapters[*].name"), "one two three")
    s.has(s.refused("patch", "book", "applied", "--type=json", "-p", '[{"op":"test","path":"/spec/copies","value":1}]'),
          "test|Invalid|invalid")
    s.has(s.refused("patch", "book", "applied", "--type=merge", "-p", '{"spec":{"copies":"many"}}'),
          r'The Book "applied" is invalid|\(BadRequest\)', r"spec\.copies")
    s.run("patch", "book", "applied", "--subresource=status", "--type=merge", "-p", '{"status":{"copies":5}}')
    s.same((field(s, ".status.copies"), field(s, ".spec.copies")), ("5", "6"))
    # A kind whose declaration says how its lists merge takes kubectl's own kind of patch; another one says that it does not.
    s.run("patch", "book", "applied", "-p", '{"spec":{"chapters":[{"name":"two","pages":22},{"name":"three","$patch":"delete"}]}}')
    s.same((field(s, ".spec.chapters[*].name"), field(s, ".spec.chapters[1].pages")), ("one two", "22"))
    s.run("patch", "book", "applied", "-p", '{"spec":{"chapters":[{"name":"three"}]}}')
    s.same(field(s, ".spec.chapters[*].name"), "three one two")
    s.has(s.refused("patch", "shelf", "by-the-window", "-p", '{"spec":{"room":"Attic"}}'),
          "UnsupportedMediaType|application/strategic-merge-patch")


def scale(s):
    s.same(s.run("scale", "book", "applied", "--replicas=9"), "book.library.example.com/applied scaled\n")
    s.same(field(s, ".spec.copies"), "9")
    s.has(s.refused("scale", "book", "applied", "--current-replicas=1", "--replicas=2"), "Expected replicas to be 1, was 9")
    s.has(s.refused("scale", "shelf", "by-the-window", "--replicas=2"), "could not find the requested resource|NotFound|not found")


def replace(s):
    book = json.loads(s.run("get", "book", "applied", "-o", "json"))
    book["spec"]["author"] = "Another Author"
    s.same(s.run("replace", "-f", "-", stdin=json.dumps(book)), "book.library.example.com/applied replaced\n")
    s.same(field(s, ".spec.author"), "Another Author")
    s.has(s.refused("replace", "-f", "-", stdin=json.dumps(book)), r"\(Conflict\)", "the object has been modified; please apply your changes")
    uid = field(s, ".metadata.uid")
    del book["metadata"]["resourceVersion"]
    s.has(s.run("replace", "--force", "-f", "-", stdin=json.dumps(book)), r'"applied" deleted', "applied replaced")
    assert field(s, ".metadata.uid") != uid
    s.has(s.refused("replace", "-f", "-", stdin=json.dumps(dict(book, metadata={"name": "none", "namespace": "default"}))),
          "NotFound|not found")


def edit(s):
    editor = s.file("editor.sh", "#!/bin/sh\nsed -i 's/author: Another Author/author: Edited Author/' \"$1\"\n")
    os.chmod(editor, 0o755)
    s.has(s.run("edit", "book", "applied", environment={"EDITOR": editor, "KUBE_EDITOR": editor}), r"applied edited$")
    s.same(field(s, ".spec.author"), "Edited Author")
    s.has(s.run("edit", "book", "applied", environment={"EDITOR": editor, "KUBE_EDITOR": editor}) + s.errors, "no changes made|cancelled")


def describe_with_events(s):
    uid = field(s, ".metadata.uid")
    event = {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "applied.1", "namespace": "default"},
        "involvedObject": {"apiVersion": "library.example.com/v1", "kind": "Book", "namespace": "default", "name": "applied", "uid": uid},
        "reason": "Lent", "message": "A reader took a copy", "type": "Normal", "count": 3, "source": {"component": "desk"},
        "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:05:05Z",
    }
    s.run("create", "-f", "-", stdin=json.dumps(event))
    out = s.run("describe", "book", "applied")
    s.has(out, r"^Name: +applied$", r"^Namespace: +default$", r"^API Version: +library\.example\.com/v1$", r"^Kind: +Book$",
          r"^  Author: +Edited Author$", r"^  Copies: +9$", r"^Events:$", r"Normal +Lent .* desk +A reader took a copy$")
    s.has(s.run("get", "events"), r"^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$", r"Normal +Lent +book/applied +A reader took a copy$")
    s.has(s.run("get", "events", "--field-selector", "involvedObject.name=applied,reason=Lent", "-o", "name"), "event/applied.1")
    s.same(s.run("get", "events", "--field-selector", "involvedObject.name=other", "-o", "name"), "")
    s.has(s.run("events", "--for", "book.v1.library.example.com/applied"), r"Lent +Book/applied +A reader took a copy")
    s.has(s.run("describe", "cm", "applied"), r"^Data$", r"^b:$", r"^3$")
    s.has(s.run("describe", "ns", "annex"), r"^Name: +annex$", r"^Status: +Active$")


STEPS = [apply_twice_and_a_change, create_generators, label_and_annotate, patch_by_json_and_merge, scale, replace, edit,
         describe_with_events]
