import { describe, expect, it } from "vitest";
import { deployedExample } from "../testing/deployedExample";
import { approvedRanges } from "./approvedRanges";
import { slackSteps } from "./slackSteps";
import { thresholdSettings } from "./thresholdSettings";

const ladder = { models: ["llama-3.1-8b", "llama-3.1-70b"], skills: [0.5, 0.8], thresholds: [50], gpus: [4, 8] };
const two = deployedExample(ladder);
const three = deployedExample({
  models: ["llama-3.2-3b", "llama-3.1-8b", "llama-3.1-70b"],
  skills: [0.4, 0.6, 0.85],
  thresholds: [55, 45],
  gpus: [2, 4, 8],
});
const VERIFIED_SECONDS = 8;

function stepsOf({ explorer, routing, deployment }: typeof two, latencyBudgetSeconds: number | null = null) {
  const { qualityLow } = explorer.routing(routing);
  const off = { rows: 60, meanAbsolute: 0, p90Absolute: 0, bias: 0 };
  const plan = {
    ...{ routing, deployment, verifiedSeconds: VERIFIED_SECONDS },
    objective: { latency: "end-to-end", qualityFloor: qualityLow - 3, latencyBudgetSeconds },
    profile: { errors: { ttft: off, tpot: off, endToEnd: off } },
  } as const;
  const ranges = approvedRanges(explorer, plan);
  const found = slackSteps(explorer, plan, ranges);
  if (found === null) throw new Error("no steps");
  return { plan, ranges, found, settingAt: thresholdSettings(explorer, plan) };
}

describe("slackSteps", () => {
  it.each([
    ["two models", two],
    ["three models", three],
  ])("lists settings of %s that keep the floor and sustain the load, with more quality for more p95", (_, example) => {
    const { ranges, found, settingAt } = stepsOf(example);
    const approved = found.steps.filter((step) => step.approved);
    expect(found.kind).toBe("p95");
    expect(approved.length).toBeGreaterThan(2);
    const fastest = Math.min(...approved.map(({ p95Seconds }) => p95Seconds));
    for (const [at, step] of found.steps.entries()) {
      const { thresholds = [], ...figures } = step;
      const setting = settingAt(thresholds);
      expect(setting.keeps()).toBe(true);
      expect(figures).toMatchObject({ quality: setting.quality, qualityLow: setting.qualityLow, share: setting.share });
      // Which mix makes a shared table depends on the order: within the error of the tables.
      expect(Math.abs(step.p95Seconds / setting.seconds() - 1)).toBeLessThan(0.1);
      expect(step.p95Seconds).toBeLessThanOrEqual((1 + step.value) * fastest + 1e-9);
      expect(step.approved).toBe(ranges.every(({ min, max }, stage) => min <= thresholds[stage]! && thresholds[stage]! <= max));
      const before = found.steps[at - 1];
      if (before === undefined) continue;
      expect(step.value).toBeGreaterThan(before.value);
      expect(thresholds).not.toEqual(before.thresholds);
    }
  });

  it.each([
    ["two models", two],
    ["three models", three],
  ])("has the plan's own thresholds of %s as a step, with the plan's own figures", (_, example) => {
    const { found } = stepsOf(example);
    const { routed, qualityLow, thresholds } = example.explorer.routing(example.routing);
    const own = found.steps.find((step) => String(step.thresholds) === String(thresholds));
    expect(own).toMatchObject({ approved: true, p95Seconds: VERIFIED_SECONDS, qualityLow, quality: routed.quality });
  });

  it("leaves out thresholds at which no request reaches a stage, which then has no latency", () => {
    const { settingAt } = stepsOf(two);
    expect(settingAt([0]).share).toEqual([1, 0]);
    expect(settingAt([0]).seconds()).toBe(Number.POSITIVE_INFINITY);
    const { explorer, routing } = two;
    const found = slackSteps(explorer, stepsOf(two).plan, [{ min: 0, max: explorer.routing(routing).thresholds[0] ?? 0 }]);
    expect(found?.steps.every(({ share }) => (share[1] ?? 0) > 0)).toBe(true);
  });

  it("takes the best of all thresholds in the approved range for each slack", () => {
    const example = deployedExample(ladder);
    const { ranges, found, settingAt } = stepsOf(example);
    const [{ min, max }] = ranges as [{ min: number; max: number }];
    const all = Array.from({ length: max - min + 1 }, (_, step) => settingAt([min + step])).filter((setting) => setting.keeps());
    const fastest = Math.min(...all.map((setting) => setting.seconds()));
    for (const { value, qualityLow, approved, thresholds } of found.steps) {
      if (!approved || String(thresholds) === String(ladder.thresholds)) continue;
      const within = all.filter((setting) => setting.seconds() <= (1 + value) * fastest);
      expect(qualityLow).toBe(Math.max(...within.map((setting) => setting.qualityLow)));
    }
  });

  it("has no step over the latency budget", () => {
    const slowest = (budget: number | null): number => Math.max(...stepsOf(three, budget).found.steps.map(({ p95Seconds }) => p95Seconds));
    const budget = 1.1 * VERIFIED_SECONDS;
    expect(slowest(budget)).toBeLessThanOrEqual(budget);
    expect(slowest(null)).toBeGreaterThan(budget);
  });

  it("leaves no tables behind that would change later answers", () => {
    const example = deployedExample(ladder);
    const { plan, ranges, found } = stepsOf(example);
    const before = example.explorer.tables.simulations();
    expect(slackSteps(example.explorer, plan, ranges)).toEqual(found);
    expect(example.explorer.tables.simulations()).toBe(before);
  });

  it("is nothing where one model answers alone", () => {
    const alone = deployedExample({ models: ["llama-3.1-8b"], skills: [0.5], thresholds: [], gpus: [4] });
    const plan = {
      ...{ routing: alone.routing, deployment: alone.deployment, verifiedSeconds: VERIFIED_SECONDS, profile: { errors: null } },
      objective: { latency: "end-to-end", qualityFloor: null, latencyBudgetSeconds: null },
    } as const;
    expect(slackSteps(alone.explorer, plan, [])).toBeNull();
  });
});
