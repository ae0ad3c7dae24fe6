import { describe, expect, it, onTestFinished } from "vitest";
import type { Decision, GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { ask, engineOn, isReady, MODEL, outcomes, post, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { heldEngine, sayCompletion, startTestEngine, type TestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";

const lowestKv = (model: string): GatewayConfig["policy"] => ({
  kind: "fixed",
  model,
  order: { kind: "fcfs" },
  place: { kind: "lowest-kv" },
});

/** A configuration for `urls` as engines of a model, placed by KV use. */
function placedByKv(urls: readonly string[], { model = "large", timeScale = 1 } = {}): GatewayConfig {
  const { replicas, ...config } = oneModel(urls);
  return {
    ...config,
    timeScale,
    ...hashed(lowestKv(model)),
    replicas: replicas.map((replica, at) => ({ ...replica, id: `r${at}`, model })),
  };
}

/** An engine that answers at once and says how full its KV cache is. */
async function engineAt(value: number): Promise<TestEngine & { readonly reads: () => number }> {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
  let reads = 0;
  engine.pages.set("/metrics", (response) => {
    reads += 1;
    response.end(`vllm:kv_cache_usage_perc{engine="0"} ${value}\n`);
  });
  return { ...engine, reads: () => reads };
}

type Stage = Decision["stages"][number];

async function stageOf(gateway: TestGateway, body: Record<string, unknown> = {}): Promise<Stage> {
  const answer = await gateway.chat({ model: "cascade/default", ...body });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  const id = answer.headers.get("x-weir-decision-id");
  const stage = ((await (await fetch(`${gateway.adminUrl}/decisions/${id}`)).json()) as Decision).stages[0];
  if (stage === undefined) throw new Error("no stage");
  return stage;
}

const degradedOf = async (gateway: TestGateway): Promise<string | undefined> => (await stageOf(gateway)).engine?.degraded;
const withoutKv = "no-fresh-kv-use-so-least-load";

describe("requests placed by KV use", () => {
  it("go to the emulated engine whose cache is emptier, with what was read of it on record, its age in engine seconds", async () => {
    const emulators = new TestEmulators(await freePort());
    onTestFinished(() => emulators.end());
    const timeScale = 4;
    const { call } = await emulators.start(timeScale);
    await call("PUT", "/outcomes", outcomes([4, 4000]));
    const urls: string[] = [];
    for (const gpu of [0, 1]) urls.push(((await (await call("POST", "/engines", engineOn(gpu))).json()) as { url: string }).url);
    for (const url of urls) await until(() => isReady(url));
    // Long work that the gateway has not sent, so that the gateway counts none in flight there.
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const url = `${urls[0]}/v1/chat/completions`;
    for (let request = 0; request < 20; request += 1) {
      const body = JSON.stringify({ ...ask("long"), stream: true });
      fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body, signal: leaving.signal }).catch(() => undefined);
    }
    expect((await post(urls[1] ?? "", ask("short"))).status).toBe(200);
    const gateway = await startTestGateway();
    await gateway.put(placedByKv(urls, { model: MODEL, timeScale }));
    await until(async () => (await stageOf(gateway, ask("short"))).engine?.degraded === undefined);
    for (let request = 0; request < 5; request += 1) {
      const { replica, engine } = await stageOf(gateway, { ...ask("short"), model: "cascade/default" });
      expect(replica).toBe("r1");
      expect(engine?.kvUse).toEqual({ state: "fresh", value: expect.any(Number), ageSeconds: expect.any(Number) });
      expect(engine?.kvUse?.ageSeconds).toBeLessThan(3 * timeScale);
      expect(engine?.kvUse?.value).toBeLessThan(0.1);
    }
  });

  it("are placed by least load, and say so, while one engine has hung, lacks the metric or is gone, until it is back", async () => {
    const [sound, odd] = [await engineAt(0.2), await engineAt(0.1)];
    const gateway = await startTestGateway();
    await gateway.put(placedByKv([sound.url, odd.url]));
    const good = odd.pages.get("/metrics");
    if (good === undefined) throw new Error("no metrics");
    await until(async () => (await degradedOf(gateway)) === undefined);
    expect((await stageOf(gateway)).replica).toBe("r1");
    const faults: (() => void)[] = [
      () => odd.pages.set("/metrics", (response) => response.end("vllm:num_requests_running 0\n")),
      () => odd.pages.set("/metrics", () => undefined),
    ];
    for (const fault of faults) {
      fault();
      await until(async () => (await degradedOf(gateway)) === withoutKv);
      const readsBefore = sound.reads();
      const { replica, engine } = await stageOf(gateway);
      expect(replica).toBe("r0");
      // The healthy engine is read meanwhile.
      expect(engine?.kvUse).toMatchObject({ state: "fresh", value: 0.2 });
      await until(() => sound.reads() > readsBefore);
      odd.pages.set("/metrics", good);
      await until(async () => (await degradedOf(gateway)) === undefined);
    }
    await odd.close();
    await until(async () => (await stageOf(gateway)).replica === "r0");
    // An engine that takes no work needs no reading.
    expect((await stageOf(gateway)).engine?.degraded).toBeUndefined();
  });

  it("do not all go to the emptiest engine between two readings, since each that was sent counts", async () => {
    const engines = [await heldEngine(), await heldEngine()];
    let reads = 0;
    for (const [at, engine] of engines.entries()) {
      engine.pages.set("/metrics", (response) => response.end(`vllm:kv_cache_usage_perc 0.${at + 2}\n`, () => (reads += 1)));
    }
    const gateway = await startTestGateway();
    await gateway.put(placedByKv(engines.map(({ url }) => url)));
    await until(() => reads === 2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const answers: Promise<Response>[] = [];
    for (let sent = 1; sent <= 12; sent += 1) {
      answers.push(gateway.chat({ model: "cascade/default" }));
      await until(() => engines.reduce((sum, engine) => sum + engine.asked.length, 0) === sent);
    }
    for (const engine of engines) {
      expect(engine.asked.length).toBeGreaterThanOrEqual(5);
      engine.open();
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect((await gateway.decisions()).filter(({ degraded }) => degraded?.length !== 0)).toEqual([]);
  });

  it("cost engines no question under a policy that goes by something else", async () => {
    const engines = [await engineAt(0.2), await engineAt(0.1)];
    const urls = engines.map(({ url }) => url);
    const reads = () => engines.reduce((sum, engine) => sum + engine.reads(), 0);
    const gateway = await startTestGateway();
    await gateway.put(oneModel(urls));
    expect((await stageOf(gateway)).engine).not.toHaveProperty("kvUse");
    expect(reads()).toBe(0);
    await gateway.put(placedByKv(urls));
    await until(async () => (await degradedOf(gateway)) === undefined);
    const held = await heldEngine();
    await gateway.put(oneModel([...urls, held.url]));
    const readsAfter = reads();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(reads()).toBe(readsAfter);
  });
});
