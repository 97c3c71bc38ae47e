"""lightkube, whose package brings no tests: what its own tests do, and the rest of what its client can.

Types of Kubernetes are its models, which refuse what they cannot decode: answers of another kind, fields of another type.
"""
import datetime
import uuid

import pytest
from lightkube import ApiError, AsyncClient, Client
from lightkube.codecs import dump_all_yaml, load_all_yaml
from lightkube.core.resource_registry import resource_registry
from lightkube.generic_resource import (
    async_load_in_cluster_generic_resources, create_global_resource, create_namespaced_resource, get_generic_resource,
    load_in_cluster_generic_resources)
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.autoscaling_v1 import ScaleSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec, ServicePort, ServiceSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.operators import exists, not_equal, not_exists, not_in
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import ConfigMap, Namespace, Node, Pod, Secret, Service, ServiceAccount
from lightkube.types import CascadeType, PatchType

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: {scope}
  names: {{kind: {kind}, plural: {plural}, singular: {singular}, shortNames: [{singular}s]}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {{}}
      scale: {{specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, properties: {{schedule: {{type: string}}, replicas: {{type: integer}}}}}}
          status: {{type: object, properties: {{last: {{type: string}}, replicas: {{type: integer}}}}}}
"""


@pytest.fixture
def client():
    return Client(field_manager="lightkube")


@pytest.fixture
def name():
    return f"test-{uuid.uuid4().hex[:10]}"


@pytest.fixture
def namespace(client, name):
    client.create(Namespace(metadata=ObjectMeta(name=name)))
    yield name
    client.delete(Namespace, name)


@pytest.fixture(params=["Namespaced", "Cluster"])
def definition(client, request):
    """A definition that is established, and the class of its objects."""
    singular = f"tab{uuid.uuid4().hex[:8]}"
    names = {"group": f"{singular}.example.com", "kind": singular.capitalize(), "plural": f"{singular}s"}
    [made] = load_all_yaml(DEFINITION.format(**names, singular=singular, scope=request.param))
    client.create(made)
    client.wait(CustomResourceDefinition, made.metadata.name, for_conditions=["Established"])
    create = create_namespaced_resource if request.param == "Namespaced" else create_global_resource
    yield made, create(version="v1", **names)
    client.delete(CustomResourceDefinition, made.metadata.name)


def config_map(name, namespace=None, **data):
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace), data=data)


def pod(name, namespace):
    return Pod(metadata=ObjectMeta(name=name, namespace=namespace, labels={"app": name}),
               spec=PodSpec(containers=[Container(name="main", image="busybox")]))


def deployment(name, namespace):
    template = PodTemplateSpec(metadata=ObjectMeta(labels={"app": name}), spec=PodSpec(containers=[Container(name="main", image="busybox")]))
    return Deployment(metadata=ObjectMeta(name=name, namespace=namespace),
                      spec=DeploymentSpec(replicas=1, selector=LabelSelector(matchLabels={"app": name}), template=template))


def names(objects):
    return [made.metadata.name for made in objects]


def refusal(call):
    """The Status with which a call is refused."""
    with pytest.raises(ApiError) as refused:
        call()
    assert refused.value.status.status == "Failure"
    return refused.value.status


def test_pod_of_the_system(client):
    pods = list(client.list(Pod, namespace="kube-system", labels={"tier": "control-plane"}))
    assert pods and pods[0].status.phase == "Running"
    assert names(client.list(Pod, namespace="*", fields={"spec.nodeName": "node-1"})) == names(pods)


def test_objects_without_a_namespace(client):
    [node] = client.list(Node)
    assert client.get(Node, node.metadata.name).metadata.labels["kubernetes.io/os"] == node.status.nodeInfo.operatingSystem
    client.wait(Node, node.metadata.name, for_conditions=["Ready"])


def test_missing_and_existing(client, namespace):
    missing = refusal(lambda: client.get(Pod, "missing", namespace=namespace))
    assert (missing.code, missing.reason, missing.details.name) == (404, "NotFound", "missing")
    client.create(pod("twice", namespace))
    twice = refusal(lambda: client.create(pod("twice", namespace)))
    assert (twice.code, twice.reason, twice.details.kind) == (409, "AlreadyExists", "pods")


def test_replace_and_conflict(client, namespace):
    made = client.create(config_map("conf", namespace, a="1", b="2"))
    assert isinstance(made.metadata.creationTimestamp, datetime.datetime)
    made.data["a"] = "3"
    replaced = client.replace(made)
    assert replaced.data == {"a": "3", "b": "2"} and replaced.metadata.uid == made.metadata.uid
    stale = refusal(lambda: client.replace(made))
    assert (stale.code, stale.reason) == (409, "Conflict")


def test_kinds_of_patches(client, namespace):
    ports = [ServicePort(name="a", port=80, targetPort=8080)]
    client.create(Service(metadata=ObjectMeta(name="svc", namespace=namespace), spec=ServiceSpec(ports=ports, selector={"app": "x"})))

    def patched(patch, kind=PatchType.STRATEGIC):
        spec = client.patch(Service, "svc", patch, namespace=namespace, patch_type=kind).spec
        return {port.port: (port.name, port.targetPort) for port in spec.ports}

    # A strategic patch merges ports by their number, whether it is a document or an object.
    assert patched({"spec": {"ports": [{"name": "b", "port": 81, "targetPort": 8081}]}}) == {80: ("a", 8080), 81: ("b", 8081)}
    assert patched(Service(spec=ServiceSpec(ports=[ServicePort(name="b", port=81, targetPort=8082)])))[81] == ("b", 8082)
    # A merge patch replaces the list.
    assert patched({"spec": {"ports": [{"name": "b", "port": 81, "targetPort": "http"}]}}, PatchType.MERGE) == {81: ("b", "http")}
    added = [{"op": "add", "path": "/spec/ports/-", "value": {"name": "a", "port": 80}}]
    assert set(patched(added, PatchType.JSON)) == {80, 81}


def test_apply(client, namespace):
    conf = config_map("conf", namespace, a="1", b="2")
    conf.apiVersion, conf.kind = "v1", "ConfigMap"
    assert client.apply(conf).data == {"a": "1", "b": "2"}
    conf.data = {"b": "3", "c": "4"}
    assert client.apply(conf).data == {"b": "3", "c": "4"}
    other = refusal(lambda: client.apply(conf_with(conf, b="5"), field_manager="other"))
    assert (other.code, other.reason) == (409, "Conflict") and "lightkube" in other.message
    forced = client.apply(conf_with(conf, b="5"), field_manager="other", force=True)
    assert forced.data["b"] == "5"
    assert {entry.manager: entry.operation for entry in forced.metadata.managedFields} == {"lightkube": "Apply", "other": "Apply"}
    conf.data = {}
    assert client.apply(conf).data == {"b": "5"}


def conf_with(conf, **data):
    made = config_map(conf.metadata.name, conf.metadata.namespace, **data)
    made.apiVersion, made.kind = "v1", "ConfigMap"
    return made


def test_dry_run(client, namespace):
    client.create(config_map("conf", namespace, a="1"), dry_run=True)
    assert refusal(lambda: client.get(ConfigMap, "conf", namespace=namespace)).code == 404
    made = client.create(config_map("conf", namespace, a="1"))
    client.patch(ConfigMap, "conf", {"data": {"a": "2"}}, namespace=namespace, dry_run=True)
    made.data["a"] = "3"
    client.replace(made, dry_run=True)
    client.delete(ConfigMap, "conf", namespace=namespace, dry_run=True)
    client.deletecollection(ConfigMap, namespace=namespace, dry_run=True)
    unchanged = client.get(ConfigMap, "conf", namespace=namespace)
    assert unchanged.data == {"a": "1"} and unchanged.metadata.resourceVersion == made.metadata.resourceVersion


def test_lists(client, namespace):
    for number in range(5):
        made = config_map(f"conf-{number}", namespace, a="1")
        made.metadata.labels = {"odd": str(number % 2), f"only-{number}": ""}
        client.create(made)
    listed = client.list(ConfigMap, namespace=namespace, chunk_size=2)
    assert names(listed) == [f"conf-{number}" for number in range(5)] and listed.resourceVersion
    selected = lambda labels: names(client.list(ConfigMap, namespace=namespace, labels=labels))
    assert selected({"odd": "1"}) == selected({"odd": ["1", "3"]}) == ["conf-1", "conf-3"]
    assert selected({"only-2": None}) == ["conf-2"]
    assert selected({"odd": not_equal("1")}) == selected({"odd": not_in(["1"])}) == ["conf-0", "conf-2", "conf-4"]
    assert selected({"only-1": not_exists(), "odd": exists()}) == ["conf-0", "conf-2", "conf-3", "conf-4"]
    assert names(client.list(ConfigMap, namespace=namespace, fields={"metadata.name": "conf-3"})) == ["conf-3"]
    everywhere = {(made.metadata.namespace, made.metadata.name) for made in client.list(ConfigMap, namespace="*")}
    assert (namespace, "conf-0") in everywhere


def test_deletecollection(client, namespace):
    for number in range(3):
        client.create(config_map(f"conf-{number}", namespace))
    client.deletecollection(ConfigMap, namespace=namespace)
    assert names(client.list(ConfigMap, namespace=namespace)) == []


def test_watch(client, namespace):
    listed = client.list(Pod, namespace=namespace)
    assert names(listed) == []
    client.create(pod("seen", namespace))
    client.patch(Pod, "seen", {"metadata": {"labels": {"more": "yes"}}}, namespace=namespace)
    client.delete(Pod, "seen", namespace=namespace, grace_period=0)
    told = []
    for event, made in client.watch(Pod, namespace=namespace, resource_version=listed.resourceVersion, server_timeout=20):
        told.append((event, made.metadata.name))
        if event == "DELETED":
            break
    assert (told[0], told[1], told[-1]) == (("ADDED", "seen"), ("MODIFIED", "seen"), ("DELETED", "seen"))


def test_wait_for_a_condition_and_for_deletion(client, namespace):
    client.create(pod("seen", namespace))
    status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    client.patch(Pod.Status, "seen", status, namespace=namespace)
    assert client.wait(Pod, "seen", namespace=namespace, for_conditions=["Ready"]).status.phase == "Running"
    with pytest.raises(Exception, match="Broken"):
        client.patch(Pod.Status, "seen", {"status": {"conditions": [{"type": "Broken", "status": "True"}]}}, namespace=namespace)
        client.wait(Pod, "seen", namespace=namespace, for_conditions=["Missing"], raise_for_conditions=["Broken"])


def test_status_and_scale(client, namespace):
    made = client.create(deployment("web", namespace))
    assert made.metadata.generation == 1
    scale = client.get(Deployment.Scale, "web", namespace=namespace)
    assert (scale.spec.replicas, scale.status.replicas, scale.status.selector) == (1, 0, "app=web")
    scale.spec = ScaleSpec(replicas=3)
    assert client.replace(scale, "web", namespace=namespace).spec.replicas == 3
    assert client.patch(Deployment.Scale, "web", {"spec": {"replicas": 4}}, namespace=namespace, patch_type=PatchType.MERGE).spec.replicas == 4
    made = client.get(Deployment, "web", namespace=namespace)
    assert (made.spec.replicas, made.metadata.generation) == (4, 3)
    told = client.patch(Deployment.Status, "web", {"status": {"replicas": 4, "readyReplicas": 2}}, namespace=namespace)
    assert (told.status.readyReplicas, told.metadata.generation) == (2, 3)


def test_cascades(client, namespace):
    owner = client.create(config_map("owner", namespace))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid, "blockOwnerDeletion": True}
    for number in range(2):
        owned = config_map(f"owned-{number}", namespace)
        owned.metadata.ownerReferences = [reference]
        client.create(ConfigMap.from_dict(owned.to_dict()))
    client.delete(ConfigMap, "owner", namespace=namespace, cascade=CascadeType.ORPHAN)
    # The references go, and then the owner.
    for event, made in client.watch(ConfigMap, namespace=namespace, server_timeout=20):
        if (event, made.metadata.name) == ("DELETED", "owner") or not names(client.list(ConfigMap, namespace=namespace, fields={"metadata.name": "owner"})):
            break
    assert [made.metadata.ownerReferences for made in client.list(ConfigMap, namespace=namespace)] == [None, None]


def test_answers_of_deletion(client, namespace):
    """Those that Kubernetes answers with the object, and those with a Status, are decoded by what its documents say."""
    for made in [pod("one", namespace), Secret(metadata=ObjectMeta(name="one", namespace=namespace)),
                 ServiceAccount(metadata=ObjectMeta(name="one", namespace=namespace)), Lease(metadata=ObjectMeta(name="one", namespace=namespace)),
                 deployment("one", namespace)]:
        client.create(made)
        client.delete(type(made), "one", namespace=namespace)


def test_yaml_of_objects(client, namespace):
    made = client.create(deployment("web", namespace))
    [read] = load_all_yaml(dump_all_yaml([made]))
    assert read == made


def test_objects_of_a_definition(client, definition):
    _, kind = definition
    made = client.create(kind(metadata={"name": "tab"}, spec={"schedule": "* * * * *", "replicas": 1}))
    assert made.spec["schedule"] == "* * * * *" and made.metadata.generation == 1
    assert client.patch(kind, "tab", {"spec": {"schedule": "@daily"}}, patch_type=PatchType.MERGE).spec["schedule"] == "@daily"
    refused = refusal(lambda: client.patch(kind, "tab", {"spec": {"schedule": 1}}, patch_type=PatchType.MERGE))
    assert (refused.code, refused.reason) == (422, "Invalid") and "spec.schedule" in refused.message
    assert client.patch(kind.Status, "tab", {"status": {"last": "now"}}, patch_type=PatchType.MERGE).status["last"] == "now"
    assert client.patch(kind.Scale, "tab", {"spec": {"replicas": 2}}, patch_type=PatchType.MERGE).spec.replicas == 2
    assert client.get(kind, "tab").spec == {"schedule": "@daily", "replicas": 2}
    client.delete(kind, "tab")


def test_definitions_are_found_in_the_cluster(client, definition):
    made, _ = definition
    name = f"{made.spec.group}/v1", made.spec.names.kind
    known = resource_registry._registry.pop(name)
    assert get_generic_resource(*name) is None
    load_in_cluster_generic_resources(client)
    found = get_generic_resource(*name)
    assert found is not None and found is not known
    namespaces = {"namespace": "*"} if made.spec.scope == "Namespaced" else {}
    assert list(client.list(found, **namespaces)) == []


async def test_asynchronous_client(namespace):
    client = AsyncClient(field_manager="lightkube")
    created = await client.create(pod("one", namespace))
    await client.patch(Pod.Status, "one", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, namespace=namespace)
    await client.wait(Pod, "one", namespace=namespace, for_conditions=["Ready"])
    assert [made.metadata.uid async for made in client.list(Pod, namespace=namespace)] == [created.metadata.uid]
    async for event, made in client.watch(Pod, namespace=namespace, server_timeout=20):
        assert (event, made.metadata.name) == ("ADDED", "one")
        break
    await async_load_in_cluster_generic_resources(client)
    await client.delete(Pod, "one", namespace=namespace)
    await client.close()
