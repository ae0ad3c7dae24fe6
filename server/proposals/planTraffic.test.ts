import { expect, test } from "vitest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { planningSample, promptsReaching, routePrompts } from "@/solver/cascade/routing/routing";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import { plannedAcceptedScores, plannedTraffic } from "./plannedTraffic";
import { createPlanTraffic, type PlanTraffic } from "./planTraffic";
import { type TestTraffic, testDecisions, testMirrored } from "./testing/testDecisions";

const workload = generatedWorkload({ prompts: 3000, seed: 2 });
const { outcomes } = workload;
const [small, large] = outcomes.models;
const THRESHOLD = 60;
const RATE = 4;
const draft = examplePlanDraft();
const plan = sealPlan(
  {
    ...draft,
    policy: { ...draft.policy, stages: [{ model: small!.model }, { model: large!.model }], thresholds: [THRESHOLD] },
    inputs: { ...draft.inputs, workload: { ...draft.inputs.workload, requestsPerSecond: RATE } },
  },
  new Date("2026-01-01T00:00:00Z"),
);
const WINDOW = 300;
const TIME_SCALE = 10;
const START_MS = Date.parse("2026-01-01T12:00:00Z");

const decisions = (fromSeconds: number, seconds: number, kind: Partial<TestTraffic> = {}) =>
  testDecisions({ plan, workload, timeScale: TIME_SCALE, startMs: START_MS }, { fromSeconds, seconds }, { rate: RATE, ...kind });

const begin = (before: PlanTraffic["watched"] | null = null): PlanTraffic =>
  createPlanTraffic({ plan, workload, timeScale: TIME_SCALE, windowSeconds: WINDOW, before, nowMs: START_MS });
const atMs = (seconds: number): number => START_MS + (seconds / TIME_SCALE) * 1000;

/** Looks once per wall second at traffic of `windows` windows; returns what had drifted after each. */
function watch(traffic: PlanTraffic, windows: number, kind: Partial<TestTraffic> = {}, fromSeconds = 0): string[][] {
  const all = decisions(fromSeconds, (windows + 0.5) * WINDOW, kind);
  const told: string[][] = [];
  for (let seconds = fromSeconds; seconds < fromSeconds + (windows + 0.5) * WINDOW && told.length < windows; seconds += TIME_SCALE) {
    const nowMs = atMs(seconds);
    if (
      !traffic.observe(
        all.filter(({ finishedAtMs }) => finishedAtMs < nowMs),
        nowMs,
      )
    )
      continue;
    told.push(
      traffic
        .report()
        .gauges.filter(({ drifted }) => drifted)
        .map(({ name }) => name),
    );
  }
  return told;
}

test("lengths and scores of a model are planned for on the prompts that reach it, and those of the last stage as the mirror sees them", () => {
  const { characteristics, requestsPerSecond } = plannedTraffic(plan, workload);
  const sample = planningSample(outcomes, splitPrompts(3000, workload.seed).planning, [small!.model, large!.model]);
  const reach = promptsReaching(routePrompts(sample, [0, 1], [THRESHOLD]), 1);
  expect(requestsPerSecond).toBe(RATE);
  expect(characteristics.map(({ name }) => name)).toEqual([
    "input tokens",
    `output tokens of ${small!.model}`,
    `score of ${small!.model}`,
    `output tokens of ${large!.model}`,
    `score of ${large!.model} on all requests`,
  ]);
  expect(characteristics[4]!.values).toHaveLength(sample.prompts);
  expect(Array.from(characteristics[3]!.values)).toEqual(Array.from(reach, (prompt) => sample.outputTokens[1]![prompt]));
  expect(reach.length).toBeLessThan(sample.prompts);
});

test("no scores are planned for where they are not known: at a threshold of 0, and of gates that the workload has no column of", () => {
  const unjudged = { ...plan, policy: { ...draft.policy, stages: [{ model: small!.model }, { model: large!.model }], thresholds: [0] } };
  expect(plannedTraffic(unjudged, workload).characteristics.map(({ name }) => name)).toEqual([
    "input tokens",
    `output tokens of ${small!.model}`,
  ]);
  expect(plannedAcceptedScores(unjudged, workload)).toEqual([]);
  expect(plannedAcceptedScores(plan, workload)).not.toEqual([]);
  const gated = {
    ...unjudged,
    policy: { ...unjudged.policy, thresholds: [60], gates: [{ kind: "confidence", measure: "minimum" } as const] },
  };
  expect(plannedTraffic(gated, workload).characteristics.map(({ name }) => name)).toEqual(["input tokens"]);
  const measured = withColumns(workload);
  const { characteristics } = plannedTraffic(gated, measured);
  const scores = Array.from(characteristics.find(({ name }) => name === `score of ${small!.model}`)?.values ?? []);
  expect(scores.every((score) => measured.outcomes.models[0]!.confidence!.some((one) => Math.abs(one - score) < 0.01))).toBe(true);
  expect(scores).not.toEqual([]);
});

