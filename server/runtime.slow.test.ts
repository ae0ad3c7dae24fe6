import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importAndApprove } from "@/server/api/testing/importAndApprove";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Services } from "./api/routers/services";
import { planOnGpus, startTestCluster } from "./clusters/testing/testCluster";
import { embeddedClusterId } from "./fleet/fleet";
import { studioSettings } from "./lib/studioSettings";
import { sealPlan } from "./planning/planner/sealPlan";
import { createRuntime, type Runtime } from "./runtime";

const until = async <Value>(look: () => Value | Promise<Value> | null | undefined | false): Promise<Value> => {
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

/** The first frame, of those of the last minutes or to come, for which the condition holds. */
async function frameWhere({ follow }: Services["live"], holds: (frame: LiveFrame) => boolean): Promise<LiveFrame> {
  for await (const frame of follow({ clusterId: embeddedClusterId, afterMs: 0, signal: new AbortController().signal })) {
    if (holds(frame)) return frame;
  }
  throw new Error("the collector closed");
}

describe("the studio over a running cluster", () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  beforeAll(async () => {
    cluster = await startTestCluster();
    runtime = createRuntime(studioSettings(cluster.environment));
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await cluster.stop();
  });

  it("finds the embedded cluster by itself and suggests what to plan there", async () => {
    const { clusters, workloads } = runtime.services;
    const [embedded] = await until(() => clusters.list().length > 0 && clusters.list());
    expect(embedded).toMatchObject({
      spec: { id: embeddedClusterId, kind: "embedded", gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }] },
      runningPlanId: null,
      health: { state: "up" },
      emulated: true,
      timeScale: 50,
    });
    expect(workloads.list().map((workload) => workload.id)).toContain(embedded?.suggested?.workloadId);
  });

  it("applies an approved plan, replays load through it, and measures latency and quality beside the promise", async () => {
    const { plans, applications, live, load, workloads } = runtime.services;
    const workloadId = workloads.list()[0]?.id ?? "";
    const drafted = planOnGpus("one", { "qwen2.5-3b": [0, 1] });
    const inputs = { ...drafted.inputs, workload: { ...drafted.inputs.workload, id: workloadId } };
    const plan = await importAndApprove(plans, sealPlan({ ...drafted, inputs }, new Date()), embeddedClusterId);

    const shown = await plans.diff(plan.id, embeddedClusterId);
    if (!shown.ok) throw new Error(shown.message);
    expect(shown.diff).toMatchObject({ againstPlanId: null, spareGpus: 4, capacityDip: 0 });

    const started = await applications.start({ planId: plan.id, clusterId: embeddedClusterId, expectedRunningPlanId: null }, "a");
    if (!started.ok) throw new Error(started.message);
    const done = await until(() => {
      const application = applications.get(started.application.id);
      return application?.endedAt ? application : null;
    });
    expect(done.error).toBeNull();
    expect(done.steps.map((step) => step.text)).toEqual(shown.diff.steps.map((step) => step.text));

    // It ends well before the measuring window, six wall seconds here, drops the first answer on a busy machine.
    const running = load.start({ clusterId: embeddedClusterId, workloadId, requestsPerSecond: 2, seconds: 50 }, "a");
    expect(running.ok).toBe(true);
    const final = await until(() => load.status().state !== "running" && load.status());
    expect(final).toMatchObject({ state: "done", failed: 0, error: null });
    expect(final.finished).toBeGreaterThan(75);

    const frame = await frameWhere(live, ({ measured }) => measured.requests >= final.finished);
    expect(frame.planId).toBe(plan.id);
    expect(frame.engines.map((engine) => engine.state)).toEqual(["fresh", "fresh"]);
    expect(frame.measured.p95Seconds).toBeGreaterThan(0);
    expect(frame.measured.meanQuality).toBeCloseTo(final.quality ?? Number.NaN, 5);
    const decisions = { outcome: "answered", model: "qwen2.5-3b", replica: null, slowerThanSeconds: null, text: null } as const;
    const request = { clusterId: embeddedClusterId, topics: { charts: null, decisions } };
    for await (const { event } of live.stream(request, new AbortController().signal)) {
      if (event.kind !== "decisions") continue;
      expect(event.records).toHaveLength(60);
      expect(event.matched).toBe(final.finished);
      break;
    }
    expect(live.plans(embeddedClusterId, 0, Date.now())).toEqual([{ planId: plan.id, fromMs: expect.any(Number), toMs: null }]);
  }, 60_000);

  it("keeps over time what the frames said", async () => {
    const { live, load, workloads } = runtime.services;
    const nowMs = Date.now();
    const asked = { clusterId: embeddedClusterId, workloadId: workloads.list()[0]?.id ?? "", requestsPerSecond: 2, seconds: 2_500 };
    expect(load.start(asked, "a").ok).toBe(true);
    const frames: LiveFrame[] = [];
    const works = ({ state, running }: LiveFrame["engines"][number]) => state === "fresh" && (running ?? 0) > 0;
    const latest = await frameWhere(live, (frame) => frames.push(frame) > 0 && frame.atMs > nowMs && frame.engines.some(works));
    await load.stop("a");
    const [fromMs, toMs] = [frames[0]?.atMs ?? 0, latest.atMs + 1];
    const id = latest.engines.find(works)?.id ?? "";
    const series = [
      { subject: `engine:${id}`, quantity: "running" },
      { subject: "gateway", quantity: "requestsPerSecond" },
    ];
    await until(async () => (await live.range(embeddedClusterId, { fromMs: toMs - 1, toMs, points: 1, series })).atMs.length === 1);
    const kept = await live.range(embeddedClusterId, { fromMs, toMs, points: 2_000, series });
    expect(kept.bucketMs).toBe(1_000);
    /** By bucket: two frames may be less than a second apart. */
    const lastOf = (values: readonly (readonly [atMs: number, value: number | null | undefined])[]) =>
      new Map(values.flatMap(([atMs, value]) => (typeof value === "number" ? [[Math.floor(atMs / 1000) * 1000, Math.fround(value)]] : [])));
    const read = (at: number) => lastOf(kept.atMs.map((atMs, bucket) => [atMs, kept.series[at]?.last[bucket]]));
    const engineIn = (engines: LiveFrame["engines"]) => engines.find((engine) => engine.id === id && engine.state === "fresh");
    expect(read(0)).toEqual(lastOf(frames.map(({ atMs, engines }) => [atMs, engineIn(engines)?.running])));
    expect(Math.max(...read(0).values())).toBeGreaterThan(0);
    const heard = frames.filter(({ gateway }) => gateway.state === "fresh");
    expect(read(1)).toEqual(lastOf(heard.map(({ atMs, gateway }) => [atMs, gateway.requestsPerSecond])));
    expect(kept.problems).toEqual([]);
    expect(await live.subjects(embeddedClusterId, fromMs, toMs)).toEqual(
      expect.arrayContaining([`engine:${id}`, "gateway", "gpu:node1/0"]),
    );
    expect((await live.range("another", { fromMs, toMs, points: 10, series })).series).toEqual([]);
  });

  it("tells Prometheus of its scrapes, targets and applications", async () => {
    const { text } = await runtime.metrics();
    const value = (series: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${series} `))
          ?.split(" ")
          .at(-1),
      );
    for (const kind of ["engine", "gpu", "gateway"]) {
      expect(value(`weir_studio_scrape_seconds_count{kind="${kind}",outcome="ok"}`)).toBeGreaterThan(1);
      expect(value(`weir_studio_bad_lines_total{kind="${kind}"}`)).toBe(0);
    }
    expect(value('weir_studio_targets{cluster="embedded",kind="engine",state="fresh"}')).toBe(2);
    expect(value('weir_studio_applications{kind="apply",state="done"}')).toBe(1);
    expect(value("weir_studio_series")).toBeGreaterThan(10);
  });

  it("refuses an application when another plan is in force than was shown", async () => {
    const { applications, clusters } = runtime.services;
    const planId = clusters.list()[0]?.runningPlanId ?? "";
    const stale = await applications.start({ planId, clusterId: embeddedClusterId, expectedRunningPlanId: null }, "a");
    expect(stale.ok ? "" : stale.message).toMatch(/Another plan is in force/);
  });

  it("streams frames until the reader leaves", async () => {
    const reader = new AbortController();
    const seen: number[] = [];
    for await (const frame of runtime.services.live.follow({ clusterId: embeddedClusterId, afterMs: 0, signal: reader.signal })) {
      seen.push(frame.atMs);
      if (seen.length === 3) reader.abort();
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen).toHaveLength(3);
  });

  it("says within seconds that a gateway that hangs is down, and names its models all the same", async () => {
    const { clusters, gateway } = runtime.services;
    const word = () => clusters.list().find(({ spec }) => spec.id === embeddedClusterId)?.health.state;
    expect(word()).toBe("up");
    cluster.freezeGateway();
    try {
      const beganMs = performance.now();
      expect(await gateway.models(embeddedClusterId)).toEqual({ ok: true, models: [{ model: "qwen2.5-3b", engines: 2 }] });
      expect(performance.now() - beganMs).toBeLessThan(1_000);
      await until(() => word() === "down");
      expect(performance.now() - beganMs).toBeLessThan(10_000);
    } finally {
      cluster.thawGateway();
    }
    await until(() => word() === "up");
  }, 30_000);

  it("rolls back to nothing when nothing ran before", async () => {
    const { applications, clusters } = runtime.services;
    const started = await applications.rollback({ clusterId: embeddedClusterId, toPlanId: null }, "a");
    if (!started.ok) throw new Error(started.message);
    expect(started.application).toMatchObject({ kind: "rollback", planId: null });
    const done = await until(() => {
      const application = applications.get(started.application.id);
      return application?.endedAt ? application : null;
    });
    expect(done.error).toBeNull();
    expect(clusters.list()[0]?.runningPlanId).toBeNull();
  });
});
