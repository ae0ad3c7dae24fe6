import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { orderOf, testEngines, unwatched, whoIs } from "./testing/testEngines";
import { messageOf, observed, runs, verified, whyGone } from "./testing/testLooks";

let engines: ReturnType<typeof testEngines>;
beforeEach(() => {
  engines = testEngines();
});
afterEach(() => engines.clear());

const small = orderOf("qwen2.5-3b", 0);
const large = orderOf("qwen2.5-7b", 1);

describe("engines as processes of this host", () => {
  it("runs a command on the GPUs it was given, with the few variables it needs and those that are referred to", async () => {
    const keyFile = join(engines.home, "key");
    writeFileSync(keyFile, "from-a-file\n");
    const environment = {
      HF_TOKEN: { fromEnv: "MY_TOKEN" },
      KEY_OF_STORE: { fromFile: keyFile },
      NCCL_DEBUG: { value: "WARN" },
      CORES: { value: "on {gpus}" },
    };
    const own = { PATH: process.env.PATH, MY_TOKEN: "from-the-studio", WEIR_ADMIN_TOKEN: "the studio's own" };
    const host = engines.host({ environment }, { environment: own });
    const order = { ...orderOf("qwen2.5-3b", 2), tp: 2, placements: [{ node: "node1", gpus: [2, 3] }] };
    expect(await host.start(order, unwatched())).toMatchObject({ ok: true, value: expect.stringMatching(/^loading as process \d+/) });
    expect(await verified(host, order)).toMatchObject({ ok: true });
    const [engine] = (await observed(host)).engines;
    expect(engine).toMatchObject({ id: order.id, model: order.model, gpu: "l40s", tp: 2, placements: order.placements, stopping: false });
    const { words, env } = await whoIs(engine!.url);
    expect(words.join(" ")).toMatch(/^--source Qwen\/Qwen2.5-3B-Instruct --name qwen2.5-3b --port \d+ --tp 2$/);
    expect(env).toMatchObject({ CUDA_VISIBLE_DEVICES: "2,3", CUDA_DEVICE_ORDER: "PCI_BUS_ID", NCCL_DEBUG: "WARN", CORES: "on 2,3" });
    expect(env).toMatchObject({ HF_TOKEN: "from-the-studio", KEY_OF_STORE: "from-a-file" });
    expect(env).not.toHaveProperty("WEIR_ADMIN_TOKEN");
    const record = engines.records.read(order.id)!;
    expect(statSync(record.log).mode & 0o777).toBe(0o600);
    expect(readFileSync(record.log, "utf8")).toMatch(/^engine \d+ loads Qwen/);
  });

  it("knows engines again that another host of the same folder started, and starts none of them twice", async () => {
    const first = engines.host();
    for (const order of [small, large]) expect(await first.start(order, unwatched())).toMatchObject({ ok: true });
    const before = await observed(first);
    const second = engines.host();
    expect((await observed(second)).engines).toEqual(before.engines);
    expect(messageOf(await verified(second, small))).toBe("");
    const pid = (await whoIs(before.engines[0]!.url)).pid;
    expect(await second.start(small, unwatched())).toEqual({ ok: true, value: `was up already, as process ${pid}` });
    expect(await second.stop(small.id, unwatched())).toEqual({ ok: true, value: "its GPUs are free" });
    expect(runs(pid)).toBe(false);
    expect((await observed(second)).engines.map(({ id }) => id)).toEqual([large.id]);
    expect(await second.stop(small.id, unwatched())).toEqual({ ok: true, value: "was gone already" });
    expect(await whyGone(second, small.id)).toBeNull();
  });

  it("takes the process of a studio that was killed before it could put its number down", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    const record = engines.records.read(small.id)!;
    engines.records.write({ ...record, process: null });
    const after = engines.host();
    expect(await after.start(small, unwatched())).toMatchObject({ value: `was up already, as process ${record.process!.pid}` });
    expect(engines.records.read(small.id)).toEqual(record);
  });

  it("forgets an engine that a studio was about to start and never did", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    const record = engines.records.read(small.id)!;
    engines.records.write({ ...record, order: large, log: join(engines.folder, "none.log"), process: null });
    expect((await observed(host)).engines.map(({ id }) => id)).toEqual([small.id]);
    expect(engines.records.read(large.id)).toBeNull();
  });

  it("knows an engine whose start was given up while it was waited for", async () => {
    const host = engines.host({}, { limits: { settleMs: 5_000 } });
    const giveUp = new AbortController();
    await expect(host.start(small, { signal: giveUp.signal, report: () => giveUp.abort() })).rejects.toThrow();
    expect((await observed(host)).engines).toMatchObject([{ id: small.id, stopping: false }]);
    await expect(host.stop(small.id, { ...unwatched(), signal: AbortSignal.abort() })).rejects.toThrow();
    expect(await host.stop(small.id, unwatched())).toMatchObject({ ok: true });
  });

  it("never signals a process that has the number of one of its engines and began at another time", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    await host.start(large, unwatched());
    const [innocent, record] = [engines.records.read(small.id)!, engines.records.read(large.id)!];
    const pid = record.process!.pid;
    // The large engine dies unobserved, and its number is reused by an unrelated process.
    process.kill(-pid, "SIGKILL");
    await expect.poll(() => runs(pid)).toBe(false);
    engines.records.write({ ...record, process: { pid: innocent.process!.pid, start: record.process!.start }, exit: null });
    const after = engines.host();
    expect((await observed(after)).engines.map(({ id }) => id)).toEqual([small.id]);
    expect(await whyGone(after, large.id)).toMatch(
      /ended while no studio watched it, so that its exit code is not known\. Its log says: engine/,
    );
    expect(await after.stop(large.id, unwatched())).toEqual({ ok: true, value: "was gone already" });
    expect(runs(innocent.process!.pid)).toBe(true);
  });
});

