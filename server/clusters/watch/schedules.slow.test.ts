import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApplicationService } from "@/server/api/plans/applicationService";
import { createScheduleService } from "@/server/api/plans/scheduleService";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import { planOnGpus } from "../testing/testCluster";
import { rollOutStudio } from "../testing/testRollOutStudio";
import { type ClusterOfPlans, clusterOfPlans } from "../testing/testWholePlans";
import { createSchedules } from "./schedules";

const day = planOnGpus("day", { "qwen2.5-3b": [0] });
const night = planOnGpus("night", { "qwen2.5-7b": [0] });
const other = planOnGpus("other", { "qwen2.5-3b": [1] });
const unapproved = planOnGpus("unapproved", { "qwen2.5-7b": [1] });

const schedule = {
  clusterId: "embedded",
  timeZone: "Europe/Berlin",
  entries: [
    { at: "08:00", planId: day.id },
    { at: "20:00", planId: night.id },
  ],
};
const MINUTE_MS = 60_000;
const at = (iso: string): number => Date.parse(iso);
const noon = at("2026-01-15T11:00Z");
const evening = at("2026-01-15T19:00Z");
const morning = at("2026-01-16T07:00Z");

let cluster: ClusterOfPlans;
let collector: Collector;
let nowMs: number;
beforeAll(async () => {
  cluster = await clusterOfPlans([day, night, other], { gpus: 2, timeScale: 500 });
  cluster.store.plans.keep(unapproved);
  const { gatewayAdminUrl, token: adminToken } = cluster;
  const rest = { targets: () => [], dcgmUrls: [], timeScale: 500, intervalMs: 50 };
  collector = createCollector({ clusterId: "embedded", gatewayAdminUrl, adminToken, ...rest });
}, 60_000);
afterAll(async () => {
  collector.close();
  await cluster.stop();
});

const clusterOf = () => ({ collector: () => collector });
const service = () => createScheduleService({ store: cluster.store, clusterOf, now: () => nowMs });
const state = () => service().get("embedded");
const audited = () => cluster.store.audit.list(200).map(({ actor, action }) => `${actor}: ${action}`);
const running = () => cluster.store.clusters.get("embedded")?.runningPlanId;

