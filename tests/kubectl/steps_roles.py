"""Roles and users: what kubectl creates, asks and reconciles, who gets in by certificate and by token, and the refusals that an
unprivileged user gets, word for word as kube-apiserver's."""
import json
import os
import subprocess

RECONCILED = """apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reads-maps, namespace: default}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
- {apiGroups: [""], resources: [secrets], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reads-maps, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads-maps}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: joe}
"""


def kindsmith(s, *arguments, status=0):
    """Runs the command whose server this is, in the folder of the server; gives back what it prints."""
    done = subprocess.run([s.process.args[0], *arguments], capture_output=True, text=True, timeout=60, cwd=s.folder)
    s.same((arguments, done.returncode, done.stderr if done.returncode != status else ""), (arguments, status, ""))
    return done.stdout if status == 0 else done.stderr


def of(s, name):
    """The option for a kubeconfig in the folder."""
    return f"--kubeconfig={os.path.join(s.folder, name)}"


def create_roles_and_bindings(s):
    s.has(s.run("create", "role", "reads-maps", "--verb=get,list", "--resource=configmaps"),
          r"^role\.rbac\.authorization\.k8s\.io/reads-maps created$")
    s.has(s.run("create", "rolebinding", "reads-maps", "--role=reads-maps", "--user=jane"), r"^rolebinding\.rbac\S+ created$")
    s.run("create", "role", "one-map", "--verb=update,patch", "--resource=configmaps", "--resource-name=one")
    s.run("create", "rolebinding", "one-map", "--role=one-map", "--group=editors", "--serviceaccount=default:bot")
    s.run("create", "clusterrole", "sees-health", "--verb=get", "--non-resource-url=/healthz/*", "--non-resource-url=/metrics")
    s.run("create", "clusterrole", "gathers", "--aggregation-rule=example.com/gather=true")
    s.run("create", "clusterrolebinding", "sees-health", "--clusterrole=sees-health", "--group=monitors")
    s.has(s.refused("create", "role", "reads-maps", "--verb=get", "--resource=configmaps"),
          r'roles\.rbac\.authorization\.k8s\.io "reads-maps" already exists$')
    s.has(s.run("describe", "role", "reads-maps"), r"configmaps +\[\] +\[\] +\[get list\]")
    s.has(s.run("get", "rolebindings", "-o", "wide"), r"^one-map +Role/one-map .*editors +default/bot$")


def ask_what_may_be_done(s):
    s.has(s.run("auth", "can-i", "list", "configmaps", "--as=jane"), "^yes$")
    s.has(s.run("auth", "can-i", "list", "secrets", "--as=jane", status=1), "^no$")
    s.has(s.run("auth", "can-i", "list", "configmaps", "-A", "--as=jane", status=1), "^no$")
    s.has(s.run("auth", "can-i", "update", "configmaps/one", "--as=kim", "--as-group=editors"), "^yes$")
    s.has(s.run("auth", "can-i", "update", "configmaps/two", "--as=kim", "--as-group=editors", status=1), "^no$")
    s.has(s.run("auth", "can-i", "get", "/healthz/ping", "--as=kim", "--as-group=monitors"), "^yes$")
    s.has(s.run("auth", "can-i", "get", "/logs", "--as=kim", "--as-group=monitors", status=1), "^no$")
    s.has(s.run("auth", "can-i", "update", "configmaps/one", "--as=system:serviceaccount:default:bot"), "^yes$")
    s.has(s.run("auth", "can-i", "*", "*"), "^yes$")
    listed = s.run("auth", "can-i", "--list", "--as=jane")
    s.has(listed, r"^configmaps +\[\] +\[\] +\[get list\]$", r"^ +\[/healthz\] +\[\] +\[get\]$",
          r"^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$")
    s.lacks(listed, "secrets")