describe("what stands in the way of an engine", () => {
  it.each([
    [
      "a program that is not there",
      { templates: { script: ["no-such-engine", "{port}"] } },
      small,
      /^The program "no-such-engine" was not found/,
    ],
    ["another node", {}, { ...small, placements: [{ node: "node2", gpus: [0] }] }, /is to run on node2; .* this host alone, node1\.$/],
    ["GPUs of another type", {}, { ...small, gpu: "h100" }, /wants h100; node1 has l40s\.$/],
    ["a GPU that is not there", {}, orderOf("qwen2.5-3b", 4), /wants GPU 4 of node1, which has 4\.$/],
    ["a model that the connection does not name", {}, orderOf("nothing", 0), /does not say what to load for nothing\.$/],
    [
      "a reference that leads nowhere",
      { environment: { A: { fromEnv: "NOT_SET" } } },
      small,
      /variable A refers to the studio's variable NOT_SET, /,
    ],
  ])("is a sentence, and nothing is left behind: %s", async (_, change, order, words) => {
    const host = engines.host(change);
    expect(messageOf(await host.start(order, unwatched()))).toMatch(words);
    expect((await observed(host)).engines).toEqual([]);
    expect(engines.records.all()).toEqual([]);
  });

  it("is said of ports that are all taken, and a taken one is passed over", async () => {
    const taken = createServer().listen(0);
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as AddressInfo;
    const refused = await engines.host({ ports: { from: port, to: port } }).start(small, unwatched());
    expect(messageOf(refused)).toBe(`No port from ${port} to ${port} is free.`);
    taken.close();
  });

  it("is a record that cannot be read, by name", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    const file = join(engines.folder, "other.json");
    writeFileSync(file, "{}");
    expect(messageOf(await host.observe({}))).toContain(`${file} is no record of an engine`);
    writeFileSync(file, readFileSync(join(engines.folder, `${small.id}.json`)));
  });
});

