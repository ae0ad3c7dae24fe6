import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedCluster } from "@/server/contracts/engine/emulatorAdmin";
import { freePort } from "@/server/testing/freePorts";
import { ask, engineOn, metric, outcomes, post, TestEmulators, until } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

describe("the admin listener", () => {
  it("needs the token, except for health", async () => {
    const { url } = await emulators.start();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/cluster`)).status).toBe(401);
    expect((await fetch(`${url}/cluster`, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("takes nothing from a page of another origin, nor does an engine", async () => {
    const { call, engineUrl, url } = await emulators.serving(4, [40, 400]);
    const asked = JSON.stringify(ask("short"));
    for (const origin of ["https://evil.example", "http://127.0.0.1:3000", "null"]) {
      const headers = { origin, "content-type": "text/plain" };
      for (const path of [`${url}/engines`, `${engineUrl}/v1/chat/completions`])
        expect((await fetch(path, { method: "POST", headers, body: asked })).status).toBe(403);
    }
    expect((await call("GET", "/engines")).status).toBe(200);
  });

  it("refuses a body that is nested too deeply, as an engine does", async () => {
    const { call, engineUrl } = await emulators.serving(4, [40, 400]);
    const deep = `${"[".repeat(500_000)}${"]".repeat(500_000)}`;
    const refused = await fetch(`${engineUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: deep,
    });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("more than 128 deep")]);
    expect((await call("PUT", "/outcomes", { name: JSON.parse("[".repeat(200) + "]".repeat(200)) })).status).toBe(400);
  });

  it("says what it pretends to be, and whether engines deviate from the plan", async () => {
    const { describe: read } = await emulators.start(5, true);
    expect(await read()).toMatchObject({ gpu: "l40s", timeScale: 5, noise: { enabled: true, seed: 1 }, outcomes: null, engines: [] });
  });

  it("refuses what cannot run and says why", async () => {
    const { call } = await emulators.start();
    await call("POST", "/engines", engineOn(0));
    const cases: [unknown, number, RegExp][] = [
      [engineOn(0, { id: "other" }), 409, /GPU n1\/0 is held by engine "e0"/],
      [engineOn(1, { id: "e0" }), 409, /engine "e0" already/],
      [engineOn(1, { model: "gpt-9" }), 400, /no model card "gpt-9"/],
      [engineOn(1, { gpu: "h100-sxm" }), 400, /has l40s GPUs, not "h100-sxm"/],
      [engineOn(1, { model: "llama-3.1-70b" }), 400, /needs 141\.\d GB of weights/],
      [engineOn(1, { placements: [{ node: "n9", gpus: [0] }] }), 400, /no node "n9": nodes are n1/],
      [engineOn(1, { placements: [{ node: "n1", gpus: [5] }] }), 400, /no GPU 5: its GPUs are 0 to 1/],
      [engineOn(1, { tp: 2 }), 400, /would cross nodes/],
      [engineOn(1, { placements: [{ node: "n1", gpus: [1, 1] }] }), 400, /takes 1 different GPUs/],
      [{ ...engineOn(1), id: "No Good" }, 400, /Field id/],
    ];
    for (const [body, status, message] of cases) {
      const answer = await call("POST", "/engines", body);
      expect([answer.status, ((await answer.json()) as { error: { message: string } }).error.message]).toEqual([
        status,
        expect.stringMatching(message),
      ]);
    }
    expect((await call("DELETE", "/engines/none")).status).toBe(404);
    expect((await call("DELETE", "/engines/e0?graceSeconds=soon")).status).toBe(400);
    expect((await call("PUT", "/outcomes", { name: "x" })).status).toBe(400);
    expect((await call("GET", "/nothing")).status).toBe(404);
  });

  it("lets a stopping engine finish its requests, takes no new ones, and frees its GPU", async () => {
    const { call, client, engineUrl, describe: read } = await emulators.serving(4, [40, 400]);
    const running = client.chat.completions.create(ask("long"));
    await until(async () => (await metric(engineUrl, "vllm:num_requests_running")) === 1);
    const stopping = call("DELETE", "/engines/e0?graceSeconds=20");
    await until(async () => (await read()).engines[0]?.state === "stopping");
    expect((await post(engineUrl, ask("short"))).status).toBe(503);
    expect((await running).usage?.completion_tokens).toBe(400);
    expect((await stopping).status).toBe(204);
    expect((await read()).engines).toEqual([]);
    expect((await call("POST", "/engines", engineOn(0))).status).toBe(202);
  });

  it("cuts what is still open after the grace, with an error event in the stream", async () => {
    const { call, engineUrl } = await emulators.serving(4, [40, 7900]);
    const stream = await post(engineUrl, { ...ask("long"), stream: true });
    const stopped = call("DELETE", "/engines/e0?graceSeconds=0.3");
    const text = await stream.text();
    expect(text).toContain('data: {"error":{"message":"The engine was stopped before the answer was complete."');
    expect((await stopped).status).toBe(204);
  });

  it("brings engines, ports and outcomes back after a restart", async () => {
    const before = await emulators.start();
    await before.call("PUT", "/outcomes", outcomes());
    await before.call("POST", "/engines", engineOn(1));
    await before.call("POST", "/engines", engineOn(0));
    const first = await before.describe();
    await emulators.stopAll();
    const again = await (await emulators.start()).describe();
    const places = (cluster: EmulatedCluster) => cluster.engines.map((engine) => [engine.id, engine.url]);
    expect(places(again)).toEqual(places(first));
    expect(again.judge).toEqual(first.judge);
    expect(again.outcomes).toEqual({ name: "held-out", prompts: 2 });
  });
});
