import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { clusterConnectionSchema } from "@/server/fleet/connection";
import { createHost } from "@/server/fleet/createHost";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { openStore, type Store } from "@/server/store/store";
import { gpuCards } from "@/solver/hardware/gpus";

const by = "operator";
const model = "qwen2.5-3b";
const options = { signal: new AbortController().signal, report: () => undefined };

/** Processes that only wait: they get no request here. */
const connection = {
  kind: "processes",
  node: "here",
  gpus: { card: "l40s", count: 2 },
  engine: "wait",
  templates: { wait: [process.execPath, "-e", "setTimeout(() => {}, 600_000)", "{port}"] },
  models: { [model]: { source: "/nowhere" } },
} as const;

const order: EngineOrder = {
  id: `${model}-bf16-tp1-pp1-here-0`,
  ...{ model, precision: "bf16", gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "here", gpus: [0] }] },
};

let own: Awaited<ReturnType<typeof startTestCluster>>;
let runtime: Runtime;
let store: Store;
beforeAll(async () => {
  own = await startTestCluster();
  runtime = createRuntime(studioSettings(own.environment));
  store = openStore(own.environment.WEIR_STATE_DIR);
}, 60_000);
afterAll(async () => {
  store.close();
  await runtime.close();
  await own.stop();
});

const attach = async (request: { readonly name: string; readonly connection: unknown }): Promise<string> => {
  const attached = await runtime.services.attach.attach({ ...request, gateway: null }, by);
  if (!attached.ok) throw new Error(attached.message);
  return attached.id;
};

it("finds engines, history and ports of a cluster again that is attached under the name it had, and gives them to no other", async () => {
  const id = await attach({ name: "procs", connection });
  const ports = store.clusters.get(id)?.gateway;
  if (ports?.runBy !== "studio") throw new Error("It has no gateway beside the studio.");
  const deps = { clusterId: id, stateDir: own.environment.WEIR_STATE_DIR, environment: process.env, gpuCards: () => gpuCards };
  const made = createHost(clusterConnectionSchema.parse(store.clusters.get(id)?.connection), deps);
  if (!made.ok) throw new Error(made.message);
  const host = made.value;
  expect(await host.start(order, options)).toMatchObject({ ok: true });
  try {
    expect(await runtime.services.attach.detach(id, "procs", by)).toEqual({ ok: true });
    expect(runtime.services.clusters.list()).toContainEqual(
      expect.objectContaining({ gatewayUrl: null, spec: expect.objectContaining({ id, kind: "described" }) }),
    );

    const other = await attach({ name: "procs2", connection });
    expect(store.clusters.get(other)?.gateway).not.toMatchObject({ port: ports.port });
    const tested = await runtime.services.attach.testConnection(other);
    expect(tested.ok && tested.findings.map(({ sentence }) => sentence)).toContain("2 l40s, 1 of them free.");
    expect(await runtime.services.attach.attach({ name: "procs2", connection, gateway: null }, by)).toMatchObject({ ok: false });

    expect(await attach({ name: "procs", connection })).toBe(id);
    expect(store.clusters.get(id)).toMatchObject({ gateway: ports, spec: { name: "procs", kind: "processes" } });
    const found = await runtime.services.attach.testConnection(id);
    expect(found.ok && found.findings.map(({ sentence }) => sentence)).toContain(`1 engine found: ${order.id}.`);
    const lines = runtime.services.audit.list(100).filter(({ subject }) => subject === "procs");
    expect(lines.map(({ action }) => action)).toEqual(["attach cluster", "detach cluster", "attach cluster"]);
    expect(lines[0]?.detail).toContain("plans and history under this name are its own");
  } finally {
    await host.stop(order.id, options);
  }
}, 30_000);

it("refuses an engine that another cluster has, however its address is spelled", async () => {
  const endpoint = { name: "a", url: "http://127.0.0.1:9", model, gpu: "l40s", precision: "bf16" };
  const id = await attach({ name: "one", connection: { kind: "endpoints", endpoints: [endpoint] } });
  const spelled = { kind: "endpoints", endpoints: [{ ...endpoint, url: "http://localhost:9" }] };
  const refused = { ok: false, message: "The engine at http://localhost:9 is one's: an engine is of one cluster." };
  expect(await runtime.services.attach.attach({ name: "two", connection: spelled, gateway: null }, by)).toEqual(refused);
  const adopt = [{ url: "http://localhost:9", precision: "bf16", gpus: [0] }];
  expect(await runtime.services.attach.attach({ name: "two", connection: { ...connection, adopt }, gateway: null }, by)).toEqual(refused);
  expect(await runtime.services.attach.change(id, spelled, by)).toEqual({ ok: true });
  const twice = { kind: "endpoints", endpoints: [endpoint, { ...endpoint, name: "b", url: "http://localhost:9" }] };
  expect(await runtime.services.attach.change(id, twice, by)).toMatchObject({ ok: false, message: expect.stringContaining("twice") });
  expect(await runtime.services.attach.detach(id, "one", by)).toEqual({ ok: true });
  expect(await attach({ name: "two", connection: spelled })).not.toBe(id);
}, 30_000);

it("writes the commands that attaching runs into the audit, and a changed one again", async () => {
  const beside = (seconds: number) => [{ name: "waits", command: [process.execPath, "-e", `setTimeout(() => {}, ${seconds}e3)`] }];
  const id = await attach({ name: "helped", connection: { ...connection, beside: beside(60) } });
  expect(await runtime.services.attach.change(id, { ...connection, beside: beside(61) }, by)).toEqual({ ok: true });
  expect(await runtime.services.attach.detach(id, "helped", by)).toEqual({ ok: true });
  const details = runtime.services.audit.list(100).flatMap(({ subject, detail }) => (subject === "helped" ? [detail] : []));
  for (const [index, seconds] of [
    [1, 61],
    [2, 60],
  ] as const)
    expect(details[index]).toContain(`; runs waits on this host: ${process.execPath} -e "setTimeout(() => {}, ${seconds}e3)"`);
}, 30_000);
