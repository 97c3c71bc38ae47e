"""What kubectl does with objects of Kubernetes that are there: expose, set, scale, roll out, describe, apply, diff and so on."""
import json
import os

OBJECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "objects.yaml")
KUSTOMIZATION = """namePrefix: pre-
resources: [shelf.yaml]
configMapGenerator: [{name: conf, literals: [a=b]}]
images: [{name: shelf, newTag: "%s"}]
"""
SHELF = """apiVersion: apps/v1
kind: Deployment
metadata: {name: shelf}
spec:
  replicas: 1
  selector: {matchLabels: {app: shelf}}
  template:
    metadata: {labels: {app: shelf}}
    spec: {containers: [{name: shelf, image: shelf, ports: [{containerPort: 80, protocol: TCP}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: shelf}
spec: {selector: {app: shelf}, ports: [{port: 80, protocol: TCP}]}
"""
NODE = """apiVersion: v1
kind: Node
metadata: {name: one, labels: {node-role.kubernetes.io/worker: ""}}
"""
NODE_STATUS = json.dumps({"status": {
    "conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
    "nodeInfo": {"kubeletVersion": "v1.36.0", "osImage": "Linux", "kernelVersion": "6", "containerRuntimeVersion": "c", "architecture": "amd64",
                 "bootID": "a", "kubeProxyVersion": "a", "machineID": "a", "operatingSystem": "linux", "systemUUID": "a"}}})


def expose(s):
    s.has(s.run("expose", "deployment", "shop", "--port=80", "--target-port=8080"), r"^service/shop exposed$")
    service = json.loads(s.run("get", "svc", "shop", "-o", "json"))["spec"]
    s.same((service["ports"], service["selector"]), ([{"port": 80, "protocol": "TCP", "targetPort": 8080}], {"app": "shop"}))
    s.run("expose", "pod", "web", "--name=web", "--type=NodePort")


def set_what_is_in_an_object(s):
    s.run("set", "image", "deployment/shop", "shop=shop:2")
    s.run("set", "env", "deployment/shop", "A=b")
    s.run("set", "resources", "deployment/shop", "--limits=cpu=200m,memory=512Mi")
    s.run("set", "serviceaccount", "deployment/shop", "bot")
    pod = json.loads(s.run("get", "deploy", "shop", "-o", "json"))["spec"]["template"]["spec"]
    container = pod["containers"][0]
    s.same((container["image"], container["env"], container["resources"]["limits"], pod["serviceAccountName"]),
           ("shop:2", [{"name": "A", "value": "b"}], {"cpu": "200m", "memory": "512Mi"}, "bot"))
    s.run("set", "selector", "service", "shop", "app=other")
    s.run("set", "subject", "rolebinding", "reads", "--user=joe")
    s.same(s.run("get", "rolebinding", "reads", "-o", "jsonpath={.subjects[*].name}"), "jane bot joe")


def scale(s):
    s.has(s.run("scale", "deployment", "shop", "--replicas=4"), r"^deployment\.apps/shop scaled$")
    s.run("scale", "--current-replicas=4", "--replicas=3", "deployment/shop")
    s.has(s.refused("scale", "--current-replicas=4", "--replicas=1", "deployment/shop"), r"Expected replicas to be 4, was 3")
    scale = json.loads(s.run("get", "deploy", "shop", "--subresource=scale", "-o", "json"))
    s.same((scale["kind"], scale["spec"], scale["status"]["selector"]), ("Scale", {"replicas": 3}, "app=shop"))


