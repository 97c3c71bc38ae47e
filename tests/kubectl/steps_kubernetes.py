"""The API of Kubernetes as its documents describe it: every object that kubectl makes by itself, and what is read of it."""
import json
import os
import re
import subprocess

import explain as explaining

AGE = r"\d+[smh]"
# What every container and every pod gets.
CONTAINER = {"resources": {}, "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
POD = {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler", "securityContext": {},
       "terminationGracePeriodSeconds": 30}
NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"}}'


def ready_soon(s):
    """A second in a release build; debug builds take several times as long. They need no more memory."""
    s.has(s.greeting, r"\Alistening on https://127\.0\.0\.1:\d+$")
    assert s.ready_after < 20, s.ready_after
    with open(f"/proc/{s.process.pid}/status") as status:
        kilobytes = int(re.search(r"^VmRSS:\s+(\d+) kB$", status.read(), re.MULTILINE).group(1))
    print(f"ready after {s.ready_after:.2f} s with {kilobytes // 1024} MB", flush=True)
    assert kilobytes < 150 << 10, kilobytes


def api_resources(s):
    out = s.run("api-resources")
    s.has(out, r"^pods +po +v1 +true +Pod$", r"^deployments +deploy +apps/v1 +true +Deployment$", r"^nodes +no +v1 +false +Node$",
          r"^customresourcedefinitions +crd,crds +apiextensions\.k8s\.io/v1 +false +CustomResourceDefinition$",
          r"^storageclasses +sc +storage\.k8s\.io/v1 +false +StorageClass$")
    wide = s.run("api-resources", "-o", "wide", "--no-headers")
    # Their clients read nothing: there is only what answers a creation.
    s.has(wide, r"^tokenreviews .* create *$", r"^componentstatuses .* get,list *$",
          r"^deployments .* create,delete,deletecollection,get,list,patch,update,watch +all *$")
    s.same(len(s.run("api-resources", "-o", "name").split()), 76)
    s.same(sorted(s.run("api-resources", "--categories=all", "-o", "name").split()),
           ["cronjobs.batch", "daemonsets.apps", "deployments.apps", "horizontalpodautoscalers.autoscaling", "jobs.batch", "pods",
            "replicasets.apps", "replicationcontrollers", "services", "statefulsets.apps"])


def explain(s):
    s.has(s.run("explain", "deployment.spec.strategy"), r"^FIELD: strategy <DeploymentStrategy>$", r"^  rollingUpdate\t<RollingUpdateDeployment>$")
    s.has(s.run("explain", "hpa", "--api-version=autoscaling/v1"), r"^VERSION: +v1$")
    s.has(s.run("explain", "pods", "--recursive"), r"^ +containerPort\t<integer> -required-$", r"^  status\t<PodStatus>$")
    s.has(s.run("explain", "netpol.spec.ingress.ports.port"), r"^FIELD: port ")


def explain_every_kind(s):
    s.same(explaining.check_all(s.run), 95)


def run(s):
    s.has(s.run("run", "web", "--image=nginx:1", "--labels=app=web", "--port=80", "--env=A=b"), r"^pod/web created$")
    pod = json.loads(s.run("get", "pod", "web", "-o", "json"))
    s.same(pod["spec"], {"containers": [{"name": "web", "image": "nginx:1", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                                         "env": [{"name": "A", "value": "b"}], **CONTAINER}], "enableServiceLinks": True, **POD})
    s.has(s.run("get", "po", "-o", "wide"), r"^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$",
          rf"^web +0/1 +Pending +0 +{AGE} +<none> +<none> +<none> +<none>$")


def create_workloads(s):
    """The kinds that kubectl sends as Protobuf messages."""
    s.run("create", "deployment", "shop", "--image=shop:1", "--replicas=2", "--port=8080")
    shop = json.loads(s.run("get", "deploy", "shop", "-o", "json"))
    s.same(shop["spec"], {"replicas": 2, "selector": {"matchLabels": {"app": "shop"}}, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}, "template": {
            "metadata": {"labels": {"app": "shop"}, **created_null(shop["spec"]["template"])},
            "spec": {"containers": [{"name": "shop", "image": "shop:1", "ports": [{"containerPort": 8080, "protocol": "TCP"}], **CONTAINER}], **POD}}})
    s.run("create", "deployment", "idle", "--image=idle:1", "--replicas=0")
    s.same(s.run("get", "deploy", "idle", "-o", "jsonpath={.spec.replicas}"), "0")
    s.run("create", "job", "once", "--image=busybox", "--", "echo", "hi")
    s.run("create", "cronjob", "nightly", "--image=busybox", "--schedule=0 1 * * *", "--restart=Never", "--", "echo", "hi")
    s.run("create", "job", "again", "--from=cronjob/nightly")
    again = json.loads(s.run("get", "job", "again", "-o", "json"))
    s.same((again["spec"]["template"]["spec"]["containers"][0]["command"], again["metadata"]["ownerReferences"][0]["name"]),
           (["echo", "hi"], "nightly"))
    s.has(s.run("get", "cj"), rf"^nightly +0 1 \* \* \* +<none> +", rf" {AGE}$")


