"""Helm on the API of Kubernetes: a chart with twenty objects and a hook is installed, upgraded, rolled back and uninstalled."""
import os

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chart")
KINDS = ("deployments,statefulsets,daemonsets,cronjobs,services,serviceaccounts,configmaps,secrets,persistentvolumeclaims,resourcequotas,"
         "limitranges,roles,rolebindings,clusterroles,clusterrolebindings,ingresses,networkpolicies,poddisruptionbudgets,"
         "horizontalpodautoscalers")


def objects(s):
    """The names of the chart's objects that there are."""
    return s.run("get", KINDS, "-n", "shop", "-l", "app.kubernetes.io/instance=shop", "-o", "name").split()


def a_chart_is_installed(s):
    s.has(s.run_helm("install", "shop", CHART, "-n", "shop", "--create-namespace"), r"^STATUS: deployed$", r"^REVISION: 1$")
    found = objects(s)
    assert len(found) == 21, found
    s.has("\n".join(found), r"^deployment\.apps/web$", r"^clusterrole\.rbac\.authorization\.k8s\.io/shop-nodes$",
          r"^ingress\.networking\.k8s\.io/web$", r"^horizontalpodautoscaler\.autoscaling/web$")
    s.same(s.run("get", "configmap", "before", "-n", "shop", "-o", "jsonpath={.data.revision}"), "1")


def a_release_is_upgraded(s):
    values = ["--set", "image=registry.example.com/shop:2.0", "--set", "replicas=3", "--set", "ingress=false"]
    s.has(s.run_helm("upgrade", "shop", CHART, "-n", "shop", *values), r"^REVISION: 2$")
    found = objects(s)
    assert len(found) == 20 and not any("ingress" in name for name in found), found
    s.same(s.run("get", "deploy", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas} {..containers[0].image}"),
           "3 registry.example.com/shop:2.0")
    s.same(s.run("get", "configmap", "before", "-n", "shop", "-o", "jsonpath={.data.revision}"), "2")


def what_someone_changed_beside_helm_stays(s):
    s.run("label", "deploy", "web", "-n", "shop", "team=front")
    s.run_helm("upgrade", "shop", CHART, "-n", "shop", "--reuse-values", "--set", "replicas=4")
    s.same(s.run("get", "deploy", "web", "-n", "shop", "-o", "jsonpath={.metadata.labels.team} {.spec.replicas}"), "front 4")


def a_release_is_rolled_back(s):
    s.run_helm("rollback", "shop", "1", "-n", "shop")
    assert len(objects(s)) == 21
    s.same(s.run("get", "deploy", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas} {..containers[0].image}"),
           "2 registry.example.com/shop:1.0")
    history = s.run_helm("history", "shop", "-n", "shop")
    s.has(history, r"^1 .*superseded", r"^4 .*deployed .*Rollback to 1")


def the_manifest_is_what_is_served(s):
    manifest = s.file("manifest.yaml", s.run_helm("get", "manifest", "shop", "-n", "shop"))
    s.same(s.run("diff", "-n", "shop", "-f", manifest), "")
    s.has(s.run_helm("status", "shop", "-n", "shop"), r"^STATUS: deployed$", r"^REVISION: 4$")


def a_release_is_uninstalled(s):
    s.has(s.run_helm("list", "-A"), r"^shop\s+shop\s+4\s")
    s.has(s.run_helm("uninstall", "shop", "-n", "shop", "--wait"), r'^release "shop" uninstalled$')
    s.same(objects(s), [])
    s.lacks(s.run_helm("list", "-A"), r"^shop")


STEPS = [a_chart_is_installed, a_release_is_upgraded, what_someone_changed_beside_helm_stays, a_release_is_rolled_back,
         the_manifest_is_what_is_served, a_release_is_uninstalled]