test("fresh prompts of the planned traffic are no drift, however long they come", () => {
  expect(watch(begin(), 8)).toEqual(Array.from({ length: 8 }, () => []));
});

test("a rate that triples, prompts that grow by half and a judge that reads lower are told each by its name, after two windows", () => {
  expect(watch(begin(), 2, { rate: 3 * RATE })).toEqual([[], ["rate"]]);
  expect(watch(begin(), 2, { longer: 1.5 })).toEqual([[], ["input tokens"]]);
  expect(watch(begin(), 2, { lower: 12 })[1]).toContain(`score of ${small!.model}`);
});

test("a report holds what was planned beside what is now, and since when", () => {
  const traffic = begin();
  watch(traffic, 2, { longer: 1.5 });
  const { gauges, last, driftedSince } = traffic.report();
  const input = gauges.find(({ name }) => name === "input tokens")!;
  expect(input.now! / input.planned).toBeCloseTo(1.5, 1);
  expect(input.level).toBeGreaterThan(1);
  const rate = gauges.find(({ name }) => name === "rate")!;
  expect(rate).toMatchObject({ kind: "rate", planned: RATE });
  expect(rate.now! / RATE).toBeCloseTo(1, 0);
  expect(driftedSince).toBe(last!.at);
  expect(last!.requests).toBeGreaterThan(0.5 * RATE * WINDOW);
});

test("a cluster that nobody asks anything does not drift, and the first window after the silence begins with its first request", () => {
  const traffic = begin();
  expect(traffic.observe([], atMs(5 * WINDOW))).toBe(false);
  expect(watch(traffic, 3, {}, 5 * WINDOW + 100)).toEqual([[], [], []]);
  expect(traffic.report().last!.seconds).toBeLessThan(1.1 * WINDOW);
});

test("requests of another plan do not count", () => {
  const traffic = begin();
  const others = decisions(0, 2 * WINDOW).map((decision) => ({ ...decision, planId: "another" }));
  expect(traffic.observe(others, atMs(2 * WINDOW))).toBe(false);
  expect(traffic.report().last).toBeNull();
});

test("a window goes on until 50 requests have come", () => {
  const traffic = begin();
  const few = decisions(0, 4 * WINDOW, { rate: 0.1 });
  const until = (seconds: number) => few.filter(({ finishedAtMs }) => finishedAtMs < atMs(seconds));
  for (let seconds = 0; seconds <= WINDOW; seconds += TIME_SCALE) expect(traffic.observe(until(seconds), atMs(seconds))).toBe(false);
  expect(traffic.observe(until(4 * WINDOW), atMs(4 * WINDOW))).toBe(true);
  expect(traffic.report().last!.requests).toBeGreaterThanOrEqual(50);
});

test("what was watched before a restart is gone on from", () => {
  const first = begin();
  expect(watch(first, 1, { rate: 3 * RATE })).toEqual([[]]);
  const second = begin(JSON.parse(JSON.stringify(first.watched)));
  expect(watch(second, 1, { rate: 3 * RATE }, 2 * WINDOW)).toEqual([["rate"]]);
});

test("scores that fall on requests which never reach a model are seen by the mirror alone, and named so", () => {
  const name = `score of ${large!.model} on all requests`;
  const share = 0.3;
  const mirror = (fromSeconds: number, lower: Readonly<Record<string, number>>) =>
    testMirrored(
      { plan, workload, timeScale: TIME_SCALE, startMs: START_MS },
      { fromSeconds, seconds: WINDOW },
      { rate: RATE, share, lower },
    );
  const seen = (lower: Readonly<Record<string, number>>) => {
    const traffic = begin();
    for (let window = 0; window < 3; window += 1) {
      const fromSeconds = window * 1.1 * WINDOW;
      const records = decisions(fromSeconds, WINDOW);
      traffic.observe(records, atMs(fromSeconds + 1));
      traffic.observe(records, atMs(fromSeconds + 1.05 * WINDOW), mirror(fromSeconds, lower));
    }
    return traffic;
  };
  const lower = seen({ [large!.model]: 15 });
  expect(lower.report().gauges.flatMap((gauge) => (gauge.drifted ? [gauge.name] : []))).toEqual([name]);
  expect(lower.recentMirrored().length).toBeGreaterThan(1.5 * share * RATE * WINDOW);
  const as = seen({}).report();
  expect(as.gauges.find((gauge) => gauge.name === name)).toMatchObject({ kind: "score", model: large!.model, drifted: false });
  expect(
    begin()
      .report()
      .gauges.map((gauge) => gauge.name),
  ).not.toContain(name);
});