def created_null(template):
    """Go's zero time in the metadata of a template, which some versions of kubectl write as null."""
    return {"creationTimestamp": None} if "creationTimestamp" in template["metadata"] else {}


def create_services(s):
    s.run("create", "service", "clusterip", "cache", "--tcp=6379:6379")
    s.run("create", "service", "nodeport", "np", "--tcp=80:8080", "--node-port=30080")
    s.run("create", "service", "loadbalancer", "lb", "--tcp=443:https")
    s.run("create", "service", "externalname", "ext", "--external-name=example.com")
    service = json.loads(s.run("get", "svc", "np", "-o", "json"))["spec"]
    address = service["clusterIP"]
    s.has(address, r"^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$")
    s.same(service, {
        "type": "NodePort", "selector": {"app": "np"}, "clusterIP": address, "clusterIPs": [address], "externalTrafficPolicy": "Cluster",
        "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
        "ports": [{"name": "80-8080", "protocol": "TCP", "port": 80, "targetPort": 8080, "nodePort": 30080}]})
    s.same(s.run("get", "svc", "lb", "-o", "jsonpath={.spec.ports[0].targetPort}"), "https")
    s.has(s.run("get", "svc"), r"^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE$", r"^cache +ClusterIP +10\.[0-9.]+ +<none> +6379/TCP ",
          r"^ext +ExternalName +<none> +example\.com +<none> ", rf"^np +NodePort +{address} +<none> +80:30080/TCP ")


def create_what_rules_them(s):
    s.run("create", "ingress", "front", "--rule=shop.example.com/*=shop:80,tls=cert", "--class=web")
    s.has(s.run("get", "ing"), r"^NAME +CLASS +HOSTS +ADDRESS +PORTS +AGE$", rf"^front +web +shop\.example\.com +<none> +80, 443 +{AGE}$")
    s.run("create", "quota", "compute", "--hard=cpu=1,memory=1G,pods=2")
    s.same(json.loads(s.run("get", "quota", "compute", "-o", "json"))["spec"]["hard"], {"cpu": "1", "memory": "1G", "pods": "2"})
    s.run("create", "pdb", "shop", "--selector=app=shop", "--min-available=50%")
    s.has(s.run("get", "pdb"), rf"^shop +50% +N/A +0 +{AGE}$")
    s.run("create", "priorityclass", "high", "--value=1000", "--description=high")
    s.has(s.run("get", "pc"), rf"^high +1000 +false +{AGE} +PreemptLowerPriority$")


def create_access(s):
    s.run("create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps", "--resource-name=web")
    s.same(json.loads(s.run("get", "role", "reader", "-o", "json"))["rules"], [
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["web"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["get", "list"]}])
    s.run("create", "rolebinding", "reads", "--role=reader", "--user=jane", "--serviceaccount=default:bot")
    s.run("create", "clusterrole", "nodes", "--verb=get", "--resource=nodes")
    s.run("create", "clusterrole", "health", "--verb=get", "--non-resource-url=/healthz")
    s.run("create", "clusterrolebinding", "nodes", "--clusterrole=nodes", "--group=ops")
    s.has(s.run("get", "rolebinding", "-o", "wide"), rf"^reads +Role/reader +{AGE} +jane +default/bot$")
    s.run("create", "serviceaccount", "bot")
    s.run("create", "configmap", "conf", "--from-literal=a=b")
    s.run("create", "secret", "generic", "pass", "--from-literal=p=q")
    s.has(s.run("get", "cm,secret,sa"), r"^configmap/conf +1 ", r"^secret/pass +Opaque +1 ", r"^serviceaccount/bot ")


def get_all(s):
    out = s.run("get", "all")
    s.has(out, r"^pod/web ", r"^service/np ", r"^deployment\.apps/shop +0/2 +0 +0 ", r"^cronjob\.batch/nightly ", r"^job\.batch/once ")


