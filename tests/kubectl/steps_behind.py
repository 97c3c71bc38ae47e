"""A server behind another one: kubectl speaks with the one in front, and sees the objects, watches and refusals of both as one API."""
import base64
import json
import os
import signal
import socket
import subprocess
import threading
import time

from steps_roles import kindsmith, of

KIND = "machines.machines.example.com"
ABOUT = "/apis/machines.example.com/v1"
READER = ["--role=extension-apiserver-authentication-reader", "--serviceaccount=default:behind", "-n", "kube-system"]


def machine(name, size):
    return json.dumps({"apiVersion": "machines.example.com/v1", "kind": "Machine", "metadata": {"name": name}, "spec": {"size": size}})


class Behind:
    """The program behind, in a folder of its own, always at the same address."""

    def __init__(self, s):
        self.folder, self.log = os.path.join(s.folder, "behind"), os.path.join(s.folder, "behind.log")
        os.makedirs(self.folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        self.command = [s.programs["pods"], self.address, "--behind", os.path.join(s.folder, "behind.conf")]
        self.start()

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        first = self.process.stdout.readline()
        assert first.startswith("listening on"), first + open(self.log).read()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=20) == 0, open(self.log).read()

    def service(self, name, version="v1"):
        with open(os.path.join(self.folder, "data", "ca.crt"), "rb") as authority:
            bundle = base64.b64encode(authority.read()).decode()
        return json.dumps({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": name, "annotations": {"kindsmith.dev/url": f"https://{self.address}"}},
            "spec": {"group": "machines.example.com", "version": version, "caBundle": bundle, "groupPriorityMinimum": 2000,
                     "versionPriority": 10, "service": {"namespace": "default", "name": "machines"}}})


def start_behind(s):
    """With the least that the program behind needs on its host."""
    kindsmith(s, "user", "add", "behind", "--token", "--role=system:auth-delegator", "--output=behind.conf")
    s.run("create", "rolebinding", "behind", *READER)
    s.behind = Behind(s)
    s.run("apply", "-f", "-", stdin=s.behind.service("v1.machines.example.com"))
    s.run("wait", "--for=condition=Available", "apiservice/v1.machines.example.com", "--timeout=15s")
    s.has(s.run("get", "apiservices"), r"^v1\.machines\.example\.com +default/machines +True", r"^v1\. +Local +True")
    s.has(s.run("api-resources"), r"^machines +machines\.example\.com/v1 +true +Machine$", r"^configmaps +cm +v1 +true +ConfigMap$")
    s.has(s.run("explain", "machines.spec.size"), "How large it is")


def write_through_the_front(s):
    watching = s.start("get", KIND, "-w", "-o", "jsonpath={.metadata.name}={.spec.size}{\"\\n\"}")
    s.run("create", "-f", "-", stdin=machine("one", 1))
    s.lines_until(watching, "^one=1$")
    s.has(s.run("apply", "--server-side", "-f", "-", stdin=machine("two", 2)), "two serverside-applied")
    s.has(s.run("apply", "-f", "-", stdin=machine("three", 3)), "three created")
    s.has(s.run("apply", "-f", "-", stdin=machine("three", 4)), "three configured")
    s.run("patch", KIND, "one", "--type=merge", "-p", '{"spec":{"size":5}}')
    s.run("label", KIND, "--all", "watched=yes")
    s.run("delete", KIND, "two")
    s.lines_until(watching, r"^two=2$(.|\n)*^three=4$(.|\n)*^one=5$(.|\n)*^two=2$")
    watching.kill()
    watching.wait()
    s.same(s.run("get", "machines", "-o", "jsonpath={.items[*].metadata.name}"), "one three")
    s.has(s.refused("apply", "--server-side", "-f", "-", stdin=machine("one", "large")), "spec.size")
    s.has(s.refused("get", "machine", "none"), r'^Error from server \(NotFound\): machines\.machines\.example\.com "none" not found$')


def be_the_same_user_behind(s):
    made_by = lambda name: json.loads(s.run("get", "machine", name, "-o", "jsonpath={.spec.madeBy}"))
    s.same(made_by("one")[1:], ["system:masters", "system:authenticated"])
    s.run("create", "clusterrole", "machines", "--verb=get,list,watch,create", f"--resource={KIND}")
    kindsmith(s, "user", "add", "ada", "--group=makers", "--group=night shift", "--role=machines", "--namespace=default")
    ada = of(s, "ada.kubeconfig")
    s.run(ada, "create", "-f", "-", stdin=machine("of-ada", 1))
    s.same(made_by("of-ada"), ["ada", "makers", "night shift", "system:authenticated"])
    s.run("create", "-f", "-", "--as=joe", "--as-group=system:masters", stdin=machine("of-joe", 1))
    s.same(made_by("of-joe")[0], "joe")
    s.has(s.refused(ada, "delete", "machine", "one"),
          r'machines\.machines\.example\.com "one" is forbidden: User "ada" cannot delete resource "machines" in API group '
          r'"machines\.example\.com" in the namespace "default"')


def connect_through_the_front(s):
    path = f"{ABOUT}/namespaces/default/machines"
    s.same(s.run("get", "--raw", f"{path}/one/log?tailLines=1"), "line 5 of one\n")
    s.run("create", "-f", "-", stdin=machine("endless", 1))
    following = s.start("get", "--raw", f"{path}/endless/log?follow=true")
    s.lines_until(following, "^and on\nand on$")
    following.kill()
    following.wait()


def be_slow_behind(s):
    """A server behind that does not answer keeps nobody else waiting."""
    s.behind.process.send_signal(signal.SIGSTOP)
    try:
        waiting = s.start("get", "machine", "one")
        for _ in range(5):
            started = time.monotonic()
            s.run("get", "configmaps")
            assert time.monotonic() - started < 2, "requests of others wait"
        s.has(s.refused("get", "machines", "--request-timeout=1s"), "Timeout|timeout|deadline")
        assert waiting.poll() is None, waiting.read
    finally:
        s.behind.process.send_signal(signal.SIGCONT)
    s.lines_until(waiting, "^one ")
    s.same(waiting.wait(timeout=10), 0)


def stop_and_start_behind(s):
    following = s.start("get", KIND, "-w")
    s.lines_until(following, "^one ")
    s.behind.stop()
    unavailable = r"^Error from server \(ServiceUnavailable\): the server is currently unable to handle the request$"
    path = f"{ABOUT}/namespaces/default/machines"
    s.has(s.refused("get", "--raw", path), unavailable)
    s.run("wait", "--for=condition=Available=false", "apiservice/v1.machines.example.com", "--timeout=40s")
    s.has(s.refused("get", "--raw", path), unavailable)
    s.has(s.refused("get", KIND), "stale GroupVersion discovery|the server doesn't have a resource type")
    s.run("get", "configmaps")
    s.has(s.run("get", "apiservice", "v1.machines.example.com"), r"False \(FailedDiscoveryCheck\)")
    following.wait(timeout=10)
    s.behind.start()
    s.run("wait", "--for=condition=Available", "apiservice/v1.machines.example.com", "--timeout=40s")
    s.has(s.run("get", "machines", "-o", "name"), "^machine.machines.example.com/of-ada$")


def take_it_away(s):
    s.run("delete", "apiservice", "v1.machines.example.com")
    s.has(s.refused("get", KIND), "doesn't have a resource type|could not find the requested resource")
    s.behind.stop()
    with open(s.behind.log) as log:
        s.lacks(log.read(), "panicked")


STEPS = [start_behind, write_through_the_front, be_the_same_user_behind, connect_through_the_front, be_slow_behind,
         stop_and_start_behind, take_it_away]
