import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Answer } from "@/server/clusters/connector/connector";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import type { RayHost } from "./rayHost";
import { orderOn, startTestRay, unwatched } from "./testing/testRay";
import { testImportPaths } from "./testing/testServe";

let ray: Awaited<ReturnType<typeof startTestRay>>;
beforeEach(async () => {
  ray = await startTestRay();
});
afterEach(() => ray.serve.stop());

const [node, otherNode] = ["10.0.0.1", "10.0.0.2"];
const small = orderOn(node, [0]);
const messageOf = (answer: Answer<unknown>): string => (answer.ok ? "" : answer.message);

async function observed(host: RayHost) {
  const answer = await host.observe({});
  if (!answer.ok) throw new Error(answer.message);
  return answer.value;
}

async function up(host: RayHost, order = small): Promise<void> {
  expect(await host.start(order, unwatched())).toEqual({ ok: true, value: "Ray deploys it" });
  await vi.waitFor(async () => expect(await host.why(order.id, {})).toBeNull(), { timeout: 5_000 });
}

const foreign = { name: "search", route_prefix: "/search", import_path: testImportPaths.serving, args: { model: "search" } };
const runs = (name: string) => vi.waitFor(() => expect(ray.serve.applications.get(name)?.status).toBe("RUNNING"), { timeout: 5_000 });

describe("Ray host", () => {
  it("finds an engine again that another studio's host started, and ends it", async () => {
    await up(ray.host(), orderOn(node, [0, 1]));
    const { engines, nodes } = await observed(ray.host());
    const { precision: _, ...order } = orderOn(node, [0, 1]);
    expect(engines).toMatchObject([{ ...order, stopping: false }]);
    expect(nodes).toEqual([
      { name: node, gpus: 4, freeGpus: 2 },
      { name: otherNode, gpus: 4, freeGpus: 4 },
    ]);
    expect((await fetch(`${engines[0]?.url}/health`)).status).toBe(200);
    expect(await ray.host().stop(order.id, unwatched())).toEqual({ ok: true, value: "its GPUs are free" });
    expect((await observed(ray.host())).engines).toEqual([]);
  });

  it("leaves engines of another cluster on the same Ray alone", async () => {
    await up(ray.host());
    const other = ray.host({}, { clusterId: "prod" });
    const seen = await observed(other);
    expect(seen.engines).toEqual([]);
    expect(seen.nodes[0]).toMatchObject({ name: node, othersGpus: 1, freeGpus: 3 });
    await up(other, orderOn(otherNode, [0]));
    expect(await other.stop(small.id, unwatched())).toEqual({ ok: true, value: "was gone already" });
    expect((await observed(ray.host())).engines).toMatchObject([{ id: small.id, stopping: false }]);
  });

  it("says while Ray builds and brings up, and nothing once it runs", async () => {
    const host = ray.host();
    await host.start(small, unwatched());
    const told = new Set<string>();
    for (let look = await host.why(small.id, {}); look !== null && "waiting" in look; look = await host.why(small.id, {}))
      told.add(look.waiting);
    expect([...told]).toEqual(["Ray imports and builds its application", "Ray brings its replica up"]);
  });
});

