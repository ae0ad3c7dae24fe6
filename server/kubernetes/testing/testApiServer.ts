import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { parse } from "yaml";
import { type Change, type Kept, ObjectStore, StatusError, type Write } from "./testObjectStore";
import type { Fields } from "./testServerSideApply";

/** Kinds by collection, with the path of their API. */
const collections: Readonly<Record<string, { readonly kind: string; readonly apiVersion: string; readonly global?: true }>> = {
  namespaces: { kind: "Namespace", apiVersion: "v1", global: true },
  nodes: { kind: "Node", apiVersion: "v1", global: true },
  pods: { kind: "Pod", apiVersion: "v1" },
  services: { kind: "Service", apiVersion: "v1" },
  serviceaccounts: { kind: "ServiceAccount", apiVersion: "v1" },
  deployments: { kind: "Deployment", apiVersion: "apps/v1" },
  leases: { kind: "Lease", apiVersion: "coordination.k8s.io/v1" },
  leaderworkersets: { kind: "LeaderWorkerSet", apiVersion: "leaderworkerset.x-k8s.io/v1" },
  inferencepools: { kind: "InferencePool", apiVersion: "inference.networking.k8s.io/v1" },
};

export interface TestApiServer {
  readonly url: string;
  readonly store: ObjectStore;
  /** Valid tokens; any other is refused. */
  readonly tokens: Set<string>;
  /** Collections whose list over all namespaces is forbidden. */
  readonly forbidden: Set<string>;
  /** Collections of APIs that are not installed. */
  readonly absent: Set<string>;
  /** Output of containers, by pod. */
  readonly logs: Map<string, string>;
  /** Called before each call; a result is answered instead. */
  fault: (method: string, url: string) => StatusError | null;
  /** Closes all connections until `back`. */
  away(): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

interface Place {
  readonly collection: string;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly subresource: string | null;
}

const bookmarkEveryMs = 200;
const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** An API server on loopback with the documented behaviour of lists, watches, writes and server-side apply, for the kinds above. */
export async function startTestApiServer(): Promise<TestApiServer> {
  const store = new ObjectStore();
  const tokens = new Set<string>();
  const forbidden = new Set<string>();
  const absent = new Set<string>();
  const logs = new Map<string, string>();
  const sockets = new Set<Socket>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://server");
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (!tokens.has(token)) throw new StatusError(401, "Unauthorized", "Unauthorized");
    const place = placeOf(url.pathname);
    if (place === null || absent.has(place.collection))
      throw new StatusError(404, "NotFound", "the server could not find the requested resource");
    const { collection, namespace, name, subresource } = place;
    const body = await read(request);
    const fault = handle.fault(request.method ?? "", request.url ?? "");
    if (fault !== null) throw fault;
    if (namespace !== null) store.get("namespaces", null, namespace);
    if (name === null && request.method === "GET") {
      if (namespace === null && forbidden.has(collection))
        throw new StatusError(
          403,
          "Forbidden",
          `${collection} is forbidden: User "tester" cannot list resource "${collection}" at the cluster scope`,
        );
      if (url.searchParams.get("watch") === "true") return watch(place, url.searchParams, response);
      return send(response, 200, list(place, url.searchParams));
    }
    if (request.method === "GET" && collection === "pods" && subresource === "log") {
      store.get("pods", namespace, name ?? "");
      response.writeHead(200, { "content-type": "text/plain" }).end(logs.get(name ?? "") ?? "");
      return;
    }
    const [code, object] = act(request, place, { query: url.searchParams, body });
    send(response, code, object);
  }

  function list({ collection, namespace }: Place, query: URLSearchParams): object {
    const all = store.list(collection, namespace).filter(selects(query.get("labelSelector")));
    const from = Number(query.get("continue") ?? 0);
    const to = from + Number(query.get("limit") ?? all.length);
    const { kind, apiVersion } = collections[collection] ?? { kind: "", apiVersion: "" };
    const metadata = { resourceVersion: store.resourceVersion, ...(to < all.length ? { continue: String(to) } : {}) };
    return { apiVersion, kind: `${kind}List`, metadata, items: all.slice(from, to) };
  }

  function watch({ collection, namespace }: Place, query: URLSearchParams, response: ServerResponse): void {
    const selected = selects(query.get("labelSelector"));
    const since = Number(query.get("resourceVersion") ?? 0);
    const { kind, apiVersion } = collections[collection] ?? { kind: "", apiVersion: "" };
    response.writeHead(200, { "content-type": "application/json" });
    const tell = ({ type, collection: of, object }: Change) => {
      const inPlace = of === collection && (namespace === null || object.metadata.namespace === namespace) && selected(object);
      if (inPlace && Number(object.metadata.resourceVersion) > since) response.write(`${JSON.stringify({ type, object })}\n`);
    };
    for (const change of store.changes) tell(change);
    const stop = store.onChange(tell);
    const bookmarks = setInterval(() => {
      const object = { kind, apiVersion, metadata: { resourceVersion: store.resourceVersion } };
      if (query.get("allowWatchBookmarks") === "true") response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
    }, bookmarkEveryMs);
    response.on("close", () => {
      stop();
      clearInterval(bookmarks);
    });
  }

