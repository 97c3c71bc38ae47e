"""The first run, discovery, documentation, and every way to read."""
import json
import re

BOOK = """apiVersion: library.example.com/v1
kind: Book
metadata: {name: %s, namespace: default, labels: {shelf: %s}}
spec: {author: %s, genre: %s, copies: %d}
"""
AGE = r"\d+[smh]"


def printed_commands_work(s):
    """What the server prints works as it stands, in one shell, in this order."""
    s.has(s.greeting, r"\Alistening on https://127\.0\.0\.1:\d+$")
    commands = [line.strip() for line in s.greeting.splitlines() if line.startswith("  ")]
    assert len(commands) >= 6, s.greeting
    out = s.shell("set -e\n" + "\n".join(commands))
    s.has(out, r"^shelf\.library\.example\.com/by-the-window created$", r"^book\.library\.example\.com/moby-dick created$")
    s.has(out, rf"^default +moby-dick +Herman Melville +Fiction +2 +{AGE}$", r'"kind": ?"BookList"')


def api_resources(s):
    out = s.run("api-resources")
    s.has(out, r"^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND$")
    s.has(out, r"^books +bk +library\.example\.com/v1 +true +Book$", r"^shelves +library\.example\.com/v1 +false +Shelf$")
    s.has(out, r"^configmaps +cm +v1 +true +ConfigMap$", r"^leases +coordination\.k8s\.io/v1 +true +Lease$")
    s.has(out, r"^namespaces +ns +v1 +false +Namespace$", r"^events +ev +v1 +true +Event$")
    wide = s.run("api-resources", "-o", "wide", "--api-group=library.example.com")
    s.has(wide, r"books .* create,delete,deletecollection,get,list,patch,update,watch +library|"
                r"books .* delete,deletecollection,get,list,patch,create,update,watch +library")
    s.lacks(wide, "configmaps")
    s.same(sorted(s.run("api-resources", "--categories=library", "-o", "name").split()),
           ["books.library.example.com", "shelves.library.example.com"])


def api_versions(s):
    versions = s.run("api-versions").split()
    for wanted in ["v1", "library.example.com/v1", "coordination.k8s.io/v1"]:
        assert wanted in versions, versions


def server_version(s):
    s.has(s.run("version"), r"^Server Version: v1\.\d+\.\d+")


def auth(s):
    s.has(s.run("auth", "whoami"), r"^Username +admin$", r"^Groups +\[system:masters system:authenticated\]$")
    s.has(s.run("auth", "whoami", "--as", "kim", "--as-group", "crew"), r"^Username +kim$", r"^Groups +\[crew system:authenticated\]$")
    s.has(s.run("auth", "can-i", "delete", "books"), r"^yes$")
    s.has(s.run("auth", "can-i", "--list"), r"^\*\.\* +\[\] +\[\] +\[\*\]$")
    theirs = s.run("auth", "can-i", "--list", "--as", "kim")
    s.has(theirs, r"^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$")
    s.lacks(theirs, r"^\*\.\*")


def explain(s):
    out = s.run("explain", "books")
    s.has(out, r"^GROUP: +library\.example\.com$", r"^KIND: +Book$", r"^VERSION: +v1$", "A book that the library holds",
          r"^  spec\t<BookSpec> -required-$", r"^  status\t<BookStatus>$", r"^  metadata\t<ObjectMeta>")
    s.has(s.run("explain", "book.spec"), r"^  author\t<string> -required-$", "The author of the book",
          r"^  genre\t<string>$", r"^ +enum: +Fiction, Science, Poetry$", r"^  chapters\t<\[\]Chapter>$")
    s.has(s.run("explain", "bk.spec.chapters"), r"^FIELD: chapters <\[\]Chapter>$", r"^  name\t<string> -required-$",
          "The number of pages")
    recursive = s.run("explain", "shelves", "--recursive")
    s.has(recursive, r"^  spec\t<ShelfSpec> -required-$", r"^    capacity\t<integer>$", r"^    room\t<string> -required-$",
          r"^    ownerReferences\t<\[\]OwnerReference>$")
    s.has(s.run("explain", "configmap.data"), r"^FIELD: data <map\[string\]string>$")
    s.has(s.refused("explain", "book.spec.nothing"), r'field "nothing" does not exist')


def get_prints_columns(s):
    for book in [("emma", "a", "Jane Austen", "Fiction", 3), ("odes", "b", "John Keats", "Poetry", 1),
                 ("origin", "a", "Charles Darwin", "Science", 2)]:
        s.run("create", "-f", "-", stdin=BOOK % book)
    out = s.run("get", "books")
    s.has(out, r"^NAME +AUTHOR +GENRE +COPIES +AGE$", rf"^emma +Jane Austen +Fiction +3 +{AGE}$",
          rf"^odes +John Keats +Poetry +1 +{AGE}$")
    ageless = re.compile(r" +\d+[smh]+$", re.MULTILINE)
    s.same(ageless.sub("", out), ageless.sub("", s.run("get", "bk")))
    s.has(s.run("get", "library"), r"^book\.library\.example\.com/emma ", r"^shelf\.library\.example\.com/by-the-window ")
    s.has(s.run("get", "books", "-o", "wide"), r"^NAME +AUTHOR +GENRE +COPIES +SHELF +AGE$",
          rf"^moby-dick +Herman Melville +Fiction +2 +by-the-window +{AGE}$")
    s.has(s.run("get", "books", "-A"), r"^NAMESPACE +NAME +AUTHOR ", r"^default +emma +Jane Austen ")
    s.has(s.run("get", "books", "--show-labels"), r"^NAME .* LABELS$", r"^odes .* shelf=b$")
    s.has(s.run("get", "books", "-L", "shelf"), r"^NAME .* SHELF$", r"^odes .* b$")
    s.lacks(s.run("get", "books", "--no-headers"), "NAME")
    s.has(s.run("get", "book/emma", "shelf/by-the-window"), r"^book\.library\.example\.com/emma ", r"^shelf\.")
    s.has(s.run("get", "shelves"), r"^NAME +ROOM +AGE$", rf"^by-the-window +Reading room +{AGE}$")
    s.has(s.run("get", "ns"), rf"^default +Active +{AGE}$", rf"^kube-system +Active +{AGE}$")


