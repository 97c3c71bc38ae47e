import type { TestAPI } from "vitest";
import type { Server, ServerOptions, startServer } from "./index.js";

/** What tests get. */
export interface KubernetesFixtures {
  /** The server of the process in which tests run. `KUBECONFIG` names its kubeconfig while it runs. */
  server: Server;
  /** The name of a namespace of this test, which is deleted after it. */
  namespace: string;
  /** Starts a further server, which stops after the test. */
  startServer: typeof startServer;
}

/** Returns vitest's `test` with a server: `const test = kubernetes({ crds: ["config/crd"] })`. It can be extended further. */
export function kubernetes(options?: ServerOptions): TestAPI<KubernetesFixtures>;
