import { expect, test } from "vitest";
import type { LiveFrame, TrafficGauge } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { generatedWorkload } from "@/solver/workload/generated";
import { gateScoresOf } from "./gateScores";
import { planInputs } from "./planInputs";

const plan = sealPlan(examplePlanDraft(), new Date("2026-01-01T00:00:00Z"));
const scores = gateScoresOf(plan, generatedWorkload({ prompts: 50, seed: 1 }));
const window = { answered: [], seen: [], counts: { answered: 0, seen: 0, failed: 0 }, seconds: 0, timeScale: 1, requestsPerSecond: null };
const gauge = (change: Partial<TrafficGauge>): TrafficGauge => ({
  ...{ name: "input tokens", kind: "tokens", planned: 100, now: 102, level: null, drifted: false },
  ...change,
});
const state = (change: Partial<TrafficGauge>) =>
  planInputs({ plan, scores }, [gauge(change)], { window, frame: { timeScale: 1, engines: [] } as unknown as LiveFrame })[0];

test("where the window says too little, the test of drift speaks for the windows before", () => {
  expect(state({})).toMatchObject({ state: "too little seen", now: 102 });
  expect(state({ level: 0.06 })!.state).toBe("as planned");
  expect(state({ level: 25 })!.state).toBe("moved");
  expect(state({ level: 25, drifted: true })!.state).toBe("drifted");
});

test("engines that nobody tells of are not called gone", () => {
  const engines = planInputs({ plan, scores }, [], {
    window,
    frame: { engines: [{ model: "small", health: "unknown" }] } as unknown as LiveFrame,
  });
  expect(engines.filter(({ kind }) => kind === "engines").map(({ now, state: told }) => [now, told])).toEqual([
    [null, "too little seen"],
    [null, "too little seen"],
  ]);
});
