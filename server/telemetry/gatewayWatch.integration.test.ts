import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Decision, GatewayConfig, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createGatewayWatch } from "./gatewayWatch";
import { createTestClock } from "./testing/testClock";

const { policy } = examplePlanDraft();
const [small = "", large = ""] = policy.stages.map((stage) => stage.model);
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const config: GatewayConfig = {
  apiVersion: "weir/v1",
  kind: "GatewayConfig",
  ...{ name: "example", planId: "plan-a", policyHash: "as planned", policy, replicas: [], judge: null, timeScale: 1 },
};

const answered = (sequence: number, policyHash: string, finishedAtMs: number): Decision => ({
  ...{ sequence, id: `d${sequence}`, planId: "plan-a", policyHash, finishedAtMs, status: 200, reason: "", stages: [] },
  ...{ ttftSeconds: 0.2, endToEndSeconds: sequence, overheadSeconds: 0.001 },
});

const mirrored = (sequence: number, decisionId: string): MirrorSample => ({
  ...{ sequence, decisionId, planId: "plan-a", policyHash: "as planned", atMs: 0, answers: [] },
});

const noControls: NonNullable<GatewayStatus["controls"]> = { panic: null, canary: null, shadow: null, mirror: null };

/** A watch of an admin listener whose answers the test changes; a hanging one accepts requests and does not answer. */
async function watched() {
  const decisions: Decision[] = [];
  const samples: MirrorSample[] = [];
  const says = { hung: false, withoutSamples: false, policyHash: config.policyHash, status: {} as Partial<GatewayStatus> };
  const clock = createTestClock(1_000_000);
  const startedMs = clock.steadyMs();
  const server = createServer((request, response) => {
    if (says.hung) return;
    const url = new URL(request.url ?? "/", "http://gateway");
    const after = Number(url.searchParams.get("after"));
    const latest = decisions.at(-1)?.sequence ?? 0;
    const status: GatewayStatus = {
      ...{
        version: "1",
        uptimeSeconds: 10 + (clock.steadyMs() - startedMs) / 1000,
        configEtag: `of ${says.policyHash}`,
        planId: "plan-a",
        queued: {},
      },
      replicas: [
        { id: "s1", model: small, state: "active", inFlight: 0 },
        { id: "s2", model: small, state: "unhealthy", inFlight: 0 },
        { id: "l1", model: large, state: "cordoned", inFlight: 0 },
      ],
      ...{ lastDecision: latest, refused: 0, unjudged: 0, ...says.status },
    };
    const bodies: Record<string, unknown> = {
      "/status": status,
      "/config": { ...config, policyHash: says.policyHash },
      "/decisions": { decisions: decisions.filter((one) => one.sequence > after), latest, missed: 0 },
    };
    if (!says.withoutSamples)
      bodies["/mirror/samples"] = { samples: samples.filter(({ sequence }) => sequence > after), latest: samples.length };
    response.end(JSON.stringify(bodies[url.pathname]));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watch = createGatewayWatch({
    ...{ adminUrl, adminToken: "secret", intervalMs: 500, timeScale: 1, onScrape: () => undefined },
    clock,
  });
  return { watch, says, decisions, samples, clock };
}

describe("the watch of a gateway", () => {
  it("tells what waits for whichever model has room first apart from what waits for a model, and nothing while it does not answer", async () => {
    const { watch, says, clock } = await watched();
    says.status = { queued: { [small]: 2, [large]: 0, "cascade/test": 3, canary: 1 } };
    await watch.poll();
    const { stages, queuedForAny } = watch.frame().gateway;
    expect([stages.map(({ queued }) => queued), queuedForAny]).toEqual([[2, 0], 4]);
    says.hung = true;
    clock.pass(60_000);
    expect(watch.frame().gateway.queuedForAny).toBeNull();
  });

  it("measures anew when knobs are turned, and leaves out what began under the policy before", async () => {
    const { watch, says, decisions, clock } = await watched();
    decisions.push(answered(1, "as planned", clock.wallMs()));
    await watch.poll();
    clock.pass(60_000);
    expect(watch.frame().measured).toMatchObject({ requests: 1, windowSeconds: 60 });
    says.policyHash = "turned";
    await watch.poll();
    expect(watch.frame().measured).toMatchObject({ requests: 0, windowSeconds: 0, p95Seconds: null });
    decisions.push(answered(2, "as planned", clock.wallMs() + 1_000), answered(3, "turned", clock.wallMs() + 1_000));
    clock.pass(2_000);
    await watch.poll();
    expect(watch.frame().measured).toMatchObject({ requests: 1, windowSeconds: 2, p50Seconds: 3 });
    says.policyHash = "as planned";
    await watch.poll();
    expect(watch.frame().measured).toMatchObject({ requests: 0, windowSeconds: 0 });
  });

  it("has no value of what it measured while the gateway is away, and goes on with it afterwards", async () => {
    const { watch, says, decisions, clock } = await watched();
    decisions.push(answered(1, "as planned", clock.wallMs()));
    await watch.poll();
    expect(watch.frame()).toMatchObject({ measured: { p95Seconds: 1 }, recent: { p95Seconds: 1, ttftP95Seconds: 0.2 } });
    says.hung = true;
    // Whatever the wall clock is set to.
    clock.set(clock.wallMs() - 3_600_000);
    clock.pass(6_000);
    await watch.poll();
    const { measured, recent } = watch.frame();
    for (const { p50Seconds, p95Seconds, p99Seconds, meanQuality } of [measured, recent])
      expect([p50Seconds, p95Seconds, p99Seconds, meanQuality]).toEqual([null, null, null, null]);
    expect(recent).toMatchObject({ ttftP95Seconds: null, overheadP95Seconds: null });
    expect(recent.stages.flatMap((stage) => Object.values(stage).filter((value) => value !== null))).toEqual([]);
    says.hung = false;
    await watch.poll();
    expect(watch.frame()).toMatchObject({ measured: { requests: 1, p95Seconds: 1 }, recent: { p95Seconds: 1 } });
  });

  it.each([
    ["by its uptime, however many it has decided", 4],
    ["by fewer decisions than were read", 2],
  ])("reads all decisions of a gateway that began anew, which is known %s", async (_, since) => {
    const { watch, says, decisions, clock } = await watched();
    decisions.push(...[1, 2, 3].map((sequence) => answered(sequence, "as planned", clock.wallMs())));
    await watch.poll();
    clock.pass(1_000);
    // One of the two signs is removed if there are fewer decisions.
    if (since > 3) says.status = { uptimeSeconds: 1 };
    decisions.splice(0, 3, ...Array.from({ length: since }, (_each, at) => answered(at + 1, "as planned", clock.wallMs())));
    await watch.poll();
    expect(watch.frame().measured.requests).toBe(3 + since);
  });

  it.each([
    ["more samples and decisions than before", 5],
    ["fewer samples", 1],
  ])("reads all mirrored requests of a gateway that began anew and has %s", async (_, since) => {
    const { watch, says, decisions, samples, clock } = await watched();
    decisions.push(answered(1, "as planned", clock.wallMs()));
    samples.push(mirrored(1, "a1"), mirrored(2, "a2"));
    says.status = { controls: { ...noControls, lastMirrorSample: 2 } };
    await watch.poll();
    clock.pass(60_000);
    decisions.splice(0, 1, ...[1, 2, 3].map((sequence) => answered(sequence, "as planned", clock.wallMs())));
    samples.splice(0, 2, ...Array.from({ length: since }, (_each, at) => mirrored(at + 1, `b${at + 1}`)));
    says.status = { controls: { ...noControls, lastMirrorSample: since }, ...(since > 2 && { uptimeSeconds: 50 }) };
    await watch.poll();
    const fresh = watch.mirrored().filter(({ decisionId }) => decisionId.startsWith("b"));
    expect(fresh).toHaveLength(since);
  });

  it("reads the last mirrored requests of a mirror that has ended", async () => {
    const { watch, says, samples } = await watched();
    samples.push(mirrored(1, "a1"));
    says.status = { controls: { ...noControls, lastMirrorSample: 1 } };
    await watch.poll();
    expect(watch.mirrored()).toHaveLength(1);
  });

  it("knows all else of a gateway whose mirrored requests cannot be read, says so, and reads them later", async () => {
    const { watch, says, decisions, samples, clock } = await watched();
    decisions.push(answered(1, "as planned", clock.wallMs()));
    samples.push(mirrored(1, "a1"));
    says.status = { controls: { ...noControls, lastMirrorSample: 1 } };
    says.withoutSamples = true;
    await watch.poll();
    expect(watch.frame()).toMatchObject({ planId: "plan-a", measured: { requests: 1 }, gateway: { state: "fresh" } });
    expect(watch.frame().gateway.reason).toContain("mirror's samples could not be read");
    says.withoutSamples = false;
    await watch.poll();
    expect([watch.mirrored().length, watch.frame().gateway.reason]).toEqual([1, ""]);
  });

  it("says what a rollback goes back to, that there is nothing, or nothing at all of an older gateway", async () => {
    const { watch, says } = await watched();
    await watch.poll();
    expect(watch.routing()).not.toHaveProperty("previous");
    const previous = { name: "before", planId: "plan-before", policyHash: "hash before" };
    for (const one of [previous, null]) {
      says.status = { previous: one };
      await watch.poll();
      expect(watch.frame().gateway.routing?.previous).toEqual(one);
    }
  });

  it("tells what was shed apart from what was refused, and of an older gateway that it does not say", async () => {
    const { watch, says, clock } = await watched();
    says.status = { refused: 10, shed: 4 };
    await watch.poll();
    clock.pass(1_000);
    says.status = { refused: 19, shed: 10 };
    await watch.poll();
    expect(watch.frame().gateway).toMatchObject({ refusedPerSecond: 3, shedPerSecond: 6 });
    says.status = { refused: 5, uptimeSeconds: 1 };
    await watch.poll();
    clock.pass(20_000);
    says.status = { refused: 25, uptimeSeconds: 21 };
    await watch.poll();
    expect(watch.frame().gateway).toMatchObject({ refusedPerSecond: 1, shedPerSecond: null });
  });

  it("says since when the gateway is as it is, and how long ago it last answered", async () => {
    const { watch, says, clock } = await watched();
    const stateNow = () => {
      const { state, sinceMs, ageSeconds } = watch.frame().gateway;
      return [state, sinceMs - 1_000_000, ageSeconds];
    };
    expect(stateNow()).toEqual(["unreachable", 0, 0]);
    clock.pass(1_000);
    await watch.poll();
    expect(stateNow()).toEqual(["fresh", 1_000, 0]);
    says.hung = true;
    clock.pass(2_000);
    await watch.poll();
    expect(stateNow()).toEqual(["stale", 3_000, 2]);
    clock.pass(4_000);
    expect(stateNow()).toEqual(["unreachable", 7_000, 6]);
    clock.pass(161_000);
    expect(stateNow()).toEqual(["unreachable", 7_000, 167]);
  });

  it("knows the models and their engines at work, also while the gateway hangs", async () => {
    const { watch, says, clock } = await watched();
    expect(watch.models()).toBeNull();
    await watch.poll();
    says.hung = true;
    clock.pass(60_000);
    await watch.poll();
    expect(watch.frame().gateway.state).toBe("unreachable");
    expect(watch.models()).toEqual([
      { model: small, engines: 1 },
      { model: large, engines: 0 },
    ]);
  });
});
