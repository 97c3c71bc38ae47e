// The JavaScript client's custom objects API and informer against the example server; and Protobuf.
//
//     node tests/clients/javascript/check.mjs KUBECONFIG
//
// The server is the example, freshly started. Ends with `N passed, M failed`.
import assert from 'node:assert/strict';
import {
  CoreV1Api, CustomObjectsApi, KubeConfig, PatchStrategy, makeInformer, setHeaderOptions,
} from '@kubernetes/client-node';
import { steps as protobufSteps } from './protobuf.mjs';

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const objects = config.makeApiClient(CustomObjectsApi);
const place = { group: 'library.example.com', version: 'v1', namespace: 'default', plural: 'books' };

const book = (name, spec = {}) => ({
  apiVersion: 'library.example.com/v1', kind: 'Book', metadata: { name }, spec: { author: 'Someone', ...spec },
});

/** Resolves when the condition holds; fails after ten seconds. */
async function until(what, condition) {
  const end = Date.now() + 10_000;
  while (!condition()) {
    assert.ok(Date.now() < end, `${what} did not come in time`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function createsGetsAndLists() {
  const made = await objects.createNamespacedCustomObject({ ...place, body: book('js-one', { copies: 2 }) });
  assert.equal(made.spec.genre, 'Fiction');
  assert.ok(made.metadata.uid);
  const read = await objects.getNamespacedCustomObject({ ...place, name: 'js-one' });
  assert.deepEqual(read, made);
  await objects.createNamespacedCustomObject({ ...place, body: book('js-two', { genre: 'Poetry' }) });
  const list = await objects.listNamespacedCustomObject({ ...place, limit: 1 });
  assert.equal(list.items.length, 1);
  const rest = await objects.listNamespacedCustomObject({ ...place, _continue: list.metadata.continue });
  assert.equal(rest.items[0].metadata.name, 'js-two');
  const poetry = await objects.listNamespacedCustomObject({ ...place, fieldSelector: 'spec.genre=Poetry' });
  assert.deepEqual(poetry.items.map((item) => item.metadata.name), ['js-two']);
}

async function patchesAndReplaces() {
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  const merged = await objects.patchNamespacedCustomObject({ ...place, name: 'js-one', body: { spec: { copies: 7 } } }, merge);
  assert.equal(merged.spec.copies, 7);
  const pointer = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
  const pointed = await objects.patchNamespacedCustomObject(
    { ...place, name: 'js-one', body: [{ op: 'replace', path: '/spec/author', value: 'Else' }] }, pointer);
  assert.equal(pointed.spec.author, 'Else');
  await assert.rejects(objects.replaceNamespacedCustomObject({ ...place, name: 'js-one', body: merged }), { code: 409 });
  const replaced = await objects.replaceNamespacedCustomObject({ ...place, name: 'js-one', body: pointed });
  assert.equal(replaced.metadata.resourceVersion, pointed.metadata.resourceVersion, 'a replace without a change');
  const scaled = await objects.getNamespacedCustomObjectScale({ ...place, name: 'js-one' });
  assert.equal(scaled.spec.replicas, 7);
}

async function refusalsCarryAStatus() {
  await assert.rejects(objects.getNamespacedCustomObject({ ...place, name: 'none' }), (error) => {
    assert.equal(error.code, 404);
    assert.match(String(error.body), /books\.library\.example\.com \\?"none\\?" not found/);
    return true;
  });
  await assert.rejects(
    objects.createNamespacedCustomObject({ ...place, body: book('bad', { genre: 'Crime' }) }), { code: 422 });
}

async function informerFollows() {
  const told = [];
  const informer = makeInformer(
    config, '/apis/library.example.com/v1/namespaces/default/books', () => objects.listNamespacedCustomObject(place));
  for (const event of ['add', 'update', 'delete']) {
    informer.on(event, (object) => told.push(`${event} ${object.metadata.name}`));
  }
  informer.on('error', (error) => told.push(`error ${error}`));
  await informer.start();
  try {
    await until('the list', () => told.includes('add js-one') && told.includes('add js-two'));
    await objects.createNamespacedCustomObject({ ...place, body: book('js-new') });
    await until('the new one', () => told.includes('add js-new'));
    await objects.patchNamespacedCustomObject(
      { ...place, name: 'js-new', body: { spec: { copies: 3 } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch));
    await until('its change', () => told.includes('update js-new'));
    assert.equal(informer.get('js-new', 'default').spec.copies, 3);
    await objects.deleteNamespacedCustomObject({ ...place, name: 'js-new' });
    await until('its end', () => told.includes('delete js-new'));
    assert.equal(informer.get('js-new', 'default'), undefined);
    assert.deepEqual(told.filter((line) => line.startsWith('error')), []);
  } finally {
    await informer.stop();
  }
}

async function typedClientOfCoreKinds() {
  const core = config.makeApiClient(CoreV1Api);
  const body = { metadata: { name: 'js-map' }, data: { a: 'b' } };
  const made = await core.createNamespacedConfigMap({ namespace: 'default', body });
  assert.deepEqual(made.data, { a: 'b' });
  assert.ok(made.metadata.creationTimestamp instanceof Date);
  const names = (await core.listNamespace()).items.map((item) => item.metadata.name);
  assert.deepEqual(names, ['default', 'kube-public', 'kube-system']);
  await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'js-map' });
}

let passed = 0;
let failed = 0;
const steps = [
  createsGetsAndLists, patchesAndReplaces, refusalsCarryAStatus, informerFollows, typedClientOfCoreKinds, ...protobufSteps(config),
];
for (const step of steps) {
  try {
    await step();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${step.name}: ${error.stack ?? error}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