describe("applications that are not Weir's", () => {
  it("survive the start and the stop of engines, to the letter", async () => {
    const args = '{"model": "search", "weight": 1.0, "seed": 12345678901234567890}';
    const text = `{"name": "search", "route_prefix": "/search", "import_path": "small:build", "args": ${args}, "runtime_env": {"env_vars": {"SECRET": "s3cret-value"}}}`;
    ray.serve.deploy({ ...foreign, args: JSON.parse(args), runtime_env: { env_vars: { SECRET: "s3cret-value" } } }, text);
    await runs("search");
    const host = ray.host();
    await up(host);
    expect((await observed(host)).foreign).toEqual([
      { name: "search", status: "RUNNING", routePrefix: "/search", importPath: testImportPaths.serving },
    ]);
    await host.stop(small.id, unwatched());
    expect(ray.serve.puts).toHaveLength(2);
    for (const body of ray.serve.puts) expect(body).toContain(text);
    expect(ray.serve.applications.get("search")).toMatchObject({ status: "RUNNING", builds: 1 });
  });

  it("survive engines that are started and stopped at the same time by several hosts", async () => {
    ray.serve.deploy(foreign);
    await runs("search");
    const orders = [0, 1, 2, 3].map((gpu) => orderOn(node, [gpu]));
    const started = await Promise.all(orders.map((order) => ray.host().start(order, unwatched())));
    expect(started.map(messageOf)).toEqual(["", "", "", ""]);
    expect((await observed(ray.host())).engines.map(({ id }) => id).sort()).toEqual(orders.map(({ id }) => id).sort());
    const stopped = await Promise.all(orders.map(({ id }) => ray.host().stop(id, unwatched())));
    expect(stopped.map(messageOf)).toEqual(["", "", "", ""]);
    expect([...ray.serve.applications.keys()]).toEqual(["search"]);
    expect(ray.serve.applications.get("search")).toMatchObject({ builds: 1 });
  });

  it("are waited for while Ray builds them, which a PUT would begin anew", async () => {
    ray.serve.deploy({ ...foreign, args: { ...foreign.args, buildMs: 700 } });
    expect(await ray.host().start(small, unwatched())).toMatchObject({ ok: true });
    expect(ray.serve.applications.get("search")).toMatchObject({ builds: 1 });
  });

  it("are told of loudly where somebody added one in the moment before the PUT", async () => {
    ray.serve.onceBeforePut(() => ray.serve.deploy({ ...foreign, name: "late" }));
    expect(messageOf(await ray.host().start(small, unwatched()))).toBe("Ray has removed late beside what was asked: deploy it again.");
  });

  it("stop every change where Ray hides part of them", async () => {
    const text = JSON.stringify({ ...foreign, runtime_env: { env_vars: { SECRET: "<redacted>" } } });
    ray.serve.deploy(foreign, text);
    await runs("search");
    expect(messageOf(await ray.host().start(small, unwatched()))).toBe(
      "Ray does not show the values of its environment for the application search, which would be lost by changing any other.",
    );
    expect(ray.serve.puts).toEqual([]);
  });

  it("are never taken for an engine whose order they copied", async () => {
    await up(ray.host());
    const [config] = [...ray.serve.applications.values()].map((one) => one.config);
    ray.serve.deploy({ ...config, name: "copy", route_prefix: "/copy" });
    await runs("copy");
    const { engines, foreign: others } = await observed(ray.host());
    expect(engines.map(({ id }) => id)).toEqual([small.id]);
    expect(others.map(({ name }) => name)).toEqual(["copy"]);
    await ray.host().stop(small.id, unwatched());
    expect([...ray.serve.applications.keys()]).toEqual(["copy"]);
  });

  it("are never taken for an engine that has their name", async () => {
    const { name } = { name: `weir-lab-${small.id}` };
    ray.serve.deploy({ ...foreign, name });
    await runs(name);
    const host = ray.host();
    expect(messageOf(await host.start(small, unwatched()))).toBe(`Ray has an application ${name} that is not of this cluster.`);
    expect(messageOf(await host.stop(small.id, unwatched()))).toBe(`Ray has an application ${name} that is not of this cluster.`);
    expect(ray.serve.puts).toEqual([]);
  });
});

