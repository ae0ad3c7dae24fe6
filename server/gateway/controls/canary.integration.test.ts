import { describe, expect, it } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type CanaryRequest, canarySchema } from "@/server/contracts/gateway/gatewayControls";
import {
  asked,
  auditOf,
  begin,
  canaryOf,
  candidate,
  configOf,
  fixed,
  messageOf,
  ofProgram,
  programsAtCandidate,
  queuedOf,
  signed,
  smallInForce,
  untilFailed,
  withdraw,
} from "../testing/testCanary";
import { type Answer, heldEngine, sayCompletion } from "../testing/testEngine";
import { until } from "../testing/testGateway";

describe("a canary", () => {
  it("takes 5, 25 and 100 % of the programs, each only towards the candidate, and is then in force", async () => {
    const { gateway, config } = await smallInForce();
    const begun = await begin(gateway, { ...asked, shares: [0.05, 0.25, 1], minRequests: 200 });
    expect(canarySchema.parse(await begun.json())).toMatchObject({ state: "running", step: 0, candidateArm: { finished: 0 } });
    const programs = Array.from({ length: 500 }, (_, index) => `program-${index}`);
    const first = await programsAtCandidate(gateway, programs);
    // Four standard deviations of 500 draws.
    expect(Math.abs(first.size / 500 - 0.05)).toBeLessThan(0.04);
    expect((await canaryOf(gateway)).candidateArm).toEqual({ finished: first.size, failed: 0, slow: 0 });
    expect((await canaryOf(gateway)).currentArm.finished).toBe(500 - first.size);
    const [some = ""] = first;
    expect(await programsAtCandidate(gateway, new Array(200 - first.size).fill(some))).toEqual(new Set([some]));
    expect(await canaryOf(gateway)).toMatchObject({ step: 1, candidateArm: { finished: 0 }, currentArm: { finished: 0 } });
    const second = await programsAtCandidate(gateway, programs);
    expect(Math.abs(second.size / 500 - 0.25)).toBeLessThan(0.08);
    expect([...first].every((program) => second.has(program))).toBe(true);
    expect(
      (await gateway.decisions())
        .filter(({ canary }) => canary)
        .every(({ planId, policyHash }) => planId === "plan-new" && policyHash === candidate.policyHash),
    ).toBe(true);
    expect((await ofProgram(gateway, some, "small")).headers.get("x-weir-policy")).toBe("direct");
    await programsAtCandidate(gateway, new Array(200 - second.size).fill(some));
    expect((await canaryOf(gateway)).step).toBe(2);
    expect((await programsAtCandidate(gateway, programs)).size).toBe(500);
    await until(async () => (await configOf(gateway)).planId === "plan-new");
    expect(await canaryOf(gateway)).toMatchObject({ state: "promoted", step: 2 });
    expect(await configOf(gateway)).toEqual({ ...config, ...candidate });
    expect(await auditOf(gateway)).toEqual(["configuration", "canary started", "canary step", "canary step", "canary promoted"]);
    const status = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    expect([status.planId, status.persistedEtag]).toEqual(["plan-new", status.configEtag]);
    expect((await ofProgram(gateway, some)).headers.get("x-weir-plan")).toBe("plan-new");
    const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
    await fetch(`${gateway.adminUrl}/rollback`, {
      method: "POST",
      headers: { "content-type": "application/json", "if-match": etag },
      body: JSON.stringify(signed),
    });
    expect(await configOf(gateway)).toEqual(config);
  }, 30_000);

  it("stops as soon as too many of its requests are sure to fail, and everyone is back at once", async () => {
    const { gateway, config } = await smallInForce((_, response) => response.writeHead(500).end());
    await begin(gateway, asked);
    await untilFailed(gateway, "p");
    expect(await canaryOf(gateway)).toMatchObject({
      state: "stopped",
      candidateArm: { finished: 3, failed: 3 },
      endReason: "3 of 3 requests failed, more than 10 % of 20.",
    });
    const programs = Array.from({ length: 40 }, (_, index) => `p${index}`);
    expect((await programsAtCandidate(gateway, programs)).size).toBe(0);
    expect(await configOf(gateway)).toEqual(config);
    expect((await auditOf(gateway)).at(-1)).toBe("canary stopped");
    expect((await withdraw(gateway)).status).toBe(404);
    expect((await begin(gateway, asked)).status).toBe(200);
  });

  it("stops when too many of its requests are slower than the objective", async () => {
    const { gateway } = await smallInForce((_, response) => setTimeout(() => sayCompletion(response, "late"), 60));
    const stop = { errorShare: 0.5, slow: { endToEndSeconds: 0.05, share: 0.25 } };
    await begin(gateway, { ...asked, minRequests: 8, stop });
    await untilFailed(gateway, "p");
    expect(await canaryOf(gateway)).toMatchObject({
      state: "stopped",
      candidateArm: { finished: 3, failed: 0, slow: 3 },
      endReason: "3 of 3 requests took longer than 0.05 s, more than 25 % of 8.",
    });
  });

  it("counts streams that break, and neither clients that go away nor what engines refuse of clients", async () => {
    let answer: Answer = (_, response) => response.writeHead(400, { "content-type": "application/json" }).end("{}");
    const { gateway, engine } = await smallInForce((request, response) => answer(request, response));
    await begin(gateway, { ...asked, shares: [0.9, 1], minRequests: 1000, stop: { errorShare: 0.0005, slow: null } });
    for (let index = 0; index < 10; index += 1) await ofProgram(gateway, `p${index}`);
    const refused = engine.asked.length;
    expect(refused).toBeGreaterThan(3);
    answer = () => undefined;
    for (let index = 0; index < 10; index += 1) {
      const before = engine.asked.length;
      const gone = new AbortController();
      const sent = gateway.chat({ model: "cascade/default" }, { signal: gone.signal }).catch(() => null);
      await until(async () => engine.asked.length > before || (await gateway.decisions()).length > 10 + index);
      gone.abort();
      await sent;
      await until(async () => (await gateway.decisions()).length === 11 + index);
    }
    expect(engine.asked.length).toBeGreaterThan(refused);
    expect(await canaryOf(gateway)).toMatchObject({ state: "running", candidateArm: { finished: refused, failed: 0 } });
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write('data: {"choices":[{"index":0,"delta":{"content":"4"}}]}\n\n');
      setTimeout(() => response.destroy(), 5);
    };
    while ((await canaryOf(gateway)).state === "running") {
      const stream = await gateway.chat({ model: "cascade/default", stream: true });
      await stream.text().catch(() => "");
    }
    expect(await canaryOf(gateway)).toMatchObject({ state: "stopped", candidateArm: { failed: 1 } });
  });

  it("stops where its requests are rejected because the queue is full", async () => {
    const held = await heldEngine();
    const { gateway, config } = await smallInForce();
    const replicas = config.replicas.map((replica) =>
      replica.model === "large" ? { ...replica, url: held.url, maxInFlight: 1 } : replica,
    );
    // One place in the queue of 2000.
    await gateway.put({ ...config, replicas, settings: { priorityClasses: [{ name: "batch", queueFraction: 0.0005 }] } });
    await begin(gateway, { ...asked, shares: [1], minRequests: 20 });
    const ofBatch = () =>
      gateway.chat(
        { model: "cascade/default" },
        { headers: { "content-type": "application/json", "x-gateway-inference-objective": "batch" } },
      );
    const taken = [ofBatch()];
    await until(() => held.asked.length === 1);
    taken.push(ofBatch());
    await until(async () => (await queuedOf(gateway)).large === 1);
    for (let index = 0; index < 3; index += 1) expect((await ofBatch()).status).toBe(429);
    expect(await canaryOf(gateway)).toMatchObject({ state: "stopped", candidateArm: { finished: 3, failed: 3 } });
    held.open();
    await Promise.all(taken);
  });

  it.each<[string, Partial<CanaryRequest>, number, string]>([
    ["shares that fall", { shares: [0.5, 0.25, 1] }, 400, "0.5, 0.25, 1; they must rise"],
    ["shares that end early", { shares: [0.05, 0.25] }, 400, "the last must be 1"],
    ["a policy of another hash", { candidate: { ...candidate, policyHash: "abc" } }, 400, '"abc"'],
    ["a model without engines", { candidate: { planId: "x", ...fixed("huge") } }, 409, "The stage huge has no replica"],
    ["what is in force", { candidate: { planId: "plan-old", ...fixed("small") } }, 409, "The candidate is the policy in force already."],
    ["a plan id that is no header", { candidate: { ...candidate, planId: "plan-\u2192" } }, 400, "`candidate.planId`"],
    ["no number of requests", { minRequests: 0 }, 400, "`minRequests`"],
  ])("is refused for %s with a sentence", async (_, change, status, sentence) => {
    const { gateway } = await smallInForce();
    const answer = await begin(gateway, { ...asked, ...change });
    expect([answer.status, await messageOf(answer)]).toEqual([status, expect.stringContaining(sentence)]);
    expect(await (await fetch(`${gateway.adminUrl}/canary`)).json()).toBe(null);
  });

  it("is refused while another runs", async () => {
    const { gateway } = await smallInForce();
    await begin(gateway, asked);
    expect((await begin(gateway, asked)).status).toBe(409);
  });
});
