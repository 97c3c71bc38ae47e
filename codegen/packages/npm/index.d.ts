/** What a server has. */
export interface ServerOptions {
  /**
   * CustomResourceDefinitions, OpenAPI documents, and folders of them. Without any, the server has the API of Kubernetes;
   * `kubernetes` is its name in this list.
   */
  files?: readonly string[];
  /** Files and folders of CustomResourceDefinitions, beside `files`. */
  crds?: readonly string[];
  /** The time in which the server must answer: 30,000 if nothing is said. */
  timeoutMs?: number;
}

/** A running server. It stops by `stop`, at the end of an `await using`, and at the latest with this process. */
export class Server {
  private constructor();
  /** The address, such as `https://127.0.0.1:40123`. */
  readonly url: string;
  /** The path of the kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** Whether the process is there. */
  readonly isRunning: boolean;
  /** The exit code or the signal with which the process has ended. */
  readonly exitCode: number | string | null;
  /** What the server has logged. `RUST_LOG` says how much that is. */
  log(): string;
  /** Stops the server, and removes its files. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** Sends a request as an administrator, for tests without a client. Fails with a `ServerError` if the server refuses. */
  request(method: string, path: string, body?: object): Promise<any>;
  /** Creates a namespace with a name that begins with the prefix, `test-` if there is none. Returns its name. */
  createNamespace(prefix?: string): Promise<string>;
  /** Deletes a namespace. The server deletes what is in it. */
  deleteNamespace(name: string): Promise<void>;
}

/** A server did not start, or refused a request. */
export class ServerError extends Error {
  constructor(message: string, status?: unknown);
  /** The Status that the server answered: its code and message at least. */
  readonly status?: any;
}

/** Starts a server, and waits until it answers. */
export function startServer(options?: ServerOptions): Promise<Server>;

/** Returns the path of the command. */
export function findBinary(): string;
