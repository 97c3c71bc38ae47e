"""What other projects' suites found in this server, each as a client sees it, so that it stays found where a suite does not run here."""
import base64
import json
import pathlib
import ssl
import subprocess
import time
import uuid

import httpx
import pytest
import yaml

POD = {"containers": [{"name": "main", "image": "busybox"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
# What an object needs besides its name.
SPECS = {
    "CSINode": {"drivers": []},
    "Deployment": {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
    "PersistentVolume": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp"}},
    "PersistentVolumeClaim": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    "Pod": POD,
    "Service": {"ports": [{"port": 80}]},
    "VolumeAttachment": {"attacher": "example.com/disk", "nodeName": "node", "source": {"persistentVolumeName": "disk"}},
}

# Of kinds without a spec.
PARTS = {"PodTemplate": {"template": TEMPLATE}, "StorageClass": {"provisioner": "example.com/disk"}}

# Schemas of which kubectl could not read all: fields that they do not name are kept at the root, below it, in an embedded object, in items
# and in a list; values may be null.
SCHEMAS = {
    "root": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "string"}}},
    "below": {"type": "object", "properties": {"spec": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "string"}}}}},
    "embedded": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"template": {
        "type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}}}}},
    "items": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"list": {"type": "array", "items": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "string"}}}}}}}},
    "list": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"list": {
        "type": "array", "x-kubernetes-preserve-unknown-fields": True,
        "items": {"type": "object", "properties": {"known": {"type": "string"}}}}}}}},
    "null": {"type": "object", "properties": {"spec": {"type": "object", "required": ["sure", "text"], "properties": {
        "sure": {"type": "string"}, "text": {"type": "string", "nullable": True}, "list": {"type": "array", "nullable": True, "items": {"type": "string"}},
        "inner": {"type": "object", "nullable": True, "properties": {"known": {"type": "string"}}}}}}},
    "either": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"port": {
        "x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}}, "not": {"required": ["other"]}}}},
}
OBJECTS = {
    "root": {"known": "a", "unknown": {"deep": [1, "two"]}},
    "below": {"spec": {"known": "a", "unknown": {"deep": [1, "two"]}}},
    "embedded": {"spec": {"template": {"apiVersion": "v1", "kind": "Anything", "metadata": {"name": "inner"}, "unknown": {"deep": True}}}},
    "items": {"spec": {"list": [{"known": "a", "unknown": "b"}]}},
    "list": {"spec": {"list": [{"known": "a"}, {"known": "b"}]}},
    "null": {"spec": {"sure": "a", "text": "b", "list": None, "inner": None}},
    "either": {"spec": {"port": "http"}},
}


@pytest.fixture(scope="session")
def raw(k8s_cluster):
    """The server's answers as they are, with the administrator's token."""
    config = yaml.safe_load(pathlib.Path(k8s_cluster.kubeconfig_path).read_text())
    cluster = config["clusters"][0]["cluster"]
    trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with httpx.Client(base_url=cluster["server"], verify=trust, timeout=20,
                      headers={"Authorization": f"Bearer {config['users'][0]['user']['token']}"}) as client:
        yield client


@pytest.fixture
def name():
    return f"found-{uuid.uuid4().hex[:10]}"


@pytest.fixture
def pod(raw, name):
    path = "/api/v1/namespaces/default/pods"
    made = thing("v1", "Pod", name)
    made["metadata"]["labels"] = {"name": name}
    assert raw.post(path, json=made).status_code == 201
    yield f"{path}/{name}"
    raw.delete(path + "/" + name)


def thing(api, kind, name):
    """An object that is created by its name."""
    given = PARTS[kind] if kind in PARTS else {"spec": SPECS[kind]} if kind in SPECS else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **given}


