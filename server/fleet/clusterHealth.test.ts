import { expect, it } from "vitest";
import type { Observation } from "@/server/clusters/connector/connector";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { clusterHealth } from "./connectedCluster";

const plan = planOnGpus("p", { "qwen2.5-3b": [0, 1] });
const ids = targetEngines(plan).map(({ id }) => id);
const [first = "", second = ""] = ids;

/** Existing engines, and those of them that get requests. */
const seen = (standing: readonly string[], active: readonly string[] = standing) => ({
  ok: true as const,
  value: { engines: standing.map((id) => ({ id })), routing: { planId: plan.id, active, cordoned: [] } } as unknown as Observation,
});
const ground = { runningPlanId: plan.id, plan, batch: null, heard: [] };

it("is degraded while an engine of the plan in force is gone, routed to or not", () => {
  expect(clusterHealth({ ...ground, latest: seen(ids) })).toEqual({ state: "up", reason: "2 engines serve." });
  expect(clusterHealth({ ...ground, latest: seen([first]) })).toEqual({ state: "degraded", reason: `${second} should serve and is gone.` });
  expect(clusterHealth({ ...ground, latest: seen([first], ids) })).toEqual({
    state: "degraded",
    reason: `${second} should serve and is gone.`,
  });
});

it("is up while a roll-out is at work on the engines of the plan in force, and degraded by one that is routed to and gone", () => {
  expect(clusterHealth({ ...ground, plan: null, latest: seen([first]) })).toEqual({ state: "up", reason: "One engine serves." });
  expect(clusterHealth({ ...ground, plan: null, latest: seen([first], ids) }).state).toBe("degraded");
});

it("says which batch runs beside the plan in force", () => {
  const { reason } = clusterHealth({ ...ground, batch: "nightly", latest: seen(ids) });
  expect(reason).toBe('2 engines serve. The batch "nightly" runs here.');
});

it("is degraded while a program beside its engines does not run", () => {
  const latest = seen(ids);
  const value = { ...latest.value, faults: ["judge beside the engines ended and is started again."] };
  expect(clusterHealth({ ...ground, latest: { ok: true, value } })).toEqual({ state: "degraded", reason: value.faults[0] });
});
