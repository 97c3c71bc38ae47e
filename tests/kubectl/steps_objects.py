"""Watching, waiting and deleting: what takes time."""
import json

CONDITION = json.dumps({"status": {"conditions": [{
    "type": "Ready", "status": "True", "reason": "Shelved", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}})


def watch_prints_changes(s):
    watching = s.start("get", "books", "-w")
    events = s.start("get", "books", "--watch-only", "--output-watch-events", "-l", "watched=yes")
    try:
        s.lines_until(watching, r"^odes ")
        s.run("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "library.example.com/v1", "kind": "Book", "metadata": {"name": "fresh", "labels": {"watched": "yes"}},
            "spec": {"author": "Someone"}}))
        s.lines_until(watching, r"^fresh +Someone +Fiction +1 +\d+s$")
        s.run("patch", "book", "fresh", "--type=merge", "-p", '{"spec":{"copies":7}}')
        s.lines_until(watching, r"^fresh +Someone +Fiction +7 +\d+s$")
        s.run("label", "book", "fresh", "watched-")
        out = s.lines_until(events, r"^DELETED +fresh ")
        s.has(out, r"^EVENT +NAME +AUTHOR ", r"^ADDED +fresh +Someone +Fiction +1 ", r"^MODIFIED +fresh +Someone +Fiction +7 ")
        s.run("delete", "book", "fresh")
        s.lines_until(watching, r"^fresh +Someone(.|\n)*^fresh +Someone(.|\n)*^fresh +Someone(.|\n)*^fresh +Someone")
    finally:
        watching.kill()
        events.kill()
        watching.wait()
        events.wait()


def wait_for_a_condition(s):
    waiting = s.start("wait", "--for=condition=Ready", "book/applied", "--timeout=30s")
    try:
        s.run("patch", "book", "applied", "--subresource=status", "--type=merge", "-p", CONDITION)
        s.lines_until(waiting, r"^book\.library\.example\.com/applied condition met$")
        s.same(waiting.wait(timeout=15), 0)
    finally:
        waiting.kill()
    s.same(s.run("wait", "--for=jsonpath={.spec.copies}=9", "book/applied", "--timeout=15s"),
           "book.library.example.com/applied condition met\n")
    s.has(s.refused("wait", "--for=condition=Never", "book/applied", "--timeout=1s"), "timed out waiting for the condition")


def delete_waits_for_finalizers(s):
    s.run("patch", "book", "applied", "--type=merge", "-p", '{"metadata":{"finalizers":["library.example.com/lent"]}}')
    deleting = s.start("delete", "book", "applied", "--wait", "--timeout=30s")
    waiting = s.start("wait", "--for=delete", "book/applied", "--timeout=30s")
    try:
        s.lines_until(deleting, r'"applied" deleted')
        assert s.run("get", "book", "applied", "-o", "jsonpath={.metadata.deletionTimestamp}")
        assert deleting.poll() is None, "the deletion does not wait for the finalizer"
        s.run("patch", "book", "applied", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        s.same(deleting.wait(timeout=15), 0)
        s.same(waiting.wait(timeout=15), 0)
    finally:
        deleting.kill()
        waiting.kill()
    s.has(s.refused("get", "book", "applied"), "NotFound")


def delete_by_name_label_and_all(s):
    s.has(s.run("delete", "book", "emma"), r'^book\.library\.example\.com "emma" deleted')
    s.has(s.refused("delete", "book", "emma"), r'\(NotFound\): books\.library\.example\.com "emma" not found')
    s.run("delete", "book", "emma", "--ignore-not-found")
    s.has(s.run("delete", "books", "-l", "shelf=a"), r'"origin" deleted')
    s.same(sorted(s.run("get", "books", "-o", "name").split()), ["book.library.example.com/moby-dick", "book.library.example.com/odes"])
    s.same(s.run("delete", "book", "odes", "--dry-run=server").strip().split("\n")[0].startswith('book.library.example.com "odes" deleted'), True)
    s.run("get", "book", "odes")
    out = s.run("delete", "books", "--all")
    s.has(out, r'"moby-dick" deleted', r'"odes" deleted')
    s.run("get", "books")
    s.has(s.errors, r"^No resources found in default namespace\.$")
    s.run("delete", "shelf", "by-the-window")


def delete_a_namespace_and_what_is_in_it(s):
    s.run("create", "-n", "annex", "configmap", "inside", "--from-literal=a=b")
    s.run("create", "-n", "annex", "-f", "-", stdin=json.dumps({
        "apiVersion": "library.example.com/v1", "kind": "Book", "metadata": {"name": "held", "finalizers": ["library.example.com/lent"]},
        "spec": {"author": "Someone"}}))
    s.run("delete", "ns", "annex", "--wait=false")
    s.run("wait", "--for=delete", "-n", "annex", "cm/inside", "--timeout=20s")
    s.has(s.run("get", "ns", "annex"), r"^annex +Terminating ")
    s.has(s.refused("create", "-n", "annex", "configmap", "late"), r'configmaps "late" is forbidden: .*annex because it is being terminated$')
    s.run("wait", "--for=condition=NamespaceFinalizersRemaining", "ns/annex", "--timeout=20s")
    left = s.run("get", "ns", "annex", "-o", "jsonpath={.status.conditions[?(@.status==\"True\")].message}")
    s.has(left, r"library\.example\.com/lent in 1 resource instances")
    s.run("patch", "-n", "annex", "book", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    s.run("wait", "--for=delete", "ns/annex", "--timeout=20s")
    s.has(s.refused("get", "ns", "annex"), r'\(NotFound\): namespaces "annex" not found')


STEPS = [watch_prints_changes, wait_for_a_condition, delete_waits_for_finalizers, delete_by_name_label_and_all,
         delete_a_namespace_and_what_is_in_it]
