"""Sends requests that are refused, with curl, http.client or requests. Prints `ok` for each that got its Status, or what it
got. Half of the connections serve ten requests, the others one."""

import http.client
import json
import os
import ssl
import subprocess
import sys
import urllib.parse

CASES = json.loads(os.environ["CASES"])


def headers(case):
    given = {"Authorization": "Bearer " + case.get("token", "admintoken"), "Content-Type": case.get("type", "application/json")}
    if "accept" in case:
        given["Accept"] = case["accept"]
    return given


def judge(case, status, body):
    try:
        reason = json.loads(body).get("reason")
    except ValueError:
        reason = repr(body[:100])
    wanted = case["status"], case["reason"]
    print("ok" if (status, reason) == wanted else f"{case['method']} {case['path']}: {wanted} wanted, {(status, reason)} got")


def groups(rounds, most=10):
    """The rounds as connections have them."""
    at, many = 0, True
    while at < rounds:
        count = min(most if many else 1, rounds - at)
        yield [CASES[(at + i) % len(CASES)] for i in range(count)]
        at, many = at + count, not many


def with_http_client(protocol, url, authority, body, rounds):
    host = urllib.parse.urlsplit(url).netloc
    context = ssl.create_default_context(cafile=authority) if protocol.endswith("-tls") else None

    def connect():
        if context:
            return http.client.HTTPSConnection(host, context=context, timeout=30)
        return http.client.HTTPConnection(host, timeout=30)

    for group in groups(rounds):
        connection = connect()
        for case in group:
            try:
                connection.request(case["method"], case["path"], body=body, headers=headers(case))
                answer = connection.getresponse()
                judge(case, answer.status, answer.read())
            except Exception as error:
                print(f"{case['method']} {case['path']}: {error!r}")
                connection.close()
        connection.close()


def with_requests(protocol, url, authority, body, rounds):
    import requests

    for group in groups(rounds):
        with requests.Session() as session:
            session.verify = authority if protocol.endswith("-tls") else None
            session.trust_env = False
            for case in group:
                try:
                    answer = session.request(case["method"], url + case["path"], data=body, headers=headers(case), timeout=30)
                    judge(case, answer.status_code, answer.content)
                except Exception as error:
                    print(f"{case['method']} {case['path']}: {error!r}")


def with_curl(protocol, url, authority, body, rounds):
    version = {"http1": "http1.1", "http1-tls": "http1.1", "http2": "http2-prior-knowledge", "http2-tls": "http2"}[protocol]
    mark = "<end of answer>"
    # curl 7.88 cannot use such a connection twice, whatever the server.
    alone = protocol == "http2"
    for group in groups(rounds, 1 if alone else 10):
        lines = []
        for case in group:
            lines += ["next"] if lines else []
            lines += ["silent", "show-error", "max-time = 30", version, f'url = "{url}{case["path"]}"', f'request = "{case["method"]}"']
            lines += [f'header = "{name}: {value}"' for name, value in headers(case).items()]
            lines += [f'write-out = "{mark}%{{http_code}} %{{exitcode}}{mark}"']
            lines += [f'cacert = "{authority}"'] if authority != "-" else []
            lines += ['data-binary = "@-"'] if body and len(group) == 1 else []
            lines += [f'data-binary = "@{BODY}"'] if body and len(group) > 1 else []
        sent = body if body and len(group) == 1 else b""
        with open(CONFIG, "w") as file:
            file.write("\n".join(lines) + "\n")
        done = subprocess.run(["curl", "--config", CONFIG], input=sent, capture_output=True)
        parts = done.stdout.decode().split(mark)
        for case, answer, result in zip(group, parts[0::2], parts[1::2]):
            status, code = result.split()
            if code == "0":
                judge(case, int(status), answer)
            else:
                print(f"{case['method']} {case['path']}: curl ended with {code}, status {status}")


client, protocol, url, authority, size, rounds = sys.argv[1:]
content = b"x" * int(size)
if client == "curl":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        BODY, CONFIG = os.path.join(folder, "body"), os.path.join(folder, "config")
        with open(BODY, "wb") as out:
            out.write(content)
        with_curl(protocol, url, authority, content, int(rounds))
else:
    run = {"http.client": with_http_client, "requests": with_requests}[client]
    run(protocol, url, authority, content, int(rounds))
