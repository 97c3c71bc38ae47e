"""What the example answers with code: a virtual kind, actions, and a log. All in a namespace of its own."""
import json

NAMESPACE = "lending"
PATH = "/apis/library.example.com/v1/namespaces/lending"
REVIEW = """apiVersion: library.example.com/v1
kind: LoanReview
metadata: {namespace: lending}
spec: {book: emma, reader: %s}
"""
BOOK = """apiVersion: library.example.com/v1
kind: Book
metadata: {name: emma, namespace: lending}
spec: {author: Jane Austen, copies: 1}
"""


def send(s, action, reader, **options):
    """Sends a loan to an action of the book."""
    return s.run("create", "--raw", f"{PATH}/books/emma/{action}", "-f", "-",
                 stdin=json.dumps({"spec": {"reader": reader}}), **options)


def review(s, reader):
    return json.loads(s.run("create", "-o", "json", "-f", "-", stdin=REVIEW % reader))["status"]


def virtual_kind(s):
    s.run("create", "namespace", NAMESPACE)
    s.has(s.refused("create", "-f", "-", stdin=REVIEW % "ann"), r'books\.library\.example\.com "emma" not found')
    s.run("create", "-f", "-", stdin=BOOK)
    s.same(review(s, "ann"), {"allowed": True})
    s.has(s.run("create", "--dry-run=server", "-o", "yaml", "-f", "-", stdin=REVIEW % "ann"), "^  allowed: true$")
    s.has(s.refused("create", "-f", "-", stdin=REVIEW % '""'), r"spec\.reader: Invalid value")
    # The command line itself refuses what discovery does not name.
    s.has(s.refused("get", "loanreviews"), r"the server does not allow this method on the requested resource")
    s.has(s.run("explain", "loanreviews.status"), r"^ +allowed\s+<boolean>", "True if the reader may borrow the book now")
    s.has(s.run("api-resources", "-o", "wide", "--verbs=create"), r"^loanreviews .* LoanReview +create *$")


def actions(s):
    loan = json.loads(send(s, "lend", "ann"))
    s.same((loan["kind"], loan["spec"], loan["status"]), ("Loan", {"reader": "ann"}, {"left": 0}))
    s.same(review(s, "bob"), {"allowed": False, "reason": "all copies are lent"})
    send(s, "lend", "bob", status=1)
    s.has(s.errors, r"Operation cannot be fulfilled on books\.library\.example\.com \"emma\": all copies are lent")
    s.same(s.run("get", "-n", NAMESPACE, "book", "emma", "-o", "jsonpath={.status.readers}"), '["ann"]')
    owners = s.run("get", "-n", NAMESPACE, "book", "emma", "-o", "json", "--show-managed-fields")
    entries = json.loads(owners)["metadata"]["managedFields"]
    # Of one second they are in the order of their managers' names.
    s.same({entry.get("subresource") for entry in entries}, {None, "lend"})
    s.same(json.loads(send(s, "return", "ann"))["status"], "Success")


def a_log_goes_on(s):
    s.same(s.run("get", "--raw", f"{PATH}/books/emma/log"), "emma: 1 left; lent to []\n")
    following = s.start("get", "--raw", f"{PATH}/books/emma/log?follow=true")
    s.lines_until(following, "^emma: 1 left")
    send(s, "lend", "cat")
    s.lines_until(following, r'^emma: 0 left; lent to \["cat"\]$')
    s.run("delete", "-n", NAMESPACE, "book", "emma")
    s.same(following.wait(timeout=15), 0)
    s.has(s.refused("get", "--raw", f"{PATH}/books/emma/log"), r'books\.library\.example\.com "emma" not found')


STEPS = [virtual_kind, actions, a_log_goes_on]
