"""Kubernetes' Protobuf wire format with nothing but Protobuf's own packages: the definitions that the server serves are
compiled by protoc (from grpcio-tools), and requests are plain HTTP."""
import importlib
import json
import os
import struct
import sys

import urllib3
from grpc_tools import protoc

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"


class Refused(Exception):
    """An answer that is a Status, which comes along."""

    def __init__(self, code, status):
        super().__init__(f"{code} {status.reason}: {status.message}")
        self.code, self.status = code, status


class Wire:
    """A connection that speaks Protobuf, and the compiled messages."""

    def __init__(self, configuration, folder):
        self.host = configuration.host
        self.pool = urllib3.PoolManager(ca_certs=configuration.ssl_ca_cert)
        self.headers = {"Authorization": configuration.auth_settings()["BearerToken"]["value"]}
        paths = json.loads(self.pool.request("GET", f"{self.host}/openapi/proto", headers=self.headers).data)["paths"]
        for path in paths:
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "wb") as file:
                file.write(self.pool.request("GET", f"{self.host}/openapi/proto/{path}", headers=self.headers).data)
        if protoc.main(["protoc", f"-I{folder}", f"--python_out={folder}", *paths]) != 0:
            raise AssertionError("protoc does not take what the server serves")
        sys.path.insert(0, folder)
        modules = [importlib.import_module(path[:-len(".proto")].replace("/", ".") + "_pb2") for path in paths]
        by_package = {module.DESCRIPTOR.package: module for module in modules}
        self.core = by_package["k8s.io.api.core.v1"]
        self.coordination = by_package["k8s.io.api.coordination.v1"]
        self.meta = by_package["k8s.io.apimachinery.pkg.apis.meta.v1"]
        self.runtime = by_package["k8s.io.apimachinery.pkg.runtime"]

    def envelope(self, message, api_version, kind):
        """A message as it is sent: after four magic bytes, in a message that names its type."""
        outer = self.runtime.Unknown(raw=message.SerializeToString())
        outer.typeMeta.apiVersion, outer.typeMeta.kind = api_version, kind
        return MAGIC + outer.SerializeToString()

    def opened(self, data, into):
        """A received message, which must be of that type."""
        assert data[:4] == MAGIC, data[:40]
        outer = self.runtime.Unknown.FromString(data[4:])
        assert outer.typeMeta.kind == into.DESCRIPTOR.name, f"{outer.typeMeta.kind} in place of {into.DESCRIPTOR.name}"
        message = into.FromString(outer.raw)
        size = message.ByteSize()
        message.DiscardUnknownFields()
        assert message.ByteSize() == size, "there are fields that no served definition has"
        return message

    def send(self, method, path, into, body=None, content_type=PROTOBUF):
        """Sends a request; gives back the answer, a message of that type."""
        headers = dict(self.headers, Accept=PROTOBUF, **({"Content-Type": content_type} if body else {}))
        answer = self.pool.request(method, self.host + path, headers=headers, body=body)
        assert answer.headers["Content-Type"] == PROTOBUF, (answer.status, answer.headers["Content-Type"], answer.data)
        if answer.status >= 400:
            raise Refused(answer.status, self.opened(answer.data, self.meta.Status))
        return self.opened(answer.data, into)

    def watch(self, path, into):
        """Gives the events of a watch, as pairs of their type and their object: frames, each with its length before it."""
        headers = dict(self.headers, Accept=PROTOBUF + ";stream=watch")
        answer = self.pool.request("GET", self.host + path, headers=headers, preload_content=False)
        assert answer.headers["Content-Type"] == PROTOBUF + ";stream=watch", answer.headers
        try:
            while length := answer.read(4):
                frame = answer.read(struct.unpack(">I", length)[0])
                event = self.meta.WatchEvent.FromString(frame)
                yield event.type, self.opened(event.object.raw, into)
        finally:
            answer.close()
