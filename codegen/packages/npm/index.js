// A server in memory, in a process of its own that ends with this one.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const https = require("node:https");
const os = require("node:os");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");

const POLL_INTERVAL_MS = 5;
const STOP_TIMEOUT_MS = 10_000;

function findBinary() {
  if (process.env.KINDSMITH_BINARY) return process.env.KINDSMITH_BINARY;
  const name = `@kindsmith/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/kindsmith`);
  } catch {
    throw new Error(`the package ${name}, which has the command for this system, is not installed`);
  }
}

class ServerError extends Error {
  constructor(message, status) {
    super(message);
    this.name = "ServerError";
    this.status = status;
  }
}

class Server {
  #child;
  #ended;
  #folder;
  #remove;
  #agent;
  #token;

  constructor(child, ended, folder, remove) {
    this.#child = child;
    this.#ended = ended;
    this.#folder = folder;
    this.#remove = remove;
    this.kubeconfig = path.join(folder, "kubeconfig");
    this.url = fs.readFileSync(path.join(folder, "ready"), "utf8").trim();
    const config = fs.readFileSync(this.kubeconfig, "utf8");
    const field = (name) => config.match(new RegExp(`^ *${name}: *(\\S+)$`, "m"))[1];
    this.#token = field("token");
    this.#agent = new https.Agent({ ca: Buffer.from(field("certificate-authority-data"), "base64"), keepAlive: false });
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get exitCode() {
    return this.#child.exitCode ?? this.#child.signalCode;
  }

  log() {
    return readLog(this.#folder);
  }

  async stop() {
    this.#child.stdin.destroy();
    await end(this.#child, this.#ended);
    process.off("exit", this.#remove);
    this.#remove();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }

  request(method, path, body) {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const request = https.request(this.url + path, { method, headers, agent: this.#agent }, (response) => {
        const chunks = [];
        response.on("error", reject);
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => {
          try {
            const text = Buffer.concat(chunks).toString();
            // A path that is not there at all is answered in plain text, as by kube-apiserver.
            const isJson = response.headers["content-type"]?.startsWith("application/json");
            const answer = isJson ? JSON.parse(text) : { code: response.statusCode, message: text.trim() };
            if (response.statusCode < 400) resolve(answer);
            else reject(new ServerError(answer.message, answer));
          } catch (error) {
            reject(error);
          }
        });
      });
      request.on("error", reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async createNamespace(prefix = "test-") {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { generateName: prefix } };
    return (await this.request("POST", "/api/v1/namespaces", namespace)).metadata.name;
  }

  async deleteNamespace(name) {
    await this.request("DELETE", `/api/v1/namespaces/${name}`);
  }
}

function readLog(folder) {
  try {
    return fs.readFileSync(path.join(folder, "log"), "utf8");
  } catch {
    return "";
  }
}

async function end(child, ended) {
  child.kill("SIGTERM");
  const stopped = new AbortController();
  const kill = sleep(STOP_TIMEOUT_MS, undefined, { signal: stopped.signal, ref: false }).then(
    () => child.kill("SIGKILL"),
    () => {},
  );
  // A promise alone does not keep the process, and the child does not, either.
  child.ref();
  await ended;
  stopped.abort();
  await kill;
}

async function startServer({ files = [], crds = [], timeoutMs = 30_000 } = {}) {
  const binary = findBinary();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kindsmith-"));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  // A server that nobody stops ends with this process, and so does its folder.
  process.once("exit", remove);
  const ready = path.join(folder, "ready");
  const kinds = files.length > 0 ? [...files] : ["kubernetes"];
  for (const crd of crds) kinds.push("--crds", crd);
  const outputs = ["--write-kubeconfig", path.join(folder, "kubeconfig"), "--ready-file", ready];
  const args = ["serve", ...kinds, "--memory", "--listen", "127.0.0.1:0", ...outputs, "--stop-with-stdin"];
  const log = fs.openSync(path.join(folder, "log"), "w");
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(binary, args, { stdio: ["pipe", "ignore", log], env });
  fs.closeSync(log);
  // Its standard input ends with this process, and the server with that: it need not keep the process from its end.
  child.unref();
  child.stdin.unref();
  child.stdin.on("error", () => {});
  let failure;
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", (error) => {
      failure = error;
      resolve();
    });
  });
  const deadline = Date.now() + timeoutMs;
  while (!fs.existsSync(ready)) {
    const hasEnded = failure !== undefined || child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || Date.now() > deadline) {
      const reason = failure?.message ?? (hasEnded ? `it ended with ${child.exitCode ?? child.signalCode}` : "it was not ready in time");
      const message = `the server did not start: ${reason}\n${readLog(folder)}`;
      if (!hasEnded) await end(child, ended);
      process.off("exit", remove);
      remove();
      throw new ServerError(message);
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return new Server(child, ended, folder, remove);
}

exports.Server = Server;
exports.ServerError = ServerError;
exports.findBinary = findBinary;
exports.startServer = startServer;
