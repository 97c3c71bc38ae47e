"""People of an OpenID Connect issuer, which the test runs: kubeconfigs with their ID tokens, and the tokens that are refused."""
import base64
import functools
import http.server
import json
import os
import ssl
import subprocess
import threading
import time

from steps_roles import of

NOBODY = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: []\n"
FILES = {"authentication.yaml": NOBODY}


def part(value):
    """Bytes, or a value as JSON, as tokens and keys have them."""
    bytes_ = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(bytes_).rstrip(b"=").decode()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files, without a log."""

    def log_message(self, *_):
        pass


class Issuer:
    """An issuer on a port of its own, with a certificate and a key of its own."""

    def __init__(self, s):
        self.folder = os.path.join(s.folder, "issuer")
        os.makedirs(os.path.join(self.folder, ".well-known"))
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.crt", "-days", "2",
                     "-subj", "/CN=issuer", "-addext", "subjectAltName=IP:127.0.0.1")
        handler = functools.partial(Quiet, directory=self.folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("tls.crt"), self.path("tls.key"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        self.new_key("first")
        with open(self.path(".well-known/openid-configuration"), "w") as document:
            json.dump({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}, document)

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *arguments, stdin=None):
        return subprocess.run(["openssl", *arguments], cwd=self.folder, input=stdin, capture_output=True, check=True).stdout

    def new_key(self, name):
        """Signs with a new key from now on, and publishes that one alone."""
        self.key = name
        self.openssl("genrsa", "-out", f"{name}.key", "2048")
        modulus = self.openssl("rsa", "-in", f"{name}.key", "-noout", "-modulus").decode().strip().removeprefix("Modulus=")
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": name, "n": part(bytes.fromhex(modulus)), "e": "AQAB"}
        with open(self.path("keys"), "w") as keys:
            json.dump({"keys": [key]}, keys)

    def token(self, name, key=None, algorithm="RS256", **claims):
        now = int(time.time())
        header = {"alg": algorithm, "kid": key or self.key}
        claims = {"iss": self.url, "aud": "library", "sub": name, "name": name, "iat": now, "exp": now + 600, **claims}
        signed = f"{part(header)}.{part(claims)}"
        signature = self.openssl("dgst", "-sha256", "-sign", f"{key or self.key}.key", stdin=signed.encode())
        return f"{signed}.{part(signature if algorithm == 'RS256' else b'')}"

    def configuration(self):
        with open(self.path("tls.crt")) as authority:
            issuer = {"url": self.url, "audiences": ["library"], "certificateAuthority": authority.read()}
        return json.dumps({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
            "jwt": [{"issuer": issuer, "claimMappings": {"username": {"claim": "name", "prefix": "staff:"},
                                                         "groups": {"expression": "claims.?teams.orValue([])"}},
                     "userValidationRules": [{"expression": "!user.groups.exists(group, group.startsWith('system:'))",
                                              "message": "system groups are reserved"}]}]})


def kubeconfig(s, name, *credentials):
    """A kubeconfig with a user of these credentials; gives back the option that names it."""
    with open(s.environment["KUBECONFIG"]) as admin, open(os.path.join(s.folder, f"{name}.conf"), "w") as own:
        own.write(admin.read())
    file = of(s, f"{name}.conf")
    s.run(file, "config", "set-credentials", name, *credentials)
    s.run(file, "config", "set-context", "--current", f"--user={name}")
    return file


def refused_with_401(s, token):
    s.has(s.refused(kubeconfig(s, "refused", f"--token={token}"), "get", "configmaps"), "You must be logged in to the server")


def sign_in(s):
    s.issuer = Issuer(s)
    ann = kubeconfig(s, "ann", "--auth-provider=oidc", f"--auth-provider-arg=idp-issuer-url={s.issuer.url}",
                     "--auth-provider-arg=client-id=library",
                     f"--auth-provider-arg=id-token={s.issuer.token('ann', teams=['ovens', 'shop'])}")
    s.has(s.refused(ann, "auth", "whoami"), "Unauthorized|must be logged in")
    s.file("authentication.yaml", s.issuer.configuration())
    end = time.monotonic() + 20
    while "staff:ann" not in s.run(ann, "auth", "whoami", status=None):
        assert time.monotonic() < end, "the file is read again: " + s.errors
        time.sleep(0.2)
    s.has(s.run(ann, "auth", "whoami"), r"^Username +staff:ann$", r"^Groups +\[ovens shop system:authenticated\]$")
    s.has(s.refused(ann, "get", "configmaps"),
          r'^Error from server \(Forbidden\): configmaps is forbidden: User "staff:ann" cannot list resource "configmaps"')
    s.run("create", "rolebinding", "ovens", "--clusterrole=edit", "--group=ovens")
    s.run(ann, "create", "configmap", "of-ann")


def refuse_tokens(s):
    token, now = s.issuer.token, int(time.time())
    refused_with_401(s, token("ann", exp=now - 120, iat=now - 700))
    refused_with_401(s, token("ann", aud="another"))
    refused_with_401(s, token("ann", iss="https://127.0.0.1:1"))
    refused_with_401(s, token("ann", algorithm="none"))
    refused_with_401(s, token("ann", algorithm="HS256"))
    refused_with_401(s, token("ann", teams=["system:masters"]))
    header, claims, signature = token("ann").split(".")
    refused_with_401(s, f"{header}.{part({'iss': s.issuer.url, 'aud': 'library', 'name': 'root', 'exp': now + 600})}.{signature}")


def follow_new_keys(s):
    old = s.issuer.token("ben")
    s.has(s.run(kubeconfig(s, "ben", f"--token={old}"), "auth", "whoami"), "staff:ben")
    s.issuer.new_key("second")
    new = kubeconfig(s, "ben", f"--token={s.issuer.token('ben')}")
    end = time.monotonic() + 30
    while "staff:ben" not in s.run(new, "auth", "whoami", status=None):
        assert time.monotonic() < end, "the new key is fetched: " + s.errors
        time.sleep(0.5)
    refused_with_401(s, s.issuer.token("cleo", key="first"))


def show_no_token(s):
    s.issuer.server.shutdown()
    with open(s.log.name) as log:
        s.lacks(log.read(), "eyJ[A-Za-z0-9_-]{20}")


STEPS = [sign_in, refuse_tokens, follow_new_keys, show_no_token]
