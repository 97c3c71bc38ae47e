"""Pods: logs, exec, attach, cp, and the refusal of what is not served."""
import os
import subprocess

POD = """apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default}
spec: {containers: [{name: main, stdin: true}]}
"""


def pods(s):
    for name in ["one", "endless"]:
        s.run("create", "-f", "-", stdin=POD % name)
        s.run("patch", "pod", name, "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}')
    s.has(s.run("get", "--raw", "/api/v1"), '"name":"pods/exec"[^}]*"kind":"ExecOptions"[^}]*"verbs":\\["create","get"\\]',
          '"name":"pods/log"[^}]*"kind":"Pod"[^}]*"verbs":\\["get"\\]')


def logs(s):
    s.same(s.run("logs", "one", "--tail=2"), "line 4 of one\nline 5 of one\n")
    s.same(s.run("logs", "-f", "one").count("\n"), 5)
    s.has(s.refused("logs", "one", "-c", "other"), "container other is not valid for pod one")
    following = s.start("logs", "-f", "endless")
    s.lines_until(following, "^and on\\nand on$")
    following.kill()
    following.wait()


def exec_with_exit_codes(s):
    s.same(s.run("exec", "one", "--", "sh", "-c", "echo out; echo err >&2; exit 3", status=3), "out\n")
    s.has(s.errors, "^err$", "command terminated with exit code 3")
    s.same(s.run("exec", "one", "--", "true"), "")
    s.same(s.run("exec", "-i", "one", "--", "echo-shell", stdin="hello\nexit 7\n", status=7), "$ you said hello\n$ ")
    s.same(s.run("exec", "-i", "one", "--", "sh", "-c", "wc -c", stdin="x" * 1_000_000).strip(), "1000000")


def exec_refusals(s):
    s.has(s.refused("exec", "one", "--", "refuse"), 'pods "one" is forbidden: not in here')
    s.has(s.refused("exec", "one", "-c", "other", "--", "true"), "container other is not (valid for|found in) pod one")
    s.has(s.refused("exec", "none", "--", "true"), 'pods "none" not found')


def all_bytes_go_both_ways(s):
    bytes_ = os.urandom(3_000_000)
    through = subprocess.run([s.kubectl, "exec", "-i", "one", "--", "cat"], input=bytes_, capture_output=True,
                             env=s.environment, timeout=60)
    assert through.stdout == bytes_, f"{len(through.stdout)} bytes of {len(bytes_)}; {through.stderr}"


def attach(s):
    s.has(s.run("attach", "-i", "one", stdin="hi\nexit 0\n"), "you said hi")


def copy(s):
    here, there, back = (os.path.join(s.folder, name) for name in ["here", "there", "back"])
    s.file("here", "what is copied\n" * 10_000)
    s.run("cp", here, f"one:{there}")
    s.run("cp", f"one:{there}", back)
    for path in [there, back]:
        with open(here, "rb") as wanted, open(path, "rb") as found:
            assert wanted.read() == found.read(), path


def spdy_is_refused_with_a_reason(s):
    told = s.refused("port-forward", "pod/one", ":81")
    s.has(told, "SPDY is not served here", "kubectl port-forward speaks SPDY even inside")
    spdy = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false"}
    s.run("exec", "one", "--", "true", status=1, environment=spdy)
    s.has(s.errors, "to WebSocket, since SPDY is not served here")


STEPS = [pods, logs, exec_with_exit_codes, exec_refusals, all_bytes_go_both_ways, attach, copy, spdy_is_refused_with_a_reason]
