// The fixtures of the package, with the client of Kubernetes' own project.
import { CoreV1Api, CustomObjectsApi, KubeConfig, Watch } from "@kubernetes/client-node";
import { ServerError, startServer, type Server } from "kindsmith";
import { kubernetes } from "kindsmith/vitest";
import { describe, expect } from "vitest";

const test = kubernetes({ crds: ["orders.yaml"] }).extend("core", ({ server }) => configOf(server).makeApiClient(CoreV1Api));

function configOf(server: Server): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig);
  return config;
}

describe("each test has its own namespace", () => {
  for (const number of ["1", "2"]) {
    test(number, async ({ core, namespace }) => {
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "same-name" }, data: { number } } });
      const { items } = await core.listNamespacedConfigMap({ namespace });
      expect(items.map((found) => found.data)).toEqual([{ number }]);
    });
  }
});

test("definitions are those of the options", async ({ server, namespace }) => {
  const custom = configOf(server).makeApiClient(CustomObjectsApi);
  const orders = { group: "bakery.example.com", version: "v1", plural: "orders", namespace };
  const order = {
    apiVersion: "bakery.example.com/v1",
    kind: "Order",
    metadata: { name: "breakfast" },
    spec: { customer: "ada", items: [{ name: "rye" }] },
  };
  const created = await custom.createNamespacedCustomObject({ ...orders, body: order });
  expect(created.spec.items).toEqual([{ name: "rye", count: 1 }]);
  const body = { ...order, metadata: { name: "nothing" }, spec: { customer: "ada", items: [] } };
  await expect(custom.createNamespacedCustomObject({ ...orders, body })).rejects.toThrow("should have at least 1 items");
});

test("a watch gets what happens", async ({ core, server, namespace }) => {
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "a" } } });
  const types: string[] = [];
  const watch = new Watch(configOf(server));
  await new Promise<void>((resolve, reject) => {
    const onEvent = (type: string) => {
      types.push(type);
      if (type === "ADDED") void core.deleteNamespacedConfigMap({ namespace, name: "a" }).catch(reject);
      if (type === "DELETED") resolve();
    };
    watch.watch(`/api/v1/namespaces/${namespace}/configmaps`, { timeoutSeconds: 20 }, onEvent, reject).catch(reject);
  });
  expect(types).toEqual(["ADDED", "DELETED"]);
});

test("servers side by side share nothing", async ({ core, server, startServer }) => {
  const other = await startServer({ files: ["orders.yaml"] });
  expect(other.url).not.toBe(server.url);
  await core.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "here" } } });
  const { items } = await configOf(other).makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: "default" });
  expect(items.map((found) => found.metadata?.name)).not.toContain("here");
  // Without the API of Kubernetes: what is named, alone.
  await expect(other.request("GET", "/apis/apps/v1/deployments")).rejects.toMatchObject({ status: { code: 404 } });
  expect((await other.request("GET", "/apis/bakery.example.com/v1/orders")).items).toEqual([]);
});

test("code that reads the default kubeconfig finds the server", async ({ server }) => {
  const config = new KubeConfig();
  config.loadFromDefault();
  expect(config.getCurrentCluster()?.server).toBe(server.url);
});

test("a server that does not start says why", async ({}) => {
  const failure = await startServer({ files: ["no/such/file.yaml"] }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServerError);
  expect((failure as ServerError).message).toMatch(/ended with [0-9]+\n(.|\n)*no\/such\/file.yaml/);
});