  function act(request: IncomingMessage, place: Place, { query, body }: { query: URLSearchParams; body: Fields | null }): [number, object] {
    const { collection, namespace, name, subresource } = place;
    const dryRun = query.get("dryRun") === "All";
    const manager = query.get("fieldManager") ?? (request.headers["user-agent"] ?? "unknown").split("/")[0] ?? "unknown";
    const owner = { manager, operation: "Update" } as const;
    const write: Write = subresource === "status" ? { dryRun, owner, subresource } : { dryRun, owner };
    if (request.method === "POST" && subresource === "binding" && name !== null) {
      const pod = store.get("pods", namespace, name);
      const nodeName = (body?.target as Fields | undefined)?.name;
      const scheduled = { type: "PodScheduled", status: "True" };
      const bound = store.update("pods", { ...pod, spec: { ...(pod.spec as Fields), nodeName } }, write);
      store.update("pods", { ...bound, status: { phase: "Pending", conditions: [scheduled] } }, { ...write, subresource: "status" });
      return [201, { kind: "Status", apiVersion: "v1", status: "Success", code: 201 }];
    }
    if (request.method === "POST") return [201, store.create(collection, valid(place, body), write)];
    if (name === null) throw new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    if (request.method === "GET") return [200, store.get(collection, namespace, name)];
    if (request.method === "PUT") return [200, store.update(collection, valid(place, body), write)];
    if (request.method === "DELETE") {
      const grace = query.get("gracePeriodSeconds") ?? body?.gracePeriodSeconds ?? null;
      const policy = String(query.get("propagationPolicy") ?? body?.propagationPolicy ?? "Background");
      const uid = (body?.preconditions as { uid?: string } | undefined)?.uid;
      return [
        200,
        store.remove(collection, store.get(collection, namespace, name), { grace: grace === null ? null : Number(grace), policy, uid }),
      ];
    }
    if (request.headers["content-type"] === "application/apply-patch+yaml") {
      if (query.get("fieldManager") === null)
        throw new StatusError(422, "Invalid", "fieldManager: Required value: is required for apply patch");
      const applied = store.apply(collection, valid(place, body), { dryRun, force: query.get("force") === "true", manager });
      return [applied.created ? 201 : 200, applied.object];
    }
    if (request.headers["content-type"] !== "application/merge-patch+json")
      throw new StatusError(415, "UnsupportedMediaType", "the body of the request was in an unknown format");
    return [200, store.update(collection, mergePatch(store.get(collection, namespace, name), body) as Fields, write)];
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      const status = error instanceof StatusError ? error : new StatusError(500, "InternalError", String(error));
      const { code, reason, message, causes } = status;
      send(response, code, {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message,
        reason,
        details: { causes },
        code,
      });
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const hangUp = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const handle: TestApiServer = {
    ...{ url, store, tokens, forbidden, absent, logs, away: hangUp, back: () => listen(port), close: hangUp },
    fault: () => null,
  };
  return handle;
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<Fields | null> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  return text === "" ? null : (parse(text) as Fields);
}

/** `/api/v1/namespaces/ns/pods/name/status` and similar paths; a namespace itself is an object in `namespaces`. */
function placeOf(pathname: string): Place | null {
  const match = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))(\/.*)$/.exec(pathname);
  const group = match?.[1] ?? match?.[2];
  const parts = (match?.[3] ?? "").split("/").slice(1);
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && parts[2] !== "status";
  const [collection = "", name = null, subresource = null] = inNamespace ? parts.slice(2) : parts;
  if (collections[collection]?.apiVersion !== group) return null;
  return { collection, namespace: inNamespace ? (parts[1] ?? null) : null, name, subresource };
}

function valid({ collection, namespace, name }: Place, body: Fields | null): Fields {
  const { kind, apiVersion } = collections[collection] ?? {};
  const metadata = (body?.metadata ?? {}) as { name?: string; namespace?: string };
  const object = {
    apiVersion,
    kind,
    ...body,
    metadata: { ...metadata, name: metadata.name ?? name ?? "", ...(namespace === null ? {} : { namespace }) },
  };
  const invalid = (why: string) => new StatusError(422, "Invalid", `${kind} "${object.metadata.name}" is invalid: ${why}`);
  if (body === null || object.kind !== kind || object.apiVersion !== apiVersion || (name !== null && object.metadata.name !== name))
    throw new StatusError(400, "BadRequest", "the object in the body is not the one of the address");
  if (!dnsName.test(object.metadata.name))
    throw invalid("metadata.name: Invalid value: a lowercase RFC 1123 subdomain must consist of lower case characters");
  const spec = (body.spec ?? {}) as { selector?: { matchLabels?: Fields }; template?: { metadata?: { labels?: Fields } } };
  const wanted = Object.entries(spec.selector?.matchLabels ?? {});
  if (collection === "deployments" && !wanted.every(([key, value]) => spec.template?.metadata?.labels?.[key] === value))
    throw invalid("spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`");
  return object;
}

function selects(selector: string | null): (object: Kept) => boolean {
  const terms = (selector ?? "").split(",").filter((term) => term !== "");
  return ({ metadata }) => terms.every((term) => metadata.labels?.[term.split("=")[0] ?? ""] === term.split("=").at(-1));
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === "object" && target !== null && !Array.isArray(target) ? (target as Fields) : {};
  const merged = { ...base, ...Object.fromEntries(Object.entries(patch).map(([key, value]) => [key, mergePatch(base[key], value)])) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
