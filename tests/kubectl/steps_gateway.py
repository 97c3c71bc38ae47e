"""Objects as the documentation of the Gateway API shows them, on its definitions as they stand."""
import glob
import json
import os

import explain

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gateway")


def definitions_are_served(s):
    s.has(s.run("api-resources", "--api-group=gateway.networking.k8s.io"), r"^gatewayclasses +gc +gateway\.networking\.k8s\.io/v1 +false +GatewayClass$",
          r"^gateways +gtw +gateway\.networking\.k8s\.io/v1 +true +Gateway$", r"^httproutes +gateway\.networking\.k8s\.io/v1 +true +HTTPRoute$",
          r"^referencegrants +refgrant +gateway\.networking\.k8s\.io/v1beta1 +true +ReferenceGrant$")
    s.has(s.run("explain", "httproute.spec.rules.matches.headers"), r"^  type\t<string>$", r"^ +enum: Exact, RegularExpression$")
    for namespace in ["infra", "shop", "certs"]:
        s.run("create", "namespace", namespace)


def each_example_is_accepted(s):
    """Once as it is, once more by its owner, once by another who applies it on the server."""
    files = sorted(glob.glob(os.path.join(FOLDER, "*.yaml")))
    assert len(files) >= 8, files
    for file in files:
        s.lacks(s.run("create", "--validate=strict", "--save-config", "-f", file), r"[Ww]arning")
        # Defaults within lists make kubectl send them again, which changes nothing.
        revisions = ["get", "-f", file, "-o", "jsonpath={..resourceVersion}"]
        before = sorted(s.run(*revisions).split())
        s.lacks(s.run("apply", "-f", file), "created")
        s.same(sorted(s.run(*revisions).split()), before)
        s.run("apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", file)
        s.same(s.run("diff", "-f", file), "")


def defaults_are_set(s):
    route = json.loads(s.run("get", "httproute", "weights", "-n", "shop", "-o", "json"))
    s.same(route["spec"]["parentRefs"][0]["kind"], "Gateway")
    rule = route["spec"]["rules"][0]
    s.same((rule["matches"], [ref["weight"] for ref in rule["backendRefs"]]), ([{"path": {"type": "PathPrefix", "value": "/"}}], [90, 10]))
    s.same(s.run("get", "gateway", "edge", "-n", "infra", "-o", "jsonpath={.spec.listeners[0].allowedRoutes.namespaces.from}"), "Same")


def columns_show_them(s):
    s.run("patch", "gatewayclass", "example", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"conditions": [
        {"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))
    s.has(s.run("get", "gc"), r"^NAME +CONTROLLER +ACCEPTED +AGE$", r"^example +example\.net/gateway-controller +True +")
    s.has(s.run("get", "gateways", "-n", "infra"), r"^NAME +CLASS +ADDRESS +PROGRAMMED +AGE$", r"^edge +example +")
    s.has(s.run("get", "httproutes", "-A"), r"^NAMESPACE +NAME +HOSTNAMES +AGE$", r'^shop +headers +\["shop\.example\.com"\] +')
    s.has(s.run("describe", "grpcroute", "methods", "-n", "shop"), r"^ +Service: +shop\.Orders$")


def every_kind_is_explained(s):
    s.same(explain.check_all(s.run), 30)


def other_versions_have_the_same_objects(s):
    s.same(s.run("get", "httproutes.v1beta1.gateway.networking.k8s.io", "headers", "-n", "shop", "-o", "jsonpath={.apiVersion}"),
           "gateway.networking.k8s.io/v1beta1")


def what_is_wrong_is_refused(s):
    with open(os.path.join(FOLDER, "weights.yaml")) as file:
        route = file.read()
    s.has(s.refused("apply", "--dry-run=server", "-f", "-", stdin=route.replace("weight: 90", "weight: 90000000")),
          r"spec\.rules\[0\]\.backendRefs\[0\]\.weight: Invalid value: 90000000: .* should be less than or equal to 1000000")
    s.has(s.refused("apply", "--dry-run=server", "-f", "-", stdin=route.replace("weight: 90", "wait: 90")), r'unknown field "spec\.rules\[0\]\.backendRefs\[0\]\.wait"')
    s.has(s.refused("apply", "--dry-run=server", "-f", "-", stdin=route.replace("port: 8080", "port: '8080'", 1)), r"must be of type integer")


STEPS = [definitions_are_served, each_example_is_accepted, defaults_are_set, columns_show_them, every_kind_is_explained, other_versions_have_the_same_objects,
         what_is_wrong_is_refused]