def define(raw, k8s_cluster, schema, plural):
    """A definition with a schema, established. Returns its kind, its group, and the path of its objects in a namespace."""
    kind, group = plural.capitalize().rstrip("s"), f"{plural}.example.com"
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind, "listKind": f"{kind}List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}
    answer = raw.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=body)
    assert answer.status_code == 201, answer.text
    k8s_cluster.kubectl("wait", "--for=condition=Established", "--timeout=20s", f"crd/{plural}.{group}")
    return kind, group, f"/apis/{group}/v1/namespaces/default/{plural}"


@pytest.mark.parametrize("where", SCHEMAS)
def test_kubectl_applies_a_list_of_objects(raw, k8s_cluster, where):
    """kubectl checks `kind: List` by the document of OpenAPI v2, and refuses fields that it does not have."""
    plural = f"kept{where}{uuid.uuid4().hex[:6]}s"
    kind, group, path = define(raw, k8s_cluster, SCHEMAS[where], plural)
    made = raw.post(path, json={"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "one"}, **OBJECTS[where]})
    assert made.status_code == 201, made.text
    listed = k8s_cluster.kubectl("get", f"{plural}.{group}", "-o", "yaml")
    applied = subprocess.run(["kubectl", "apply", "-f", "-"], input=listed, capture_output=True, text=True, timeout=30)
    assert applied.returncode == 0, applied.stderr
    # A patch with null removes a field.
    wanted = {**OBJECTS[where], **({"spec": {"sure": "a", "text": "b"}} if where == "null" else {})}
    assert wanted.items() <= raw.get(f"{path}/one").json().items()


@pytest.mark.parametrize("where", SCHEMAS)
def test_openapi_v2_says_what_kubectl_can_read(raw, k8s_cluster, where):
    kind, group, _ = define(raw, k8s_cluster, SCHEMAS[where], f"told{where}{uuid.uuid4().hex[:6]}s")
    named = []
    # It is published after the definition is established.
    end = time.monotonic() + 10
    while not named and time.monotonic() < end:
        named = [schema for schema in raw.get("/openapi/v2").json()["definitions"].values()
                 if {"group": group, "kind": kind, "version": "v1"} in schema.get("x-kubernetes-group-version-kind", [])]
    assert len(named) == 1

    def check(declared, published):
        assert not published.keys() & {"nullable", "allOf", "anyOf", "oneOf", "not"}, published
        is_nullable = declared.get("nullable", False)
        is_cut = is_nullable or declared.get("x-kubernetes-preserve-unknown-fields")
        # A list without items is one of anything.
        if is_nullable or is_cut and declared["type"] == "array":
            assert "type" not in published, published
        if is_cut:
            assert not published.keys() & {"properties", "items"}, published
            return
        for key, part in declared.get("properties", {}).items():
            check(part, published["properties"][key])
        nullable = {key for key, part in declared.get("properties", {}).items() if part.get("nullable")}
        assert set(published.get("required", [])) == set(declared.get("required", [])) - nullable, published
        if "items" in declared:
            check(declared["items"], published["items"])

    check(SCHEMAS[where], named[0])


def deletions(corpus):
    """The path of each resource whose deletion Kubernetes' documents answer with the object, and its kind."""
    for document in sorted(pathlib.Path(corpus, "kubernetes").glob("api*.json")):
        for path, item in json.loads(document.read_text()).get("paths", {}).items():
            operation = item.get("delete", {})
            if operation.get("x-kubernetes-action") != "delete":
                continue
            answers = [content["schema"].get("$ref", "") for content in operation["responses"]["200"]["content"].values()]
            kind = operation["x-kubernetes-group-version-kind"]
            if answers and not answers[0].endswith(".Status"):
                yield path, kind


def test_deletion_answers_what_the_documents_say(raw, request, name):
    wrong, seen = [], 0
    for path, kind in deletions(request.config.option.corpus):
        version = "/".join(filter(None, [kind["group"], kind["version"]]))
        resource = path.replace("{namespace}", "default").removesuffix("/{name}")
        made = raw.post(resource, json=thing(version, kind["kind"], name))
        answer = raw.delete(f"{resource}/{name}").json() if made.status_code == 201 else made.json()
        seen += 1
        if answer["kind"] != kind["kind"]:
            wrong.append(f"{path}: {answer['kind']} {answer.get('message', '')}")
    assert seen >= 28 and not wrong, "\n".join(wrong)


def test_openapi_documents_of_deletion_are_those_of_kubernetes(raw, request):
    wrong = []
    for path, kind in deletions(request.config.option.corpus):
        served = raw.get("/openapi/v3/" + "/".join(path.split("/")[1:3 if path.startswith("/api/") else 4])).json()
        answers = served["paths"][path]["delete"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        if not answers.endswith(f".{kind['kind']}"):
            wrong.append(f"{path}: {answers}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("resource,api,kind", [("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment"),
                                               ("/api/v1/namespaces/default/configmaps", "v1", "ConfigMap")])
def test_deletion_of_other_kinds_answers_a_status(raw, name, resource, api, kind):
    """A kind of the documents, and a built-in one."""
    made = raw.post(resource, json=thing(api, kind, name))
    assert made.status_code == 201, made.text
    answer = raw.delete(f"{resource}/{name}").json()
    assert (answer["kind"], answer["status"], answer["details"]["uid"]) == ("Status", "Success", made.json()["metadata"]["uid"])


def selected(raw, resource, selector):
    answer = raw.get(resource, params={"fieldSelector": selector})
    assert answer.status_code == 200, answer.text
    return {item["metadata"]["name"] for item in answer.json()["items"]}


def test_field_selectors_on_absent_values(raw, pod, name):
    """An absent bool is false, an absent number 0, as Go's zero values are."""
    nodes, pods, jobs = "/api/v1/nodes", "/api/v1/pods", "/apis/batch/v1/namespaces/default/jobs"
    assert "node-1" in selected(raw, nodes, "spec.unschedulable=false") and "node-1" not in selected(raw, nodes, "spec.unschedulable=true")
    assert "node-1" not in selected(raw, nodes, "spec.unschedulable!=false")
    assert name in selected(raw, pods, "spec.hostNetwork=false") and name not in selected(raw, pods, "spec.hostNetwork=true")
    made = raw.post(jobs, json={"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "template": {"spec": {"restartPolicy": "Never", **POD}}}})
    assert made.status_code == 201, made.text
    assert name in selected(raw, jobs, "status.successful=0") and name not in selected(raw, jobs, "status.successful=1")


def test_field_selectors_on_given_values(raw, pod, name):
    patch = {"Content-Type": "application/merge-patch+json"}
    told = {"status": {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}]}}
    assert raw.patch(f"{pod}/status", content=json.dumps(told), headers=patch).status_code == 200
    assert selected(raw, "/api/v1/pods", "status.podIP=10.1.2.3") == {name}
    assert raw.get("/api/v1/pods", params={"fieldSelector": "status.podIPs=10.1.2.3"}).status_code == 200
    assert raw.patch("/api/v1/nodes/node-1", content=json.dumps({"spec": {"unschedulable": True}}), headers=patch).status_code == 200
    assert selected(raw, "/api/v1/nodes", "spec.unschedulable=true") == {"node-1"}
    raw.patch("/api/v1/nodes/node-1", content=json.dumps({"spec": {"unschedulable": None}}), headers=patch)


@pytest.mark.parametrize("version", ["0", "nonsense", "-1", ""])
@pytest.mark.parametrize("resource,kind,api", [("/api/v1/namespaces/default/configmaps", "ConfigMap", "v1"),
                                               ("/api/v1/namespaces/default/pods", "Pod", "v1")])
def test_creation_with_a_resource_version_that_is_none(raw, name, resource, kind, api, version):
    given = thing(api, kind, name)
    given["metadata"]["resourceVersion"] = version
    made = raw.post(resource, json=given)
    assert made.status_code == 201, made.text
    assert made.json()["metadata"]["resourceVersion"] not in (version, "")


def test_creation_with_a_resource_version_is_refused(raw, name):
    made = raw.post("/api/v1/namespaces/default/configmaps", json={
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "resourceVersion": "7"}})
    assert made.status_code == 500 and "resourceVersion should not be set on objects to be created" in made.text


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default", "/api/v1/namespaces", "/api/v1/nodes/node-1", "/api/v1/pods"])
def test_compact_json_ends_with_a_newline_and_pretty_json_does_not(raw, path):
    compact, pretty = raw.get(path).text, raw.get(path, params={"pretty": "true"}).text
    assert compact.endswith("}\n") and compact.count("\n") == 1
    assert pretty.endswith("\n}") and pretty.count("\n") > 5


def test_tokens_of_accounts_are_made_beside_the_documents(raw, name):
    """Kubernetes' documents have service accounts, too; their tokens are this server's."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    missing = raw.post(f"{accounts}/{name}/token", json=request)
    assert missing.status_code == 404 and missing.json()["details"]["kind"] == "serviceaccounts", missing.text
    made = raw.post(accounts, json=thing("v1", "ServiceAccount", name))
    assert made.status_code == 201, made.text
    token = raw.post(f"{accounts}/{name}/token", json=request)
    assert token.status_code == 201 and token.json()["status"]["token"].count(".") == 2, token.text


def test_subresources_without_a_handler_are_said_to_be_so(raw):
    """A path below a proxy is the proxy's."""
    for path in ["/api/v1/nodes/node-1/proxy", "/api/v1/nodes/node-1/proxy/a/b", "/api/v1/namespaces/kube-system/pods/kube-scheduler-node-1/proxy/metrics"]:
        assert raw.get(path).status_code == 501, path


ORDER = ["kind", "apiVersion", "groupVersion", "groups", "versions", "serverAddressByClientCIDRs", "resources"]
OF_RESOURCES = ["name", "singularName", "namespaced", "group", "version", "kind", "verbs", "shortNames", "categories", "storageVersionHash"]
OF_GROUPS = ["name", "versions", "preferredVersion"]


def test_discovery_is_in_the_order_that_clients_print(raw):
    """Clients that show an answer of discovery as it is show the name first."""
    def ordered(pairs, order):
        keys = [key for key, _ in pairs]
        assert keys == [key for key in order if key in keys], keys

    for path in ["/api", "/apis", "/api/v1", "/apis/apps/v1"]:
        document = json.loads(raw.get(path).text, object_pairs_hook=lambda pairs: pairs)
        ordered(document, ORDER)
        for resource in dict(document).get("resources", []):
            ordered(resource, OF_RESOURCES)
        for group in dict(document).get("groups", []):
            ordered(group, OF_GROUPS)


def test_the_address_of_the_server_has_its_port(raw):
    addresses = [pair["serverAddress"] for pair in raw.get("/api").json()["serverAddressByClientCIDRs"]]
    assert addresses == [f"{raw.base_url.host}:{raw.base_url.port}"]


@pytest.mark.parametrize("patch,message", [
    ({"metadata": {"labels": "invalid"}}, "cannot restore map from string"),
    ({"metadata": {"annotations": ["a"]}}, "cannot restore map from slice"),
    ({"spec": {"nodeSelector": 1}}, "cannot restore map from int64"),
])
def test_a_strategic_patch_of_a_wrong_type_is_said_in_the_words_of_kubernetes(raw, pod, patch, message):
    answer = raw.patch(pod, content=json.dumps(patch), headers={"Content-Type": "application/strategic-merge-patch+json"})
    assert answer.status_code == 422 and message in answer.json()["message"], answer.text
    told = subprocess.run(["kubectl", "patch", "pod", pod.rsplit("/", 1)[1], "-p", json.dumps(patch)], capture_output=True, text=True, timeout=30)
    assert told.returncode == 1 and message in told.stderr, told.stderr
