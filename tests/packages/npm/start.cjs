// Servers without a framework's fixture, and what stays of them.
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const { test } = require("node:test");
const { setTimeout: sleep } = require("node:timers/promises");
const { startServer } = require("kindsmith");

const PROGRAM = 'require("kindsmith").startServer().then((server) => console.log(server.url))';

async function answers(url) {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function untilGone(url) {
  const deadline = Date.now() + 10_000;
  while (await answers(url)) {
    assert(Date.now() < deadline, "the server runs on");
    await sleep(50);
  }
}

async function firstLine(child) {
  const [line] = await once(child.stdout, "data");
  return line.toString().trim();
}

test("a server starts, answers and stops", async () => {
  const server = await startServer({ crds: ["orders.yaml"] });
  const name = await server.createNamespace("own-");
  assert.match(name, /^own-/);
  assert.deepStrictEqual((await server.request("GET", `/apis/bakery.example.com/v1/namespaces/${name}/orders`)).items, []);
  await server.stop();
  assert.strictEqual(server.isRunning, false);
  assert.strictEqual(server.exitCode, 0);
  assert(!fs.existsSync(server.kubeconfig));
});

test("a server that nobody stops neither holds its process nor outlives it", async () => {
  const child = spawn(process.execPath, ["-e", PROGRAM], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLine(child);
  if (child.exitCode === null) await once(child, "exit");
  assert.strictEqual(child.exitCode, 0);
  await untilGone(url);
});

test("a server ends with a process that is killed", async () => {
  const child = spawn(process.execPath, ["-e", `${PROGRAM}; setTimeout(() => {}, 60_000)`], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLine(child);
  assert(await answers(url));
  child.kill("SIGKILL");
  await once(child, "exit");
  await untilGone(url);
});
