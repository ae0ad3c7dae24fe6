import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKeys, KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, temporaryDirectory, until } from "../testing/testGateway";
import { startGatewayProcess } from "../testing/testProcesses";
import { startTestValkey, valkeyServer } from "../testing/testValkey";

/** What an engine of the tests counts. A request reserves 30. */
const tokensPerRequest = 10;
const body = JSON.stringify({ model: "large", messages: [{ role: "user", content: "Is it?" }], max_tokens: 8 });
const clientsPerGateway = 4;

/** Three gateway processes over one Valkey, which serve one engine for one key. */
async function threeGateways(limits: KeyLimits) {
  const valkey = await startTestValkey();
  const engine = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "4"), 5));
  const keys = [{ name: "app", sha256: createHash("sha256").update("app").digest("hex"), limits }];
  const config = { ...oneModel([engine.url], 64), settings: { keys } };
  const gateways = await Promise.all(
    [1, 2, 3].map(async () => startGatewayProcess(await temporaryDirectory(), { WEIR_VALKEY_URL: valkey.url })),
  );
  const read = async (index: number, path: string): Promise<Response> => {
    const { adminUrl = "", adminHeaders = {} } = gateways[index] ?? {};
    return fetch(`${adminUrl}${path}`, { headers: adminHeaders });
  };
  for (const { adminUrl, adminHeaders } of gateways) {
    const headers = { ...adminHeaders, "content-type": "application/json", "if-match": "none" };
    const put = await fetch(`${adminUrl}/config`, { method: "PUT", headers, body: JSON.stringify(config) });
    expect(put.status).toBe(200);
  }
  const sharing = async () =>
    Promise.all(gateways.map(async (_, index) => ((await (await read(index, "/status")).json()) as GatewayStatus).sharing));
  await until(async () => (await sharing()).every((one) => one?.reachable === true && one.gateways === 3));
  const useOf = async (index: number) => ((await (await read(index, "/keys")).json()) as GatewayKeys).keys?.[0]?.use?.[0];
  /** Asks one gateway once. @returns the status; 0 if the connection failed. */
  const ask = (index: number): Promise<number> =>
    fetch(`${gateways[index]?.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer app" },
      body,
    }).then(
      async (answer) => {
        await answer.text();
        return answer.status;
      },
      () => 0,
    );
  return { valkey, engine, gateways, read, sharing, useOf, ask };
}

/** Clients of all gateways that ask one request after the other until `mayAsk` says no; counts statuses. */
async function load(ask: (index: number) => Promise<number>, mayAsk: (counts: ReadonlyMap<number, number>) => boolean) {
  const counts = new Map<number, number>();
  const client = async (index: number): Promise<void> => {
    while (mayAsk(counts)) {
      const status = await ask(index);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await Promise.all([0, 1, 2].flatMap((index) => Array.from({ length: clientsPerGateway }, () => client(index))));
  return counts;
}

describe("three gateways over one Valkey", needs(valkeyServer), () => {
  it("keep a budget within 2 % under load, and each says the whole use", async () => {
    const requests = 1_500;
    const most = requests * tokensPerRequest;
    const { ask, useOf, sharing, engine } = await threeGateways({ tokensPerDay: most });
    const counts = await load(ask, (so) => (so.get(429) ?? 0) < 300);
    const passed = counts.get(200) ?? 0;
    console.info(`a budget of ${requests} requests over 3 gateways: ${passed} passed, ${counts.get(429)} were refused`);
    expect([...counts.keys()].toSorted()).toEqual([200, 429]);
    expect(passed).toBe(engine.asked.length);
    // The last requests have no room for what they may use.
    expect(passed).toBeGreaterThanOrEqual(0.98 * requests);
    expect(passed).toBeLessThanOrEqual(1.02 * requests);
    await until(async () => (await useOf(0))?.used === passed * tokensPerRequest);
    await until(async () => (await useOf(2))?.used === passed * tokensPerRequest);
    expect(await useOf(1)).toMatchObject({ most, reserved: 0 });
    expect((await sharing()).every((one) => one?.reachable)).toBe(true);
  });

  it("lose no request while Valkey is killed and started again, and count what passed meanwhile", async () => {
    const requests = 1_500;
    const most = requests * tokensPerRequest;
    const { valkey, ask, useOf, sharing, read, engine } = await threeGateways({ tokensPerDay: most });
    let isOver = false;
    const refusedBy = [0, 0, 0];
    const asking = async (index: number): Promise<number> => {
      const status = await ask(index);
      if (status === 429) refusedBy[index] = (refusedBy[index] ?? 0) + 1;
      return status;
    };
    const loaded = load(asking, () => !isOver);
    await until(() => engine.asked.length > 300);
    await valkey.kill();
    await until(async () => (await sharing()).every((one) => one?.reachable === false));
    const awaySince = engine.asked.length;
    expect(await sharing()).toMatchObject([1, 2, 3].map(() => ({ gateways: 3, reason: expect.any(String) })));
    expect(await (await read(0, "/metrics")).text()).toMatch(/^weir_gateway_sharing_up 0$/m);
    // Each gateway has a third of what was left: they use it up before Valkey is back.
    await until(() => refusedBy.every((count) => count > 20));
    const meanwhile = engine.asked.length - awaySince;
    await valkey.start();
    await until(async () => (await sharing()).every((one) => one?.reachable === true));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    isOver = true;
    const counts = await loaded;
    const passed = counts.get(200) ?? 0;
    const overshoot = (100 * (passed - requests)) / requests;
    console.info(
      `Valkey killed under load: ${meanwhile} requests passed meanwhile, 0 were lost; ${passed} of ${requests} in all, ${overshoot.toFixed(2)} % beyond`,
    );
    expect([...counts.keys()].toSorted()).toEqual([200, 429]);
    expect(passed).toBe(engine.asked.length);
    // Requests of the others that a gateway had not seen when Valkey went.
    expect(overshoot).toBeLessThanOrEqual(5);
    await until(async () => (await useOf(0))?.used === passed * tokensPerRequest);
  });
});