def roll_out(s):
    s.has(s.refused("rollout", "status", "deployment/shop", "--timeout=1s"), r"timed out waiting for the condition")
    observed = s.run("get", "deploy", "shop", "-o", "jsonpath={.metadata.generation}")
    status = {"observedGeneration": int(observed), "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
              "conditions": [{"type": "Available", "status": "True"}]}
    s.run("patch", "deploy", "shop", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    s.has(s.run("rollout", "status", "deployment/shop", "--timeout=5s"), r'^deployment "shop" successfully rolled out$')
    s.run("wait", "--for=condition=Available", "deploy/shop", "--timeout=5s")
    s.has(s.run("get", "deploy", "shop"), r"^shop +3/3 +3 +3 ")
    s.has(s.run("rollout", "history", "deployment/shop"), r"^deployment\.apps/shop *$", r"^No rollout history found\.$")
    s.has(s.run("rollout", "pause", "deployment/shop"), "paused")
    s.same(s.run("get", "deploy", "shop", "-o", "jsonpath={.spec.paused}"), "true")
    s.has(s.run("rollout", "resume", "deployment/shop"), "resumed")
    s.same(s.run("get", "deploy", "shop", "-o", "jsonpath={.spec.paused}"), "")
    s.has(s.run("rollout", "restart", "deployment/shop"), "restarted")


def history_of_revisions(s):
    """What a controller writes about the revisions of a Deployment, kubectl shows and takes back."""
    shop = json.loads(s.run("get", "deploy", "shop", "-o", "json"))
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": shop["metadata"]["uid"], "controller": True}
    for revision in ["1", "2"]:
        template = json.loads(json.dumps(shop["spec"]["template"]))
        template["spec"]["containers"][0]["image"] = "shop:" + revision
        template["metadata"]["labels"]["pod-template-hash"] = revision
        s.run("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {
                "name": "shop-" + revision, "labels": {"app": "shop"}, "ownerReferences": [owner],
                "annotations": {"deployment.kubernetes.io/revision": revision}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "shop", "pod-template-hash": revision}}, "template": template}}))
    s.has(s.run("rollout", "history", "deployment/shop"), r"^1 +<none>$", r"^2 +<none>$")
    s.has(s.run("rollout", "history", "deployment/shop", "--revision=1"), r"Image:\s+shop:1")
    s.run("annotate", "deploy", "shop", "deployment.kubernetes.io/revision=2")
    s.run("rollout", "undo", "deployment/shop", "--to-revision=1")
    s.same(s.run("get", "deploy", "shop", "-o", "jsonpath={..containers[0].image}"), "shop:1")


def label_annotate_and_patch(s):
    s.run("label", "pod", "web", "tier=front")
    s.run("annotate", "pod", "web", "note=x")
    s.has(s.run("get", "po", "-L", "tier"), r"^web .* front$")
    # Containers merge by name.
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}
    s.run("patch", "deploy", "shop", "-p", json.dumps(patch))
    s.same(sorted(s.run("get", "deploy", "shop", "-o", "jsonpath={..containers[*].name}").split()), ["shop", "side"])


def nodes(s):
    s.run("create", "-f", "-", stdin=NODE)
    s.run("patch", "node", "one", "--subresource=status", "-p", NODE_STATUS)
    s.has(s.run("taint", "node", "one", "dedicated=db:NoSchedule"), r"^node/one tainted$")
    s.same(s.run("get", "node", "one", "-o", "jsonpath={.spec.taints[0].key}={.spec.taints[0].value}"), "dedicated=db")
    s.has(s.run("taint", "node", "one", "dedicated-"), r"^node/one untainted$")
    s.has(s.run("cordon", "one"), r"^node/one cordoned$")
    s.same(s.run("get", "node", "one", "-o", "jsonpath={.spec.unschedulable}"), "true")
    s.has(s.run("get", "nodes", "-o", "wide"), r"^one +Ready,SchedulingDisabled +worker +\d+s +v1\.36\.0 +10\.0\.0\.1 +<none> +Linux +6 +c$")
    s.has(s.run("uncordon", "one"), r"^node/one uncordoned$")
    s.has(s.run("get", "nodes"), r"^one +Ready +worker ")