def objects_in_other_versions(s):
    s.run("autoscale", "deployment", "shop", "--min=1", "--max=5", "--cpu-percent=80")
    s.same(s.run("get", "horizontalpodautoscalers.v1.autoscaling", "shop", "-o", "jsonpath={.apiVersion} {.spec.scaleTargetRef.name}"), "autoscaling/v1 shop")
    s.same(s.run("get", "hpa", "shop", "-o", "jsonpath={.apiVersion} {.spec.maxReplicas}"), "autoscaling/v2 5")
    old = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "old"},
           "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "shop"}, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70}}
    s.run("apply", "-f", "-", stdin=json.dumps(old))
    s.same(s.run("get", "hpa", "old", "-o", "jsonpath={.spec.metrics[*].resource.target.averageUtilization}"), "70")
    wrong = old | {"metadata": {"name": "wrong", "annotations": {"autoscaling.alpha.kubernetes.io/behavior": '{"scaleUp": 5}'}}}
    s.has(s.refused("create", "-f", "-", stdin=json.dumps(wrong)), "an annotation autoscaling.alpha.kubernetes.io/")
    memory = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}}}
    s.run("patch", "hpa", "old", "--type=json", "-p", json.dumps([{"op": "add", "path": "/spec/metrics/-", "value": memory}]))
    in_v1 = json.loads(s.run("get", "horizontalpodautoscalers.v1.autoscaling", "old", "-o", "json"))
    s.same(in_v1["spec"]["targetCPUUtilizationPercentage"], 70)
    in_v1["spec"]["maxReplicas"] = 4
    s.run("replace", "-f", "-", stdin=json.dumps(in_v1))
    s.same(s.run("get", "hpa", "old", "-o", "jsonpath={.spec.maxReplicas} {.spec.metrics[*].resource.target.averageUtilization}"), "4 60 70")


def no_handler_is_said_clearly(s):
    """What documents describe and only a cluster can do."""
    no_handler = "this server has no handler for %s: they are served as documents describe them"
    s.has(s.refused("logs", "web"), no_handler % "log of pods")
    s.has(s.refused("exec", "web", "--", "ls"), no_handler % "exec of pods")
    s.has(s.refused("logs", "absent"), 'pods "absent" not found')
    s.has(s.refused("get", "--raw", "/api/v1/nodes/absent/proxy/"), 'nodes "absent" not found')


def what_is_deprecated(s):
    s.has(s.refused("--warnings-as-errors", "get", "endpoints"), "v1 Endpoints is deprecated in v1.33\\+; use discovery.k8s.io/v1 EndpointSlice")
    s.has(s.run("get", "componentstatuses"), r"^scheduler +Healthy +ok")


def a_node_registers_with_its_status(s):
    s.run("create", "-f", "-", stdin='{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "sized"}, "status": {"capacity": {"memory": "1Gi"}}}')
    s.has(s.run("describe", "node", "sized"), r"memory: +1Gi")
    s.run("patch", "node", "sized", "--type=merge", "-p", '{"status": {"capacity": {"memory": "2Gi"}}}')
    s.same(s.run("get", "node", "sized", "-o", "jsonpath={.status.capacity.memory}"), "1Gi")
    s.run("delete", "node", "sized")


def drain(s):
    """Pods are evicted, as far as their budgets allow it."""
    s.run("create", "-f", "-", stdin=NODE % "busy")
    s.run("run", "here", "--image=nginx", "--overrides", '{"spec": {"nodeName": "busy"}}')
    s.run("patch", "pod", "here", "--subresource=status", "--type=merge", "-p", '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}')
    s.run("create", "poddisruptionbudget", "here", "--selector=run=here", "--min-available=1")
    allowed = '{"status": {"observedGeneration": 1, "disruptionsAllowed": %d, "currentHealthy": 1, "desiredHealthy": 1}}'
    s.run("patch", "poddisruptionbudget", "here", "--subresource=status", "--type=merge", "-p", allowed % 0)
    # A drain must not take a pod for evicted that is still there.
    s.has(s.refused("drain", "busy", "--force", "--timeout=7s"), "Cannot evict pod as it would violate the pod's disruption budget")
    s.run("patch", "poddisruptionbudget", "here", "--subresource=status", "--type=merge", "-p", allowed % 1)
    s.has(s.run("drain", "busy", "--force"), r"^node/busy drained$")
    s.refused("get", "pod", "here")


def imported_through_kubectl(s):
    """kubectl signs in, and reads what the server publishes."""
    folder = os.path.join(s.folder, "imported")
    done = subprocess.run([s.programs["kindsmith"], "import", "--kubectl", s.kubectl, "--without-descriptions", "--output", folder],
                          capture_output=True, text=True, timeout=60, env=s.environment)
    s.has(done.stdout, r"imported: 9\d versions of resources, and 0 definitions")
    resources = {}
    for name in os.listdir(folder):
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as file:
                resources |= {(one["resource"], one["version"]): one for one in json.load(file)["resources"]}
    s.same(resources["deployments.apps", "v1"]["shortNames"], ["deploy"])
    s.same(resources["deployments.apps", "v1"]["subresources"]["scale"]["operations"][0]["kind"], "autoscaling/v1 Scale")


STEPS = [ready_soon, api_resources, explain, explain_every_kind, run, create_workloads, create_services, create_what_rules_them, create_access, get_all,
         objects_in_other_versions, no_handler_is_said_clearly, what_is_deprecated, a_node_registers_with_its_status, drain,
         imported_through_kubectl]
