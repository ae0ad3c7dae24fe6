import { describe, expect, it, vi } from "vitest";
import { gatewayEnsemblesSchema, MOST_ENSEMBLES } from "@/server/contracts/gateway/gatewayEnsembles";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { admin, ask, ensembleOf, held, says, served, serving, told } from "../testing/testEnsembles";
import { hashed, startTestGateway, testConfig } from "../testing/testGateway";

const signed = { by: "ann", reason: "a trial" };
const put = (change: Parameters<typeof ensembleOf>[0] = {}) => ({ ensemble: ensembleOf(change), ...signed });

async function lines(adminUrl: string) {
  const page = (await (await fetch(`${adminUrl}/audit`)).json()) as { lines: { by: string; action: string; detail: string }[] };
  return page.lines.map(({ by, action, detail }) => ({ by, action, detail }));
}

describe("ensembles on the admin port", () => {
  it("are served from the next request on, changed and ended, each with a line that says who and why", async () => {
    const { gateway, config } = await serving({ c: says("B") });
    const two = ensembleOf({ name: "duo", experts: ["a", "b"], expertsPerQuestion: 2 });
    const { settings: _, ...bare } = config;
    await gateway.put({ ...bare, settings: {} });
    expect((await ask(gateway)).status).toBe(404);
    expect((await admin(gateway, "PUT", "/ensembles/trio", put())).status).toBe(200);
    expect((await admin(gateway, "PUT", "/ensembles/duo", { ensemble: two, ...signed })).body.ensembles).toHaveLength(2);
    expect(told(await ask(gateway))).toMatchObject({ outcome: "aggregated", votes: "2:1" });
    expect(told(await ask(gateway, { model: "ensemble/duo" }))).toMatchObject({ outcome: "skipped", votes: "2:0" });
    const models = (await (await fetch(`${gateway.dataUrl}/v1/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toEqual(expect.arrayContaining(["ensemble/trio", "ensemble/duo"]));
    expect((await fetch(`${gateway.dataUrl}/v1/models/ensemble%2Fduo`)).status).toBe(200);
    expect((await admin(gateway, "PUT", "/ensembles/trio", put({ tau: 2 / 3 }))).body.ensembles[0]?.ensemble.tau).toBe(2 / 3);
    expect((await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 0.5, ...signed })).status).toBe(200);
    expect((await admin(gateway, "DELETE", "/ensembles/duo", signed)).body.ensembles.map(({ ensemble }) => ensemble.name)).toEqual([
      "trio",
    ]);
    expect((await ask(gateway, { model: "ensemble/duo" })).status).toBe(404);
    expect((await fetch(`${gateway.dataUrl}/v1/models/ensemble%2Fduo`)).status).toBe(404);
    const noted = (await lines(gateway.adminUrl)).slice(-5);
    expect(noted.every(({ by }) => by === "ann")).toBe(true);
    expect(noted.map(({ action }) => action)).toEqual([
      "ensemble served",
      "ensemble served",
      "ensemble served",
      "tau changed",
      "ensemble ended",
    ]);
    expect(noted[3]?.detail).toBe("The ensemble trio skips its aggregator from a confidence of 0.5 on; before it did from 2/3 on: a trial");
  });

  it("may aggregate every question, and the audit says so in words", async () => {
    const { gateway } = await serving({});
    const move = async (tau: number) => (await admin(gateway, "PUT", "/ensembles/trio/tau", { tau, ...signed })).status;
    expect([await move(AGGREGATE_ALL), await move(0.5)]).toEqual([200, 200]);
    expect((await admin(gateway, "PUT", "/ensembles/trio", put({ tau: AGGREGATE_ALL }))).status).toBe(200);
    expect((await lines(gateway.adminUrl)).slice(-3).map(({ detail }) => detail)).toEqual([
      "The ensemble trio never skips its aggregator; before it did from 1 on: a trial",
      "The ensemble trio skips its aggregator from a confidence of 0.5 on; before it never did: a trial",
      "The ensemble trio of a, b, c with the aggregator sum, which is never skipped, is changed: a trial",
    ]);
    const refused = await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 1.5, ...signed });
    expect(refused.status).toBe(400);
    expect(refused.body.error?.message).toMatch(/tau.* must be above 0 and at most 1, or 2 to aggregate every question/);
  });

  it("are changed only as they were read", async () => {
    const { gateway } = await serving({});
    const change = (headers: Record<string, string>) =>
      fetch(`${gateway.adminUrl}/ensembles/trio/tau`, {
        method: "PUT",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ tau: 0.5, ...signed }),
      });
    expect((await change({})).status).toBe(428);
    const etag = (await fetch(`${gateway.adminUrl}/ensembles`)).headers.get("etag") ?? "";
    expect((await change({ "if-match": etag })).status).toBe(200);
    const stale = await change({ "if-match": etag });
    expect([stale.status, stale.headers.get("etag") === etag]).toEqual([412, false]);
  });

  it.each([
    ["a pattern that cannot be read", put({ extraction: { kind: "pattern", pattern: "(?=x)" } }), /cannot read votes/],
    ["an ensemble among its experts", { ...put(), ensemble: { ...ensembleOf(), experts: ["a", "b", "ensemble/duo"] } }, /ensemble/],
    [
      "a cascade among its experts",
      { ...put(), ensemble: { ...ensembleOf(), experts: ["a", "b", "cascade/default"] } },
      /asks cascade\/default, a name that is the gateway's own/,
    ],
    [
      "a cascade as its aggregator",
      { ...put(), ensemble: { ...ensembleOf(), aggregator: { model: "cascade/default" } } },
      /asks cascade\/default/,
    ],
    ["another name than its path's", put({ name: "other" }), /is called other/],
    ["a quorum above its experts", { ...put(), ensemble: { ...ensembleOf(), quorum: 4 } }, /quorum/],
    ["nobody who says so", { ensemble: ensembleOf() }, /by/],
  ])("are refused with a sentence for %s", async (_, body, message) => {
    const { gateway } = await serving({});
    const answer = await admin(gateway, "PUT", "/ensembles/trio", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error?.message).toMatch(message);
    expect((await served(gateway)).ensemble).toEqual(ensembleOf());
  });

  it("are refused where there are as many as may be, and where there is nothing to change", async () => {
    const { gateway, config } = await serving({});
    const ensembles = Array.from({ length: MOST_ENSEMBLES }, (_, at) => ensembleOf({ name: `e${at}` }));
    await gateway.put({ ...config, settings: { ensembles } });
    expect((await admin(gateway, "PUT", "/ensembles/trio", put())).status).toBe(409);
    expect((await admin(gateway, "PUT", "/ensembles/e3", put({ name: "e3", tau: 0.5 }))).status).toBe(200);
    expect((await admin(gateway, "DELETE", "/ensembles/trio", signed)).status).toBe(404);
    expect((await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 1, ...signed })).status).toBe(404);
    expect((await admin(gateway, "PUT", "/ensembles/e3/more", put({ name: "e3" }))).status).toBe(400);
    const empty = await startTestGateway();
    expect((await admin(empty, "PUT", "/ensembles/trio", put())).status).toBe(409);
  });

  it("may be called as a path of theirs is", async () => {
    const { gateway } = await serving({});
    expect((await admin(gateway, "PUT", "/ensembles/tau", put({ name: "tau" }))).status).toBe(200);
    expect((await admin(gateway, "PUT", "/ensembles/tau/tau", { tau: 0.5, ...signed })).status).toBe(200);
    expect((await admin(gateway, "DELETE", "/ensembles/tau", signed)).body.ensembles).toHaveLength(1);
  });

  it("are refused in a configuration as they are alone, and models may not be called as they are", async () => {
    const { gateway, config } = await serving({});
    const refused = async (change: object) => {
      const headers = {
        "content-type": "application/json",
        "if-match": (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "",
      };
      const body = JSON.stringify({ ...config, ...change });
      return (await fetch(`${gateway.adminUrl}/config`, { method: "PUT", headers, body })).status;
    };
    expect(await refused({ settings: { ensembles: [ensembleOf({ extraction: { kind: "pattern", pattern: "(?=x)" } })] } })).toBe(400);
    expect(await refused({ settings: { ensembles: [ensembleOf(), ensembleOf()] } })).toBe(400);
    const [first] = config.replicas;
    expect(await refused({ replicas: [...config.replicas, { ...first, id: "x", model: "ensemble/trio" }] })).toBe(400);
  });

  it("tell which of their models no engine serves", async () => {
    const { gateway } = await serving({}, { experts: ["a", "b", "gone"], aggregator: { model: "away" } });
    expect((await served(gateway)).missing).toEqual(["gone", "away"]);
  });

  it("stay when another plan comes, when it is taken back, and over a restart, with counts that begin anew", async () => {
    const { gateway, config } = await serving({});
    await (await ask(gateway)).text();
    expect((await served(gateway)).requests).toBe(1);
    const { settings: _, ...bare } = config;
    const another = testConfig({ stages: [{ model: "b", urls: ["http://127.0.0.1:9"] }], planId: "plan-b" });
    await gateway.put({ ...bare, planId: "plan-b", ...hashed(another.policy) });
    expect((await served(gateway)).requests).toBe(1);
    expect((await admin(gateway, "POST", "/rollback", signed)).status).toBe(200);
    expect((await served(gateway)).ensemble).toEqual(ensembleOf());
    await gateway.close();
    const again = await startTestGateway({}, { stateDirectory: gateway.stateDirectory });
    expect(await served(again)).toMatchObject({ ensemble: ensembleOf(), requests: 0 });
    expect(told(await ask(again))).toMatchObject({ outcome: "skipped" });
  });

  it("are counted only while they are served, under labels that end with them, and tell of the latest hundred requests", async () => {
    const { gateway } = await serving({});
    for (let round = 0; round < 11; round += 1) {
      const name = `e${round}`;
      await admin(gateway, "PUT", `/ensembles/${name}`, put({ name }));
      await (await ask(gateway, { model: `ensemble/${name}` })).text();
      await admin(gateway, "DELETE", `/ensembles/${name}`, signed);
    }
    for (let request = 0; request < 102; request += 1) await (await ask(gateway)).text();
    const { requests, latest } = await served(gateway);
    expect([requests, latest.length]).toEqual([102, 100]);
    await admin(gateway, "PUT", "/ensembles/e0", put({ name: "e0" }));
    const view = gatewayEnsemblesSchema.parse(await (await fetch(`${gateway.adminUrl}/ensembles`)).json());
    expect(view.ensembles.find(({ ensemble }) => ensemble.name === "e0")?.requests).toBe(0);
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const labels = new Set([...text.matchAll(/weir_gateway_ensemble_requests_total\{ensemble="([^"]+)"/g)].map(([, name]) => name));
    expect(labels.has("trio")).toBe(true);
    expect(labels.size).toBeLessThan(11);
  });

  it("are counted under the tau in force apart, anew with every tau that comes, also one that was before, and in all since the start", async () => {
    const { gateway } = await serving({ c: says("B") });
    const move = (tau: number) => admin(gateway, "PUT", "/ensembles/trio/tau", { tau, ...signed });
    const asked = async (times: number) => {
      for (let request = 0; request < times; request += 1) await (await ask(gateway)).text();
      const { requests, outcomes, sinceMs, inForce, votes } = await served(gateway);
      const voted = Object.values(votes).reduce((sum, { requests: ofThem }) => sum + ofThem, 0);
      return { counts: [requests, outcomes.skipped, inForce.requests, inForce.outcomes.skipped], sinceMs, inForce, voted };
    };
    const first = await asked(2);
    expect(first.counts).toEqual([2, 0, 2, 0]);
    expect(first.inForce.sinceMs).toBe(first.sinceMs);
    await move(0.5);
    expect((await served(gateway)).inForce).toMatchObject({ requests: 0, votes: {} });
    const second = await asked(3);
    expect(second.counts).toEqual([5, 3, 3, 3]);
    // The third may or may not be late.
    expect(Object.values(second.inForce.votes).reduce((sum, { skipped }) => sum + skipped, 0)).toBe(3);
    expect(second.sinceMs).toBe(first.sinceMs);
    expect(second.inForce.sinceMs).toBeGreaterThanOrEqual(first.sinceMs);
    await move(0.5);
    expect((await asked(1)).counts).toEqual([6, 4, 4, 4]);
    await move(1);
    expect(await asked(1)).toMatchObject({ counts: [7, 4, 1, 0], voted: 7 });
    await admin(gateway, "PUT", "/ensembles/trio", put({ experts: ["a", "b"], expertsPerQuestion: 2 }));
    const { counts, inForce, voted } = await asked(1);
    expect(counts).toEqual([8, 5, 1, 1]);
    // What three experts voted says nothing about a gate of two.
    expect(voted).toBe(1);
    expect(inForce.experts.map(({ model, asked }) => [model, asked])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  });

  it("do not count under a tau what was decided under the one before and answered since", async () => {
    const slow = held("B");
    const { gateway } = await serving({ c: says("B"), sum: slow.answer });
    const answer = ask(gateway);
    await vi.waitFor(() => expect(slow.waiting).toHaveLength(1));
    await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 0.5, ...signed });
    slow.release();
    expect(told(await answer)).toMatchObject({ outcome: "aggregated" });
    const { requests, inForce } = await served(gateway);
    expect([requests, inForce.requests]).toEqual([1, 0]);
  });

  it("tell no vote longer than a line", async () => {
    const long = "word ".repeat(100).trim();
    const { gateway } = await serving({ a: says(long), b: says(long), c: says(long) }, { extraction: { kind: "text" } });
    expect(told(await ask(gateway))).toMatchObject({ outcome: "skipped", votes: "3:0" });
    expect((await served(gateway)).latest[0]?.experts[0]?.vote).toHaveLength(80);
  });
});