def apply_a_kustomization(s):
    folder = os.path.join(s.folder, "shelf")
    os.makedirs(folder, exist_ok=True)
    s.file("shelf/kustomization.yaml", KUSTOMIZATION % "1")
    s.file("shelf/shelf.yaml", SHELF)
    s.has(s.run("apply", "-k", folder), r"^deployment\.apps/pre-shelf created$", r"^configmap/pre-conf-\w+ created$")
    s.has(s.run("apply", "-k", folder), r"^deployment\.apps/pre-shelf unchanged$", r"^service/pre-shelf unchanged$")
    s.same(s.run("diff", "-k", folder), "")
    s.file("shelf/kustomization.yaml", KUSTOMIZATION % "2")
    changed = s.run("diff", "-k", folder, status=1)
    s.has(changed, r"^-      - image: shelf:1$", r"^\+      - image: shelf:2$")
    s.has(s.run("apply", "-k", folder, "--dry-run=server"), r"^deployment\.apps/pre-shelf configured \(server dry run\)$")
    s.same(s.run("get", "deploy", "pre-shelf", "-o", "jsonpath={..containers[0].image}"), "shelf:1")
    s.has(s.run("apply", "-k", folder), r"^deployment\.apps/pre-shelf configured$", r"^service/pre-shelf unchanged$")
    s.has(s.run("apply", "-k", folder, "--server-side"), r"^deployment\.apps/pre-shelf serverside-applied$")
    s.has(s.run("diff", "-k", folder, "--server-side", status=None), r"\A\Z")
    s.run("delete", "-k", folder)


def describe_each(s):
    told = [("deploy/shop", r"^Replicas: +3 desired \| 3 updated"), ("pod/web", r"^ +Image: +nginx:1$"), ("svc/np", r"^NodePort: +80-8080  30080/TCP$"),
            ("ing/front", r"^ +shop\.example\.com +$"), ("quota/compute", r"^Namespace: +default$"), ("role/reader", r"^  pods +\[\] +\[web\] +\[get list\]$"),
            ("rolebinding/reads", r"^  User +jane"), ("clusterrole/health", r"\[/healthz\]"), ("pdb/shop", r"^Min available: +50%$"),
            ("hpa/shop", r"^Reference: +Deployment/shop$"), ("cj/nightly", r"^Schedule: +0 1 \* \* \*$"), ("job/again", r"^Controlled By: +CronJob/nightly$"),
            ("node/one", r"^  InternalIP: +10\.0\.0\.1$"), ("secret/pass", r"^p: +1 bytes$"), ("cm/conf", r"^a:$"), ("sa/bot", r"^Name: +bot$"),
            ("priorityclass/high", r"^Value: +1000$"), ("ns/default", r"^Status: +Active$"), ("rs/shop-1", r"^Controlled By: +Deployment/shop$"),
            ("crd", r"\A\Z")]
    for name, expected in told:
        s.has(s.run("describe", name), expected)


def an_object_of_each_kind(s):
    """Sent by kubectl as JSON, read by its describers as Protobuf."""
    created = s.run("create", "--save-config", "--validate=strict", "-f", OBJECTS)
    names = [line.split()[0] for line in created.splitlines()]
    assert len(names) == 25, names
    s.same(s.run("diff", "-f", OBJECTS), "")
    for name in names:
        kind, bare = name.split("/")
        s.has(s.run("describe", kind, bare), rf"^Name: +{bare}$")
        s.has(s.run("get", kind, bare, "-o", "wide"), rf"^({bare}|\S+ .*) ")
    s.has(s.run("describe", "daemonset", "agent"), r"^ +SizeLimit: +1Mi$", r"^ +Liveness: +http-get http://:8080/alive ",
          r"^ +KEY: +<set to the key 'p' in secret 'pass'> +Optional: true$", r"^ +TokenExpirationSeconds: +3600$")
    s.has(s.run("describe", "networkpolicy", "closed"), r"^ +Except: 10\.1\.0\.0/16$", r"^ +To Port: http/TCP$")
    s.has(s.run("get", "resourceclaims"), r"^device +pending +\d+s$")
    s.has(s.run("get", "ds"), r"^agent +0 +0 +0 +0 +0 +disk=ssd +\d+s$")
    s.run("delete", "-f", OBJECTS, "--wait=false")


def what_is_owned_goes_with_its_owner(s):
    s.run("delete", "deploy", "shop", "--timeout=30s")
    s.run("wait", "--for=delete", "rs/shop-1", "--timeout=30s")
    s.run("delete", "cj", "nightly", "--cascade=foreground", "--timeout=30s")
    s.same(s.run("get", "job", "again", "--ignore-not-found"), "")


STEPS = [expose, set_what_is_in_an_object, scale, roll_out, history_of_revisions, label_annotate_and_patch, nodes, apply_a_kustomization,
         describe_each, an_object_of_each_kind, what_is_owned_goes_with_its_owner]
