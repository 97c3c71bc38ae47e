// A client that openapi-typescript and openapi-fetch make of exported OpenAPI documents, against the example server.
//
//     tests/clients/typescript/build.sh KINDSMITH LIBRARY && tests/clients/typescript/check.sh KUBECONFIG
//
// The server is the example, freshly started. Ends with `N passed, M failed`.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/library.js';

type Schemas = components['schemas'];
type Book = Schemas['com.example.library.v1.Book'];
type Status = Schemas['io.k8s.apimachinery.pkg.apis.meta.v1.Status'];
/** One event of a watch, of which OpenAPI does not say the type. */
type WatchEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Book } | { type: 'ERROR'; object: Status };

const [server, token] = process.argv.slice(2);
assert.ok(server && token, 'usage: check.js SERVER TOKEN');
const client = createClient<paths>({ baseUrl: server, headers: { Authorization: `Bearer ${token}` } });
const books = '/apis/library.example.com/v1/namespaces/{namespace}/books';
const book = `${books}/{name}` as const;
const namespace = 'default';
const named = (name: string) => ({ path: { namespace, name } });

/** The Status that a refused request answers. */
const refusal = (answer: { error?: unknown }) => answer.error as Status;

/** Creates a book, and returns it as it is stored. */
async function created(name: string, spec: NonNullable<Book['spec']>): Promise<Book> {
  const body: Book = { apiVersion: 'library.example.com/v1', kind: 'Book', metadata: { name }, spec };
  const { data, response } = await client.POST(books, { params: { path: { namespace } }, body });
  assert.equal(response.status, 201);
  assert.ok(data);
  return data;
}

async function createsAndReads() {
  const made = await created('ts-one', { author: 'Melville' });
  assert.equal(made.spec.copies, 1, 'a default is filled in');
  assert.equal(made.spec.genre, 'Fiction');
  const { data } = await client.GET(book, { params: named('ts-one') });
  assert.deepEqual(data, made);
}

async function listsInPages() {
  await created('ts-two', { author: 'Shelley', genre: 'Poetry', chapters: [{ name: 'Alastor', pages: 12 }] });
  const first = await client.GET(books, { params: { path: { namespace }, query: { limit: 1 } } });
  assert.equal(first.data?.items.length, 1);
  const continued = first.data?.metadata?.continue;
  assert.ok(continued);
  const rest = await client.GET(books, { params: { path: { namespace }, query: { continue: continued } } });
  assert.equal(rest.data?.items[0]?.metadata?.name, 'ts-two');
  const poetry = await client.GET(books, { params: { path: { namespace }, query: { fieldSelector: 'spec.genre=Poetry' } } });
  assert.deepEqual(poetry.data?.items.map((item) => item.spec.chapters?.[0]?.pages), [12]);
}

async function patches() {
  const merge = { 'Content-Type': 'application/merge-patch+json' };
  const { data } = await client.PATCH(book, { params: named('ts-one'), headers: merge, body: { spec: { copies: 7 } } });
  assert.equal(data?.spec.copies, 7);
  const apply = { 'Content-Type': 'application/apply-patch+yaml' };
  const body = { apiVersion: 'library.example.com/v1', kind: 'Book', spec: { shelf: 'north' } };
  const applied = await client.PATCH(book, {
    params: { ...named('ts-one'), query: { fieldManager: 'typescript' } }, headers: apply, body,
  });
  assert.equal(applied.data?.spec.shelf, 'north');
  const owners = applied.data?.metadata?.managedFields?.map((entry) => entry.manager);
  assert.ok(owners?.includes('typescript'), `${owners}`);
}

async function refusalsAreStatuses() {
  const invalid = await client.PATCH(book, {
    params: named('ts-one'), headers: { 'Content-Type': 'application/merge-patch+json' }, body: { spec: { copies: -1 } },
  });
  assert.equal(invalid.response.status, 422);
  assert.equal(refusal(invalid).details?.causes?.[0]?.field, 'spec.copies');
  const { data } = await client.GET(book, { params: named('ts-one') });
  assert.ok(data?.metadata);
  const stale = { ...data, metadata: { ...data.metadata, resourceVersion: '1001' } };
  const conflict = await client.PUT(book, { params: named('ts-one'), body: stale });
  assert.equal(refusal(conflict).reason, 'Conflict');
  const missing = await client.GET(book, { params: named('ts-none') });
  assert.equal(refusal(missing).reason, 'NotFound');
}

/** The events of a watch. */
async function* watch(query: { resourceVersion: string; timeoutSeconds?: number }): AsyncGenerator<WatchEvent> {
  const answer = await client.GET(books, {
    params: { path: { namespace }, query: { ...query, watch: true } }, parseAs: 'stream',
  });
  if (answer.error) {
    yield { type: 'ERROR', object: refusal(answer) };
    return;
  }
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of answer.data as ReadableStream<Uint8Array>) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map((line) => JSON.parse(line) as WatchEvent);
  }
}

async function version(): Promise<string> {
  const list = await client.GET(books, { params: { path: { namespace } } });
  return list.data?.metadata?.resourceVersion ?? '';
}

async function watches() {
  const seen = [];
  const events = watch({ resourceVersion: await version(), timeoutSeconds: 30 });
  await created('ts-three', { author: 'Swift' });
  await client.DELETE(book, { params: named('ts-three') });
  for await (const event of events) {
    seen.push(`${event.type} ${event.object.metadata && 'name' in event.object.metadata ? event.object.metadata.name : ''}`);
    if (event.type === 'DELETED') break;
  }
  assert.deepEqual(seen, ['ADDED ts-three', 'DELETED ts-three']);
}

/** A watch from before the history answers 410, after which a client lists anew and goes on. */
async function listsAnewWhenHistoryIsGone() {
  const old = await version();
  await created('ts-long', { author: 'a' });
  // The history holds 256 MiB of objects that were replaced. Answers with metadata alone are short.
  const headers = {
    'Content-Type': 'application/merge-patch+json',
    Accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  };
  for (let round = 0; round < 95; round += 1) {
    const author = String.fromCharCode(97 + (round % 26)).repeat(3_000_000);
    const { response } = await client.PATCH(book, { params: named('ts-long'), headers, body: { spec: { author } } });
    assert.equal(response.status, 200);
  }
  const { value: event } = await watch({ resourceVersion: old, timeoutSeconds: 5 }).next();
  assert.equal(event?.type, 'ERROR', JSON.stringify(event).slice(0, 200));
  assert.equal(event.type === 'ERROR' && event.object.code, 410);
  assert.equal(event.type === 'ERROR' && event.object.reason, 'Expired');
  const events = watch({ resourceVersion: await version(), timeoutSeconds: 30 });
  await client.DELETE(book, { params: named('ts-long') });
  const { value: next } = await events.next();
  assert.equal(next?.type, 'DELETED');
}

async function usesSubresources() {
  const path = `${book}/scale` as const;
  const { data } = await client.GET(path, { params: named('ts-one') });
  assert.equal(data?.spec?.replicas, 7);
  const scaled = await client.PUT(path, { params: named('ts-one'), body: { ...data, spec: { replicas: 3 } } });
  assert.equal(scaled.data?.spec?.replicas, 3);
}

const steps = [
  createsAndReads, listsInPages, patches, refusalsAreStatuses, watches, listsAnewWhenHistoryIsGone, usesSubresources,
];
let failed = 0;
for (const step of steps) {
  try {
    await step();
    console.log(`ok    ${step.name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${step.name}: ${error instanceof Error ? error.stack : error}`);
  }
}
console.log(`${steps.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
