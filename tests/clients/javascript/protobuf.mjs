// ConfigMaps and Leases in Protobuf: made, read, listed, watched, changed, refused, deleted.
import assert from 'node:assert/strict';
import { Refused, Wire } from './wire.mjs';

const MAPS = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

const configMap = (wire, object) => wire.envelope(wire.ConfigMap, 'v1', object);

async function configMapsInProtobuf(wire) {
  const sent = { metadata: { name: 'js-pb' }, data: { a: '1', long: 'x'.repeat(300) }, binaryData: { bytes: Buffer.from([0, 255]) } };
  const made = await wire.send('POST', MAPS, wire.ConfigMap, configMap(wire, sent));
  assert.deepEqual(made.data, sent.data);
  assert.deepEqual([...made.binaryData.bytes], [0, 255]);
  assert.ok(made.metadata.uid && Math.abs(made.metadata.creationTimestamp.seconds - Date.now() / 1000) < 60);
  assert.deepEqual(await wire.send('GET', `${MAPS}/js-pb`, wire.ConfigMap), made);
  made.data.b = '2';
  const updated = await wire.send('PUT', `${MAPS}/js-pb`, wire.ConfigMap, configMap(wire, made));
  assert.equal(updated.data.b, '2');
  assert.notEqual(updated.metadata.resourceVersion, made.metadata.resourceVersion);
  const list = await wire.send('GET', `${MAPS}?fieldSelector=metadata.name%3Djs-pb`, wire.ConfigMapList);
  assert.deepEqual(list.items, [updated]);
  const status = await wire.send('DELETE', `${MAPS}/js-pb`, wire.Status);
  assert.equal(status.status, 'Success');
}

async function leasesInProtobuf(wire) {
  const lease = { metadata: { name: 'js-pb' }, spec: {
    holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: { seconds: 1_700_000_000, nanos: 123_456_000 } } };
  const made = await wire.send('POST', LEASES, wire.Lease, wire.envelope(wire.Lease, 'coordination.k8s.io/v1', lease));
  assert.deepEqual(made.spec, lease.spec);
  delete made.spec.holderIdentity;
  made.spec.leaseTransitions = 0;
  const updated = await wire.send('PUT', `${LEASES}/js-pb`, wire.Lease, wire.envelope(wire.Lease, 'coordination.k8s.io/v1', made));
  assert.deepEqual(updated.spec, made.spec);
  const plain = await wire.request('GET', `${LEASES}/js-pb`, { Accept: 'application/json' });
  assert.deepEqual(JSON.parse(plain.body).spec,
    { leaseDurationSeconds: 15, leaseTransitions: 0, renewTime: '2023-11-14T22:13:20.123456Z' });
}

async function watchesInProtobuf(wire) {
  const since = (await wire.send('GET', MAPS, wire.ConfigMapList)).metadata.resourceVersion;
  const watching = wire.watch(`${MAPS}?watch=1&resourceVersion=${since}&timeoutSeconds=20`, wire.ConfigMap, 3);
  const made = await wire.send('POST', MAPS, wire.ConfigMap, configMap(wire, { metadata: { name: 'js-seen' }, data: { a: '1' } }));
  const updated = await wire.send(
    'PUT', `${MAPS}/js-seen`, wire.ConfigMap, configMap(wire, { ...made, data: { a: 'y'.repeat(70_000) } }));
  await wire.send('DELETE', `${MAPS}/js-seen`, wire.Status);
  const told = await watching;
  assert.deepEqual(told.map(([type]) => type), ['ADDED', 'MODIFIED', 'DELETED']);
  assert.deepEqual(told[0][1], made);
  assert.deepEqual(told[1][1], updated);
  assert.deepEqual(told[2][1].data, updated.data);
}

async function refusalsInProtobuf(wire) {
  const refused = (code, reason, sent) => assert.rejects(wire.send('POST', MAPS, wire.ConfigMap, sent), (error) => {
    assert.ok(error instanceof Refused, error);
    assert.deepEqual([error.code, error.status.code, error.status.reason], [code, code, reason]);
    return true;
  });
  const one = configMap(wire, { metadata: { name: 'js-twice' } });
  await wire.send('POST', MAPS, wire.ConfigMap, one);
  await refused(409, 'AlreadyExists', one);
  await refused(422, 'Invalid', configMap(wire, { metadata: { name: 'Not a name' } }));
  await refused(400, 'BadRequest', Buffer.from('k8s\0\xff', 'latin1'));
  await refused(400, 'BadRequest', Buffer.from('nothing'));
  await assert.rejects(wire.send('GET', `${MAPS}/none`, wire.ConfigMap), { code: 404 });
  await wire.send('DELETE', `${MAPS}/js-twice`, wire.Status);
}

/** The steps, on one connection. */
export function steps(config) {
  let wire;
  return [configMapsInProtobuf, leasesInProtobuf, watchesInProtobuf, refusalsInProtobuf].map((step) => {
    const run = async () => step(wire ??= await new Wire(config).load());
    return Object.defineProperty(run, 'name', { value: step.name });
  });
}