def get_selects(s):
    s.same(s.run("get", "books", "-l", "shelf=a", "-o", "name").split(),
           ["book.library.example.com/emma", "book.library.example.com/origin"])
    s.same(s.run("get", "books", "-l", "shelf notin (a),shelf", "-o", "name").split(), ["book.library.example.com/odes"])
    s.same(s.run("get", "books", "--field-selector", "spec.genre=Poetry", "-o", "name").split(),
           ["book.library.example.com/odes"])
    s.same(s.run("get", "books", "--field-selector", "metadata.name!=emma,spec.genre=Fiction", "-o", "name").split(),
           ["book.library.example.com/moby-dick"])
    s.run("get", "books", "-l", "shelf=nowhere")
    s.has(s.errors, r"^No resources found in default namespace\.$")
    s.has(s.refused("get", "books", "--field-selector", "spec.author=x"), r"^Error from server \(BadRequest\): .*spec\.author")


def get_prints_formats(s):
    book = json.loads(s.run("get", "book", "emma", "-o", "json"))
    s.same((book["apiVersion"], book["kind"], book["spec"]["copies"]), ("library.example.com/v1", "Book", 3))
    s.same(book["metadata"]["generation"], 1)
    s.has(s.run("get", "book", "emma", "-o", "yaml"), r"^apiVersion: library\.example\.com/v1$", r"^  author: Jane Austen$",
          r'^  resourceVersion: "\d+"$')
    books = json.loads(s.run("get", "books", "-o", "json"))
    s.same((books["kind"], len(books["items"])), ("List", 4))
    s.has(s.run("get", "books", "-o", "custom-columns=WHO:.spec.author,HOW MANY:.spec.copies"),
          r"^WHO +HOW MANY$", r"^Jane Austen +3$")
    s.same(s.run("get", "books", "-o", "jsonpath={.items[*].metadata.name}"), "emma moby-dick odes origin")
    s.same(s.run("get", "books", "--sort-by=.spec.copies", "-o", "name").split()[-1], "book.library.example.com/emma")
    s.same(s.run("get", "book", "emma", "-o", "go-template={{.spec.genre}}"), "Fiction")


def get_in_chunks(s):
    documents = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: many-{number:02}, namespace: default}}\n"
        for number in range(23))
    s.run("create", "-f", "-", stdin=documents)
    for size in ["7", "0", "500"]:
        names = [name for name in s.run("get", "cm", f"--chunk-size={size}", "-o", "name").split() if "many" in name]
        s.same(names, [f"configmap/many-{number:02}" for number in range(23)])
    log = s.run("get", "cm", "--chunk-size=7", "-v=6") and s.errors
    assert log.count("continue=") >= 3, log


def get_raw(s):
    s.same(s.run("get", "--raw", "/readyz"), "ok")
    s.has(s.run("get", "--raw", "/readyz?verbose"), r"^\[\+\]ping ok$")
    books = json.loads(s.run("get", "--raw", "/apis/library.example.com/v1/namespaces/default/books?limit=2"))
    s.same((books["kind"], len(books["items"]), books["metadata"]["remainingItemCount"]), ("BookList", 2, 2))
    s.same(json.loads(s.run("get", "--raw", "/apis"))["kind"], "APIGroupList")
    s.has(s.refused("get", "--raw", "/nothing"), "the server could not find the requested resource")


def errors_read_well(s):
    s.has(s.refused("get", "unicorns"), r"^error: the server doesn't have a resource type \"unicorns\"$")
    s.has(s.refused("get", "book", "none"), r'^Error from server \(NotFound\): books\.library\.example\.com "none" not found$')
    s.has(s.refused("create", "-f", "-", stdin=BOOK % ("emma", "a", "x", "Poetry", 1)),
          r'^Error from server \(AlreadyExists\): .*books\.library\.example\.com "emma" already exists$')
    s.has(s.refused("create", "-f", "-", stdin=BOOK % ("bad", "a", '""', "Crime", -1)),
          r'The Book "bad" is invalid', r'spec\.genre: Unsupported value: "Crime": supported values: "Fiction", "Science", "Poetry"',
          r"spec\.copies: Invalid value: -1: spec\.copies in body should be greater than or equal to 0",
          r"spec\.author: Invalid value")
    misspelt = (BOOK % ("bad", "a", "x", "Poetry", 1)).replace("copies", "copeis")
    s.has(s.refused("create", "-f", "-", stdin=misspelt), r'strict decoding error: unknown field "spec\.copeis"')
    s.has(s.refused("create", "-n", "nowhere", "configmap", "x"), r'namespaces "nowhere" not found$')
    s.has(s.refused("get", "books", "-l", "a in ("), "unable to parse requirement|found ''")
    s.has(s.refused("--token=wrong", "get", "books"), "You must be logged in to the server|Unauthorized")


STEPS = [printed_commands_work, api_resources, api_versions, server_version, auth, explain, get_prints_columns, get_selects,
         get_prints_formats, get_in_chunks, get_raw, errors_read_well]
