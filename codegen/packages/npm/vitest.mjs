// A test function of vitest with a server.
import { test } from "vitest";
import { startServer } from "./index.js";

const LINES_OF_LOG = 100;

export function kubernetes(options) {
  return test.extend({
    server: [
      async ({}, use) => {
        const server = await startServer(options);
        const { KUBECONFIG } = process.env;
        process.env.KUBECONFIG = server.kubeconfig;
        await use(server);
        if (KUBECONFIG === undefined) delete process.env.KUBECONFIG;
        else process.env.KUBECONFIG = KUBECONFIG;
        await server.stop();
      },
      { scope: "worker" },
    ],
    namespace: async ({ server }, use) => {
      const name = await server.createNamespace();
      await use(name);
      if (server.isRunning) await server.deleteNamespace(name);
    },
    startServer: async ({}, use) => {
      const servers = [];
      await use(async (options) => {
        const server = await startServer(options);
        servers.push(server);
        return server;
      });
      await Promise.all(servers.map((server) => server.stop()));
    },
    _log: [
      async ({ server, onTestFailed }, use) => {
        const begin = server.log().length;
        onTestFailed(() => {
          const log = server.isRunning ? server.log().slice(begin) : server.log();
          const ended = server.isRunning ? "" : `, which ended with ${server.exitCode}`;
          const lines = log.trimEnd().split("\n").slice(-LINES_OF_LOG).join("\n");
          if (log || ended) console.error(`Log of the server ${server.url}${ended}:\n${lines}`);
        });
        await use(undefined);
      },
      { auto: true },
    ],
  });
}