/** A studio that was just started. */
function studio() {
  const runner = cluster.newRunner();
  runner.resumeAll();
  const { start } = createApplicationService(cluster.store, runner);
  const schedules = createSchedules({ store: cluster.store, start, clusterOf, now: () => nowMs, everyMs: 10 });
  return {
    async close() {
      await schedules.close();
      await runner.close();
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((wake) => setTimeout(wake, 10));
}
/** Long enough for several checks of a schedule. */
const looks = () => new Promise((wake) => setTimeout(wake, 150));

async function inForce(plan: typeof day): Promise<void> {
  if (running() !== plan.id) await cluster.apply(plan);
}

async function panicked(): Promise<void> {
  const body = { model: "qwen2.5-3b", by: "bob", reason: "odd answers" };
  expect((await cluster.gateway("/panic", { schema: z.unknown(), method: "PUT", body })).ok).toBe(true);
  await until(() => (collector.routing()?.controls?.panic ?? null) !== null);
}
async function lifted(): Promise<void> {
  await cluster.gateway("/panic", { schema: z.unknown(), method: "DELETE", body: { by: "bob", reason: "" } });
  await until(() => collector.routing()?.controls?.panic === null);
}

const did = (outcome: { readonly ok: boolean; readonly message?: string }): void => expect(outcome).toEqual({ ok: true });

describe("a schedule", () => {
  let open: ReturnType<typeof studio>;
  beforeEach(async () => {
    nowMs = noon;
    await inForce(day);
    await collector.askGateway();
    did(service().set(schedule, "ann"));
    open = studio();
  }, 30_000);
  afterEach(async () => {
    await open.close();
    service().remove("embedded", "ann");
    await lifted();
  });

  it("puts each plan into force when its time comes, in the name of who set it, and not before", async () => {
    expect(state()?.next).toEqual({ at: "2026-01-15T19:00:00.000Z", planId: night.id, planName: "night" });
    nowMs = evening - 1;
    await looks();
    expect(running()).toBe(day.id);
    nowMs = evening;
    await until(() => state()?.last?.message.endsWith("came into force.") === true);
    await cluster.expectWhole(night);
    const [application] = cluster.store.applications.list("embedded");
    expect(application).toMatchObject({
      actor: "schedule of ann",
      kind: "apply",
      planId: night.id,
      rollBackOnRegression: true,
      state: "done",
    });
    expect(state()).toMatchObject({ enabled: true, problem: null, last: { ok: true, applicationId: application?.id } });
    nowMs = morning;
    await until(() => running() === day.id && state()?.last?.message.endsWith("came into force.") === true);
    await cluster.expectWhole(day);
    expect(audited().filter((line) => line === "schedule of ann: scheduled switch").length).toBe(2);
  }, 30_000);

  it("waits while a panic is on, says so, and switches when it is lifted", async () => {
    await panicked();
    nowMs = evening;
    await until(() => state()?.problem?.includes("waits") === true);
    expect(state()?.problem).toMatch(
      /^The switch to night \(\w{8}\) waits: A panic of bob is on: clear it\. It is tried until 20:15 in Europe\/Berlin\.$/,
    );
    const { length } = cluster.store.applications.list("embedded");
    nowMs = evening + 14 * MINUTE_MS;
    await looks();
    expect(cluster.store.applications.list("embedded").length).toBe(length);
    await lifted();
    await until(() => state()?.last?.message.endsWith("came into force.") === true);
    expect(running()).toBe(night.id);
  }, 30_000);

  it("gives a switch up after a quarter of an hour, with the reason, and goes on with the next one", async () => {
    await panicked();
    nowMs = evening;
    await until(() => state()?.problem?.includes("waits") === true);
    nowMs = evening + 15 * MINUTE_MS;
    await until(() => state()?.last?.ok === false);
    expect(state()?.last?.message).toMatch(
      /^The switch to night .* of 20:00 in Europe\/Berlin was given up after 15 minutes: A panic of bob is on/,
    );
    expect(audited()).toContain("schedule of ann: scheduled switch given up");
    await lifted();
    await looks();
    expect({ enabled: state()?.enabled, running: running() }).toEqual({ enabled: true, running: day.id });
    nowMs = morning;
    await until(() => state()?.last?.message.endsWith("was in force already.") === true);
  }, 30_000);

  it("waits for a roll-out of somebody else, then sees that the plan is another, leaves that alone and switches itself off", async () => {
    nowMs = evening - 1;
    await cluster.apply(other);
    await until(() => state()?.enabled === false);
    expect(state()).toMatchObject({ next: null, last: { ok: false } });
    expect(state()?.last?.message).toMatch(
      /^Switched off: other \(\w{8}\) was put into force by a, not by the schedule, and is left alone\.$/,
    );
    expect(audited()).toContain("schedule of ann: schedule switched off");
    nowMs = evening;
    await looks();
    expect(running()).toBe(other.id);
  }, 30_000);

  it("does nothing while it is switched off, and goes on at its next time when it is switched on again, in that person's name", async () => {
    did(service().enable("embedded", false, "bob"));
    nowMs = evening;
    await looks();
    expect(running()).toBe(day.id);
    did(service().enable("embedded", true, "bob"));
    await looks();
    expect(running()).toBe(day.id);
    expect(state()?.next?.planId).toBe(day.id);
    nowMs = at("2026-01-16T19:00Z");
    await until(() => running() === night.id && state()?.last?.message.endsWith("came into force.") === true);
    expect(cluster.store.applications.list("embedded")[0]?.actor).toBe("schedule of bob");
    expect(audited()).toEqual(expect.arrayContaining(["bob: switch schedule off", "bob: switch schedule on"]));
  }, 30_000);

  it("switches itself off when its cluster is let go of", async () => {
    const { spec } = cluster.store.clusters.get("embedded") ?? {};
    if (spec === undefined) throw new Error("No cluster.");
    cluster.store.clusters.respecify({ ...spec, kind: "described" });
    await until(() => state()?.enabled === false);
    cluster.store.clusters.respecify(spec);
    expect(state()?.last?.message).toBe("Switched off: the studio is not connected to this cluster any more.");
  });
});

it("is refused with plans that are not kept or approved, in a zone that there is none of, and for a cluster that cannot be applied to", () => {
  const set = (change: Partial<typeof schedule>) => {
    const outcome = service().set({ ...schedule, ...change }, "ann");
    return outcome.ok ? "" : outcome.message;
  };
  const [first] = schedule.entries;
  if (first === undefined) throw new Error("No entry.");
  expect(set({ entries: [first, { at: "20:00", planId: "gone" }] })).toBe("Plan gone is not kept: keep it first.");
  expect(set({ entries: [first, { at: "20:00", planId: unapproved.id }] })).toMatch(
    /^unapproved \(\w{8}\) is not approved on this cluster/,
  );
  expect(set({ timeZone: "Berlin" })).toMatch(/no time zone Berlin/);
  expect(set({ clusterId: "nowhere" })).toBe("There is no cluster nowhere.");
  expect(state()).toBeNull();
});

describe("a studio that was down or killed when a time came", () => {
  let killed: Awaited<ReturnType<typeof rollOutStudio>>;
  beforeAll(async () => {
    killed = await rollOutStudio();
  });
  afterAll(() => killed.clear());

  it("does then what holds by then, once, where nobody else changed the plan", async () => {
    nowMs = noon;
    await inForce(day);
    did(service().set(schedule, "ann"));
    // Two nights and a day later.
    nowMs = at("2026-01-16T22:00Z");
    const { length } = cluster.store.applications.list("embedded");
    const open = studio();
    await until(() => state()?.last?.message.endsWith("came into force.") === true);
    await looks();
    await open.close();
    expect(cluster.store.applications.list("embedded").length).toBe(length + 1);
    await cluster.expectWhole(night);
  }, 30_000);

  it("leaves alone what somebody changed meanwhile", async () => {
    nowMs = noon;
    await inForce(day);
    did(service().set(schedule, "ann"));
    await cluster.apply(other);
    nowMs = evening;
    const open = studio();
    await until(() => state()?.enabled === false);
    await open.close();
    expect(running()).toBe(other.id);
  }, 30_000);

  // The stages: stored, begun, known to have begun, and within the roll-out, whose boundaries `killedRollOut.slow.test` covers.
  it.each([1, 2, 3, 4, 5, 15])(
    "ends with the plan of the time in force, whole, by one application, where it was killed at boundary %i, and goes on",
    async (dieAfter) => {
      nowMs = noon;
      await inForce(day);
      did(service().set(schedule, "ann"));
      const { length } = cluster.store.applications.list("embedded");
      const child = killed.run(cluster, { planId: night.id, scheduledAtMs: evening, dieAfter });
      expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
      nowMs = evening + MINUTE_MS;
      const open = studio();
      await until(() => state()?.last?.message.endsWith("came into force.") === true);
      await open.close();
      await cluster.expectWhole(night);
      expect(cluster.store.applications.list("embedded").length).toBe(length + 1);
      expect(state()).toMatchObject({ enabled: true, last: { ok: true } });
    },
    30_000,
  );
});