describe("servers that their operator started", () => {
  it("stand under the id that plans give them, hold their GPUs and are never ended", async () => {
    const theirs = testEngines();
    const other = theirs.host();
    await other.start(orderOf("qwen2.5-7b", 3), unwatched());
    await verified(other, orderOf("qwen2.5-7b", 3));
    const { url } = (await observed(other)).engines[0]!;
    const host = engines.host({ adopt: [{ url, precision: "bf16", gpus: [3] }] });
    const { id } = orderOf("qwen2.5-7b", 3);
    expect((await observed(host)).engines).toMatchObject([{ id, url, model: "qwen2.5-7b", tp: 1, stopping: false }]);
    expect(await host.start(orderOf("qwen2.5-7b", 3), unwatched())).toMatchObject({ value: "was up already, started by its operator" });
    expect(messageOf(await host.start(orderOf("qwen2.5-3b", 3), unwatched()))).toMatch(/^GPU 3 of node1 is held by the server at http/);
    const wanting = (model: string) => planOnGpus("p", { "qwen2.5-3b": [0], [model]: model === "qwen2.5-3b" ? [0, 3] : [3] });
    expect(planMismatch(await observed(host), wanting("qwen2.5-3b"))).toBe(
      `The plan places qwen2.5-3b on GPU 3 of node1, which is held by the server at ${url}, which its operator started.`,
    );
    expect(planMismatch(await observed(host), wanting("qwen2.5-7b"))).toBeNull();
    expect(await host.stop(id, unwatched())).toMatchObject({ ok: true, value: expect.stringMatching(/^left as it is: its operator/) });
    expect(await whoIs(url)).toMatchObject({ pid: expect.any(Number) });
    theirs.clear();
    const gone = await observed(host);
    expect(gone.engines.map((engine) => engine.id)).toEqual([id]);
    expect(gone.notes?.join(" ")).toContain(`The server at ${url}, which holds GPU 3 of node1, cannot be reached`);
  });

  it("keep their GPUs and their place among the engines while they are too busy to answer, and want their keys", async () => {
    let behaviour: "serves" | "hangs" = "serves";
    const server = createServer((request, response) => {
      if (behaviour === "hangs") return;
      const isLetIn = request.headers.authorization === "Bearer sesame";
      response.writeHead(isLetIn ? 200 : 401, { "content-type": "application/json" });
      response.end(isLetIn ? JSON.stringify({ data: [{ id: "qwen2.5-7b" }] }) : "{}");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const place = { url, precision: "bf16" as const, gpus: [3] };
    const wanted = orderOf("qwen2.5-3b", 3);
    const refusal = new RegExp(`^GPU 3 of node1 is held by the server at ${url}`);
    process.env.WEIR_ENGINE_ADOPTED = "sesame";
    try {
      const stranger = engines.host({ adopt: [place] });
      const shut = await observed(stranger);
      expect(shut.engines).toEqual([]);
      expect(shut.nodes).toMatchObject([{ othersGpus: 1, heldGpus: [{ gpu: 3 }] }]);
      expect(shut.notes?.join(" ")).toContain("wants a key (401)");
      expect(messageOf(await stranger.start(wanted, unwatched()))).toMatch(refusal);

      const key = { environment: "WEIR_ENGINE_ADOPTED" };
      onTestFinished(enterTestKeys([{ key, url }]));
      const host = engines.host({ adopt: [{ ...place, key }] });
      const { id } = orderOf("qwen2.5-7b", 3);
      expect((await observed(host)).engines).toMatchObject([{ id, access: { key } }]);
      behaviour = "hangs";
      const busy = await observed(host);
      expect(busy.engines).toMatchObject([{ id }]);
      expect(busy.notes?.join(" ")).toContain(`The server at ${url}, which holds GPU 3 of node1, does not answer in time.`);
      expect(messageOf(await host.start(wanted, unwatched()))).toMatch(refusal);
    } finally {
      delete process.env.WEIR_ENGINE_ADOPTED;
      server.closeAllConnections();
      server.close();
    }
  }, 20_000);
});

describe("engines of another cluster of the studio on this host", () => {
  it("hold their GPUs, also once nobody looks after that cluster any more", async () => {
    const left = engines.host({}, { folder: join(engines.home, "engines", "old") });
    await left.start(small, unwatched());
    const host = engines.host({}, { folder: join(engines.home, "engines", "new") });
    const words = /^GPU 0 of node1 is held by qwen2.5-3b-\S+ of another cluster of this studio, old: attach that one again by its name/;
    expect(messageOf(await host.start(orderOf("qwen2.5-7b", 0), unwatched()))).toMatch(words);
    expect(messageOf((await host.rehearse?.(orderOf("qwen2.5-7b", 0), unwatched())) ?? { ok: true, value: "" })).toMatch(words);
    expect((await observed(host)).nodes).toMatchObject([{ othersGpus: 1, heldGpus: [{ gpu: 0 }] }]);
    expect(await left.stop(small.id, unwatched())).toMatchObject({ ok: true });
    expect(await host.start(orderOf("qwen2.5-7b", 0), unwatched())).toMatchObject({ ok: true });
    await host.stop(orderOf("qwen2.5-7b", 0).id, unwatched());
  });
});
