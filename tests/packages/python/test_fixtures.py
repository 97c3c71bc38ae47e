"""The fixtures of the package, with the client of Kubernetes' own project."""

import pytest
from kubernetes import client, config, watch

from kindsmith import Server, ServerError

ORDERS = {"group": "bakery.example.com", "version": "v1", "plural": "orders"}


def config_map(name, **data):
    return {"metadata": {"name": name}, "data": data}


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_has_its_own_namespace(kubernetes_client, kubernetes_namespace, number):
    core = client.CoreV1Api(kubernetes_client)
    core.create_namespaced_config_map(kubernetes_namespace, config_map("same-name", number=str(number)))
    (found,) = core.list_namespaced_config_map(kubernetes_namespace).items
    assert found.data == {"number": str(number)}


def test_definitions_are_those_of_the_configuration(kubernetes_client, kubernetes_namespace):
    custom = client.CustomObjectsApi(kubernetes_client)
    order = {
        "apiVersion": "bakery.example.com/v1",
        "kind": "Order",
        "metadata": {"name": "breakfast"},
        "spec": {"customer": "ada", "items": [{"name": "rye"}]},
    }
    created = custom.create_namespaced_custom_object(namespace=kubernetes_namespace, body=order, **ORDERS)
    assert created["spec"]["items"] == [{"name": "rye", "count": 1}]
    order["metadata"]["name"] = "nothing"
    order["spec"]["items"] = []
    with pytest.raises(client.ApiException, match="spec.items in body should have at least 1 items"):
        custom.create_namespaced_custom_object(namespace=kubernetes_namespace, body=order, **ORDERS)


def test_a_watch_gets_what_happens(kubernetes_client, kubernetes_namespace):
    core = client.CoreV1Api(kubernetes_client)
    core.create_namespaced_config_map(kubernetes_namespace, config_map("a", key="one"))
    events, watcher = [], watch.Watch()
    for event in watcher.stream(core.list_namespaced_config_map, kubernetes_namespace, timeout_seconds=20):
        events.append((event["type"], event["object"].data))
        if event["type"] == "ADDED":
            core.patch_namespaced_config_map("a", kubernetes_namespace, {"data": {"key": "two"}})
        elif event["type"] == "MODIFIED":
            core.delete_namespaced_config_map("a", kubernetes_namespace)
        else:
            watcher.stop()
    assert events == [("ADDED", {"key": "one"}), ("MODIFIED", {"key": "two"}), ("DELETED", {"key": "two"})]


def test_servers_side_by_side_share_nothing(kubernetes_server, kubernetes_client, start_kubernetes_server, pytestconfig):
    other = start_kubernetes_server(files=[pytestconfig.rootpath / "orders.yaml"])
    assert other.url != kubernetes_server.url
    client.CoreV1Api(kubernetes_client).create_namespaced_config_map("default", config_map("here"))
    core = client.CoreV1Api(config.new_client_from_config(str(other.kubeconfig)))
    names = [found.metadata.name for found in core.list_namespaced_config_map("default").items]
    assert "here" not in names
    # Without the API of Kubernetes: what is named, alone.
    with pytest.raises(ServerError, match="404 page not found") as refused:
        other.request("GET", "/apis/apps/v1/deployments")
    assert refused.value.status["code"] == 404
    assert other.request("GET", "/apis/bakery.example.com/v1/orders")["items"] == []


def test_code_that_reads_the_default_kubeconfig_finds_the_server(kubernetes_server, kubernetes_namespace):
    # This module imported the client before the server was there.
    config.load_kube_config()
    assert client.CoreV1Api().read_namespace(kubernetes_namespace).status.phase == "Active"
    assert client.Configuration.get_default_copy().host == kubernetes_server.url


def test_a_server_runs_without_pytest_and_leaves_nothing():
    with Server() as server:
        name = server.create_namespace("own-")
        assert name.startswith("own-")
        assert server.kubeconfig.exists()
    assert not server.is_running
    assert server.returncode == 0
    assert not server.kubeconfig.parent.exists()


def test_a_server_that_does_not_start_says_why(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: 1\n")
    with pytest.raises(ServerError, match=r"ended with status [0-9]+:\n(?s:.*)broken.yaml"):
        Server(files=[broken])