describe("what stands in the way", () => {
  it.each([
    ["an unknown node", {}, orderOn("10.0.0.9", [0]), /^10\.0\.0\.9 is no node with GPUs of this Ray cluster\.$/],
    ["GPUs of another type", {}, { ...small, gpu: "h100-sxm" }, /is planned for h100-sxm; 10\.0\.0\.1 has l40s\.$/],
    ["a model that the connection does not name", {}, orderOn(node, [0], "qwen2.5-72b"), /does not say what to load for qwen2\.5-72b/],
    [
      "a route that somebody has",
      {},
      small,
      /^Ray Serve refuses the applications: applications: Value error, Found duplicate .* prefix "\/weir-lab/,
    ],
  ])("is a sentence, and changes nothing: %s", async (_, change, order, words) => {
    ray.serve.deploy({ ...foreign, route_prefix: `/weir-lab-${small.id}`, runtime_env: { env_vars: { SECRET: "s3cret-value" } } });
    await runs("search");
    const message = messageOf(await ray.host(change).start(order, unwatched()));
    expect(message).toMatch(words);
    expect(message).not.toMatch(/s3cret|input_value|\n/);
    expect([...ray.serve.applications]).toMatchObject([["search", { status: "RUNNING", builds: 1 }]]);
  });

  it("is too few GPUs, with those of others counted", async () => {
    ray.serve.training.set("node0", 3.5);
    expect((await observed(ray.host())).nodes[0]).toMatchObject({ othersGpus: 4, freeGpus: 0 });
    expect(messageOf(await ray.host().start(orderOn(node, [0, 1]), unwatched()))).toMatch(
      /needs 2 GPUs of 10\.0\.0\.1, of whose 4 0 are free\.$/,
    );
    expect(ray.serve.puts).toEqual([]);
  });

  it("is a dashboard that is away for longer than it is waited for; one that comes back is no obstacle", async () => {
    await ray.serve.away();
    const host = ray.host({}, { patienceMs: 200 });
    const words = /^(After 0 s: )?Ray's dashboard at http:\S+ cannot be reached \(ECONNREFUSED\)\.$/;
    expect(messageOf(await host.observe({}))).toMatch(words);
    expect(messageOf(await host.start(small, unwatched()))).toMatch(words);
    expect(messageOf(await host.stop(small.id, unwatched()))).toMatch(words);
    const starting = ray.host({}, { patienceMs: 5_000 }).start(small, unwatched());
    await sleep(200);
    await ray.serve.back();
    expect(await starting).toMatchObject({ ok: true });
  });

  it("is a token that Ray does not take, of which nothing is repeated", async () => {
    const guarded = await startTestRay("the-right-token");
    vi.stubEnv("WEIR_ENGINE_RAY", "the-wrong-token");
    const key = { environment: "WEIR_ENGINE_RAY" };
    onTestFinished(enterTestKeys([{ key, url: guarded.connection().dashboard }]));
    expect(messageOf(await guarded.host().start(small, unwatched()))).toMatch(/asks for a token: name one as the connection's key\.$/);
    const refused = messageOf(await guarded.host({ key }).start(small, unwatched()));
    expect(refused).toMatch(/does not take the connection's key/);
    expect(refused).not.toContain("wrong");
    vi.stubEnv("WEIR_ENGINE_RAY", "the-right-token");
    expect(await guarded.host({ key }).start(small, unwatched())).toMatchObject({ ok: true });
    vi.unstubAllEnvs();
    await guarded.serve.stop();
  });

  it.each([
    [testImportPaths.missing, "Ray could not deploy it: ModuleNotFoundError: No module named 'nosuchmodule'."],
    [testImportPaths.failing, "Ray could not deploy it: RuntimeError: 401 for ***."],
  ])("is told of an application of %s without its stack, and it is given up when it is stopped", async (importPath, words) => {
    const host = ray.host({ importPath });
    await host.start(small, unwatched());
    await vi.waitFor(async () => expect(await host.why(small.id, {})).toEqual({ failed: words }), { timeout: 5_000 });
    expect((await observed(host)).engines).toMatchObject([{ id: small.id, stopping: true }]);
    expect(messageOf(await host.start(small, unwatched()))).toBe(`Ray could not deploy ${small.id}: stop it first.`);
    expect(await host.stop(small.id, unwatched())).toMatchObject({ ok: true });
    expect(ray.serve.applications.size).toBe(0);
  });

  it("is told of an engine that finds no room, in Ray's words", async () => {
    const host = ray.host();
    ray.serve.deploy({
      name: "hog",
      route_prefix: "/hog",
      import_path: testImportPaths.serving,
      args: { model: "hog", gpus: 4, node: `node:${node}` },
    });
    ray.serve.applications.get("hog");
    await host.start(small, unwatched());
    await vi.waitFor(async () =>
      expect(await host.why(small.id, {})).toMatchObject({ waiting: expect.stringMatching(/taken more than 30s to be scheduled/) }),
    );
  });

  it("breaks off when it is told to", async () => {
    await expect(ray.host().start(small, { ...unwatched(), signal: AbortSignal.abort() })).rejects.toThrow();
    expect(ray.serve.puts).toEqual([]);
  });
});
