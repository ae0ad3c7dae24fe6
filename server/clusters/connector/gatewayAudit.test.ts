import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GatewayAuditLine } from "@/server/contracts/gateway/gatewayControls";
import { openStore, type Store } from "@/server/store/store";
import { planOnGpus } from "../testing/testCluster";
import type { AdminClient } from "./adminClient";
import { createGatewayAudit, type GatewayAudit } from "./gatewayAudit";

const clusterId = "embedded";
const spec = { id: clusterId, name: "c", kind: "embedded", gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }], usdPerGpuHour: 1 } as const;
const plan = planOnGpus("candidate", { "qwen2.5-3b": [0] });

/** Lines per page, fewer than a real gateway returns, so that tests need few lines for several pages. */
const pageSize = 3;

describe("a gateway's own audit", () => {
  let folder: string;
  let store: Store;
  let lines: GatewayAuditLine[];
  let planId: string;
  let asked: number;
  let opened: GatewayAudit[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-audit-"));
    store = openStore(folder);
    store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, "2026-01-01T00:00:00.000Z");
    [lines, planId, asked, opened] = [[], "", 0, []];
  });
  afterEach(() => {
    for (const audit of opened) audit.close();
    store.close();
    rmSync(folder, { recursive: true });
  });

  const status = {
    version: "0",
    uptimeSeconds: 1,
    configEtag: "e",
    queued: {},
    replicas: [],
    lastDecision: 0,
    refused: 0,
    unjudged: 0,
  };
  /** A stub of a gateway with only the audit and the plan; the service's test uses the real one. */
  const gateway: AdminClient = async (path, { schema }) => {
    asked += 1;
    const after = Number(/after=(\d+)/.exec(path)?.[1]);
    const page = { lines: lines.filter(({ sequence }) => sequence > after).slice(0, pageSize), latest: lines.at(-1)?.sequence ?? 0 };
    return { ok: true, value: { status: 200, etag: null, value: schema.parse(path === "/status" ? { ...status, planId } : page) } };
  };
  const open = (): GatewayAudit => {
    const audit = createGatewayAudit({ store, clusterId, gateway });
    opened.push(audit);
    return audit;
  };
  const note = (...actions: readonly GatewayAuditLine["action"][]) => {
    for (const action of actions) {
      const sequence = (lines.at(-1)?.sequence ?? 0) + 1;
      lines.push({ sequence, atMs: nextMs(), by: "grace", action, detail: `${action} ${clock}` });
    }
  };
  let clock = Date.parse("2026-01-01T00:00:00Z");
  const nextMs = (): number => {
    clock += 1000;
    return clock;
  };
  const taken = () => store.audit.list(100).toReversed();

  it("comes over whole, over several pages, with who did what and when", async () => {
    note("panic", "panic lifted", "shadow started", "shadow ended", "mirror started", "knobs turned", "configuration");
    await open().take();
    expect(taken().map(({ action }) => action)).toEqual(lines.map(({ action }) => action));
    expect(taken()[0]).toMatchObject({
      at: new Date(lines[0]?.atMs ?? 0).toISOString(),
      actor: "grace",
      action: "panic",
      subject: "gateway",
      detail: lines[0]?.detail,
    });
  });

  it("comes over with refused orders as refused, and with their number", async () => {
    note("panic", "order refused");
    lines.push({ sequence: 3, atMs: nextMs(), by: "unknown", action: "order refused", detail: "It is not signed.", times: 41 });
    await open().take();
    expect(taken().map(({ outcome, times }) => [outcome, times])).toEqual([
      ["done", 1],
      ["refused", 1],
      ["refused", 41],
    ]);
  });

  it("comes over once, however often it is asked for and the studio is restarted", async () => {
    note("panic", "panic lifted");
    const audit = open();
    await Promise.all([audit.take(), audit.take(), audit.take()]);
    audit.close();
    note("mirror started", "mirror ended");
    const again = open();
    await Promise.all([again.take(), again.take()]);
    expect(taken().map(({ detail }) => detail)).toEqual(lines.map(({ detail }) => detail));
  });

  it("goes on when the gateway lost its state and counts anew, also past the old number", async () => {
    note("panic", "panic lifted", "panic");
    const audit = open();
    await audit.take();
    lines = [];
    note("configuration");
    await audit.take();
    expect(taken()).toHaveLength(4);
    lines = [];
    note("configuration", "configuration", "configuration", "configuration", "configuration");
    await audit.take();
    expect(taken()).toHaveLength(9);
    await audit.take();
    expect(taken()).toHaveLength(9);
  });

  it("takes the line that came in place of one the gateway could not keep, and none again", async () => {
    note("panic", "panic lifted", "panic", "panic lifted", "panic");
    const audit = open();
    await audit.take();
    lines.pop();
    note("mirror started");
    await audit.take();
    expect(taken().map(({ action }) => action)).toEqual(["panic", "panic lifted", "panic", "panic lifted", "panic", "mirror started"]);
  });

  it("puts down a promoted candidate as the plan in force, where it is kept", async () => {
    store.plans.keep(plan);
    planId = plan.id;
    note("canary started", "canary step");
    const audit = open();
    await audit.take();
    expect(store.clusters.get(clusterId)?.runningPlanId).toBeNull();
    note("canary promoted");
    await audit.take();
    expect(store.clusters.get(clusterId)).toMatchObject({
      runningPlanId: plan.id,
      runningSince: new Date(lines.at(-1)?.atMs ?? 0).toISOString(),
    });
    planId = "f".repeat(64);
    note("rolled back");
    await audit.take();
    expect(store.clusters.get(clusterId)?.runningPlanId).toBe(plan.id);
  });

  it("is asked for no more once closed", async () => {
    const audit = open();
    await audit.take();
    audit.close();
    const before = asked;
    note("panic");
    await audit.take();
    expect([asked, taken()]).toEqual([before, []]);
  });
});
