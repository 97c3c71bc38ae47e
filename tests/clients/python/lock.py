"""The lock of field numbers, from end to end: `kindsmith export proto` writes it from a manifest, protoc compiles it, and a server
of the manifest and the lock exchanges objects with what protoc made of it.

    lock.py --kindsmith PATH --manifest schemas/bakery.example.com/orders.yaml
"""
import argparse
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import kubernetes
import urllib3
from grpc_tools import protoc
from wire import Wire

LOCK = "bakery.example.com/v1.proto"
ORDERS = "/apis/bakery.example.com/v1/namespaces/default/orders"


class Locked(Wire):
    """A connection, and the messages of the exported files."""

    def __init__(self, configuration, schemas, out):
        self.host = configuration.host
        self.pool = urllib3.PoolManager(ca_certs=configuration.ssl_ca_cert)
        self.headers = {"Authorization": configuration.auth_settings()["BearerToken"]["value"]}
        paths = sorted(str(path.relative_to(schemas)) for path in schemas.rglob("*.proto"))
        if protoc.main(["protoc", f"-I{schemas}", f"--python_out={out}", *paths]) != 0:
            raise AssertionError("protoc does not take what is exported")
        sys.path.insert(0, str(out))
        modules = [importlib.import_module(path[:-len(".proto")].replace("/", ".") + "_pb2") for path in paths]
        by_package = {module.DESCRIPTOR.package: module for module in modules}
        self.orders = by_package["com.example.bakery.v1"]
        self.meta = by_package["k8s.io.apimachinery.pkg.apis.meta.v1"]
        self.runtime = by_package["k8s.io.apimachinery.pkg.runtime"]


def exported_definitions_are_served(wire, schemas):
    """The server's file has the same messages as the lock, which it was given."""
    path = f"{wire.host}/openapi/proto/bakery.example.com/v1/generated.proto"
    served = wire.pool.request("GET", path, headers=wire.headers).data.decode()
    fields = [[line for line in text.splitlines() if line.startswith("  optional ") or line.startswith("  repeated ")]
              for text in (served, (schemas / LOCK).read_text())]
    assert fields[0] == fields[1] and len(fields[0]) > 8, fields


def objects_are_exchanged(wire, _):
    orders = wire.orders
    sent = orders.Order()
    sent.metadata.name = "breakfast"
    sent.spec.customer = "Ishmael"
    sent.spec.items.add(name="rye", count=3)
    made = wire.send("POST", ORDERS, orders.Order, wire.envelope(sent, "bakery.example.com/v1", "Order"))
    assert made.spec == sent.spec and made.metadata.uid, made
    plain = json.loads(wire.pool.request("GET", f"{wire.host}{ORDERS}/breakfast", headers=wire.headers).data)
    assert plain["spec"] == {"customer": "Ishmael", "items": [{"name": "rye", "count": 3}]}, plain
    found = wire.send("GET", ORDERS, orders.OrderList)
    assert list(found.items) == [made], found


def connected(folder):
    """The server's address and credentials, once it is ready."""
    path = folder / "data" / "kubeconfig"
    for _ in range(400):
        try:
            configuration = kubernetes.client.Configuration()
            kubernetes.config.load_kube_config(str(path), client_configuration=configuration)
            pool = urllib3.PoolManager(ca_certs=configuration.ssl_ca_cert, retries=False)
            if pool.request("GET", configuration.host + "/readyz").status == 200:
                return configuration
        except (kubernetes.config.ConfigException, urllib3.exceptions.HTTPError):
            pass
        time.sleep(0.05)
    raise AssertionError("the server is not ready")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kindsmith", required=True)
    parser.add_argument("--manifest", required=True)
    given = parser.parse_args()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        manifest, schemas, out = folder / "orders.yaml", folder / "schemas", folder / "modules"
        out.mkdir()
        shutil.copy(given.manifest, manifest)
        subprocess.run([given.kindsmith, "export", "proto", manifest, "--out", schemas], check=True)
        serve = [given.kindsmith, "serve", manifest, schemas / LOCK, "--listen", "127.0.0.1:0", "--data-dir", folder / "data"]
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
        try:
            wire = Locked(connected(folder), schemas, out)
            for check in [exported_definitions_are_served, objects_are_exchanged]:
                try:
                    check(wire, schemas)
                    passed += 1
                except Exception as error:  # counted, and the next check runs
                    failed += 1
                    print(f"{check.__name__}: {error!r}")
        finally:
            server.terminate()
            server.wait()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
