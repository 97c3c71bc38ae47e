// Kubernetes' Protobuf wire format by protobufjs, with the definitions that the server serves.
import assert from 'node:assert/strict';
import https from 'node:https';
import protobuf from 'protobufjs';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MAGIC = Buffer.from('k8s\0');

/** An answer that is a Status, which comes along. */
export class Refused extends Error {
  constructor(code, status) {
    super(`${code} ${status.reason}: ${status.message}`);
    Object.assign(this, { code, status });
  }
}

/** A connection that speaks Protobuf, and the messages. */
export class Wire {
  constructor(config) {
    this.config = config;
    this.server = config.getCurrentCluster().server;
  }

  /** Reads the definitions. */
  async load() {
    const text = async (path) => (await this.request('GET', path, { Accept: '*/*' })).body.toString();
    const root = new protobuf.Root();
    for (const path of JSON.parse(await text('/openapi/proto')).paths) {
      protobuf.parse(await text(`/openapi/proto/${path}`), root, { keepCase: true });
    }
    root.resolveAll();
    const type = (name) => root.lookupType(name);
    this.ConfigMap = type('k8s.io.api.core.v1.ConfigMap');
    this.ConfigMapList = type('k8s.io.api.core.v1.ConfigMapList');
    this.Lease = type('k8s.io.api.coordination.v1.Lease');
    this.Status = type('k8s.io.apimachinery.pkg.apis.meta.v1.Status');
    this.WatchEvent = type('k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent');
    this.Unknown = type('k8s.io.apimachinery.pkg.runtime.Unknown');
    return this;
  }

  /** Sends a request; `opened` takes the answer while it comes, else it is gathered. */
  async request(method, path, headers, body, opened) {
    const options = { method, headers };
    await this.config.applyToHTTPSOptions(options);
    return new Promise((resolve, reject) => {
      const request = https.request(this.server + path, options, (response) => {
        if (opened) return resolve(opened(response, request));
        const parts = [];
        response.on('data', (part) => parts.push(part)).on('error', reject).on('end', () => resolve({
          code: response.statusCode, type: response.headers['content-type'], body: Buffer.concat(parts),
        }));
      });
      request.on('error', reject).end(body);
    });
  }

  /** A message as it is sent: after four magic bytes, in a message that names its type. */
  envelope(type, apiVersion, object) {
    const raw = type.encode(type.fromObject(object)).finish();
    return Buffer.concat([MAGIC, this.Unknown.encode({ typeMeta: { apiVersion, kind: type.name }, raw }).finish()]);
  }

  /** What is in an envelope, which must be of that type. */
  opened(bytes, type) {
    assert.deepEqual(bytes.subarray(0, 4), MAGIC);
    const outer = this.Unknown.decode(bytes.subarray(4));
    assert.equal(outer.typeMeta.kind, type.name);
    return type.toObject(type.decode(outer.raw), { longs: Number, arrays: true, objects: true });
  }

  /** Sends an object, if any, and gives back the answer, a message of that type. */
  async send(method, path, type, sent) {
    const { code, type: media, body } = await this.request(
      method, path, { Accept: PROTOBUF, ...(sent ? { 'Content-Type': PROTOBUF } : {}) }, sent);
    assert.equal(media, PROTOBUF, `${code} ${body}`);
    if (code >= 400) throw new Refused(code, this.opened(body, this.Status));
    return this.opened(body, type);
  }

  /** The first events of a watch, as pairs of type and object: frames, each with its length before it. */
  watch(path, type, count) {
    return this.request('GET', path, { Accept: `${PROTOBUF};stream=watch` }, undefined, async (response, request) => {
      assert.equal(response.headers['content-type'], `${PROTOBUF};stream=watch`);
      let [bytes, events] = [Buffer.alloc(0), []];
      for await (const part of response) {
        bytes = Buffer.concat([bytes, part]);
        while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) {
          const event = this.WatchEvent.decode(bytes.subarray(4, 4 + bytes.readUInt32BE(0)));
          events.push([event.type, this.opened(Buffer.from(event.object.raw), type)]);
          bytes = bytes.subarray(4 + bytes.readUInt32BE(0));
        }
        if (events.length >= count) break;
      }
      request.destroy();
      return events;
    });
  }
}
