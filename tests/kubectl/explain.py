"""`kubectl explain --recursive` of every kind, compared with the fields in the OpenAPI documents of the server."""
import json
import re
from concurrent.futures import ThreadPoolExecutor

# How many processes of kubectl run at a time.
AT_A_TIME = 4
# The levels of fields that are compared.
LEVELS = 3


def node_of(document, schema):
    """What describes the fields of a schema: behind references, lists and maps."""
    while "properties" not in schema:
        one = schema.get("allOf", [])[:1] or [schema.get("items") or schema.get("additionalProperties")]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        elif isinstance(one[0], dict):
            schema = one[0]
        else:
            break
    return schema


def declared(document, schema, path=()):
    """The paths of fields, and whether each is required."""
    found, node = {}, node_of(document, schema)
    for name, below in (node.get("properties") or {}).items():
        found[(*path, name)] = name in node.get("required", [])
        if len(path) + 1 < LEVELS:
            found.update(declared(document, below, (*path, name)))
    return found


def printed(text):
    """The paths of fields that kubectl printed, and whether each is required."""
    found, path = {}, []
    for indent, name, required in re.findall(r"^( +)(\S+)\t<[^>]*>( -required-)?$", text, re.MULTILINE):
        path = [*path[:len(indent) // 2 - 1], name]
        if len(path) <= LEVELS:
            found[tuple(path)] = bool(required)
    return found


def resources(root, document):
    """The resources of a document, and the group, version and kind of each."""
    for path, operations in document["paths"].items():
        match = re.fullmatch(rf"/{re.escape(root)}/(?:namespaces/{{namespace}}/)?([^/{{}}]+)", path)
        of = [operations[verb].get("x-kubernetes-group-version-kind") for verb in ("get", "post") if verb in operations]
        if match and of and of[0]:
            yield match.group(1), of[0]


def differences(run, root):
    """Explains every kind of a version, such as `apis/apps/v1`; returns how many there are, and what is wrong."""
    document = json.loads(run("get", "--raw", f"/openapi/v3/{root}"))
    version, count, wrong = root.split("/", 1)[1], 0, []
    for plural, of in dict(resources(root, document)).items():
        schemas = document["components"]["schemas"].values()
        schema = next(schema for schema in schemas if of in schema.get("x-kubernetes-group-version-kind", []))
        text = run("explain", plural, f"--api-version={version}", "--recursive")
        fields, found = declared(document, schema), printed(text)
        count += 1
        if not re.search(rf"^KIND: +{of['kind']}$", text, re.MULTILINE) or len(fields) < 3:
            wrong.append(f"{version} {plural}: not explained:\n{text}")
        different = [".".join(path) for path in {**fields, **found} if fields.get(path) != found.get(path)]
        if different:
            wrong.append(f"{version} {plural}: missing, not declared, or not required in the same way: {', '.join(different)}")
    return count, wrong


def check(run, roots):
    """Explains every kind of some versions; returns how many there are."""
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        results = list(threads.map(lambda root: differences(run, root), roots))
    wrong = [line for _, lines in results for line in lines]
    assert not wrong, "\n".join(wrong)
    return sum(count for count, _ in results)


def check_all(run):
    """Explains every kind that the server has."""
    index = json.loads(run("get", "--raw", "/openapi/v3"))["paths"]
    return check(run, [root for root in index if re.fullmatch(r"api/v1|apis/[^/]+/[^/]+", root)])