def ask_who_one_is(s):
    s.has(s.run("auth", "whoami"), r"^Groups +\[system:masters")
    who = json.loads(s.run("auth", "whoami", "-o", "json", "--as=jane", "--as-group=a", "--as-group=b"))["status"]["userInfo"]
    s.same((who["username"], who["groups"]), ("jane", ["a", "b", "system:authenticated"]))


def aggregate_roles(s):
    s.run("create", "clusterrole", "part", "--verb=get", "--resource=leases.coordination.k8s.io")
    s.run("label", "clusterrole", "part", "example.com/gather=true")
    s.run("wait", "clusterrole/gathers", "--for=jsonpath={.rules[0].resources[0]}=leases", "--timeout=10s")


def reconcile(s):
    path = s.file("roles.yaml", RECONCILED)
    s.has(s.run("auth", "reconcile", "-f", path, "--dry-run=client"), r"reads-maps reconciled")
    s.has(s.run("auth", "can-i", "get", "secrets", "--as=jane", status=1), "^no$")
    s.has(s.run("auth", "reconcile", "-f", path), r"^role\.rbac\S+/reads-maps reconciled$", r"^rolebinding\.rbac\S+/reads-maps reconciled$")
    s.has(s.run("auth", "can-i", "get", "secrets", "--as=joe"), "^yes$")
    s.has(s.run("get", "rolebinding", "reads-maps", "-o", "jsonpath={.subjects[*].name}"), "^jane joe$")


def get_in_with_a_token(s):
    s.has(s.run("create", "serviceaccount", "bot"), r"^serviceaccount/bot created$")
    token = s.run("create", "token", "bot", "--duration=20m").strip()
    file = of(s, "bot.conf")
    with open(s.environment["KUBECONFIG"]) as admin, open(os.path.join(s.folder, "bot.conf"), "w") as bot:
        bot.write(admin.read())
    s.run(file, "config", "set-credentials", "bot", f"--token={token}")
    s.run(file, "config", "set-context", "--current", "--user=bot")
    s.has(s.run(file, "auth", "whoami"), r"^Username +system:serviceaccount:default:bot$", r"system:serviceaccounts:default")
    s.has(s.refused(file, "get", "secrets"),
          r'^Error from server \(Forbidden\): secrets is forbidden: User "system:serviceaccount:default:bot" cannot list resource '
          r'"secrets" in API group "" in the namespace "default"$')
    s.has(s.refused("create", "token", "bot", "--duration=1m"), "may not specify a duration less than 10 minutes")
    s.has(s.refused("create", "token", "nobody"), r'serviceaccounts "nobody" not found$')
    s.run("delete", "serviceaccount", "bot")
    s.has(s.refused(file, "get", "configmaps"), "You must be logged in to the server")


def add_users(s):
    told = kindsmith(s, "user", "add", "ada", "--group=readers", "--role=view", "--namespace=default")
    s.has(told, r"^rolebinding/ada:view in the namespace default created", r"^kubeconfig: ada\.kubeconfig \(certificate of ada, until 20\d\d-",
          r"^  kubectl auth can-i --list$")
    ada = of(s, "ada.kubeconfig")
    s.has(s.run(ada, "auth", "whoami"), r"^Username +ada$", r"^Groups +\[readers system:authenticated\]$")
    s.run(ada, "get", "configmaps")
    kindsmith(s, "user", "add", "ci", "--token", "--role=edit", "--namespace=default", "--output=ci.conf")
    s.has(s.run(of(s, "ci.conf"), "create", "configmap", "of-ci", "--from-literal=a=b"), "created")
    s.has(kindsmith(s, "user", "list"), r"^ada +User +view +default$", r"^ci +ServiceAccount +edit +default$")
    s.same(oct(os.stat(os.path.join(s.folder, "ci.conf")).st_mode & 0o777), "0o600")
    s.has(kindsmith(s, "user", "add", "ada", status=2), r"ada\.kubeconfig exists, and nothing was done")


def walk_into_every_refusal(s):
    ada = of(s, "ada.kubeconfig")
    s.run("create", "secret", "generic", "hidden")
    s.run("create", "configmap", "one")
    namespaced = 'in API group "%s" in the namespace "default"'
    cluster = 'in API group "%s" at the cluster scope'
    refusals = [
        (["get", "secrets"], 'secrets is forbidden', 'list resource "secrets" ' + namespaced % ""),
        (["get", "secret", "hidden"], 'secrets "hidden" is forbidden', 'get resource "secrets" ' + namespaced % ""),
        (["get", "configmaps", "-A"], "configmaps is forbidden", 'list resource "configmaps" ' + cluster % ""),
        (["get", "namespaces"], "namespaces is forbidden", 'list resource "namespaces" ' + cluster % ""),
        (["delete", "configmap", "one"], 'configmaps "one" is forbidden', 'delete resource "configmaps" ' + namespaced % ""),
        (["delete", "configmaps", "--all"], 'configmaps "(kube-root-ca\\.crt|o\\S+)" is forbidden', "delete resource"),
        (["label", "configmap", "one", "a=b"], 'configmaps "one" is forbidden', 'patch resource "configmaps" ' + namespaced % ""),
        (["get", "clusterroles"], "clusterroles\\.rbac\\.authorization\\.k8s\\.io is forbidden",
         'list resource "clusterroles" ' + cluster % "rbac.authorization.k8s.io"),
        (["get", "--raw", "/metrics"], "forbidden", 'get path "/metrics"'),
        (["get", "configmaps", "--as=jane"], "configmaps is forbidden",
         'impersonate-on:user-info:list resource "configmaps" ' + namespaced % ""),
    ]
    for arguments, what, rest in refusals:
        s.has(s.refused(ada, *arguments), rf'^Error from server \(Forbidden\): {what}: User "ada" cannot {rest}')
    s.has(s.refused(ada, "create", "configmap", "two"),
          r'^error: failed to create configmap: configmaps is forbidden: User "ada" cannot create resource "configmaps" '
          r'in API group "" in the namespace "default"$')
    s.has(s.refused(ada, "create", "token", "default"),
          r'serviceaccounts "default" is forbidden: User "ada" cannot create resource "serviceaccounts/token" in API group "" in the '
          r'namespace "default"$')
    s.has(s.refused(ada, "apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}})),
          r'User "ada" cannot create resource "configmaps"')


def grant_no_more_than_one_has(s):
    kindsmith(s, "user", "add", "ann", "--role=admin", "--namespace=default")
    ann = of(s, "ann.kubeconfig")
    s.run(ann, "create", "role", "reads-secrets", "--verb=get", "--resource=secrets")
    s.has(s.refused(ann, "create", "role", "all", "--verb=*", "--resource=*.*"),
          r'roles\.rbac\.authorization\.k8s\.io "all" is forbidden: user "ann" '
          r'\(groups=\["system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:',
          r'^\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}')
    s.has(s.refused(ann, "create", "rolebinding", "all", "--clusterrole=cluster-admin", "--user=ann"),
          r"is attempting to grant RBAC permissions not currently held")


def remove_users(s):
    s.has(kindsmith(s, "user", "remove", "ada"), r"^rolebinding/ada:view in the namespace default deleted$")
    s.has(s.refused(of(s, "ada.kubeconfig"), "get", "configmaps"), 'User "ada" cannot list resource "configmaps"')
    s.has(kindsmith(s, "user", "remove", "ci"), r"^serviceaccount/ci in the namespace default deleted$")
    s.has(s.refused(of(s, "ci.conf"), "get", "configmaps"), "You must be logged in to the server")
    s.has(kindsmith(s, "user", "remove", "ada", status=2), "kindsmith user list shows them")


STEPS = [create_roles_and_bindings, ask_what_may_be_done, ask_who_one_is, aggregate_roles, reconcile, get_in_with_a_token,
         add_users, walk_into_every_refusal, grant_no_more_than_one_has, remove_users]
